
/*
 * The resource requests: what holds most memory at this moment, one by one.
 *
 * The tables of pools of the chosen workers, each with its largest requests or
 * connections, as one list.  It is made in the background thread: a thousand
 * rows of many workers take time.
 */


#include "ngx_http_jpp_deliver.h"
#include "ngx_http_jpp_job.h"
#include "ngx_http_jpp_refuse.h"
#include "ngx_http_jpp_resources.h"

#include "jpp_requests.h"


/* besides the tables: names, rows, cells */
#define NGX_HTTP_JPP_REQUESTS_CAP(max_size)                        \
    (4 * (max_size) + 256 * 1024 * 1024)


typedef struct {
    ngx_http_jpp_job_t                   job;

    jpp_args_t                           args;
    size_t                               max_size;
    ngx_http_jpp_inquiry_t               inquiry;
    ngx_http_jpp_reader_t                reader;

    jpp_arena_t                          arena;     /* holds the body */
    u_char                              *body;
    size_t                               len;
    ngx_uint_t                           n_answered;
} ngx_http_jpp_requests_t;


static void ngx_http_jpp_requests_describe(ngx_http_jpp_answer_t *answer,
    const jpp_args_t *args);
static ngx_int_t ngx_http_jpp_requests_collect(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_requests_collected(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_requests_send(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static void ngx_http_jpp_requests_work(ngx_http_jpp_job_t *job);
static ngx_int_t ngx_http_jpp_requests_write(ngx_http_jpp_requests_t *list,
    jpp_arena_t *arena);
static ngx_int_t ngx_http_jpp_requests_add(jpp_requests_t *requests,
    const ngx_http_jpp_part_t *part);
static void ngx_http_jpp_requests_release(ngx_http_jpp_job_t *job);


ngx_int_t
ngx_http_jpp_requests(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    jpp_err_t                 err;
    jpp_message_pools_t      *pools;
    ngx_http_jpp_answer_t     answer;
    ngx_http_jpp_loc_conf_t  *conf;
    ngx_http_jpp_requests_t  *list;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    if (jpp_requests_check(&question->args, &err) != JPP_OK) {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    if (question->args.values[JPP_ARG_CLIENTS] != 0 && !conf->clients) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_CLIENTS_OFF);
    }

    if (r->method == NGX_HTTP_HEAD) {
        ngx_http_jpp_requests_describe(&answer, &question->args);

        return ngx_http_jpp_send_head(r, &answer);
    }

    list = (ngx_http_jpp_requests_t *)
               ngx_http_jpp_job_create(sizeof(ngx_http_jpp_requests_t),
                                       conf->timeout);

    if (list == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    list->job.work = ngx_http_jpp_requests_work;
    list->job.next = ngx_http_jpp_requests_collect;
    list->job.release = ngx_http_jpp_requests_release;

    list->args = question->args;
    list->max_size = conf->max_size;

    ngx_http_jpp_inquiry_init(&list->inquiry, JPP_MESSAGE_POOLS, &list->args,
                              conf);

    pools = &list->inquiry.question.pools;

    pools->wants = jpp_requests_wants((jpp_by_t)
                                      list->args.values[JPP_ARG_BY]);
    pools->top = list->args.values[JPP_ARG_TOP];
    pools->has_clients = list->args.values[JPP_ARG_CLIENTS] != 0;

    jpp_arena_init(&list->arena, 0);

    return ngx_http_jpp_job_start(&list->job, r);
}


static void
ngx_http_jpp_requests_describe(ngx_http_jpp_answer_t *answer,
    const jpp_args_t *args)
{
    ngx_memzero(answer, sizeof(ngx_http_jpp_answer_t));

    answer->type = jpp_requests_type(args);
}


static ngx_int_t
ngx_http_jpp_requests_collect(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_requests_t *list = (void *) job;

    return ngx_http_jpp_job_collect(job, r, &list->reader, &list->inquiry, 1,
                                    ngx_http_jpp_requests_collected);
}


/* If nobody answered, the list says why. */

static ngx_int_t
ngx_http_jpp_requests_collected(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    return ngx_http_jpp_job_run(job, ngx_http_jpp_requests_send);
}


static ngx_int_t
ngx_http_jpp_requests_send(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_requests_t *list = (void *) job;

    u_char                 *workers;
    ngx_uint_t              n;
    ngx_http_jpp_answer_t   answer;

    if (job->rc != JPP_OK) {
        return ngx_http_jpp_refuse_own(r, &job->err);
    }

    n = list->reader.collection->n;

    /* the answer needs room that the tables have taken */

    ngx_http_jpp_collect_leave(&list->reader);

    if (list->args.values[JPP_ARG_STRICT] != 0 && list->n_answered < n) {
        return ngx_http_jpp_refuse_incomplete(r, list->n_answered, n, 0);
    }

    workers = ngx_pnalloc(r->pool, 2 * NGX_INT_T_LEN + 2);
    if (workers == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    (void) ngx_sprintf(workers, "%ui/%ui%Z", list->n_answered, n);

    ngx_http_jpp_requests_describe(&answer, &list->args);

    answer.workers = (char *) workers;

    return ngx_http_jpp_deliver(r, &answer, &list->arena, list->body,
                                list->len);
}


static void
ngx_http_jpp_requests_work(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_requests_t *list = (void *) job;

    jpp_arena_t  arena;

    jpp_arena_init(&arena, NGX_HTTP_JPP_REQUESTS_CAP(list->max_size));

    job->rc = ngx_http_jpp_requests_write(list, &arena) == NGX_OK
              ? JPP_OK : jpp_err_memory(&job->err);

    jpp_arena_destroy(&arena);
}


static ngx_int_t
ngx_http_jpp_requests_write(ngx_http_jpp_requests_t *list, jpp_arena_t *arena)
{
    uint8_t                    *buffer;
    jpp_vec_t                  *out;
    jpp_sink_t                  sink;
    ngx_uint_t                  i;
    jpp_requests_t              requests;
    ngx_http_jpp_collection_t  *co;

    co = list->reader.collection;

    buffer = jpp_arena_alloc(arena, JPP_SINK_BUFFER);
    out = jpp_vec_create(arena);

    if (buffer == NULL || out == NULL
        || !jpp_requests_init(&requests, arena, &list->args))
    {
        return NGX_ERROR;
    }

    for (i = 0; i < co->n; i++) {
        if (ngx_http_jpp_requests_add(&requests, &co->parts[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    list->n_answered = jpp_vec_count(requests.workers, jpp_requests_worker_t);

    jpp_sink_init(&sink, buffer, JPP_SINK_BUFFER, jpp_sink_to_vec, out);

    if (!jpp_requests_write(&requests, &sink) || jpp_sink_flush(&sink) != 0) {
        return NGX_ERROR;
    }

    /* to pages of its own: a response may live long */

    list->len = out->len;
    list->body = jpp_arena_keep(&list->arena, out);

    return list->body != NULL ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_http_jpp_requests_add(jpp_requests_t *requests,
    const ngx_http_jpp_part_t *part)
{
    bool            is_done;
    jpp_missing_t   missing;

    ngx_http_jpp_part_missing(part, part->reply.err.text, &missing);

    is_done = part->state == NGX_HTTP_JPP_PART_ANSWERED
              ? jpp_requests_add(requests, &missing.who, part->dump.data,
                                 part->dump.len)
              : jpp_requests_missing(requests, &missing.who, missing.why);

    return is_done ? NGX_OK : NGX_ERROR;
}


static void
ngx_http_jpp_requests_release(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_requests_t *list = (void *) job;

    ngx_http_jpp_collect_leave(&list->reader);

    jpp_arena_destroy(&list->arena);
}
