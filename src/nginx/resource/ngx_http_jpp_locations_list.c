
#include "ngx_http_jpp_locations_list.h"

#include "jpp_locations_pools.h"
#include "jpp_locations_write.h"
#include "jpp_problems.h"


/* names, functions, cells; tables of pools are read in place */
#define NGX_HTTP_JPP_LOCATIONS_CAP(max_size)                       \
    (4 * (max_size) + 256 * 1024 * 1024)


/* A list that is being made. */
typedef struct {
    ngx_http_jpp_locations_list_t                *list;
    jpp_locations_t                               locations;
    const ngx_http_jpp_measure_t      *measure;  /* at hand */
    const ngx_http_jpp_collection_t   *answers;  /* to that */
    ngx_http_jpp_report_t              report;   /* of those */
} ngx_http_jpp_listing_t;


static jpp_code_t ngx_http_jpp_listing_fill(ngx_http_jpp_listing_t *listing,
    jpp_err_t *err);
static void ngx_http_jpp_listing_pools(ngx_http_jpp_listing_t *listing);
static jpp_code_t ngx_http_jpp_listing_profile(ngx_http_jpp_listing_t *listing,
    jpp_err_t *err);
static bool ngx_http_jpp_listing_take(void *taker, const jpp_view_t *view);
static void ngx_http_jpp_listing_absent(ngx_http_jpp_listing_t *listing);
static jpp_code_t ngx_http_jpp_listing_write(ngx_http_jpp_listing_t *listing,
    jpp_err_t *err);


const ngx_http_jpp_measure_t
    ngx_http_jpp_measures[JPP_LOCATIONS_MEASURES] =
{
    { JPP_LOCATIONS_CPU, JPP_MESSAGE_TIMES, &jpp_reader_cpu },
    { JPP_LOCATIONS_HELD, JPP_MESSAGE_POOLS, NULL },
    { JPP_LOCATIONS_SAMPLED, JPP_MESSAGE_DUMP, &jpp_reader_heap }
};


jpp_code_t
ngx_http_jpp_locations_list(ngx_http_jpp_locations_list_t *list, jpp_err_t *err)
{
    jpp_code_t               rc;
    jpp_arena_t              arena;
    ngx_http_jpp_listing_t  *listing;

    jpp_arena_init(&arena, NGX_HTTP_JPP_LOCATIONS_CAP(list->max_size));

    listing = jpp_arena_alloc(&arena, sizeof(ngx_http_jpp_listing_t));

    if (listing == NULL) {
        jpp_arena_destroy(&arena);
        return jpp_err_memory(err);
    }

    listing->list = list;
    listing->report.max_size = list->max_size;

    jpp_locations_init(&listing->locations, &arena, &list->args);

    rc = ngx_http_jpp_listing_fill(listing, err);

    if (rc == JPP_OK) {
        rc = ngx_http_jpp_listing_write(listing, err);
    }

    jpp_arena_destroy(&arena);

    return rc;
}


static jpp_code_t
ngx_http_jpp_listing_fill(ngx_http_jpp_listing_t *listing, jpp_err_t *err)
{
    jpp_code_t  rc;
    ngx_uint_t  i;

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {

        listing->measure = &ngx_http_jpp_measures[i];
        listing->answers = listing->list->readers[i].collection;

        if (listing->answers == NULL || listing->answers->n_answered == 0) {
            ngx_http_jpp_listing_absent(listing);
            continue;
        }

        if (listing->measure->reader == NULL) {
            ngx_http_jpp_listing_pools(listing);
            continue;
        }

        rc = ngx_http_jpp_listing_profile(listing, err);

        if (rc != JPP_OK) {
            return rc;
        }
    }

    return jpp_locations_close(&listing->locations) ? JPP_OK
                                                    : jpp_err_memory(err);
}


static void
ngx_http_jpp_listing_pools(ngx_http_jpp_listing_t *listing)
{
    ngx_uint_t                               i;
    jpp_missing_t                            missing;
    const ngx_http_jpp_share_t              *share;

    for (i = 0; i < listing->answers->n; i++) {
        share = &listing->answers->shares[i];

        ngx_http_jpp_share_missing(share, share->peer.reply.err.text, &missing);

        jpp_locations_pools(&listing->locations, &missing.who,
                            share->state == NGX_HTTP_JPP_SHARE_ANSWERED
            ? share->dump.data : NULL, share->dump.len, missing.why);
    }
}


/* As the resource of that profile would be, up to its format. */

static jpp_code_t
ngx_http_jpp_listing_profile(ngx_http_jpp_listing_t *listing, jpp_err_t *err)
{
    jpp_code_t              rc;
    uint32_t               *values;
    jpp_report_options_t   *options;
    ngx_http_jpp_report_t  *report;

    report = &listing->report;
    options = &report->options;

    jpp_report_options_init(options);

    options->reader = listing->measure->reader;
    options->args = listing->list->args;
    options->args.is_set[JPP_ARG_BY] = true;
    options->take = ngx_http_jpp_listing_take;
    options->taker = listing;

    values = options->args.values;

    values[JPP_ARG_FORMAT] = jpp_format_find("top") - jpp_formats;
    values[JPP_ARG_DEBUG] = 0;
    values[JPP_ARG_TYPE] = options->reader->types->value;
    values[JPP_ARG_ORIGIN] = JPP_ORIGIN_ALL;

    report->last = listing->answers;
    report->n_findings = 0;

    jpp_arena_init(&report->arena, 0);

    rc = ngx_http_jpp_report(report, err);

    jpp_arena_destroy(&report->arena);

    if (rc == JPP_OK || rc == JPP_ERR_MEMORY) {
        return rc;
    }

    jpp_locations_absent(&listing->locations, listing->measure->measure,
                         err->text, "");

    return JPP_OK;
}


static bool
ngx_http_jpp_listing_take(void *taker, const jpp_view_t *view)
{
    ngx_http_jpp_listing_t *listing = taker;

    jpp_locations_take(&listing->locations, listing->measure->measure, view);

    return !listing->locations.failed;
}


/* Nobody answered: all workers mostly have the reason of the first. */

static void
ngx_http_jpp_listing_absent(ngx_http_jpp_listing_t *listing)
{
    jpp_err_t                    err;
    const char                  *why, *cure;
    jpp_problem_t                problems[JPP_MAX_PROBLEMS];
    const jpp_message_reply_t   *reply;

    why = "nobody has looked at it";
    cure = "locations?seconds=5 does, for 5 seconds";

    if (listing->answers != NULL) {
        reply = &listing->answers->shares[0].peer.reply;
        why = reply->err.text;
        cure = "";

        if (listing->answers->kind->is_sampled
            && reply->err.code == JPP_ERR_STATE
            && jpp_problems(&reply->worker, problems) != 0
            && problems[0].is_fatal)
        {
            (void) jpp_err_set(&err, JPP_ERR_STATE, "%s: %s",
                               problems[0].what, problems[0].why);
            why = err.text;
            cure = problems[0].cure;
        }
    }

    jpp_locations_absent(&listing->locations, listing->measure->measure, why,
                         cure);
}


/* To pages of its own: a response may live long. */

static jpp_code_t
ngx_http_jpp_listing_write(ngx_http_jpp_listing_t *listing, jpp_err_t *err)
{
    uint8_t                        *buffer;
    jpp_vec_t                      *out;
    jpp_sink_t                      sink;
    jpp_arena_t                    *arena;
    ngx_http_jpp_locations_list_t  *list;

    arena = listing->locations.arena;
    list = listing->list;

    buffer = jpp_arena_alloc(arena, JPP_SINK_BUFFER);
    out = jpp_vec_create(arena);

    if (buffer == NULL || out == NULL) {
        return jpp_err_memory(err);
    }

    jpp_sink_init(&sink, buffer, JPP_SINK_BUFFER, jpp_sink_to_vec, out);

    if (!jpp_locations_write(&listing->locations, &sink)
        || jpp_sink_flush(&sink) != 0)
    {
        return jpp_err_memory(err);
    }

    list->len = out->len;
    list->body = jpp_arena_keep(&list->arena, out);

    return list->body != NULL ? JPP_OK : jpp_err_memory(err);
}
