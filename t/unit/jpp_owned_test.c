
/*
 * The table by owner that comes before that of functions: its rows, columns,
 * sums and errors.
 */


#include "jpp_test_golden.h"
#include "jpp_test_owned.h"
#include "jpp_test_main.h"


#define jpp_nelts(a)  (sizeof(a) / sizeof((a)[0]))

typedef struct {
    const char               *query;
    const jpp_owned_stack_t  *stacks;
    bool                      is_difference;
} jpp_owned_case_t;


static const jpp_owned_stack_t  stacks[] = {
    { "a.example", "/", "10.0.0.1:80", "ngx_palloc handler main", 4096, 4 },
    { "a.example", "/x/", NULL, "handler main", 2000, 2 },
    { "a.example", "/", NULL, "other main", 1000, 1 },
    { "b.example", "/", "10.0.0.1:80", "tls main", 5000, 1 },
    { NULL, NULL, NULL, "main", 1900, 1 },
    { NULL, NULL, NULL, "", 1910, 1 },
    { NULL, NULL, NULL, NULL, 0, 0 }
};


static const jpp_owned_stack_t  changes[] = {
    { "a.example", "/", NULL, "grown main", 100, 1 },
    { "b.example", "/", NULL, "shrunk main", -500, -1 },
    { NULL, NULL, NULL, NULL, 0, 0 }
};


static const jpp_owned_stack_t  plain[] = {
    { NULL, NULL, NULL, "handler main", 4096, 1 },
    { NULL, NULL, NULL, NULL, 0, 0 }
};


static const jpp_owned_case_t  cases[] = {
    { "format=top&owners=1", stacks, false },
    { "format=top&by=location&n=2", stacks, false },
    { "format=top&by=server&n=1", stacks, false },
    { "format=top&by=server&n=2", stacks, false },
    { "format=top&by=upstream&callers=0", stacks, false },
    { "format=top&by=location", changes, true },

    /* what is not known is 100 % of it, which is said */

    { "format=top&owners=1", plain, false },

    { "format=top", stacks, false }
};


static void
jpp_owned_test_case(const jpp_owned_case_t *row)
{
    const char    *text;
    jpp_profile_t  profile;

    jpp_owned_fill(&profile, &arena, row->stacks);
    profile.is_difference = row->is_difference;

    text = jpp_owned_text(&profile, row->query, NULL);
    jpp_shows(text, "%s", row->query);

    jpp_ok(strstr(text, "location /\n") == NULL
           && strstr(text, "server a.example\n") == NULL,
           "no owner is a function");
}


/* No memory, at every call. */

static void
jpp_owned_test_memory(void)
{
    jpp_profile_t  profile;

    jpp_owned_fill(&profile, &arena, stacks);
    jpp_denies(&arena, (void) 0, 20,
               jpp_done_code(jpp_owned_text(&profile, "format=top&owners=1",
                                            NULL) != NULL));
}


JPP_TEST(jpp_owned_test)
{
    size_t  i;

    for (i = 0; i < jpp_nelts(cases); i++) {
        jpp_owned_test_case(&cases[i]);
    }

    jpp_owned_test_memory();
}
