
#include "ngx_http_jpp_choose.h"
#include "ngx_http_jpp_self.h"


/* What a row is compared with. */
typedef struct {
    uint64_t      number;      /* of the selector */
    ngx_uint_t    generation;  /* the current one */
    ngx_uint_t    newest;      /* that has a worker of this index */
} ngx_http_jpp_choice_t;


typedef ngx_uint_t (*ngx_http_jpp_choose_pt)(const ngx_http_jpp_row_t *row,
    const ngx_http_jpp_choice_t *choice);


static ngx_uint_t ngx_http_jpp_choose_list(ngx_http_jpp_row_t *rows,
    ngx_uint_t *generation);
static ngx_uint_t ngx_http_jpp_choose_all(const ngx_http_jpp_row_t *row,
    const ngx_http_jpp_choice_t *choice);
static ngx_uint_t ngx_http_jpp_choose_self(const ngx_http_jpp_row_t *row,
    const ngx_http_jpp_choice_t *choice);
static ngx_uint_t ngx_http_jpp_choose_exiting(const ngx_http_jpp_row_t *row,
    const ngx_http_jpp_choice_t *choice);
static ngx_uint_t ngx_http_jpp_choose_index(const ngx_http_jpp_row_t *row,
    const ngx_http_jpp_choice_t *choice);
static ngx_uint_t ngx_http_jpp_choose_pid(const ngx_http_jpp_row_t *row,
    const ngx_http_jpp_choice_t *choice);
static ngx_uint_t ngx_http_jpp_choose_is_coming(const jpp_selector_t *selector);


/* Is it one of them?  By jpp_worker_kind_t. */

static const ngx_http_jpp_choose_pt
    ngx_http_jpp_choices[] =
{
    [JPP_WORKER_ALL] = ngx_http_jpp_choose_all,
    [JPP_WORKER_SELF] = ngx_http_jpp_choose_self,
    [JPP_WORKER_EXITING] = ngx_http_jpp_choose_exiting,
    [JPP_WORKER_INDEX] = ngx_http_jpp_choose_index,
    [JPP_WORKER_PID] = ngx_http_jpp_choose_pid
};


ngx_int_t
ngx_http_jpp_choose(const jpp_selector_t *selector,
    const ngx_http_jpp_row_t **rows, ngx_uint_t *n)
{
    ngx_uint_t             i, n_listed;
    ngx_http_jpp_choice_t  choice;

    static ngx_http_jpp_row_t
                                list[NGX_HTTP_JPP_MAX_ROWS + 1];

    choice.number = selector->number;
    choice.newest = 0;

    n_listed = ngx_http_jpp_choose_list(list, &choice.generation);

    /*
     * After a reload the newest generation has none or not all of its workers
     * for a while, and those of the previous one still serve.
     */

    for (i = 0; i < n_listed; i++) {
        if (list[i].index == choice.number
            && list[i].generation > choice.newest)
        {
            choice.newest = list[i].generation;
        }
    }

    *rows = list;
    *n = 0;

    for (i = 0; i < n_listed; i++) {
        if (ngx_http_jpp_choices[selector->kind](&list[i], &choice)) {
            list[(*n)++] = list[i];
        }
    }

    return *n != 0 ? NGX_OK
           : ngx_http_jpp_choose_is_coming(selector)
           ? NGX_AGAIN : NGX_DECLINED;
}


/*
 * All rows.  A worker that found no free row still knows itself, and so does a
 * single process after a reload without a location that serves.
 */

static ngx_uint_t
ngx_http_jpp_choose_list(ngx_http_jpp_row_t *rows, ngx_uint_t *generation)
{
    ngx_uint_t  i, n;

    n = 0;
    *generation = ngx_http_jpp_self.generation;

    if (ngx_http_jpp_self.zone != NULL) {
        n = ngx_http_jpp_registry_list(ngx_http_jpp_self.zone, rows,
                                       generation);
    }

    for (i = 0; i < n; i++) {
        if (rows[i].pid == ngx_pid) {
            return n;
        }
    }

    rows[n++] = ngx_http_jpp_self.row;

    return n;
}


static ngx_uint_t
ngx_http_jpp_choose_all(const ngx_http_jpp_row_t *row,
    const ngx_http_jpp_choice_t *choice)
{
    return 1;
}


static ngx_uint_t
ngx_http_jpp_choose_self(const ngx_http_jpp_row_t *row,
    const ngx_http_jpp_choice_t *choice)
{
    return row->pid == ngx_pid;
}


static ngx_uint_t
ngx_http_jpp_choose_exiting(const ngx_http_jpp_row_t *row,
    const ngx_http_jpp_choice_t *choice)
{
    return row->generation != choice->generation;
}


static ngx_uint_t
ngx_http_jpp_choose_index(const ngx_http_jpp_row_t *row,
    const ngx_http_jpp_choice_t *choice)
{
    return row->index == choice->number && row->generation == choice->newest;
}


static ngx_uint_t
ngx_http_jpp_choose_pid(const ngx_http_jpp_row_t *row,
    const ngx_http_jpp_choice_t *choice)
{
    return (uint64_t) row->pid == choice->number;
}


/* The index is configured, so its worker was killed or just forked. */

static ngx_uint_t
ngx_http_jpp_choose_is_coming(const jpp_selector_t *selector)
{
    ngx_core_conf_t  *ccf;

    if (selector->kind != JPP_WORKER_INDEX
        || ngx_process == NGX_PROCESS_SINGLE)
    {
        return 0;
    }

    ccf = (ngx_core_conf_t *) ngx_get_conf(ngx_cycle->conf_ctx,
                                           ngx_core_module);

    return selector->number < (uint64_t) ccf->worker_processes;
}
