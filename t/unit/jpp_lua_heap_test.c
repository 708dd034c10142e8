
/* The heap of LuaJIT as a profile, and what is none. */

#include "jpp_parsers.h"
#include "jpp_test_arena.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define TEST_HEAD  "jpp_lua/1\nvm 9 8 7 http\n"
#define TEST_END   "end 1 2\n"


static jpp_arena_t    arena;
static jpp_err_t      err;
static jpp_profile_t  profile;


static jpp_code_t
test_read(const char *text, bool is_base)
{
    jpp_code_t          rc;
    jpp_dump_t          dump;
    jpp_read_options_t  options = { .is_base = is_base };

    rc = jpp_parser_lua.open(&dump, &profile, text, strlen(text), NULL, &err);

    return rc == JPP_OK ? jpp_parser_lua.read(&profile, &dump, &options, &err)
                        : rc;
}


/* A new profile in what is left of the arena. */

static jpp_code_t
test_anew(const char *text)
{
    return jpp_parser_init(&jpp_parser_lua, &profile, &arena)
           ? test_read(text, false) : JPP_ERR_MEMORY;
}


JPP_TEST(test_good)
{
    uint32_t         i, k, n, ids[JPP_MAX_FRAMES];
    jpp_sample_t     sample;

    static const char  text[] =
        TEST_HEAD
        "node 1 package.loaded\ntables 2 320\n"
        "node 2 .a b;c\nstrings 5 500\ntables 1 64\n"
        "vm 100 100 1 stream\nnode 1 _G\nstate 1 7\n" TEST_END;

    jpp_arena_fresh(&arena, JPP_TEST_CAP);
    jpp_is_u64(test_anew(text), JPP_OK, "it is read: %s", err.text);

    jpp_profile_each(i, &profile) {
        jpp_profile_sample(&profile, i, &sample);
        n = jpp_stack_ids(sample.stack, sample.stack_len, ids);

        for (k = n; k-- > 0; /* void */ ) {
            jpp_note("%s", jpp_profile_location_name(&profile, ids[k]).data);
        }

        jpp_note("= %" PRId64 " %" PRId64 ", type=%s",
                 sample.values[JPP_LUA_OBJECTS], sample.values[JPP_LUA_SPACE],
                 jpp_profile_str(&profile,
                                 jpp_profile_labelled(&profile, sample.labels,
                                                      "type")).data);
    }

    jpp_parser_lua.describe(&profile);
    jpp_note("%s", jpp_comments_of(&profile));
    jpp_shows_notes("stacks from the root, labels, and comments");

    /* the same once more, taken off */

    jpp_is_u64(test_read(text, true), JPP_OK, "a difference");

    for (i = 0, n = 0; i < profile.n_samples; i++) {
        jpp_profile_sample(&profile, i, &sample);
        n += !jpp_sample_is_zero(&sample);
    }

    jpp_is_u64(n, 0, "of the same is nothing");
    jpp_ok(profile.is_difference, "and says so");

    jpp_denies(&arena, jpp_arena_fresh(&arena, JPP_TEST_CAP), 5,
               test_anew(text));
    jpp_arena_destroy(&arena);
}


JPP_TEST(test_bad)
{
    size_t      i;
    char        deep[4096], *p;
    jpp_code_t  rc;

    static const char  *bad[] = {
        "", "jpp_lua/1", "jpp_lua/2\n", "jpp_times/1 cpu\n", "jpp_lua/1\n",
        TEST_HEAD, TEST_HEAD "node 1 a\n", TEST_HEAD TEST_END "\n",
        TEST_HEAD TEST_END TEST_END, TEST_HEAD "end 1\n",
        TEST_HEAD "end 1 2", TEST_HEAD "end 1 2 \n", TEST_HEAD "node 0 a\n",
        TEST_HEAD "node 2 a\n", TEST_HEAD "node 1\n", TEST_HEAD "node a b\n",
        TEST_HEAD "node 99999999999999999999 a\n", TEST_HEAD "nodes 1 a\n",
        TEST_HEAD "strings 1\n", TEST_HEAD "strings 1 -2\n",
        TEST_HEAD "strings 1 9223372036854775808\n",
        TEST_HEAD "string 1 2\n", TEST_HEAD "strings 1 2 3\n",
        "jpp_lua/1\nstrings 1 2\n" TEST_END, "jpp_lua/1\nnode 1 a\n" TEST_END,
        "jpp_lua/1\nvm 1 2 http\n" TEST_END
    };

    jpp_arena_fresh(&arena, JPP_TEST_CAP);

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        rc = test_anew(bad[i]);
        jpp_ok(rc == JPP_ERR_INPUT || rc == JPP_ERR_CUT, "row %zu is refused",
               i);
        jpp_note("%zu, line %" PRIu64 ": %s", i, err.line, err.text);
    }

    jpp_shows_notes("what is no heap, and why");

    p = deep + snprintf(deep, sizeof(deep), TEST_HEAD);

    for (i = 1; i < JPP_LUA_DEPTH; i++) {
        p += sprintf(p, "node %zu x\n", i);
    }

    strcpy(p, "strings 1 2\n" TEST_END);
    jpp_is_u64(test_anew(deep), JPP_OK, "as deep as may be: %s", err.text);
    sprintf(p, "node %zu x\nstrings 1 2\n" TEST_END, i);
    jpp_is_u64(test_anew(deep), JPP_ERR_INPUT, "and one more");

    p = deep + sprintf(deep, TEST_HEAD "node 1 ");
    memset(p, 'n', JPP_LUA_NAME - 1);
    strcpy(p + JPP_LUA_NAME - 1, "\n" TEST_END);
    jpp_is_u64(test_anew(deep), JPP_OK, "as long as may be: %s", err.text);
    strcpy(p + JPP_LUA_NAME - 1, "n\n" TEST_END);
    jpp_is_u64(test_anew(deep), JPP_ERR_INPUT, "and one more");

    jpp_arena_destroy(&arena);
}
