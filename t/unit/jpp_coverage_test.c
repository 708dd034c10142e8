
#include "jpp_worker.h"
#include "jpp_test_main.h"


/* changes: was active, is active, all samples are forgotten */
#define JPP_OFF      { .was_active = true }
#define JPP_ON       { .is_active = true }
#define JPP_STAYS    { .was_active = true, .is_active = true }
#define JPP_RESET                                                             \
    { .was_active = true, .is_active = true, .is_reset = true }
#define JPP_EMPTIED  { .was_active = true, .is_reset = true }
#define JPP_CLEARED  { .is_reset = true }

#define JPP_CHANGES  5


typedef struct {
    const char             *what;
    int64_t                 times[JPP_CHANGES];
    jpp_control_result_t    changes[JPP_CHANGES];
    size_t                  n;
    int64_t                 since;
    const char             *gap;       /* NULL: there is none */
} jpp_row_t;


static const jpp_row_t  jpp_rows[] = {
    { "nothing", { 0 }, { JPP_STAYS }, 0, 0, NULL },
    { "no change of it", { 60 }, { JPP_STAYS }, 1, 0, NULL },
    { "on for the first time", { 60 }, { JPP_ON }, 1, 60, NULL },
    { "off", { 60 }, { JPP_OFF }, 1, 0, NULL },

    { "off, then on", { 60, 120 }, { JPP_OFF, JPP_ON }, 2, 120,
      "from 1970-01-01T00:01:00Z to 1970-01-01T00:02:00Z" },
    { "within a second", { 60, 60 }, { JPP_OFF, JPP_ON }, 2, 60,
      "from 1970-01-01T00:01:00Z to 1970-01-01T00:01:00Z" },
    { "off once more", { 60, 120, 180, 240 },
      { JPP_OFF, JPP_ON, JPP_OFF, JPP_ON }, 4, 240,
      "2 times between 1970-01-01T00:01:00Z and 1970-01-01T00:04:00Z" },
    { "late, then off and on", { 30, 60, 120 }, { JPP_ON, JPP_OFF, JPP_ON }, 3,
      120, "from 1970-01-01T00:01:00Z to 1970-01-01T00:02:00Z" },
    { "a clock that was set back", { 60, 20 }, { JPP_OFF, JPP_ON }, 2, 60,
      "from 1970-01-01T00:01:00Z to 1970-01-01T00:01:00Z" },

    { "a reset", { 60 }, { JPP_RESET }, 1, 60, NULL },
    { "a gap, and a reset", { 60, 120, 180 }, { JPP_OFF, JPP_ON, JPP_RESET },
      3, 180, NULL },
    { "a reset while it is off", { 60, 120, 180 },
      { JPP_OFF, JPP_CLEARED, JPP_ON }, 3, 180, NULL },
    { "off with a reset", { 60, 120 }, { JPP_EMPTIED, JPP_ON }, 2, 120, NULL },
    { "a reset, then a gap", { 60, 120, 180 }, { JPP_RESET, JPP_OFF, JPP_ON },
      3, 180, "from 1970-01-01T00:02:00Z to 1970-01-01T00:03:00Z" }
};


JPP_TEST(jpp_coverage_test)
{
    char              text[JPP_COVERAGE_TEXT];
    size_t            i, k;
    jpp_coverage_t    coverage;
    const jpp_row_t  *row;

    for (i = 0; i < sizeof(jpp_rows) / sizeof(jpp_rows[0]); i++) {
        row = &jpp_rows[i];

        memset(&coverage, 0, sizeof(jpp_coverage_t));

        for (k = 0; k < row->n; k++) {
            jpp_coverage_changed(&coverage, &row->changes[k], row->times[k]);
        }

        jpp_is_i64(coverage.since, row->since, "%s: since when", row->what);
        jpp_is_u64(jpp_coverage_has_gap(&coverage), row->gap != NULL,
                   "%s: a gap", row->what);

        if (row->gap != NULL) {
            jpp_is_str(jpp_coverage_gap(&coverage, text), row->gap, "%s: when",
                       row->what);
        }
    }

    coverage = (jpp_coverage_t) { INT64_MAX, INT64_MAX, UINT64_MAX };
    jpp_is_str(jpp_coverage_gap(&coverage, text), "18446744073709551615 times "
               "between 9999-12-31T23:59:59Z and 9999-12-31T23:59:59Z",
               "the longest");
}
