
/*
 * Parses a request's path and parameters.  The path:
 *
 *     tree := location [ "worker/" selector "/" ] [ "pprof/" ] resource
 *
 * The segment pprof/ is for jeprof, which accepts no other URLs and reads only
 * text; worker/ is for clients that drop the query.
 */


#include "ngx_http_jpp_resources.h"


typedef struct {
    const ngx_http_jpp_resource_t
                *resource;         /* NULL: none of that name */
    ngx_str_t    selector;         /* no data: the path names no worker */
    ngx_uint_t   is_for_jeprof;
} ngx_http_jpp_path_t;


/* How often each was requested, and with what result, in all workers. */
typedef struct {
    ngx_http_request_t             *request;
    const ngx_http_jpp_resource_t  *resource;
} ngx_http_jpp_count_t;


/* no status: the client left before the answer */

static void
ngx_http_jpp_count_end(void *data)
{
    ngx_http_jpp_count_t *count = data;

    ngx_uint_t            status;
    const char           *name;
    ngx_http_jpp_zone_t  *zone;

    status = count->request->headers_out.status;
    zone = ngx_http_jpp_self.zone;

    /* of a single process, after a reload without a location that serves */

    if (zone == NULL) {
        return;
    }

    name = count->resource == NULL ? "none"
           : count->resource->name.len != 0
             ? (char *) count->resource->name.data : "console";

    ngx_http_jpp_zone_lock(zone);
    jpp_notes_requested(&zone->notes, name,
                        status != 0 ? status : NGX_HTTP_CLIENT_CLOSED_REQUEST);
    ngx_http_jpp_zone_unlock(zone);
}


/* Does a browser show the answer?  It saves a file without a word. */

static ngx_uint_t
ngx_http_jpp_is_shown(const ngx_http_jpp_question_t *question)
{
    const jpp_format_t  *format;

    if (question->resource->evidence.parser == NULL) {
        return 1;
    }

    format = jpp_format_of(&question->args);

    return format->suffix == NULL || format->policy != NULL;
}


/*
 * Find the snapshots that QUESTION is about.  Profiles of memory compare what
 * workers answered then; of other resources the answer itself was recorded.
 */

static jpp_code_t
ngx_http_jpp_find_snapshots(ngx_http_jpp_question_t *question,
    const ngx_http_jpp_handler_t **handler, jpp_err_t *err)
{
    ngx_uint_t                   n, is_profile;
    jpp_snapshot_t               list[JPP_SNAPSHOTS];
    const jpp_args_t            *args;
    const jpp_snapshot_t        *found;
    const ngx_http_jpp_self_t   *self;

    self = &ngx_http_jpp_self;
    args = &question->args;

    question->at = 0;
    question->base = 0;

    if (!args->is_set[JPP_ARG_AT] && !args->is_set[JPP_ARG_BASE]) {
        return JPP_OK;
    }

    is_profile = *handler == &ngx_http_jpp_profile
                 && question->resource->evidence.wall == NULL;

    if ((!is_profile && (args->is_set[JPP_ARG_BASE]
                         || (*handler)->formats == NULL))
        || args->is_set[JPP_ARG_SECONDS])
    {
        return jpp_err_set(err, JPP_ERR_ARG, "at= is for heap, allocs, pools, "
                           "memory, events, grown and snapshots, base= for "
                           "heap, allocs and pools, and both exclude seconds=");
    }

    if (self->snapshots == NULL) {
        return ngx_http_jpp_snapshot_none(err);
    }

    ngx_http_jpp_zone_lock(self->zone);
    n = jpp_snapshots_list(self->snapshots, list);
    ngx_http_jpp_zone_unlock(self->zone);

    if (args->is_set[JPP_ARG_AT]) {
        found = jpp_snapshots_find(list, n, &args->at, ngx_time(), err);
        if (found == NULL) {
            return err->code;
        }

        question->at = found->id;
    }

    if (args->is_set[JPP_ARG_BASE]) {
        found = jpp_snapshots_find(list, n, &args->base, ngx_time(), err);
        if (found == NULL) {
            return err->code;
        }

        question->base = found->id;
    }

    if (!is_profile) {
        *handler = &ngx_http_jpp_recorded;
    }

    return JPP_OK;
}


static ngx_int_t
ngx_http_jpp_answer(ngx_http_request_t *r, const ngx_http_jpp_path_t *path)
{
    jpp_err_t                      err;
    const jpp_parser_t            *parser;
    const jpp_format_t            *legacy;
    ngx_http_jpp_question_t        question;
    ngx_http_jpp_loc_conf_t       *conf;
    const ngx_http_jpp_handler_t  *handler;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    question.resource = path->resource;
    question.conf = conf;

    handler = path->resource->handler;
    parser = path->resource->evidence.parser;

    jpp_args_init(&question.args,
                  handler->formats != NULL ? handler->formats
                                           : &jpp_format_words,
                  parser != NULL ? parser->types : jpp_parser_heap.types);

    question.args.values[JPP_ARG_WORKER] = conf->worker;
    question.args.values[JPP_ARG_SYMBOLIZE] = conf->symbolize;
    question.args.max_seconds = conf->max_seconds;

    if (path->is_for_jeprof) {
        /* What has no form for jeprof says so, as it does for debug=1. */

        legacy = parser != NULL ? jpp_format_legacy(parser) : NULL;

        if (legacy != NULL) {
            question.args.values[JPP_ARG_FORMAT] = (uint32_t) (legacy
                                                               - jpp_formats);

        } else {
            question.args.values[JPP_ARG_DEBUG] = 1;
        }
    }

    /* the first value of a key counts: the path's before the query's */

    if (path->selector.data != NULL
        && jpp_args_set(&question.args, "worker", sizeof("worker") - 1,
                        (char *) path->selector.data, path->selector.len,
                        &err)
           != JPP_OK)
    {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_BAD_PATH, err.text);
    }

    /* a change has keys of its own, such as owners=on */

    if (!handler->is_change
        && jpp_args_query(&question.args, (char *) r->args.data, r->args.len,
                          &err)
           != JPP_OK)
    {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    /* a change looks at it itself */

    if (!handler->is_change
        && ngx_http_jpp_site_is_other(r)
        && !(ngx_http_jpp_site_is_visit(r)
             && ngx_http_jpp_is_shown(&question)))
    {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_CROSS_SITE);
    }

    if (handler->check != NULL
        && handler->check(&question.args, &err) != JPP_OK)
    {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    if (ngx_http_jpp_find_snapshots(&question, &handler, &err) != JPP_OK) {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    return handler->start != NULL
           ? handler->start(r, &question)
           : ngx_http_jpp_job(r, &question, handler, NULL);
}


static ngx_int_t
ngx_http_jpp_admit(ngx_http_request_t *r, const ngx_http_jpp_path_t *path)
{
    ngx_int_t                       rc;
    const char                     *allow;
    const ngx_http_jpp_resource_t  *resource;

    resource = path->resource;

    /* of a single process */

    if (ngx_http_jpp_self.zone == NULL) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_LEFT_OUT);
    }

    /* a change is checked at any address, the rest on loopback only */

    if (((resource != NULL && resource->handler->is_change)
         || ngx_http_jpp_host_is_loopback(r))
        && !ngx_http_jpp_host_is_ours(r))
    {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_BAD_HOST);
    }

    if (resource != NULL && r->method & resource->methods
        && r->method == NGX_HTTP_POST)
    {
        /* it reads its body itself */

        return ngx_http_jpp_answer(r, path);
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    if (resource == NULL) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_NO_RESOURCE,
                                   ngx_http_jpp_resource_names());
    }

    if (!(r->method & resource->methods)) {
        allow = !(resource->methods & NGX_HTTP_GET) ? "POST"
                : resource->methods & NGX_HTTP_POST ? "GET, HEAD, POST"
                                                    : "GET, HEAD";

        return ngx_http_jpp_add_header(r, "Allow", allow) == NGX_OK
               ? ngx_http_jpp_refuse(r, NGX_HTTP_JPP_BAD_METHOD, allow)
               : NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_jpp_answer(r, path);
}


static ngx_uint_t
ngx_http_jpp_segment(ngx_str_t *rest, const char *segment)
{
    size_t  len;

    len = ngx_strlen(segment);

    if (rest->len < len || ngx_strncmp(rest->data, segment, len) != 0) {
        return 0;
    }

    rest->data += len;
    rest->len -= len;

    return 1;
}


/* The path below the root of a tree. */

static void
ngx_http_jpp_walk(ngx_str_t *rest, ngx_http_jpp_path_t *path)
{
    u_char      *slash;
    ngx_uint_t   is_root;

    is_root = rest->len == 0;

    if (ngx_http_jpp_segment(rest, "worker/")) {

        slash = ngx_strlchr(rest->data, rest->data + rest->len, '/');
        if (slash == NULL) {
            return;
        }

        path->selector.data = rest->data;
        path->selector.len = slash - rest->data;

        rest->len -= path->selector.len + 1;
        rest->data = slash + 1;
    }

    path->is_for_jeprof = ngx_http_jpp_segment(rest, "pprof/");

    if (rest->len != 0) {
        path->resource = ngx_http_jpp_resource(rest);

    } else if (is_root) {
        path->resource = &ngx_http_jpp_console;
    }
}


static void
ngx_http_jpp_find(ngx_http_request_t *r, ngx_http_jpp_path_t *path)
{
    ngx_str_t                 rest;
    ngx_http_jpp_loc_conf_t  *conf;

    ngx_memzero(path, sizeof(ngx_http_jpp_path_t));

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    if (conf->is_named) {
        path->resource = conf->resource;
        return;
    }

    /* rewritten requests were refused: this is only a guard */

    if (r->uri.len < conf->name.len
        || ngx_strncmp(r->uri.data, conf->name.data, conf->name.len) != 0)
    {
        return;
    }

    rest.data = r->uri.data + conf->name.len;
    rest.len = r->uri.len - conf->name.len;

    if (conf->resource == NULL) {
        ngx_http_jpp_walk(&rest, path);

    } else if (rest.len == 0) {
        path->resource = conf->resource;
    }
}


ngx_int_t
ngx_http_jpp_handler(ngx_http_request_t *r)
{
    ngx_http_cleanup_t    *cln;
    ngx_http_jpp_path_t    path;
    ngx_http_jpp_count_t  *count;

    /* profiles are for clients: not for SSI, nor for other locations */

    if (r != r->main || r->internal) {
        ngx_log_error(NGX_LOG_WARN, r->connection->log, 0,
                      "jemalloc_pprof: not served to subrequests and internal "
                      "redirects: \"%V\" must be asked for by the client",
                      &r->uri);

        if (r != r->main) {
            return NGX_HTTP_NOT_FOUND;
        }

        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_INTERNAL);
    }

    ngx_http_jpp_find(r, &path);

    /* Count R for RESOURCE, which may be NULL, as it ends. */

    cln = ngx_http_cleanup_add(r, sizeof(ngx_http_jpp_count_t));
    if (cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    count = cln->data;
    count->request = r;
    count->resource = path.resource;

    cln->handler = ngx_http_jpp_count_end;

    return ngx_http_jpp_admit(r, &path);
}
