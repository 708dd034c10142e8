
/*
 * memory: what is known about the memory of all workers, and what there is to
 * say about it.
 *
 * What workers answer to a question for their status, and where details are
 * asked for, what they answer to a second one, which is sent with it; written
 * in the background thread.
 */


#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_deliver.h"
#include "ngx_http_jpp_job.h"
#include "ngx_http_jpp_refuse.h"
#include "ngx_http_jpp_resources.h"
#include "ngx_http_jpp_telemetry.h"

#include "jpp_memory.h"
#include "jpp_process.h"

#include <inttypes.h>


/* the text of all workers there may be */
#define NGX_HTTP_JPP_MEMORY_CAP     (256 * 1024 * 1024)

/* anonymous memory: reading the page tables of more takes time */
#define NGX_HTTP_JPP_MEMORY_LARGE   ((uint64_t) 1024 * 1024 * 1024)

#define NGX_HTTP_JPP_MEMORY_BUFFER  8192


typedef struct {
    ngx_http_jpp_job_t                   job;

    jpp_args_t                           args;
    jpp_detail_t                         detail;
    ngx_http_jpp_inquiry_t               inquiries[2];
    ngx_http_jpp_reader_t     readers[2];   /* of the status, and */
                                                       /*   of the details */
    jpp_err_t                            refused;

    jpp_arena_t                          arena;        /* all that follows */
    ngx_http_jpp_telemetry_t
                                        *telemetry;
    u_char                              *body;
    size_t                               len;
} ngx_http_jpp_memory_t;


static ngx_http_jpp_memory_t *ngx_http_jpp_memory_create(
    const ngx_http_jpp_question_t *question,
    const ngx_http_jpp_loc_conf_t *conf);
static ngx_int_t ngx_http_jpp_memory_ask(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static ngx_uint_t ngx_http_jpp_memory_is_refused(ngx_http_jpp_memory_t *memory);
static ngx_int_t ngx_http_jpp_memory_collected(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static void ngx_http_jpp_memory_work(ngx_http_jpp_job_t *job);
static ngx_int_t ngx_http_jpp_memory_write(ngx_http_jpp_memory_t *memory);
static ngx_int_t ngx_http_jpp_memory_answers(ngx_http_jpp_memory_t *memory,
    jpp_memory_t *to);
static ngx_int_t ngx_http_jpp_memory_send(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static void ngx_http_jpp_memory_release(ngx_http_jpp_job_t *job);


static const jpp_message_kind_t  ngx_http_jpp_memory_kinds[] = {
    [JPP_DETAIL_LEDGER] = JPP_MESSAGE_LEDGER,
    [JPP_DETAIL_SMAPS] = JPP_MESSAGE_SMAPS,
    [JPP_DETAIL_ARENAS] = JPP_MESSAGE_ARENAS
};


ngx_int_t
ngx_http_jpp_memory(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    jpp_err_t                 err;
    ngx_http_jpp_answer_t     answer;
    ngx_http_jpp_memory_t    *memory;
    ngx_http_jpp_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    if (jpp_memory_check(&question->args, &err) != JPP_OK) {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    if (r->method == NGX_HTTP_HEAD) {
        ngx_memzero(&answer, sizeof(ngx_http_jpp_answer_t));
        answer.type = jpp_memory_type(&question->args);

        return ngx_http_jpp_send_head(r, &answer);
    }

    memory = ngx_http_jpp_memory_create(question, conf);

    return memory != NULL
           ? ngx_http_jpp_job_start(&memory->job, r)
           : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_http_jpp_memory_t *
ngx_http_jpp_memory_create(const ngx_http_jpp_question_t *question,
    const ngx_http_jpp_loc_conf_t *conf)
{
    ngx_http_jpp_memory_t  *memory;

    memory = (ngx_http_jpp_memory_t *)
                 ngx_http_jpp_job_create(sizeof(ngx_http_jpp_memory_t),
                                         conf->timeout);

    if (memory == NULL) {
        return NULL;
    }

    memory->args = question->args;
    memory->detail = jpp_memory_detail(&memory->args);

    memory->job.work = ngx_http_jpp_memory_work;
    memory->job.next = ngx_http_jpp_memory_ask;
    memory->job.release = ngx_http_jpp_memory_release;

    ngx_http_jpp_inquiry_init(&memory->inquiries[0], JPP_MESSAGE_STATUS,
                              &memory->args, conf);

    if (memory->detail == JPP_DETAIL_NONE) {
        memory->job.task.is_brief = 1;

    } else {
        ngx_http_jpp_inquiry_init(&memory->inquiries[1],
                                  ngx_http_jpp_memory_kinds[memory->detail],
                                  &memory->args, conf);
    }

    jpp_arena_init(&memory->arena, NGX_HTTP_JPP_MEMORY_CAP);
    memory->arena.is_plain = true;

    return memory;
}


static ngx_int_t
ngx_http_jpp_memory_ask(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_memory_t *memory = (void *) job;

    ngx_uint_t  has_details;

    has_details = memory->detail != JPP_DETAIL_NONE
                  && !ngx_http_jpp_memory_is_refused(memory);

    if (memory->args.is_set[JPP_ARG_DETAIL] && !has_details) {
        return ngx_http_jpp_refuse_error(r, &memory->refused);
    }

    return ngx_http_jpp_job_collect(job, r, memory->readers, memory->inquiries,
                                    has_details ? 2 : 1,
                                    ngx_http_jpp_memory_collected);
}


/* Which workers there are is said by whoever asks them. */

static ngx_uint_t
ngx_http_jpp_memory_is_refused(ngx_http_jpp_memory_t *memory)
{
    char                       size[JPP_UNITS_TEXT];
    uint64_t                   anon;
    ngx_uint_t                 i, n;
    const ngx_http_jpp_row_t  *rows;

    if (ngx_http_jpp_choose(&memory->inquiries[1].selector, &rows, &n)
        != NGX_OK)
    {
        return 0;
    }

    if (memory->detail == JPP_DETAIL_ARENAS && n > 1) {
        (void) jpp_err_set(&memory->refused, JPP_ERR_ARG,
                           "detail=arenas is for one worker: choose it with "
                           "worker=0 or worker=pid-%d", (int) rows[0].pid);
        return 1;
    }

    if (memory->detail == JPP_DETAIL_ARENAS
        || memory->args.values[JPP_ARG_FORCE] != 0)
    {
        return 0;
    }

    for (i = 0; i < n; i++) {
        anon = jpp_process_anon(rows[i].pid);

        if (anon != JPP_NONE && anon > NGX_HTTP_JPP_MEMORY_LARGE) {
            (void) jpp_err_set(&memory->refused, JPP_ERR_ARG,
                               "worker %d (pid %d) has %s of anonymous memory, "
                               "whose page tables take the kernel some "
                               "%" PRIu64 " ms to read, in which the worker "
                               "may have to wait: add force=1",
                               (int) rows[i].index, (int) rows[i].pid,
                               jpp_units_bytes(anon, size), anon >> 27);
            return 1;
        }
    }

    return 0;
}


/* If nobody answered, the answer shows what was wrong with each worker. */

static ngx_int_t
ngx_http_jpp_memory_collected(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_memory_t *memory = (void *) job;

    ngx_uint_t                        i;
    const ngx_http_jpp_collection_t  *co;

    for (i = 0; i < job->n_readers; i++) {
        co = memory->readers[i].collection;

        if (memory->args.values[JPP_ARG_STRICT] != 0 && co->n_answered < co->n)
        {
            return ngx_http_jpp_refuse_incomplete(r, co->n_answered, co->n, 0);
        }
    }

    memory->telemetry = ngx_http_jpp_telemetry(&memory->arena);

    return memory->telemetry != NULL
           ? ngx_http_jpp_job_run(job, ngx_http_jpp_memory_send)
           : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static void
ngx_http_jpp_memory_work(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_memory_t *memory = (void *) job;

    job->rc = ngx_http_jpp_memory_write(memory) == NGX_OK
              ? JPP_OK : jpp_err_memory(&job->err);
}


static ngx_int_t
ngx_http_jpp_memory_write(ngx_http_jpp_memory_t *memory)
{
    uint8_t       *buffer;
    jpp_vec_t     *out;
    jpp_sink_t     sink;
    jpp_memory_t   from;

    if (ngx_http_jpp_telemetry_collected(memory->telemetry,
                                         memory->readers[0].collection,
                                         &memory->arena)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_memzero(&from, sizeof(jpp_memory_t));

    from.telemetry = &memory->telemetry->all;
    from.seconds = memory->telemetry->now;
    from.args = &memory->args;
    from.arena = &memory->arena;
    from.detail = memory->detail;

    if (memory->refused.code != JPP_OK) {
        from.refused = memory->refused.text;
    }

    buffer = jpp_arena_alloc(&memory->arena, NGX_HTTP_JPP_MEMORY_BUFFER);
    out = jpp_vec_create(&memory->arena);

    if (buffer == NULL || out == NULL
        || ngx_http_jpp_memory_answers(memory, &from) != NGX_OK)
    {
        return NGX_ERROR;
    }

    jpp_sink_init(&sink, buffer, NGX_HTTP_JPP_MEMORY_BUFFER, jpp_sink_to_vec,
                  out);

    if (!jpp_memory_write(&from, &sink) || jpp_sink_flush(&sink) != 0) {
        return NGX_ERROR;
    }

    memory->body = out->data;
    memory->len = out->len;

    return NGX_OK;
}


static ngx_int_t
ngx_http_jpp_memory_answers(ngx_http_jpp_memory_t *memory, jpp_memory_t *to)
{
    ngx_uint_t                   i;
    jpp_missing_t                missing;
    jpp_memory_answer_t         *answers;
    const ngx_http_jpp_part_t  *part;
    ngx_http_jpp_collection_t   *co;

    co = memory->readers[1].collection;

    if (co == NULL) {
        return NGX_OK;
    }

    answers = jpp_arena_alloc(&memory->arena,
                              co->n * sizeof(jpp_memory_answer_t));
    if (answers == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < co->n; i++) {
        part = &co->parts[i];

        ngx_http_jpp_part_missing(part, part->reply.err.text, &missing);
        answers[i].who = missing.who;
        answers[i].why = missing.why;

        if (part->state == NGX_HTTP_JPP_PART_ANSWERED) {
            answers[i].data = part->dump.data;
            answers[i].len = part->dump.len;
        }
    }

    to->answers = answers;
    to->n_answers = co->n;

    return NGX_OK;
}


static ngx_int_t
ngx_http_jpp_memory_send(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_memory_t *memory = (void *) job;

    ngx_http_jpp_answer_t  answer;

    if (job->rc != JPP_OK) {
        return ngx_http_jpp_refuse_own(r, &job->err);
    }

    ngx_memzero(&answer, sizeof(ngx_http_jpp_answer_t));

    answer.type = jpp_memory_type(&memory->args);

    return ngx_http_jpp_deliver(r, &answer, &memory->arena, memory->body,
                                memory->len);
}


static void
ngx_http_jpp_memory_release(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_memory_t *memory = (void *) job;

    ngx_http_jpp_collect_leave(&memory->readers[0]);
    ngx_http_jpp_collect_leave(&memory->readers[1]);

    jpp_arena_destroy(&memory->arena);
}
