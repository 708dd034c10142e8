
#include "ngx_http_jpp_cpu.h"
#include "ngx_http_jpp_unwind.h"

#include "jpp_cpu.h"
#include "jpp_source.h"


jpp_code_t
ngx_http_jpp_cpu_check(const jpp_worker_t *worker, jpp_err_t *err)
{
    return jpp_cpu_check(err);
}


void
ngx_http_jpp_cpu_begin(ngx_http_jpp_reply_t *reply)
{
    unsigned                    was_sampled;
    struct timespec             now;
    const jpp_message_times_t  *times;

    times = &reply->question.times;

    /* what the unwinder has to learn about libraries allocates */

    was_sampled = jpp_source_sample_thread(JPP_SOURCE_BY_NONE);

    reply->state = jpp_cpu_open(times->mode, times->frequency,
                                &reply->reply.err);

    (void) jpp_source_sample_thread(was_sampled);

    (void) clock_gettime(CLOCK_REALTIME, &now);
    reply->reply.time_nanos = (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;

    ngx_http_jpp_unwind_watch();
}


ngx_msec_t
ngx_http_jpp_cpu_wait(const jpp_message_question_t *question)
{
    return (ngx_msec_t) question->times.seconds * 1000;
}


void
ngx_http_jpp_cpu_work(ngx_http_jpp_reply_t *reply)
{
    (void) jpp_cpu_dump(reply->state, reply->why_early, reply->file.fd,
                        &reply->reply.err);
}


void
ngx_http_jpp_cpu_release(ngx_http_jpp_reply_t *reply)
{
    jpp_cpu_close(reply->state);
    reply->state = NULL;
}
