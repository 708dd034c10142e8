
#include "jpp_args.h"
#include "jpp_test_main.h"


typedef struct {
    const char  *accept;
    unsigned     text;                 /* text/plain */
    unsigned     metrics;              /* application/openmetrics-text */
} jpp_accept_row_t;


static const jpp_accept_row_t  jpp_accept_rows[] = {

    { "", 0, 0 },
    { "*/*", 1000, 1000 },
    { "text/plain", 1000, 0 },
    { "text/*;q=0.5", 500, 0 },
    { "TEXT/Plain", 1000, 0 },
    { "text/plainer", 0, 0 },
    { "text", 0, 0 },

    /* Prometheus 2.42 */

    { "application/openmetrics-text;version=1.0.0,"
      "application/openmetrics-text;version=0.0.1;q=0.75,"
      "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", 500, 1000 },

    { "application/openmetrics-text; q=0.3 , text/plain ; q=0.9", 900, 300 },
    { "\tapplication/openmetrics-text\t;\tQ\t=\t0.25\t", 0, 250 },

    /* what fits best counts, wherever it stands */

    { "*/*;q=0.9, text/plain;q=0", 0, 900 },
    { "text/plain;q=0.1, text/*, */*", 100, 1000 },

    /* qualities that are none */

    { "text/plain;q=2", 0, 0 },
    { "text/plain;q=1.001", 0, 0 },
    { "text/plain;q=1.000", 1000, 0 },
    { "text/plain;q=0.0001", 0, 0 },
    { "text/plain;q=0.x", 0, 0 },
    { "text/plain;q=", 0, 0 },
    { "text/plain;q", 0, 0 },
    { "text/plain;q=0.", 0, 0 },
    { "text/plain;q=0;q=1", 0, 0 },

    { ",,;;=,text/plain,;q=1", 1000, 0 }
};


JPP_TEST(jpp_accept_test)
{
    char                     large[4096];
    size_t                   i, len;
    const jpp_accept_row_t  *row;

    for (i = 0; i < sizeof(jpp_accept_rows) / sizeof(jpp_accept_rows[0]); i++)
    {
        row = &jpp_accept_rows[i];
        len = strlen(row->accept);

        jpp_is_u64(jpp_accept(row->accept, len, "text/plain"), row->text,
                   "text in \"%s\"", row->accept);
        jpp_is_u64(jpp_accept(row->accept, len,
                              "application/openmetrics-text"), row->metrics,
                   "metrics in it");
    }

    memset(large, ',', sizeof(large));
    jpp_is_u64(jpp_accept(large, sizeof(large), "text/plain"), 0,
               "4 KiB of commas");

    memset(large, 'q', sizeof(large));
    jpp_is_u64(jpp_accept(large, sizeof(large), "text/plain"), 0,
               "a type of 4 KiB");
}
