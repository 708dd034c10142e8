
/*
 * jemalloc's counters: bytes allocated, held and retained, and operations so
 * far.
 */


#include "jpp_jemalloc.h"


typedef enum {
    JPP_STATS_SIZE,
    JPP_STATS_PAGES,
    JPP_STATS_UNSIGNED
} jpp_stats_width_t;


typedef struct {
    const char         *ctl;
    size_t              offset;
    jpp_stats_width_t   width;
    bool                is_sum;
} jpp_stats_row_t;


typedef struct {
    jpp_vec_t          *out;
    bool                failed;
} jpp_stats_report_t;


#define JPP_STATS_SUM(name, ctl, width)                                   \
    { ctl, offsetof(jpp_stats_t, name), JPP_STATS_##width, true },

#define JPP_STATS_DETAIL(name, ctl, width)                                \
    { ctl, offsetof(jpp_stats_t, name), JPP_STATS_##width, false },

static const jpp_stats_row_t  jpp_stats_rows[] = {
    JPP_STATS_SUMS(JPP_STATS_SUM)
    JPP_STATS_DETAILS(JPP_STATS_DETAIL)
};


static bool
jpp_stats_get(const jpp_stats_row_t *row, uint64_t page, uint64_t *value)
{
    unsigned  number;

    if (row->width == JPP_STATS_UNSIGNED) {

        if (!jpp_mallctl_get(row->ctl, &number, sizeof(number))) {
            return false;
        }

        *value = number;
        return true;
    }

    if (!jpp_mallctl_get(row->ctl, value, sizeof(uint64_t))) {
        return false;
    }

    if (row->width == JPP_STATS_PAGES) {
        *value *= page;
        return page != 0;
    }

    return true;
}


bool
jpp_stats_read(jpp_stats_t *stats)
{
    size_t                  page;
    uint64_t                epoch, *value;
    const jpp_stats_row_t  *row;

    memset(stats, 0, sizeof(jpp_stats_t));

    /* the counters are those of the last epoch */

    epoch = 1;

    if (jpp_mallctl_call("epoch", NULL, 0, &epoch, sizeof(epoch)) != 0) {
        return false;
    }

    if (!jpp_mallctl_get("arenas.page", &page, sizeof(page))) {
        page = 0;
    }

    jpp_each_of(row, jpp_stats_rows) {
        value = (uint64_t *) (void *) ((char *) stats + row->offset);

        if (jpp_stats_get(row, page, value)) {
            continue;
        }

        if (row->is_sum) {
            return false;
        }

        *value = JPP_NONE;
    }

    return true;
}


bool
jpp_stats_thread(uint64_t *bytes)
{
    uint64_t  allocated, deallocated;

    if (!jpp_mallctl_get("thread.allocated", &allocated, sizeof(uint64_t))
        || !jpp_mallctl_get("thread.deallocated", &deallocated,
                            sizeof(uint64_t)))
    {
        return false;
    }

    *bytes = allocated - deallocated;

    return true;
}


/* 4096 is MALLCTL_ARENAS_ALL, as above */

uint64_t
jpp_stats_internal(void)
{
    uint64_t  bytes;

    return jpp_mallctl_get("stats.arenas.4096.internal", &bytes, sizeof(bytes))
           ? bytes : 0;
}


static void
jpp_stats_append(void *ctx, const char *text)
{
    jpp_stats_report_t  *report = ctx;

    report->failed = report->failed
                     || jpp_sink_to_vec(report->out, (const uint8_t *) text,
                                        strlen(text)) != 0;
}


jpp_code_t
jpp_stats_report(jpp_vec_t *out, jpp_err_t *err)
{
    jpp_stats_report_t  report = { out, false };

    if (!jpp_mallctl_print(jpp_stats_append, &report)) {
        return jpp_err_set(err, JPP_ERR_STATE,
                           "there is no jemalloc that counts by arena");
    }

    return report.failed ? jpp_err_memory(err) : JPP_OK;
}
