
/*
 * The resource memory: the memory of all workers, and the findings about it.
 *
 * What workers answer to a question for their status, and where details are
 * asked for, what they answer to a second one, which is sent with it; written
 * in the background thread.
 */


#include "ngx_http_jpp_resources.h"


/* anonymous memory: reading the page tables of more takes time */
#define NGX_HTTP_JPP_MEMORY_LARGE  ((uint64_t) 1024 * 1024 * 1024)


typedef struct {
    jpp_detail_t  detail;
    jpp_err_t     refused;
} ngx_http_jpp_memory_t;


static const jpp_message_type_t  ngx_http_jpp_memory_kinds[] = {
    [JPP_DETAIL_LEDGER] = JPP_MESSAGE_LEDGER,
    [JPP_DETAIL_SMAPS] = JPP_MESSAGE_SMAPS,
    [JPP_DETAIL_ARENAS] = JPP_MESSAGE_ARENAS
};


static ngx_int_t
ngx_http_jpp_memory_init(ngx_http_jpp_job_t *job, void *data)
{
    ngx_http_jpp_memory_t *memory = job->state;

    memory->detail = jpp_memory_detail(&job->question.args);

    if (memory->detail == JPP_DETAIL_NONE) {
        job->task.is_brief = 1;

    } else {
        (void) ngx_http_jpp_job_question(job,
                                    ngx_http_jpp_memory_kinds[memory->detail]);
    }

    return NGX_OK;
}


/* Which workers there are is said by whoever asks them. */

static ngx_uint_t
ngx_http_jpp_memory_is_refused(const ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_memory_t *memory = job->state;

    char                       size[JPP_UNITS_TEXT];
    uint64_t                   anon;
    ngx_uint_t                 i, n;
    const ngx_http_jpp_row_t  *rows;

    if (ngx_http_jpp_choose(&job->inquiries[0].selector, &rows, &n) != NGX_OK)
    {
        return 0;
    }

    if (memory->detail == JPP_DETAIL_ARENAS && n > 1) {
        (void) jpp_err_set(&memory->refused, JPP_ERR_ARG,
                           "detail=arenas is for one worker: choose it with "
                           "worker=0 or worker=pid-%d", (int) rows[0].who.pid);
        return 1;
    }

    if (memory->detail == JPP_DETAIL_ARENAS
        || job->question.args.values[JPP_ARG_FORCE] != 0)
    {
        return 0;
    }

    for (i = 0; i < n; i++) {
        anon = jpp_process_anon((pid_t) rows[i].who.pid);

        if (anon != JPP_NONE && anon > NGX_HTTP_JPP_MEMORY_LARGE) {
            (void) jpp_err_set(&memory->refused, JPP_ERR_ARG,
                               "worker %d (pid %d) has %s of anonymous memory: "
                               "reading its page tables takes some %" PRIu64
                               " ms, and may stop it for that time; add "
                               "force=1 to read them",
                               (int) rows[i].who.index,
                               (int) rows[i].who.pid,
                               jpp_units_bytes(anon, size), anon >> 27);
            return 1;
        }
    }

    return 0;
}


static ngx_int_t
ngx_http_jpp_memory_ask(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_memory_t *memory = job->state;

    if (memory->detail != JPP_DETAIL_NONE
        && ngx_http_jpp_memory_is_refused(job))
    {
        job->n--;
    }

    if (job->question.args.is_set[JPP_ARG_DETAIL]
        && memory->refused.code != JPP_OK)
    {
        return ngx_http_jpp_refuse_error(r, &memory->refused);
    }

    return ngx_http_jpp_job_collect(job, r);
}


static jpp_memory_answer_t *
ngx_http_jpp_memory_answers(ngx_http_jpp_job_t *job,
    const ngx_http_jpp_collection_t *co)
{
    ngx_uint_t                  i;
    jpp_memory_answer_t        *answers;
    const ngx_http_jpp_part_t  *part;

    answers = jpp_arena_alloc(&job->arena, co->n * sizeof(jpp_memory_answer_t));
    if (answers == NULL) {
        return NULL;
    }

    for (i = 0; i < co->n; i++) {
        part = &co->parts[i];

        answers[i].who = part->row.who;
        answers[i].why = part->reply.err.text;
        answers[i].data = part->dump.data;
        answers[i].len = part->dump.len;
    }

    return answers;
}


/* If nobody answered, the answer shows what was wrong with each worker. */

static jpp_code_t
ngx_http_jpp_memory_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_http_jpp_memory_t *memory = job->state;

    jpp_memory_t                      from;
    const ngx_http_jpp_collection_t  *co;

    ngx_memzero(&from, sizeof(jpp_memory_t));

    from.telemetry = &job->telemetry->all;
    from.args = &job->question.args;
    from.arena = &job->arena;
    from.detail = memory->detail;

    if (memory->refused.code != JPP_OK) {
        from.refused = memory->refused.text;
    }

    co = job->subscribers[2].collection;

    if (co != NULL) {
        from.answers = ngx_http_jpp_memory_answers(job, co);
        from.n_answers = co->n;

        if (from.answers == NULL) {
            return jpp_err_memory(&job->err);
        }
    }

    return jpp_memory_write(&from, sink) ? JPP_OK : jpp_err_memory(&job->err);
}


const ngx_http_jpp_handler_t  ngx_http_jpp_memory = {
    .formats = &jpp_memory_words,
    .check = jpp_memory_check,
    .size = sizeof(ngx_http_jpp_memory_t),
    .has_telemetry = 1,
    .has_holders = 1,
    .init = ngx_http_jpp_memory_init,
    .ask = ngx_http_jpp_memory_ask,
    .write = ngx_http_jpp_memory_write
};
