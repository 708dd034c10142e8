
#include "jpp_test_main.h"
#include "jpp_jemalloc.h"


static void
jpp_mappers_test_text(uint32_t mappers, const char *expected)
{
    char  text[JPP_MAPPERS_TEXT];

    jpp_is_str(jpp_mappers_text(mappers, text), expected, "0x%x",
               (unsigned) mappers);
}


JPP_TEST(jpp_mappers_test)
{
    char            path[4096];
    uint32_t        before;
    jpp_jemalloc_t  jemalloc;

    jpp_mappers_test_text(0, "");
    jpp_mappers_test_text(1, "LuaJIT is loaded");
    jpp_mappers_test_text(4, "Go is loaded");
    jpp_mappers_test_text(3, "LuaJIT and Python are loaded");
    jpp_mappers_test_text(0xf, "LuaJIT, Python, Go and Java are loaded");

    /* of another version of the module */

    jpp_mappers_test_text(0xfffffff1, "LuaJIT is loaded");
    jpp_mappers_test_text(0xfffffff0, "");

    before = jpp_mappers_loaded();

    jpp_ok(dlopen(jpp_beside("jpp_runtimes.so", path), RTLD_NOW) != NULL,
           "%s is loaded", path);
    jpp_is_u64(before, 0, "there was nothing of the kind");
    jpp_is_u64(jpp_mappers_loaded(), (uint32_t) 1 << JPP_MAPPER_GO
                                     | (uint32_t) 1 << JPP_MAPPER_JAVA,
               "and is by what it defines");

    jpp_jemalloc_read(&jemalloc);
    jpp_is_u64(jemalloc.mappers, jpp_mappers_loaded(),
               "a worker knows it, whether jemalloc samples or not");
}
