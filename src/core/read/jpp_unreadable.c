
#include <string.h>

#include "jpp_unreadable.h"


/* bytes of a file to examine */
#define JPP_UNREADABLE_LINE  256


typedef struct {
    const char  *start;
    const char  *inside;       /* of the first line too, where not NULL */
    const char  *sentence;
} jpp_unreadable_t;


/* the first row that fits counts */

static const jpp_unreadable_t  jpp_unreadables[] = {

    { "heap_v2/", NULL,
      "the dump was cut in its first line" },

    { "heap_v1/", NULL,
      "a heap_v1 dump of jemalloc 3, whose counts cannot be scaled correctly" },

    { "heap profile: ", "@ heap/",
      "a heap profile of Go or of gperftools, not jemalloc's heap_v2: go tool "
      "pprof reads it as it is" },

    { "heap profile: ", "@ heap_v2/",
      "a heap profile in the legacy text form, not jemalloc's own dump: go "
      "tool pprof and jeprof read it as it is" },

    { "heap profile: ", NULL,
      "a heap profile of gperftools, not jemalloc's heap_v2: go tool pprof "
      "reads it as it is" },

    { "--- symbol", NULL,
      "a profile with symbols made by jeprof, not jemalloc's own dump" },

    { "\177ELF", NULL,
      "an ELF file, not a heap dump" },

    /* the first ValueType of a Profile, without and with its length */

    { "\n\004\010", NULL,
      "a pprof profile already, not a heap dump" },

    { "\n\002\010", NULL,
      "a pprof profile already, not a heap dump" }
};


const char *
jpp_unreadable_sentence(const char *data, size_t len)
{
    char                     line[JPP_UNREADABLE_LINE], *end;
    size_t                   i;
    const jpp_unreadable_t  *row;

    if (len == 0) {
        return "the dump is empty";
    }

    len = len < JPP_UNREADABLE_LINE - 1 ? len : JPP_UNREADABLE_LINE - 1;

    memcpy(line, data, len);
    line[len] = '\0';

    if (strncmp("heap_v2/", line, len) == 0) {
        return jpp_unreadables[0].sentence;
    }

    for (i = 0; i < sizeof(jpp_unreadables) / sizeof(jpp_unreadables[0]); i++) {
        row = &jpp_unreadables[i];

        if (strncmp(line, row->start, strlen(row->start)) != 0) {
            continue;
        }

        end = strchr(line + 1, '\n');

        if (end != NULL) {
            *end = '\0';
        }

        if (row->inside == NULL || strstr(line, row->inside) != NULL) {
            return row->sentence;
        }
    }

    return "not a heap dump of jemalloc: it does not start with heap_v2/";
}
