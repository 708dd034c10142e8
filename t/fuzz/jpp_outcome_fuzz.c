
#include "jpp_answers.h"
#include "jpp_fuzz.h"


/* Whatever the query is, its sentence is the module's own. */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t         i;
    uint8_t        text[1024];
    jpp_sink_t     sink;
    jpp_outcome_t  outcome;

    if (!jpp_outcome_read(&outcome, (const char *) data, size)) {
        return 0;
    }

    jpp_sink_init(&sink, text, sizeof(text), NULL, NULL);
    jpp_outcome_text(&outcome, &sink);

    for (i = 0; i < (size_t) (sink.pos - sink.start); i++) {
        if (text[i] < ' ' || text[i] > '~' || text[i] == '<') {
            abort();
        }
    }

    return 0;
}
