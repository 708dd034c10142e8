
#include "jpp_worker.h"
#include "jpp_test_golden.h"
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
} jpp_row_t;


static const jpp_row_t  jpp_rows[] = {
    { "nothing", { 0 }, { JPP_STAYS }, 0 },
    { "no change of it", { 60 }, { JPP_STAYS }, 1 },
    { "on for the first time", { 60 }, { JPP_ON }, 1 },
    { "off", { 60 }, { JPP_OFF }, 1 },

    { "off, then on", { 60, 120 }, { JPP_OFF, JPP_ON }, 2 },
    { "within a second", { 60, 60 }, { JPP_OFF, JPP_ON }, 2 },
    { "off once more", { 60, 120, 180, 240 }, { JPP_OFF, JPP_ON, JPP_OFF,
      JPP_ON }, 4 },
    { "late, then off and on", { 30, 60, 120 }, { JPP_ON, JPP_OFF, JPP_ON },
      3 },
    { "a clock that was set back", { 60, 20 }, { JPP_OFF, JPP_ON }, 2 },

    { "a reset", { 60 }, { JPP_RESET }, 1 },
    { "a gap, and a reset", { 60, 120, 180 }, { JPP_OFF, JPP_ON, JPP_RESET },
      3 },
    { "a reset while it is off", { 60, 120, 180 }, { JPP_OFF, JPP_CLEARED,
      JPP_ON }, 3 },
    { "off with a reset", { 60, 120 }, { JPP_EMPTIED, JPP_ON }, 2 },
    { "a reset, then a gap", { 60, 120, 180 }, { JPP_RESET, JPP_OFF, JPP_ON },
      3 }
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

        jpp_note("%s: since %" PRId64 ", %s", row->what, coverage.since,
                 jpp_coverage_has_gap(&coverage)
                 ? jpp_coverage_gap(&coverage, text) : "no gap");
    }

    jpp_shows_notes("since when, and what is missing");

    coverage = (jpp_coverage_t) { INT64_MAX, INT64_MAX, UINT64_MAX };
    jpp_is_str(jpp_coverage_gap(&coverage, text), "18446744073709551615 times "
               "between 9999-12-31T23:59:59Z and 9999-12-31T23:59:59Z",
               "the longest");
}
