
/*
 * The work of each request type in this worker: the table of
 * ngx_http_jpp_ask.h.
 */


#include "ngx_http_jpp_lua.h"
#include "ngx_http_jpp_pools.h"
#include "ngx_http_jpp_worker.h"

#include "jpp_cpu.h"
#include "jpp_owners.h"


/* anonymous memory: reading the page tables of more takes longer than 5 ms */
#define NGX_HTTP_JPP_PRIVATE_MAX  ((uint64_t) 1024 * 1024 * 1024)

/* bytes in no pool whose owner is looked for; of its dump, and of the work on
   that, each; and how long it is true, ms */
#define NGX_HTTP_JPP_OUTSIDE_MIN  (16 * 1024 * 1024)
#define NGX_HTTP_JPP_OUTSIDE_CAP  (64 * 1024 * 1024)
#define NGX_HTTP_JPP_OUTSIDE_AGE  60000


static ngx_http_jpp_outside_t  ngx_http_jpp_outside_last;


/*
 * The question for samples of time: a window on the sampler of this worker
 * (jpp_cpu.h), as long as the question says, and what was seen in it.
 */

static jpp_code_t
ngx_http_jpp_cpu_check(const jpp_worker_t *worker, jpp_err_t *err)
{
    return jpp_cpu_check(err);
}


/* Open the window. */

static void
ngx_http_jpp_cpu_begin(ngx_http_jpp_reply_t *reply)
{
    unsigned                    was_sampled;
    const jpp_message_times_t  *times;

    times = &reply->question.times;

    /* what the unwinder has to learn about libraries allocates */

    was_sampled = jpp_source_sample_thread(JPP_SOURCE_BY_NONE);

    reply->state = jpp_cpu_open(times->mode, times->frequency,
                                &reply->reply.err);

    (void) jpp_source_sample_thread(was_sampled);

    reply->reply.time_nanos = jpp_clock_wall();

    ngx_http_jpp_unwind_watch();
}


/* How long it is open, in ms. */

static ngx_msec_t
ngx_http_jpp_cpu_wait(const jpp_message_question_t *question)
{
    return (ngx_msec_t) question->times.seconds * 1000;
}


/* In the thread: end it, and write what was seen. */

static void
ngx_http_jpp_cpu_work(ngx_http_jpp_reply_t *reply)
{
    (void) jpp_cpu_dump(reply->state, reply->why_early, reply->file.fd,
                        &reply->reply.err);
}


/* Nobody waits for it any longer, or it is answered. */

static void
ngx_http_jpp_cpu_release(ngx_http_jpp_reply_t *reply)
{
    jpp_cpu_close(reply->state);
    reply->state = NULL;
}


static void
ngx_http_jpp_type_status(ngx_http_jpp_reply_t *reply)
{
    ngx_http_jpp_figures_read(&reply->reply.worker);
}


/* before Linux 6.2 a descriptor takes microseconds to count */

static void
ngx_http_jpp_type_status_work(ngx_http_jpp_reply_t *reply)
{
    jpp_usage_t  *usage;

    usage = &reply->reply.worker.activity.usage;

    jpp_usage_read(usage);

    if (usage->rss_anon <= NGX_HTTP_JPP_PRIVATE_MAX) {
        usage->private = jpp_usage_private(0);
    }
}


static jpp_code_t
ngx_http_jpp_type_dump_check(const jpp_worker_t *worker, jpp_err_t *err)
{
    jpp_problem_t  problems[JPP_MAX_PROBLEMS];

    if (worker->sampler.is_on
        || worker->jemalloc.state == JPP_JEMALLOC_READY)
    {
        return JPP_OK;
    }

    (void) jpp_problems(worker, problems);

    return jpp_err_set(err, JPP_ERR_STATE, "%s: %s", problems[0].what,
                       problems[0].why);
}


static void
ngx_http_jpp_type_dump(ngx_http_jpp_reply_t *reply)
{
    jpp_owners_settle_all();
}


static void
ngx_http_jpp_type_dump_work(ngx_http_jpp_reply_t *reply)
{
    bool                  was_on;
    uint64_t              start;
    jpp_message_reply_t  *message;

    message = &reply->reply;
    was_on = message->worker.sampler.is_on;

    start = jpp_clock();

    (void) jpp_source_dump(reply->file.fd, &reply->question.ages,
                           &message->worker.sampler, &message->err);

    /* a change may come between the check and the dump */

    if (was_on && !message->worker.sampler.is_on) {
        (void) jpp_err_set(&message->err, JPP_ERR_GONE,
                           "the sampler was switched off before its samples "
                           "were read: POST sampler=on to control, and ask "
                           "again");
    }

    reply->took = (jpp_clock() - start) / 1000000;

    message->worker.has_stats = jpp_stats_read(&message->worker.stats);
}


static void
ngx_http_jpp_type_dump_end(ngx_http_jpp_reply_t *reply)
{
    jpp_loop_add(&ngx_http_jpp_dumps, reply->took);
}


/* What the event loop itself has to change. */

static void
ngx_http_jpp_type_control(ngx_http_jpp_reply_t *reply)
{
    jpp_err_t            *err;
    const jpp_control_t  *control;

    err = &reply->reply.err;
    control = &reply->question.control;

    if (control->stall != -1
        && ngx_http_jpp_stall_start((ngx_cycle_t *) ngx_cycle, control->stall,
                                    err)
           != JPP_OK)
    {
        return;
    }

    if (control->owners != -1) {
        (void) ngx_http_jpp_owners_start((ngx_cycle_t *) ngx_cycle,
                                         control->owners, err);
    }
}


static void
ngx_http_jpp_type_control_work(ngx_http_jpp_reply_t *reply)
{
    uint64_t              before, after;
    jpp_code_t            rc;
    jpp_message_reply_t  *message;

    message = &reply->reply;
    before = reply->question.control.purge ? jpp_usage_private(0) : JPP_NONE;

    rc = jpp_source_control(&reply->question.control, &message->control,
                            &message->err);

    /* a page that others share, too, does not come back, and other threads may
       have taken more meanwhile */

    after = rc == JPP_OK && before != JPP_NONE ? jpp_usage_private(0)
                                               : JPP_NONE;

    if (after != JPP_NONE) {
        message->control.purged = jpp_less(before, after);
    }

    jpp_problems_explain(&message->worker, &message->err);
}


static void
ngx_http_jpp_type_control_end(ngx_http_jpp_reply_t *reply)
{
    ngx_http_jpp_worker_changed(&reply->reply.control);
}


/*
 * Who has what is in no pool takes a dump of this worker's samples.  It is
 * looked for where that is much: once a minute, and when it has grown.
 */

static ngx_uint_t
ngx_http_jpp_outside_is_due(uint64_t bytes)
{
    const ngx_http_jpp_outside_t  *last;

    last = &ngx_http_jpp_outside_last;

    return bytes / 5 * 4 > last->all
           || ngx_current_msec - last->at >= NGX_HTTP_JPP_OUTSIDE_AGE;
}


static ngx_int_t
ngx_http_jpp_type_pools_slice(ngx_http_jpp_reply_t *reply)
{
    bool                  is_short;
    uint64_t              bytes;
    ngx_int_t             rc;
    ngx_http_jpp_walk_t  *walk;

    rc = ngx_http_jpp_pools_walk(reply);

    if (rc != NGX_OK) {
        return rc;
    }

    walk = reply->state;
    bytes = jpp_less(jpp_pools_outside(&walk->table, &is_short),
                     walk->table.facts.outside_inherited);

    if (ngx_http_jpp_self.has_owners && bytes >= NGX_HTTP_JPP_OUTSIDE_MIN) {

        if (ngx_http_jpp_outside_is_due(bytes)) {
            walk->outside.all = bytes;
            walk->outside.at = ngx_current_msec;
            jpp_owners_settle_all();

            return NGX_OK;
        }

        jpp_outside_tell(&ngx_http_jpp_outside_last.owner, &walk->table);
    }

    (void) jpp_pools_save(&walk->table, reply->file.fd, &reply->reply.err);

    return NGX_DONE;
}


/* Without a dump, nobody has it. */

static void
ngx_http_jpp_type_pools_work(ngx_http_jpp_reply_t *reply)
{
    uint64_t              start;
    jpp_err_t             err;
    jpp_arena_t           arena;
    jpp_memfd_t           dump;
    jpp_sampler_state_t   sampler;
    ngx_http_jpp_walk_t  *walk;

    walk = reply->state;
    start = jpp_clock();

    jpp_arena_init(&arena, NGX_HTTP_JPP_OUTSIDE_CAP);

    if (jpp_memfd_open(&dump, ngx_http_jpp_self.directory, &err) == JPP_OK
        && jpp_source_dump(dump.fd, NULL, &sampler, &err) == JPP_OK
        && jpp_memfd_map(&dump, NGX_HTTP_JPP_OUTSIDE_CAP, &err) == JPP_OK)
    {
        jpp_outside_find(&walk->outside.owner, &walk->table, &arena, dump.data,
                         dump.len);
    }

    jpp_memfd_close(&dump);
    jpp_arena_destroy(&arena);

    reply->took = (jpp_clock() - start) / 1000000;

    jpp_outside_tell(&walk->outside.owner, &walk->table);

    (void) jpp_pools_save(&walk->table, reply->file.fd, &reply->reply.err);
}


static void
ngx_http_jpp_type_pools_end(ngx_http_jpp_reply_t *reply)
{
    ngx_http_jpp_walk_t  *walk;

    walk = reply->state;

    if (walk != NULL && walk->outside.all != 0) {
        ngx_http_jpp_outside_last = walk->outside;
        jpp_loop_add(&ngx_http_jpp_dumps, reply->took);
    }
}


const ngx_http_jpp_type_t
    ngx_http_jpp_types[JPP_MESSAGE_TYPES] =
{

    [JPP_MESSAGE_STATUS] = {
        .begin = ngx_http_jpp_type_status,
        .work = ngx_http_jpp_type_status_work,
        .is_brief = 1
    },

    [JPP_MESSAGE_DUMP] = {
        .check = ngx_http_jpp_type_dump_check,
        .begin = ngx_http_jpp_type_dump,
        .work = ngx_http_jpp_type_dump_work,
        .end = ngx_http_jpp_type_dump_end,
        .file = "dump",
        .smaller = ", or lg_prof_sample",
        .is_sampled = 1
    },

    [JPP_MESSAGE_CONTROL] = {
        .begin = ngx_http_jpp_type_control,
        .work = ngx_http_jpp_type_control_work,
        .end = ngx_http_jpp_type_control_end,
        .is_change = 1
    },

    [JPP_MESSAGE_POOLS] = {
        .slice = ngx_http_jpp_type_pools_slice,
        .work = ngx_http_jpp_type_pools_work,
        .end = ngx_http_jpp_type_pools_end,
        .release = ngx_http_jpp_pools_release,
        .file = "table of pools"
    },

    [JPP_MESSAGE_LEDGER] = {
        .slice = ngx_http_jpp_ledger_slice,
        .work = ngx_http_jpp_ledger_work,
        .release = ngx_http_jpp_pools_release,
        .file = "ledger",
        .is_alone = 1
    },

    [JPP_MESSAGE_SMAPS] = {
        .work = ngx_http_jpp_ledger_smaps,
        .file = "smaps_rollup",
        .is_alone = 1
    },

    [JPP_MESSAGE_ARENAS] = {
        .work = ngx_http_jpp_ledger_arenas,
        .file = "list of arenas"
    },

    [JPP_MESSAGE_TIMES] = {
        .check = ngx_http_jpp_cpu_check,
        .begin = ngx_http_jpp_cpu_begin,
        .wait = ngx_http_jpp_cpu_wait,
        .work = ngx_http_jpp_cpu_work,
        .release = ngx_http_jpp_cpu_release,
        .file = "table of stacks",
        .smaller = ", or ask for a lower frequency"
    },

    [JPP_MESSAGE_LUA] = {
        .check = ngx_http_jpp_lua_check,
        .slice = ngx_http_jpp_lua_slice,
        .work = ngx_http_jpp_lua_work,
        .release = ngx_http_jpp_lua_release,
        .file = "heap of LuaJIT",
        .is_alone = 1
    }
};
