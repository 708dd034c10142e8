
/*
 * Labels as root frames: by server, by location, by upstream; without labels;
 * and names with any bytes in every format.
 */


#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_test_owned.h"


static const jpp_owned_stack_t  stacks[] = {
    { "a.example", "/", "10.0.0.1:80", "handler main", 100, 1 },
    { "a.example", "/x/", NULL, "handler main", 20, 1 },
    { "a.example", "/", "10.0.0.1:80", "other main", 3, 1 },
    { NULL, NULL, NULL, "main", 4, 1 },
    { NULL, NULL, NULL, NULL, 0, 0 }
};


static const char  *cases[] = {
    "format=folded&by=server", "format=folded&by=location",
    "format=folded&by=upstream", "format=folded&owners=1"
};


static jpp_profile_t  profile;


JPP_TEST(jpp_roots_test_cases)
{
    size_t  i;

    for (i = 0; i < jpp_nelts(cases); i++) {
        jpp_owned_fill(&profile, &arena, stacks);
        jpp_shows(jpp_owned_text(&profile, cases[i], NULL), "%s", cases[i]);
    }
}


/* What workers have from the master is nobody's, which is known. */

JPP_TEST(jpp_roots_test_inherited)
{
    size_t       i;
    uint32_t     set;
    jpp_label_t  labels[2];

    static const char  *rows[][2] = {
        { "master", "" }, { "worker", "" }, { "master", "a.example" }
    };

    (void) jpp_parser_init(&jpp_parser_heap, &profile, &arena);

    for (i = 0; i < jpp_nelts(rows); i++) {
        memset(labels, 0, sizeof(labels));

        labels[0].key = "origin";
        labels[0].str = rows[i][0];
        labels[1].key = "server";
        labels[1].str = rows[i][1];

        (void) jpp_profile_labels(&profile, 0, 0, labels, 2, &set);

        jpp_note("origin %s, server \"%s\": %s, %s, %s", rows[i][0], rows[i][1],
                 jpp_roots_name(&profile, set, JPP_ROOT_SERVER).data,
                 jpp_roots_name(&profile, set, JPP_ROOT_LOCATION).data,
                 jpp_roots_name(&profile, set, JPP_ROOT_UPSTREAM).data);
    }

    jpp_shows_notes("server, location and upstream by the origin");
}


/* A profile without samples stays one. */

JPP_TEST(jpp_roots_test_none)
{
    jpp_owned_fill(&profile, &arena, &stacks[jpp_nelts(stacks) - 1]);

    jpp_is_str(jpp_owned_text(&profile, "format=folded&by=server", NULL), "",
               "no samples");
    jpp_is_u64(jpp_vec_count(profile.functions, jpp_function_t), 0,
               "and no frames");
}


/* Is all of TEXT, but for its newlines, characters that may be shown? */

static bool
jpp_roots_is_clean(const char *text, size_t len)
{
    size_t          n;
    const uint8_t  *p, *end;

    p = (const uint8_t *) text;

    for (end = p + len; p < end; p += n) {
        n = *p == '\n' ? 1 : jpp_utf8_len(p, (size_t) (end - p));

        if (n == 0) {
            return false;
        }
    }

    return true;
}


JPP_TEST(jpp_roots_test_hostile)
{
    char               *name;
    size_t              i, k, len;
    unsigned            n;
    const char         *text;
    jpp_owned_stack_t   hostile[2];

    static char        longest[JPP_OWNED_LONG + 1];

    static const char *const  names[] = {
        "</script><script>alert(1)</script>", "<svg onload=x>&'\"]]>-->",
        "\x1b[2J\x1b]0;x\x07", "a\nb\tc;d e\r", "\xff\xfe\xc0\xaf",
        "\xe2\x80\xae" "gpj.exe", longest
    };

    static const char *const  queries[] = {
        "format=folded&by=location", "format=folded&by=upstream",
        "format=top&by=location", "format=top&owners=1",
        "format=top&by=upstream", "format=svg&by=location",
        "format=html&by=location", "format=pprof&by=location",
        "format=pprof&owners=1"
    };

    memset(longest, 'x', JPP_OWNED_LONG);
    memset(hostile, 0, sizeof(hostile));

    for (i = 0; i < jpp_nelts(names); i++) {
        for (k = 0; k < jpp_nelts(queries); k++) {

            name = strdup(names[i]);
            hostile[0] = (jpp_owned_stack_t) { name, name, name,
                                               "handler main", 1000, 1 };

            jpp_owned_fill(&profile, &arena, hostile);
            text = jpp_owned_text(&profile, queries[k], &len);

            if (jpp_ok(text != NULL, "name %zu, %s", i, queries[k])
                && strstr(queries[k], "pprof") != NULL)
            {
                n = jpp_contract_check((const uint8_t *) text, len,
                                       JPP_CONTRACT_HEAP, stdout, NULL);
                jpp_is_u64(n, 0, "the contract holds");

            } else if (text != NULL) {
                jpp_ok(jpp_roots_is_clean(text, len), "shows what may be");
                jpp_ok(strstr(text, "alert(1)</script>") == NULL
                       || strstr(queries[k], "folded") != NULL
                       || strstr(queries[k], "top") != NULL,
                       "is no markup");
            }

            free(name);
        }
    }
}


/* No memory, at every call. */

JPP_TEST(jpp_roots_test_memory)
{
    jpp_denies(&arena, jpp_owned_fill(&profile, &arena, stacks), 5,
               jpp_done_code(jpp_roots_add(&profile, JPP_BY_LOCATION)));
}
