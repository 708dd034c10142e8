
/*
 * The table by owner that comes before that of functions: its rows, columns,
 * sums and errors.
 */


#include "jpp_test_owned.h"


#define jpp_nelts(a)  (sizeof(a) / sizeof((a)[0]))

#define JPP_HEADING                                                           \
    "inuse_space: 13.7 KiB in 6 stacks, estimated from 10 samples, one every" \
    " 16.0 KiB, +- 43 %\n"


typedef struct {
    const char               *query;
    const jpp_owned_stack_t  *stacks;
    bool                      is_difference;
    const char               *text;        /* what it begins with */
} jpp_owned_case_t;


static const jpp_owned_stack_t  stacks[] = {
    { "a.example", "/", "10.0.0.1:80", "ngx_palloc handler main", 4096, 4 },
    { "a.example", "/x/", NULL, "handler main", 2000, 2 },
    { "a.example", "/", NULL, "other main", 1000, 1 },
    { "b.example", "/", "10.0.0.1:80", "tls main", 5000, 1 },
    { NULL, NULL, NULL, "main", 1900, 1 },
    { NULL, NULL, NULL, "", 10, 1 },
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

    { "format=top&owners=1", stacks, false,
      JPP_HEADING
      "inuse_space      %  objects     mean  error  server     location   "
      "upstream     mostly\n"
      "    4.9 KiB  35.7%        1  4.9 KiB  100 %  b.example  /          "
      "10.0.0.1:80  4.9 KiB: tls\n"
      "    4.0 KiB  29.2%        4  1.0 KiB   50 %  a.example  /          "
      "10.0.0.1:80  4.0 KiB: handler\n"
      "    2.0 KiB  14.3%        2   1000 B   71 %  a.example  /x/        "
      "(none)       2.0 KiB: handler\n"
      "    1.9 KiB  13.6%        2    955 B   99 %  (unknown)  (unknown)  "
      "(none)       1.9 KiB: main\n"
      "     1000 B   7.1%        1   1000 B  100 %  a.example  /          "
      "(none)       1000 B: other\n" },

    { "format=top&by=location&n=2", stacks, false,
      JPP_HEADING
      "inuse_space      %  objects     mean  error  server     location  "
      "mostly\n"
      "    5.0 KiB  36.4%        5   1019 B   45 %  a.example  /         "
      "4.0 KiB: handler\n"
      "    4.9 KiB  35.7%        1  4.9 KiB  100 %  b.example  /         "
      "4.9 KiB: tls\n"
      "2 more owners\n" },

    { "format=top&by=server&n=1", stacks, false,
      JPP_HEADING
      "inuse_space      %  objects    mean  error  server     mostly\n"
      "    6.9 KiB  50.7%        7  1013 B   38 %  a.example  "
      "6.0 KiB: handler\n"
      "2 more owners\n" },

    { "format=top&by=server&n=2", stacks, false,
      JPP_HEADING
      "inuse_space      %  objects     mean  error  server     mostly\n"
      "    6.9 KiB  50.7%        7   1013 B   38 %  a.example  "
      "6.0 KiB: handler\n"
      "    4.9 KiB  35.7%        1  4.9 KiB  100 %  b.example  "
      "4.9 KiB: tls\n"
      "1 more owner\n" },

    { "format=top&by=upstream&callers=0", stacks, false,
      JPP_HEADING
      "inuse_space      %  objects     mean  error  upstream     mostly\n"
      "    8.9 KiB  64.9%        5  1.8 KiB   59 %  10.0.0.1:80  "
      "4.9 KiB: tls\n"
      "    4.8 KiB  35.1%        5    982 B   52 %  (none)       "
      "2.0 KiB: handler\n" },

    { "format=top&by=location", changes, true,
      "inuse_space (difference): -400 B in 2 stacks, one every 16.0 KiB, "
      "+- 127 % at least\n"
      "inuse_space       %  objects   mean  error  server     location  "
      "mostly\n"
      "     -500 B  125.0%       -1  500 B  100 %  b.example  /         "
      "-500 B: shrunk\n"
      "      100 B  -25.0%        1  100 B  100 %  a.example  /         "
      "100 B: grown\n" },

    /* what is not known is 100 % of it, which is said */

    { "format=top&owners=1", plain, false,
      "inuse_space: 4.0 KiB in 1 stack, estimated from 1 sample, one every "
      "16.0 KiB, +- 100 %\n"
      "inuse_space       %  objects     mean  error  server     location   "
      "mostly\n"
      "    4.0 KiB  100.0%        1  4.0 KiB  100 %  (unknown)  (unknown)  "
      "4.0 KiB: handler\n" },

    { "format=top", stacks, false,
      JPP_HEADING
      "   flat  flat%" }
};


static void
jpp_owned_test_case(const jpp_owned_case_t *row)
{
    char           begin[2048];
    const char    *text;
    jpp_arena_t    arena;
    jpp_profile_t  profile;

    jpp_owned_fill(&profile, &arena, row->stacks);
    profile.is_difference = row->is_difference;

    text = jpp_owned_text(&profile, row->query, NULL);

    snprintf(begin, sizeof(begin), "%.*s", (int) strlen(row->text), text);
    jpp_is_str(begin, row->text, "%s", row->query);
    jpp_has(text, "  function\n", "and functions");

    jpp_ok(strstr(text, "location /\n") == NULL
           && strstr(text, "server a.example\n") == NULL,
           "no owner is a function");

    jpp_arena_destroy(&arena);
}


/* No memory, at every call. */

static void
jpp_owned_test_memory(void)
{
    uint64_t       n;
    jpp_arena_t    arena;
    jpp_profile_t  profile;

    jpp_owned_fill(&profile, &arena, stacks);

    for (n = 1; n < 10000; n++) {
        arena.fail_at = arena.n_calls + n;

        if (jpp_owned_text(&profile, "format=top&owners=1", NULL) != NULL) {
            break;
        }
    }

    jpp_ok(n > 20 && n < 10000, "no memory, %u times", (unsigned) n - 1);
    jpp_ok(arena.n_calls < arena.fail_at, "each time it is noticed");

    jpp_arena_destroy(&arena);
}


int
main(void)
{
    size_t  i;

    for (i = 0; i < jpp_nelts(cases); i++) {
        jpp_owned_test_case(&cases[i]);
    }

    jpp_owned_test_memory();

    return jpp_done();
}
