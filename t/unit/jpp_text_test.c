
/*
 * Numbers of format=text: what jemalloc prints may not be what parsers take.
 */


#include "jpp_test_main.h"
#include "jpp_test_golden.h"
#include "jpp_test_owned.h"


static const struct {
    const char  *name;
    int64_t      inuse[2];         /* objects, bytes */
    int64_t      alloc[2];
} rows[] = {
    { "as it is", { 2, 50 }, { 3, 100 } },
    { "bytes without objects", { 0, 50 }, { 0, 100 } },
    { "fewer bytes, without objects", { 0, -50 }, { 0, 0 } },
    { "objects without bytes", { 1, 0 }, { 2, 0 } },
    { "fewer objects allocated", { 1, 8 }, { -1, 100 } },
    { "fewer bytes allocated", { 1, 8 }, { 5, -1 } },
    { "nothing", { 0, 0 }, { 0, 0 } }
};


JPP_TEST(jpp_text_test)
{
    size_t         i;
    int64_t        values[JPP_HEAP_COLUMNS];
    jpp_profile_t  profile;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_test_anew();
        (void) jpp_parser_init(&jpp_parser_heap, &profile, &arena);

        memset(values, 0, sizeof(values));
        memcpy(&values[JPP_HEAP_INUSE_OBJECTS], rows[i].inuse, 16);
        memcpy(&values[JPP_HEAP_ALLOC_OBJECTS], rows[i].alloc, 16);

        jpp_profile_end(&profile, jpp_profile_begin(&profile, 0, 0));
        (void) jpp_profile_commit(&profile, NULL, values);

        jpp_shows(jpp_owned_text(&profile, "format=text", NULL), "%s",
                  rows[i].name);
    }
}
