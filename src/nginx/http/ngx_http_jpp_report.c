
/*
 * Makes a profile from the parts of a collection: captures with their labels,
 * missing workers, and one call of jpp_report_profile().
 */


#include "ngx_http_jpp_http.h"


/* What the parts become. */
typedef struct {
    ngx_http_jpp_report_t
                     *report;
    jpp_arena_t    *arena;
    jpp_capture_t  *captures;
    jpp_identity_t *whose;       /* of each capture */
    ngx_uint_t      n;

    jpp_worker_t   *workers;     /* that answered */
    jpp_missing_t  *missing;
    jpp_fleet_t     fleet;
} ngx_http_jpp_input_t;


/* Why BEFORE and SHARE cannot be compared; NULL: they can. */

static const char *
ngx_http_jpp_report_compare(const ngx_http_jpp_type_t *type,
    const ngx_http_jpp_part_t *before, const ngx_http_jpp_part_t *part)
{
    if (before == NULL) {
        return "it was started in the meantime";
    }

    if (before->state != NGX_HTTP_JPP_PART_ANSWERED) {
        return "it did not answer the first time";
    }

    /*
     * all earlier samples would seem to have been freed, or those that were
     * freed while there were no new ones
     */

    if (type->is_sampled
        && before->reply.n_resets != part->reply.n_resets)
    {
        return "its samples cannot be compared: in the meantime they were "
               "reset, or active, sampler or lg_sample was changed";
    }

    return NULL;
}


static jpp_capture_t *
ngx_http_jpp_report_capture(ngx_http_jpp_input_t *input,
    const ngx_http_jpp_part_t *part)
{
    jpp_capture_t  *capture;

    input->whose[input->n] = part->row.who;
    capture = &input->captures[input->n++];

    capture->data = part->dump.data;
    capture->len = part->dump.len;
    capture->tail = ngx_http_jpp_self.tail[0] != '\0' ? ngx_http_jpp_self.tail
                                                      : NULL;

    return jpp_recorded_identify(capture, &part->row.who,
                                 input->report->options.parser, NULL,
                                 input->arena)
           ? capture : NULL;
}


static void
ngx_http_jpp_report_missing(ngx_http_jpp_input_t *input,
    const jpp_identity_t *who, const char *why)
{
    jpp_missing_t  *missing;

    missing = &input->missing[input->fleet.n_missing++];

    missing->who = *who;
    missing->why = why;
}


/* The part of the same process, or NULL. */

static const ngx_http_jpp_part_t *
ngx_http_jpp_report_find(const ngx_http_jpp_collection_t *co,
    const ngx_http_jpp_part_t *part)
{
    ngx_uint_t  i;

    for (i = 0; i < co->n; i++) {
        if (ngx_http_jpp_is_row(&co->parts[i].row, &part->row)) {
            return &co->parts[i];
        }
    }

    return NULL;
}


static ngx_int_t
ngx_http_jpp_report_part(ngx_http_jpp_input_t *input,
    const ngx_http_jpp_part_t *part)
{
    const char                 *why;
    jpp_capture_t              *last, *base;
    const jpp_memfd_t          *inherited;
    ngx_http_jpp_report_t      *report;
    const ngx_http_jpp_part_t  *before;

    if (part->state != NGX_HTTP_JPP_PART_ANSWERED) {
        ngx_http_jpp_report_missing(input, &part->row.who,
                                    part->reply.err.text);
        return NGX_OK;
    }

    report = input->report;
    before = NULL;

    if (report->base != NULL && report->base->inquiry.snapshot == 0) {
        before = ngx_http_jpp_report_find(report->base, part);
        why = ngx_http_jpp_report_compare(report->last->type, before, part);

        if (why != NULL) {
            ngx_http_jpp_report_missing(input, &part->row.who, why);
            return NGX_OK;
        }
    }

    input->workers[input->fleet.n++] = part->reply.worker;

    last = ngx_http_jpp_report_capture(input, part);
    if (last == NULL) {
        return NGX_ERROR;
    }

    report->options.time_nanos = part->reply.time_nanos;

    if (before == NULL) {

        inherited = report->options.parser->is_own_baseline ? &part->dump
                                                            : part->baseline;

        if (inherited != NULL && inherited->data != NULL) {
            last->baseline = inherited->data;
            last->baseline_len = inherited->len;
        }

        last->baseline_err = part->baseline_err;

        return NGX_OK;
    }

    base = ngx_http_jpp_report_capture(input, before);

    if (base == NULL) {
        return NGX_ERROR;
    }

    base->is_base = true;

    report->options.duration_nanos = part->reply.time_nanos
                                     - before->reply.time_nanos;
    return NGX_OK;
}


/*
 * All that was held then is subtracted, whoever held it: workers come and go.
 */

static ngx_int_t
ngx_http_jpp_report_recorded(ngx_http_jpp_input_t *input,
    const ngx_http_jpp_collection_t *base)
{
    jpp_capture_t              *capture;
    const ngx_http_jpp_part_t  *part;

    jpp_each(part, base->parts, base->n) {

        if (part->state != NGX_HTTP_JPP_PART_ANSWERED) {
            input->fleet.n_asked++;
            ngx_http_jpp_report_missing(input, &part->row.who,
                                        part->reply.err.text);
            continue;
        }

        capture = ngx_http_jpp_report_capture(input, part);
        if (capture == NULL) {
            return NGX_ERROR;
        }

        capture->is_base = true;
        capture->source = 0;

        input->report->options.duration_nanos =
            input->report->options.time_nanos - part->reply.time_nanos;
    }

    return NGX_OK;
}


/* The answered parts as captures, the others with their reasons. */

static ngx_int_t
ngx_http_jpp_report_parts(ngx_http_jpp_input_t *input)
{
    ngx_uint_t                        i, n;
    const ngx_http_jpp_part_t        *part;
    const ngx_http_jpp_collection_t  *last, *base;

    last = input->report->last;
    base = input->report->base;
    n = last->n + (base != NULL ? base->n : 0);

    input->captures = jpp_arena_alloc(input->arena, n * sizeof(jpp_capture_t));
    input->whose = jpp_arena_alloc(input->arena, n * sizeof(jpp_identity_t));
    input->workers = jpp_arena_alloc(input->arena, n * sizeof(jpp_worker_t));
    input->missing = jpp_arena_alloc(input->arena, n * sizeof(jpp_missing_t));

    if (input->captures == NULL || input->whose == NULL
        || input->workers == NULL
        || input->missing == NULL)
    {
        return NGX_ERROR;
    }

    input->fleet.nginx = NGINX_VERSION;
    input->fleet.host = ngx_http_jpp_self.host;
    input->fleet.n_asked = last->n;
    input->fleet.workers = input->workers;
    input->fleet.missing = input->missing;
    input->fleet.is_of_time = !input->report->options.parser->has_origins;
    input->fleet.is_sampled = last->type->is_sampled;

    for (i = 0; i < last->n; i++) {
        if (ngx_http_jpp_report_part(input, &last->parts[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (base != NULL && base->inquiry.snapshot != 0) {
        return ngx_http_jpp_report_recorded(input, base);
    }

    /* a difference needs workers that were there all the time */

    for (i = 0; base != NULL && i < base->n; i++) {
        part = &base->parts[i];

        if (ngx_http_jpp_report_find(last, part) == NULL) {
            input->fleet.n_asked++;

            ngx_http_jpp_report_missing(input, &part->row.who,
                                        "it exited in the meantime");
        }
    }

    return NGX_OK;
}


/* Workers with bad dumps count as missing. */

static void
ngx_http_jpp_report_comments(void *data, jpp_profile_t *profile)
{
    ngx_http_jpp_input_t *input = data;

    ngx_uint_t              n;
    jpp_worker_t           *worker;
    const uint32_t         *values;
    const jpp_capture_t    *capture;
    ngx_http_jpp_report_t  *report;

    report = input->report;
    values = report->options.args.values;

    worker = input->workers;
    n = 0;

    jpp_each(capture, input->captures, input->n) {

        /* a base shares its error with the capture before it, if it has one */

        if (capture->is_base) {
            if (capture->source == 0 && capture->err.code != JPP_OK) {
                ngx_http_jpp_report_missing(input,
                    &input->whose[capture - input->captures],
                    capture->err.text);
            }

            continue;
        }

        if (capture->err.code == JPP_OK) {
            report->n_unsplit += capture->baseline_err.code != JPP_OK;
            input->workers[n++] = *worker;

        } else {
            ngx_http_jpp_report_missing(input, &worker->who,
                                        capture->err.text);
        }

        worker++;
    }

    input->fleet.n = n;

    if (report->options.parser == &jpp_parser_heap) {
        report->n_findings += jpp_findings_profile(&input->fleet, profile,
            values[JPP_ARG_ORIGIN] == JPP_ORIGIN_ALL
            && values[JPP_ARG_AGE] == 0,
            &report->findings[report->n_findings]);

        input->fleet.findings = report->findings;
        input->fleet.n_findings = report->n_findings;
    }

    jpp_status_comments(&input->fleet, profile);
}


jpp_code_t
ngx_http_jpp_report(ngx_http_jpp_report_t *report, jpp_arena_t *arena,
    jpp_view_t *view, jpp_err_t *err)
{
    jpp_code_t            rc;
    ngx_http_jpp_input_t  input;

    ngx_memzero(&input, sizeof(ngx_http_jpp_input_t));

    input.report = report;
    input.arena = arena;

    report->options.title = jpp_arena_printf(arena, "%s of nginx on %s",
                                             report->options.title,
                                             ngx_http_jpp_self.host);

    if (report->options.title == NULL
        || ngx_http_jpp_report_parts(&input) != NGX_OK)
    {
        return jpp_err_memory(err);
    }

    if (input.n == 0) {
        return jpp_err_set(err, JPP_ERR_GONE,
                           "no worker answered both times: worker %d (pid %d), "
                           "%s: try again",
                           (int) input.missing[0].who.index,
                           (int) input.missing[0].who.pid,
                           input.missing[0].why);
    }

    report->options.comments = ngx_http_jpp_report_comments;
    report->options.data = &input;
    report->options.leaves_out = true;

    rc = jpp_report_profile(arena, &ngx_http_jpp_self.symbols, input.captures,
                            input.n, &report->options, view, err);

    report->n_asked = input.fleet.n_asked;
    report->n_answered = input.fleet.n;

    return rc;
}
