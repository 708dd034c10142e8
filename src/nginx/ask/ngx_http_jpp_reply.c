
#include "ngx_http_jpp_reply.h"
#include "ngx_http_jpp_self.h"


jpp_code_t
ngx_http_jpp_reply_open(ngx_http_jpp_reply_t *reply)
{
    jpp_code_t            rc;
    struct timespec       now;
    jpp_message_reply_t  *message;

    message = &reply->reply;

    if (message->time_nanos == 0) {
        (void) clock_gettime(CLOCK_REALTIME, &now);
        message->time_nanos = (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
    }

    rc = jpp_memfd_open(&reply->file, ngx_http_jpp_self.directory,
                        &message->err);

    if (rc == JPP_ERR_DENIED) {
        (void) jpp_err_set(&message->err, JPP_ERR_DENIED,
                           "memfd_create is forbidden to nginx: set "
                           "jemalloc_pprof_temp_path to a directory for its "
                           "dumps");
    }

    return rc;
}
