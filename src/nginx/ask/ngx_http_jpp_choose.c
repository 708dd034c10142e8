
/*
 * Selects the workers that answer: the rows of the registry that match a
 * request's worker=.
 */


#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_self.h"


/*
 * All rows.  A worker that found no free row still knows itself, and so does a
 * single process after a reload without a location that serves.
 */

static ngx_uint_t
ngx_http_jpp_choose_list(ngx_http_jpp_row_t *rows)
{
    ngx_uint_t            i, n;
    ngx_http_jpp_zone_t  *zone;

    zone = ngx_http_jpp_self.zone;
    n = zone != NULL ? ngx_http_jpp_registry_list(zone, rows) : 0;

    for (i = 0; i < n; i++) {
        if (rows[i].who.pid == ngx_pid) {
            return n;
        }
    }

    rows[n++] = ngx_http_jpp_self.row;

    return n;
}


ngx_int_t
ngx_http_jpp_choose(const jpp_selector_t *selector,
    const ngx_http_jpp_row_t **rows, ngx_uint_t *n)
{
    ngx_uint_t        i, n_listed, generation, newest;
    ngx_core_conf_t  *ccf;

    static ngx_http_jpp_row_t  list[NGX_HTTP_JPP_MAX_ROWS + 1];

    n_listed = ngx_http_jpp_choose_list(list);
    generation = ngx_http_jpp_self.zone != NULL
                 ? ngx_http_jpp_self.zone->generation
                 : ngx_http_jpp_self.generation;
    newest = 0;

    /*
     * After a reload the newest generation has none or not all of its workers
     * for a while, and those of the previous one still serve.
     */

    for (i = 0; i < n_listed; i++) {
        if (list[i].who.index == selector->number) {
            newest = ngx_max(newest, list[i].who.generation);
        }
    }

    *rows = list;
    *n = 0;

    for (i = 0; i < n_listed; i++) {
        if (ngx_http_jpp_is_chosen(selector, &list[i].who, generation)
            && (selector->kind != JPP_WORKER_INDEX
                || list[i].who.generation == newest))
        {
            list[(*n)++] = list[i];
        }
    }

    if (*n != 0) {
        return NGX_OK;
    }

    /* an index that is configured: its worker was killed or just forked */

    ccf = (ngx_core_conf_t *) ngx_get_conf(ngx_cycle->conf_ctx,
                                           ngx_core_module);

    return selector->kind == JPP_WORKER_INDEX
           && ngx_process != NGX_PROCESS_SINGLE
           && selector->number < (uint64_t) ccf->worker_processes
           ? NGX_AGAIN : NGX_DECLINED;
}


ngx_uint_t
ngx_http_jpp_is_chosen(const jpp_selector_t *selector,
    const jpp_identity_t *who, ngx_uint_t generation)
{
    switch (selector->kind) {

    case JPP_WORKER_ALL:
        break;

    case JPP_WORKER_SELF:
        return who->pid == ngx_pid;

    case JPP_WORKER_EXITING:
        return who->generation != generation;

    case JPP_WORKER_INDEX:
        return who->index == selector->number;

    case JPP_WORKER_PID:
        return (uint64_t) who->pid == selector->number;
    }

    return 1;
}
