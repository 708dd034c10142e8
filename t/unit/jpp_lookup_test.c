
#include "jpp_proc.h"
#include "jpp_report.h"
#include "jpp_test_arena.h"
#include "jpp_test_golden.h"


int jpp_lookup_test_one(int n);
int jpp_lookup_test_two(int n);


#define JPP_HEAD  "num_symbols: 1\n"


/* two files that do not exist, and a mapping without a file */
static const char  fixed[] =
    "00400000-00500000 r-xp 00000000 08:01 11 /jpp-no/prog\n"
    "00500000-00600000 rw-p 00100000 08:01 11 /jpp-no/prog\n"
    "7f0000200000-7f0000300000 r-xp 00001000 08:01 13 /jpp-no/a b.so\n"
    "fffffffffffff000-ffffffffffffffff --xp 00000000 00:00 0 [top]\n";

static jpp_code_t     rc;
static jpp_vec_t     *self;        /* this process's mappings */


int __attribute__((noinline))
jpp_lookup_test_one(int n)
{
    return n * 3 + 1;
}


int __attribute__((noinline))
jpp_lookup_test_two(int n)
{
    return n * 5 + 2;
}


/* The answer, until the next, or NULL; rc and err say why. */

static char *
jpp_ask(const char *maps, const char *text, size_t len)
{
    jpp_sink_t      sink;
    jpp_symbols_t   symbols;

    static char  *answer;

    free(answer);
    jpp_test_anew();
    jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);

    jpp_test_sink(&sink, &arena);
    rc = jpp_lookup(&arena, &symbols, maps, strlen(maps), text, len, &sink,
                    &err);

    answer = rc == JPP_OK ? strdup(jpp_test_text(&sink)) : NULL;

    jpp_symbols_destroy(&symbols);

    return answer;
}


static char *
jpp_ask_self(uint64_t a, uint64_t b)
{
    char  text[64];

    jpp_print(text, "0x%" PRIx64 "+0x%" PRIx64, a, b);

    return jpp_ask((char *) self->data, text, strlen(text));
}


/* Functions of this program and of a library, by where they are. */

JPP_TEST(jpp_lookup_test_real)
{
    char       want[256];
    uint64_t   one, two, library;

    one = (uintptr_t) jpp_lookup_test_one;
    two = (uintptr_t) jpp_lookup_test_two + 1;
    library = (uintptr_t) dlsym(RTLD_DEFAULT, "inflateInit2_");

    snprintf(want, sizeof(want), JPP_HEAD "0x%" PRIx64 " jpp_lookup_test_one\n"
             "0x%" PRIx64 " jpp_lookup_test_two\n", one, two);
    jpp_is_str(jpp_ask_self(one, two), want, "two functions of ours");

    jpp_print(want, JPP_HEAD "0x%" PRIx64 " inflateInit2_\n", library);
    jpp_is_str(jpp_ask_self(library, library), want, "one of a library, once");

    jpp_ok(jpp_ask("", "0x1", 3) == NULL && err.code == JPP_ERR_CUT
           && jpp_ask("1", "0x1", 3) == NULL && err.code == JPP_ERR_CUT,
           "mappings that are cut: %s", err.text);

    /* data is no code, and the heap is none */

    jpp_is_str(jpp_ask_self((uintptr_t) &err, (uintptr_t) self->data), JPP_HEAD,
               "what is not executable");
}


/* What each sends and takes. */

JPP_TEST(jpp_lookup_test_clients)
{
    size_t  i;

    static const char  *rows[] = {
        /* google/pprof: "%#x" */

        "0x400201+0x7f0000200300",

        /* jeprof: "0x" and 16 digits */

        "0x0000000000400201+0x00007f0000200300",

        /* its check whether there are symbols: a GET */

        "",

        /* people, and other ways to write it */

        "400201", "0X400201", "0x40020A", "0x400201\n",
        " 0x400201\r\n\r\n0x400202 ", "0x400201%2b0x400202%0a400203%20400204",
        "0x400202,0x400201;0x400203",
        "0x400201+0x400201+400201+0x0000000000400201",

        /* the ends of mappings */

        "0x3fffff+0x400000+0x4fffff+0x500000",
        "0xfffffffffffff000+0xfffffffffffffffe+0xffffffffffffffff"
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_shows(jpp_ask(fixed, rows[i], strlen(rows[i])), "question %zu", i);
    }
}


/* No address, so no line; and the address behind it is not lost. */

JPP_TEST(jpp_lookup_test_hostile)
{
    char    more[128];
    size_t  i;

    static const struct {
        const char  *text;
        size_t       len;
    } rows[] = {
#define JPP_TEXT(s)  { s, sizeof(s) - 1 }
        JPP_TEXT("0x"), JPP_TEXT("x"), JPP_TEXT("0"), JPP_TEXT("0x0"),
        JPP_TEXT("0x0x400201"), JPP_TEXT("00x400201"), JPP_TEXT("x400201"),
        JPP_TEXT("0x400201g"), JPP_TEXT("g400201"), JPP_TEXT("0x40020z1"),
        JPP_TEXT("0x00000000000400201"), JPP_TEXT("00000000000400201"),
        JPP_TEXT("0x10000000000400201"), JPP_TEXT("0xffffffffffffffffffff"),
        JPP_TEXT("address"), JPP_TEXT("%"), JPP_TEXT("%4"), JPP_TEXT("%%"),
        JPP_TEXT("%zz"), JPP_TEXT("+++"), JPP_TEXT("%2B%2B"),
        JPP_TEXT("\0\0\0"), JPP_TEXT("\xff\xfe\x80"), JPP_TEXT("\xc1\xe1"),
        JPP_TEXT("<script>"), JPP_TEXT("../../etc/passwd"),
        JPP_TEXT("0x500001"), JPP_TEXT("0x7f0000100000")
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_is_str(jpp_ask(fixed, rows[i].text, rows[i].len), JPP_HEAD,
                   "row %zu", i);

        memcpy(more, rows[i].text, rows[i].len);
        memcpy(more + rows[i].len, "+400201", 7);

        jpp_is_str(jpp_ask(fixed, more, rows[i].len + 7),
                   JPP_HEAD "0x400201 prog+0x201\n", "and behind it");
    }

    /* the question ends where its length says */

    jpp_is_str(jpp_ask(fixed, "0x4002015", 8),
               JPP_HEAD "0x400201 prog+0x201\n", "a part of a text");
}


/* A part of a file that is mapped twice is one mapping of two places. */

JPP_TEST(jpp_lookup_test_aliases)
{
    static const char  maps[] =
        "00400000-00500000 r-xp 00000000 08:01 11 /jpp-no/prog\n"
        "00700000-00800000 r-xp 00000000 08:01 11 /jpp-no/prog\n";

    jpp_is_str(jpp_ask(maps, "400201+700201+700202+400201", 27),
               JPP_HEAD "0x400201 prog+0x201\n0x700201 prog+0x201\n"
               "0x700202 prog+0x202\n", "each answered by its own address");
}


/* Megabytes: of nothing, of one address, and of many. */

JPP_TEST(jpp_lookup_test_large)
{
    char     *text, *answer, *p;
    size_t    i, n, len;
    clock_t   start;

    static const char  *fills[] = { "0", "f", "x", "+", "%", "0+", "0x",
                                    "400201+", "\xff" };

    len = 1 << 20;
    text = malloc(len + 16);

    for (i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
        n = strlen(fills[i]);

        for (p = text; p + n <= text + len; p += n) {
            memcpy(p, fills[i], n);
        }

        start = clock();
        answer = jpp_ask(fixed, text, (size_t) (p - text));

        jpp_ok(answer != NULL && strlen(answer) <= 40
               && clock() - start < CLOCKS_PER_SEC,
               "a megabyte of \"%s\", in %ld us", fills[i] + (i == 8),
               (long) (clock() - start));
    }

    for (p = text, n = 0; p + 7 <= text + len; p += 7, n++) {
        snprintf(p, 8, "%06zx+", 0x400000 + n);
    }

    start = clock();
    answer = jpp_ask(fixed, text, (size_t) (p - text));

    for (i = 0, p = answer; p != NULL && (p = strchr(p, '\n')) != NULL; p++) {
        i++;
    }

    jpp_is_u64(i, n + 1, "a line for each of many");
    jpp_ok(clock() - start < CLOCKS_PER_SEC, "in %ld us",
           (long) (clock() - start));
    jpp_ok(arena.peak < 64 << 20, "and %zu bytes", arena.peak);

    free(text);
}


JPP_TEST(jpp_lookup_test_maps)
{
    size_t  i;

    static const char  *bad[] = { "", "x\n", "00400000-00500000 r-xp",
                                  "00400000-00500000 r-xp 0 8:1 1 /a" };

    jpp_is_str(jpp_ask("00400000-00500000 rw-p 0 08:01 11 /prog\n", "400201",
                       6), JPP_HEAD, "nothing that is executable");

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        jpp_ok(jpp_ask(bad[i], "0x400201", 8) == NULL
               && (rc == JPP_ERR_CUT || rc == JPP_ERR_INPUT),
               "bad mappings: %s", err.text);
    }
}


/* Fails with the errno at CTX, where there is one. */

static int
jpp_failing_write(void *ctx, const uint8_t *data, size_t len)
{
    (void) data;
    (void) len;

    return ctx != NULL ? *(int *) ctx : 0;
}


/* Nothing is written of what is denied. */

JPP_TEST(jpp_lookup_test_memory)
{
    uint8_t         buffer[256];
    jpp_sink_t      sink;
    jpp_symbols_t   symbols;

    jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);

    jpp_denies(&arena,
               jpp_test_anew();
               jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_failing_write,
                             NULL), 20,
               (rc = jpp_lookup(&arena, &symbols, fixed, sizeof(fixed) - 1,
                                "400201+7f0000200300", 19, &sink, &err),
                rc != JPP_OK && sink.total != 0 ? JPP_ERR_ARG : rc));

    jpp_symbols_destroy(&symbols);
}


JPP_TEST(jpp_lookup_test_writes)
{
    int             error;
    uint8_t         buffer[8];
    jpp_sink_t      sink;
    jpp_symbols_t   symbols;

    error = EPIPE;

    jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);
    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_failing_write, &error);

    rc = jpp_lookup(&arena, &symbols, fixed, sizeof(fixed) - 1, "400201", 6,
                    &sink, &err);

    jpp_is_u64(rc, JPP_ERR_WRITE, "%s", err.text);
    jpp_is_u64(err.code, JPP_ERR_WRITE, "its code");
    jpp_is_u64((uint64_t) err.sys_errno, EPIPE, "its errno");

    jpp_symbols_destroy(&symbols);
}


int
main(void)
{
    jpp_arena_t  kept;

    jpp_arena_init(&kept, JPP_TEST_CAP);
    self = jpp_vec_create(&kept);

    if (!jpp_ok(jpp_proc_maps(self, &err) == JPP_OK, "mappings of ours")) {
        return jpp_done();
    }

    *(char *) jpp_vec_push(self, 1) = '\0';

    jpp_tests_all();

    jpp_arena_destroy(&kept);

    return jpp_done();
}
