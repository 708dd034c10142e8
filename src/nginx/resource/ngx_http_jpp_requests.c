
/*
 * The resource requests: the single requests and connections that hold the most
 * memory now.
 *
 * The tables of pools of the chosen workers, each with its largest requests or
 * connections, as one list.  It is made in the background thread: a thousand
 * rows of many workers take time.
 */


#include "ngx_http_jpp_resources.h"


static ngx_int_t
ngx_http_jpp_requests_start(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    return question->args.values[JPP_ARG_CLIENTS] != 0
           && !question->conf->clients
           ? ngx_http_jpp_refuse(r, NGX_HTTP_JPP_CLIENTS_OFF)
           : ngx_http_jpp_job(r, question, &ngx_http_jpp_requests, NULL);
}


static ngx_int_t
ngx_http_jpp_requests_init(ngx_http_jpp_job_t *job, void *data)
{
    const uint32_t       *values;
    jpp_message_pools_t  *pools;

    values = job->question.args.values;
    pools = &ngx_http_jpp_job_question(job, JPP_MESSAGE_POOLS)->question.pools;

    pools->wants = values[JPP_ARG_BY] == JPP_BY_CONNECTION
                   ? JPP_POOLS_CONNECTIONS : JPP_POOLS_REQUESTS;
    pools->top = values[JPP_ARG_TOP];
    pools->has_clients = values[JPP_ARG_CLIENTS] != 0;

    return NGX_OK;
}


/* If nobody answered, the list says why. */

static jpp_code_t
ngx_http_jpp_requests_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    bool                         is_done;
    ngx_uint_t                   i;
    jpp_requests_t               requests;
    const ngx_http_jpp_part_t   *part;
    ngx_http_jpp_collection_t   *co;

    co = job->subscribers[0].collection;

    is_done = jpp_requests_init(&requests, &job->arena, &job->question.args);

    for (i = 0; is_done && i < co->n; i++) {
        part = &co->parts[i];

        is_done = part->state == NGX_HTTP_JPP_PART_ANSWERED
                  ? jpp_requests_add(&requests, &part->row.who, part->dump.data,
                                     part->dump.len)
                  : jpp_requests_missing(&requests, &part->row.who,
                                         part->reply.err.text);
    }

    if (!is_done || !jpp_requests_write(&requests, sink)) {
        return jpp_err_memory(&job->err);
    }

    /* a table that cannot be read is missing, too */

    job->n_answered = jpp_vec_count(requests.workers, jpp_requests_worker_t);

    return JPP_OK;
}


const ngx_http_jpp_handler_t  ngx_http_jpp_requests = {
    .formats = &jpp_words_top,
    .check = jpp_requests_check,
    .start = ngx_http_jpp_requests_start,
    .has_workers = 1,
    .init = ngx_http_jpp_requests_init,
    .write = ngx_http_jpp_requests_write
};
