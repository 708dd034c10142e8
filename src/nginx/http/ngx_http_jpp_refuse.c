
/*
 * Refusals: every error response of the module.
 *
 * One table has a row for each: status, level of the log, Retry-After and the
 * sentence.  A new refusal is a row.  All functions send the answer and return
 * what a content handler returns; they first discard a body that was not read.
 */


#include "ngx_http_jpp_http.h"


/* the longest text: two sentences of the core, and some words */
#define NGX_HTTP_JPP_MAX_TEXT  1536


typedef struct {
    ngx_uint_t     status;
    ngx_uint_t     level;          /* of the log */
    const char    *retry_after;    /* seconds, or NULL */
    const char    *fmt;            /* as of ngx_sprintf() */
} ngx_http_jpp_refusal_t;


/* The rows of errors of the core, by their codes; the others are FAILED. */

#define NGX_HTTP_JPP_BAD_VALUE                                                \
    { NGX_HTTP_BAD_REQUEST, NGX_LOG_INFO, NULL, "%s" }

#define NGX_HTTP_JPP_TAKEN                                                    \
    { NGX_HTTP_CONFLICT, NGX_LOG_WARN, NULL, "%s" }

#define NGX_HTTP_JPP_CROWDED                                                  \
    { NGX_HTTP_TOO_MANY_REQUESTS, NGX_LOG_INFO, "1", "%s" }

#define NGX_HTTP_JPP_ABSENT                                                   \
    { NGX_HTTP_NOT_IMPLEMENTED, NGX_LOG_WARN, NULL, "%s" }

#define NGX_HTTP_JPP_UNRECORDED                                               \
    { NGX_HTTP_NOT_FOUND, NGX_LOG_INFO, NULL, "%s" }

#define NGX_HTTP_JPP_BROKEN                                                   \
    { NGX_HTTP_INTERNAL_SERVER_ERROR, NGX_LOG_WARN, NULL, "%s" }

#define NGX_HTTP_JPP_TIMED_OUT                                                \
    { NGX_HTTP_GATEWAY_TIME_OUT, NGX_LOG_WARN, NULL, "%s" }

#define NGX_HTTP_JPP_BAD_DUMP                                                 \
    { NGX_HTTP_SERVICE_UNAVAILABLE, NGX_LOG_WARN, NULL,                       \
      "jemalloc's dump came back incomplete: %s. A worker needs five free "   \
      "descriptors (worker_rlimit_nofile), memory, and /proc" }


/* A client's fault is logged as info, the server's as a warning. */

static const ngx_http_jpp_refusal_t
    ngx_http_jpp_refusals[NGX_HTTP_JPP_REASONS] =
{
    [JPP_ERR_ARG] = NGX_HTTP_JPP_BAD_VALUE,
    [JPP_ERR_INPUT] = NGX_HTTP_JPP_BAD_DUMP,
    [JPP_ERR_CUT] = NGX_HTTP_JPP_BAD_DUMP,
    [JPP_ERR_TAIL] = NGX_HTTP_JPP_BAD_DUMP,
    [JPP_ERR_WRITE] = NGX_HTTP_JPP_BROKEN,
    [JPP_ERR_JEMALLOC] = NGX_HTTP_JPP_BROKEN,
    [JPP_ERR_STATE] = NGX_HTTP_JPP_BROKEN,
    [JPP_ERR_LATE] = NGX_HTTP_JPP_TIMED_OUT,
    [JPP_ERR_FULL] = NGX_HTTP_JPP_CROWDED,
    [JPP_ERR_BUSY] = NGX_HTTP_JPP_CROWDED,
    [JPP_ERR_TAKEN] = NGX_HTTP_JPP_TAKEN,
    [JPP_ERR_ABSENT] = NGX_HTTP_JPP_ABSENT,
    [JPP_ERR_MISSING] = NGX_HTTP_JPP_UNRECORDED,

    [NGX_HTTP_JPP_INTERNAL] =
        { NGX_HTTP_NOT_FOUND, NGX_LOG_INFO, NULL,
          "profiles are not served to internal redirects: request their own "
          "URL" },

    [NGX_HTTP_JPP_NO_RESOURCE] =
        { NGX_HTTP_NOT_FOUND, NGX_LOG_INFO, NULL,
          "no such resource here: use one of %V" },

    [NGX_HTTP_JPP_NO_WORKER] =
        { NGX_HTTP_NOT_FOUND, NGX_LOG_INFO, NULL,
          "no such worker: status lists all workers" },

    [NGX_HTTP_JPP_BAD_PATH] =
        { NGX_HTTP_NOT_FOUND, NGX_LOG_INFO, NULL, "%s" },

    [NGX_HTTP_JPP_BAD_METHOD] =
        { NGX_HTTP_NOT_ALLOWED, NGX_LOG_INFO, NULL,
          "the method is not allowed here: use %s" },

    [NGX_HTTP_JPP_BAD_HOST] =
        { NGX_HTTP_MISDIRECTED_REQUEST, NGX_LOG_INFO, NULL,
          "the host of this request is not a name of this server, so a page "
          "of another site may have sent it (DNS rebinding): add the name to "
          "server_name, or use an IP address or localhost in the URL" },

    [NGX_HTTP_JPP_CONTROL_OFF] =
        { NGX_HTTP_FORBIDDEN, NGX_LOG_INFO, NULL,
          "control is off in this location: add control=on to its "
          "jemalloc_pprof directive, and restrict who can reach it" },

    [NGX_HTTP_JPP_CLIENTS_OFF] =
        { NGX_HTTP_FORBIDDEN, NGX_LOG_INFO, NULL,
          "clients are not shown in this location: add clients=on to its "
          "jemalloc_pprof directive, and restrict who can reach it" },

    [NGX_HTTP_JPP_FOREIGN] =
        { NGX_HTTP_FORBIDDEN, NGX_LOG_INFO, NULL,
          "control refuses requests that a page of another site sends: use "
          "curl" },

    [NGX_HTTP_JPP_CROSS_SITE] =
        { NGX_HTTP_FORBIDDEN, NGX_LOG_INFO, NULL,
          "a page of another site sent this request, and would not show the "
          "answer: paste the URL into the address bar, or use curl" },

    [NGX_HTTP_JPP_OVER] =
        { NGX_HTTP_CONFLICT, NGX_LOG_INFO, NULL,
          "the finding %s does not hold: it is over, or so new that it is not "
          "recorded yet; status lists the findings that hold" },

    [NGX_HTTP_JPP_LARGE_BODY] =
        { NGX_HTTP_REQUEST_ENTITY_TOO_LARGE, NGX_LOG_INFO, NULL,
          "more than %ui bytes of addresses: send fewer at once" },

    [NGX_HTTP_JPP_LARGE_FORM] =
        { NGX_HTTP_REQUEST_ENTITY_TOO_LARGE, NGX_LOG_INFO, NULL,
          "the form is larger than %ui bytes: control takes %s" },

    [NGX_HTTP_JPP_BUSY] =
        { NGX_HTTP_TOO_MANY_REQUESTS, NGX_LOG_INFO, "1",
          "this worker has too many requests for profiles at once: try "
          "again in a second, with fewer scrapers" },

    [NGX_HTTP_JPP_FULL] =
        { NGX_HTTP_TOO_MANY_REQUESTS, NGX_LOG_INFO, "1",
          "dumps and answers would use more than %ui times the %uz bytes of "
          "jemalloc_pprof_max_size: try again in a second, with fewer "
          "scrapers, or raise jemalloc_pprof_max_size" },

    [NGX_HTTP_JPP_OFF] =
        { NGX_HTTP_FORBIDDEN, NGX_LOG_INFO, NULL, "%s: %s.\n%s" },

    [NGX_HTTP_JPP_UNABLE] =
        { NGX_HTTP_NOT_IMPLEMENTED, NGX_LOG_WARN, NULL, "%s: %s.\n%s" },

    [NGX_HTTP_JPP_FAILED] =
        { NGX_HTTP_SERVICE_UNAVAILABLE, NGX_LOG_WARN, NULL, "%s" },

    [NGX_HTTP_JPP_INCOMPLETE] =
        { NGX_HTTP_SERVICE_UNAVAILABLE, NGX_LOG_WARN, NULL,
          "only %ui of %ui workers answered, and strict=1 requires all: %s" },

    [NGX_HTTP_JPP_UNSPLIT] =
        { NGX_HTTP_SERVICE_UNAVAILABLE, NGX_LOG_WARN, NULL,
          "strict=1 refuses: the baseline of %ui of %ui workers is missing, so "
          "inherited memory would count as their own; without strict=1, a "
          "comment of the profile gives the reason" },

    [NGX_HTTP_JPP_GAP] =
        { NGX_HTTP_SERVICE_UNAVAILABLE, NGX_LOG_WARN, NULL,
          "strict=1 refuses: the samples of %ui of %ui workers lack "
          "allocations from a time when jemalloc's sampling was off; POST "
          "reset=1 to control to begin with complete ones, or ask without "
          "strict=1 to see the time" },

    [NGX_HTTP_JPP_LEFT_OUT] =
        { NGX_HTTP_SERVICE_UNAVAILABLE, NGX_LOG_INFO, NULL,
          "a reload has removed this location, and this old connection cannot "
          "serve profiles: add the location again and restart nginx" },

    [NGX_HTTP_JPP_STARTING] =
        { NGX_HTTP_SERVICE_UNAVAILABLE, NGX_LOG_INFO, "1",
          "this worker is being started: try again in a second" },

    [NGX_HTTP_JPP_LEAVING] =
        { NGX_HTTP_SERVICE_UNAVAILABLE, NGX_LOG_WARN, NULL,
          "this worker is shutting down: ask again, another one will answer" },

    [NGX_HTTP_JPP_LATE] =
        { NGX_HTTP_GATEWAY_TIME_OUT, NGX_LOG_WARN, NULL,
          "no worker answered in time: worker %uD (pid %L), %s" },

    [NGX_HTTP_JPP_OVERDUE] =
        { NGX_HTTP_GATEWAY_TIME_OUT, NGX_LOG_WARN, NULL,
          "the worker's background thread did not finish within %s: raise "
          "jemalloc_pprof_timeout, or lower the number of samples with a "
          "larger lg_prof_sample" },

};


ngx_int_t
ngx_http_jpp_refuse(ngx_http_request_t *r, ngx_uint_t reason, ...)
{
    u_char                        *p, *text, *line;
    va_list                        args;
    ngx_int_t                      rc;
    const ngx_http_jpp_refusal_t  *row;

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    row = &ngx_http_jpp_refusals[reason];

    if (row->fmt == NULL) {
        row = &ngx_http_jpp_refusals[NGX_HTTP_JPP_FAILED];
    }

    text = ngx_pnalloc(r->pool, NGX_HTTP_JPP_MAX_TEXT);
    if (text == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    va_start(args, reason);
    p = ngx_vslprintf(text, text + NGX_HTTP_JPP_MAX_TEXT - 1, row->fmt, args);
    va_end(args);

    /* a log entry is one line; a fix may be several */

    line = ngx_strlchr(text, p, LF);
    if (line == NULL) {
        line = p;
    }

    ngx_log_error(row->level, r->connection->log, 0,
                  "jemalloc_pprof: %*s", (size_t) (line - text), text);

    *p++ = LF;

    /* without it pprof shows only the status */

    if (ngx_http_jpp_add_header(r, "X-Go-Pprof", "1") != NGX_OK
        || ngx_http_jpp_add_header(r, "Retry-After", row->retry_after)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_jpp_send(r, row->status, &ngx_http_jpp_text, text,
                             p - text);
}


ngx_int_t
ngx_http_jpp_refuse_error(ngx_http_request_t *r, const jpp_err_t *err)
{
    return ngx_http_jpp_refuse(r, err->code, err->text);
}


ngx_int_t
ngx_http_jpp_refuse_answer(ngx_http_request_t *r,
    const ngx_http_jpp_type_t *type, const jpp_err_t *err)
{
    return !type->is_sampled
           && (err->code == JPP_ERR_INPUT || err->code == JPP_ERR_CUT
               || err->code == JPP_ERR_TAIL)
           ? ngx_http_jpp_refuse(r, NGX_HTTP_JPP_FAILED, err->text)
           : ngx_http_jpp_refuse_error(r, err);
}


ngx_int_t
ngx_http_jpp_refuse_full(ngx_http_request_t *r)
{
    ngx_http_jpp_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_FULL,
                               (ngx_uint_t) NGX_HTTP_JPP_TOTAL, conf->max_size);
}
