
#include "jpp_args.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


static const char  *accepted[] = {
    "", "*/*", "text/plain", "text/*;q=0.5", "TEXT/Plain", "text/plainer",
    "text",

    /* Prometheus 2.42 */

    "application/openmetrics-text;version=1.0.0,"
    "application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",

    "application/openmetrics-text; q=0.3 , text/plain ; q=0.9",
    "\tapplication/openmetrics-text\t;\tQ\t=\t0.25\t",
    "*/*;q=0.9, text/plain;q=0", "text/plain;q=0.1, text/*, */*",
    "text/plain;q=1", "text/plain;q=2.5", "text/plain ,",
    "text/plain;q=2", "text/plain;q=1.001", "text/plain;q=1.000",
    "text/plain;q=0.0001", "text/plain;q=0.1234", "text/plain;q=0.x",
    "text/plain;q=", "text/plain;q",
    "text/plain;q=0.", "text/plain;q=0;q=1", ",,;;=,text/plain,;q=1",
    "text/plain;q=0x5", "text/plain;q=0.5/", "text/plain;q=0.09", "text/p",
    "image/*", "a/b", "text/plain;r=0", "text/plain;q=0.2,text/plain;q=0.7",
    "text/plain;q=0.7,text/plain;q=0.2", "text/plain;q=0.123"
};


JPP_TEST(jpp_accept_test)
{
    char         large[4096];
    size_t       i, len;
    const char  *accept;

    for (i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        accept = accepted[i];
        len = strlen(accept);

        jpp_note("%s: text %u, metrics %u", accept,
                 jpp_accept(accept, len, "text/plain"),
                 jpp_accept(accept, len, "application/openmetrics-text"));
    }

    jpp_shows_notes("qualities; what fits best counts, wherever it stands");

    memset(large, ',', sizeof(large));
    jpp_is_u64(jpp_accept(large, sizeof(large), "text/plain"), 0,
               "4 KiB of commas");

    memset(large, 'q', sizeof(large));
    jpp_is_u64(jpp_accept(large, sizeof(large), "text/plain"), 0,
               "a type of 4 KiB");
}
