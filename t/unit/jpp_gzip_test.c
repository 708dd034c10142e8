
#include "jpp_test_main.h"
#include "jpp_test_arena.h"


#define JPP_KIB  ((size_t) 1024)
#define JPP_MIB  (1024 * JPP_KIB)
#define JPP_CAP  (64 * JPP_MIB)


/* for the tests of small files */
static const char  jpp_text[] =
    "heap_v2/524288\n  t*: 3: 4096 [0: 0]\n@ 0x1 0x2 0x3\n  t*: 1: 64 [0: 0]\n"
    "@ 0x1 0x2 0x4\n  t*: 1: 64 [0: 0]\n@ 0x1 0x2 0x5\n  t*: 1: 64 [0: 0]\n";

#define JPP_TEXT_LEN  (sizeof(jpp_text) - 1)


/* Text of hexadecimal numbers, as in a dump: it shrinks to about a half. */

static void
jpp_fill(uint8_t *data, size_t len)
{
    size_t    i;
    uint64_t  x;

    for (i = 0, x = 88172645463325252; i < len; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        data[i] = (uint8_t) "0123456789abcdef"[x & 15];
    }
}


JPP_TEST(jpp_test_round_trip)
{
    int          level;
    size_t       k, len;
    uint8_t     *data;
    jpp_vec_t   *vec, *out;
    jpp_code_t   rc;

    static const size_t  sizes[] = {
        0, 1, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 256 * 1024,
        10 * 1024 * 1024
    };

    data = malloc(10 * JPP_MIB);
    jpp_fill(data, 10 * JPP_MIB);

    for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        for (level = 1; level <= 9; level++) {
            len = sizes[k];
            jpp_test_anew();
            vec = jpp_test_packed(&arena, data, len, level);
            out = jpp_vec_create(&arena);

            if (vec == NULL) {
                jpp_ok(false, "%zu bytes at level %d", len, level);
                continue;
            }

            rc = jpp_gunzip(vec->data, vec->len, len, out, &err);

            jpp_ok(rc == JPP_OK && out->len == len
                   && (len == 0 || memcmp(out->data, data, len) == 0),
                   "%zu bytes at level %d make %zu and come back", len, level,
                   vec->len);
        }
    }

    free(data);

    jpp_test_anew();
    jpp_ok(jpp_test_packed(&arena, "", 0, 10) == NULL, "level 10 is refused");
}


/* Members follow each other, and what was in the vector stays. */

JPP_TEST(jpp_test_members)
{
    size_t      n;
    uint8_t    *data;
    jpp_vec_t  *one, *two, *empty, *out;

    one = jpp_test_packed(&arena, "one ", 4, 1);
    two = jpp_test_packed(&arena, "two ", 4, 9);
    empty = jpp_test_packed(&arena, "", 0, 6);
    out = jpp_vec_create(&arena);

    data = malloc(one->len + two->len + 2 * empty->len);
    n = 0;

    memcpy(data, one->data, one->len);
    n += one->len;
    memcpy(data + n, empty->data, empty->len);
    n += empty->len;
    memcpy(data + n, two->data, two->len);
    n += two->len;
    memcpy(data + n, empty->data, empty->len);
    n += empty->len;

    memcpy(jpp_vec_push(out, 5), "zero ", 5);

    jpp_is_u64(jpp_gunzip(data, n, 8, out, &err), JPP_OK,
               "four members, two of them empty, at the limit");
    jpp_ok(out->len == 13 && memcmp(out->data, "zero one two ", 13) == 0,
           "are appended");

    jpp_is_u64(jpp_gunzip(data, n, 7, out, &err), JPP_ERR_LIMIT,
               "one past the limit");
    jpp_is_u64(jpp_gunzip(data, n - 1, 8, out, &err), JPP_ERR_CUT,
               "the last member is cut");
    jpp_is_u64(jpp_gunzip(data, one->len + 1, 8, out, &err), JPP_ERR_CUT,
               "after the first byte of the second member");

    data[one->len + empty->len] = 'x';
    jpp_is_u64(jpp_gunzip(data, n, 8, out, &err), JPP_ERR_INPUT,
               "something else between the members");
    jpp_ok(strstr(err.text, "gzip: the compressed data is damaged (") != NULL
           && strstr(err.text, "(null)") == NULL
           && strstr(err.text, "no progress") == NULL, "says: %s", err.text);

    free(data);
}


JPP_TEST(jpp_test_is)
{
    static const uint8_t  magic[] = { 0x1f, 0x8b, 8, 0 };

    jpp_ok(jpp_gzip_is(magic, 4), "a gzip file");
    jpp_ok(jpp_gzip_is(magic, 3), "its first three bytes");
    jpp_ok(!jpp_gzip_is(magic, 2), "two bytes");
    jpp_ok(!jpp_gzip_is(NULL, 0), "no bytes");
    jpp_ok(!jpp_gzip_is(magic + 1, 3), "another file");
}


/*
 * Every bit of a small file is turned over.  Not all matter: six bytes of the
 * header (time, flags of the compressor, system), the flag "text", and up to
 * seven bits that fill the last byte of the stream.
 */

JPP_TEST(jpp_test_damaged)
{
    size_t        i, wrong, harmless;
    uint8_t      *data;
    jpp_vec_t    *vec, *out;
    jpp_code_t    rc;
    jpp_arena_t   work;

    jpp_test_anew();
    vec = jpp_test_packed(&arena, jpp_text, JPP_TEXT_LEN, 6);

    data = malloc(vec->len);
    memcpy(data, vec->data, vec->len);

    wrong = 0;
    harmless = 0;

    for (i = 0; i < 8 * vec->len; i++) {
        jpp_arena_init(&work, JPP_MIB);
        out = jpp_vec_create(&work);
        data[i / 8] ^= (uint8_t) (1 << i % 8);

        rc = jpp_gunzip(data, vec->len, 4096, out, &err);

        if (rc == JPP_OK) {
            harmless++;
            wrong += out->len != JPP_TEXT_LEN
                     || memcmp(out->data, jpp_text, JPP_TEXT_LEN) != 0;

        } else {
            wrong += err.code != rc || err.text[0] == '\0';
        }

        data[i / 8] ^= (uint8_t) (1 << i % 8);
        jpp_arena_destroy(&work);
    }

    jpp_is_u64(wrong, 0, "%zu damaged files: an error or the right bytes", i);
    jpp_ok(harmless >= 49 && harmless <= 49 + 7, "%zu were harmless", harmless);

    free(data);
}


JPP_TEST(jpp_test_cut)
{
    size_t       len, wrong;
    uint8_t     *data;
    jpp_vec_t   *vec, *out;
    jpp_code_t   rc;

    vec = jpp_test_packed(&arena, jpp_text, JPP_TEXT_LEN, 6);
    out = jpp_vec_create(&arena);

    for (len = 0, wrong = 0; len < vec->len; len++) {
        /* a copy of that size, for the address sanitizer */

        data = malloc(len + (len == 0));
        memcpy(data, vec->data, len);

        out->len = 0;
        rc = jpp_gunzip(data, len, JPP_MIB, out, &err);
        wrong += rc != JPP_ERR_CUT;

        if (rc != JPP_ERR_CUT) {
            jpp_diag("%zu bytes: code %d", len, rc);
        }

        free(data);
    }

    jpp_is_u64(wrong, 0, "a file cut after 0 to %zu bytes", len - 1);
}


/* A vector in WORK of CAP bytes, which is new. */

static jpp_vec_t *
jpp_gzip_out(jpp_arena_t *work, size_t cap)
{
    jpp_arena_fresh(work, cap);

    return jpp_vec_create(work);
}


JPP_TEST(jpp_test_max)
{
    size_t        k, max;
    uint8_t      *zeros;
    jpp_vec_t    *vec, *out;
    jpp_arena_t   work = { 0 };

    static const size_t  sizes[] = {
        1, 4096, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 512 * 1024,
        10 * 1024 * 1024
    };

    zeros = calloc(1, 10 * JPP_MIB);
    jpp_test_anew();

    for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        max = sizes[k];
        vec = jpp_test_packed(&arena, zeros, max, 9);

        out = jpp_gzip_out(&work, JPP_CAP);
        jpp_is_u64(jpp_gunzip(vec->data, vec->len, max, out, &err), JPP_OK,
                   "%zu bytes where %zu may be", max, max);
        jpp_is_u64(out->len, max, "all of them");

        out = jpp_gzip_out(&work, JPP_CAP);
        jpp_is_u64(jpp_gunzip(vec->data, vec->len, max - 1, out, &err),
                   JPP_ERR_LIMIT, "and where one less may be");
        jpp_ok(out->len <= max - 1, "no more than that: %zu", out->len);
    }

    /* 10 MB of zeros are 10 kB of gzip */

    out = jpp_gzip_out(&work, JPP_CAP);
    jpp_is_u64(jpp_gunzip(vec->data, vec->len, JPP_MIB, out, &err),
               JPP_ERR_LIMIT, "a bomb of %zu bytes", vec->len);
    jpp_ok(work.peak <= 4 * JPP_MIB, "took %zu bytes of memory: a block and a"
           " mapping of its own for the output", work.peak);

    out = jpp_gzip_out(&work, JPP_MIB);
    jpp_is_u64(jpp_gunzip(vec->data, vec->len, SIZE_MAX, out, &err),
               JPP_ERR_MEMORY, "and with no limit but the arena's");

    jpp_arena_destroy(&work);
    free(zeros);
}


static unsigned  jpp_writes, jpp_fail_at;

static int
jpp_give(void *ctx, const uint8_t *data, size_t len)
{
    (void) ctx;
    (void) data;
    (void) len;

    return ++jpp_writes == jpp_fail_at ? ENOSPC : 0;
}


JPP_TEST(jpp_test_write_fails)
{
    int          error;
    size_t       wrong;
    uint8_t     *data, buffer[1024];
    unsigned     n_writes;
    jpp_sink_t   sink;
    jpp_gzip_t   gz;

    data = malloc(300 * JPP_KIB);
    jpp_fill(data, 300 * JPP_KIB);

    n_writes = 1000;
    wrong = 0;

    for (jpp_fail_at = 0; jpp_fail_at <= n_writes; jpp_fail_at++) {
        jpp_writes = 0;
        jpp_test_anew();
        jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_give, NULL);

        wrong += !jpp_gzip_open(&gz, &arena, 1, &sink);
        jpp_sink_write(&gz.sink, data, 100 * JPP_KIB);
        jpp_sink_write(&gz.sink, data, 1);
        jpp_sink_write(&gz.sink, data, 200 * JPP_KIB);

        error = jpp_gzip_close(&gz);
        error = error != 0 ? error : jpp_sink_flush(&sink);

        if (jpp_fail_at == 0) {
            n_writes = jpp_writes;
            wrong += error != 0;

        } else {
            wrong += error != ENOSPC || jpp_writes != jpp_fail_at;
        }
    }

    jpp_is_u64(wrong, 0, "each of %u writes failed once", n_writes);
    jpp_ok(n_writes > 100, "and there were many");

    free(data);
}


JPP_TEST(jpp_test_gzip_memory)
{
    uint8_t      buffer[100];
    jpp_vec_t   *vec;
    jpp_sink_t   sink;
    jpp_gzip_t   gz;

    vec = jpp_test_packed(&arena, jpp_text, JPP_TEXT_LEN, 6);
    jpp_ok(vec != NULL && jpp_gzip_is(vec->data, vec->len), "compressed");

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_sink_to_vec, NULL);
    jpp_denies(&arena, jpp_test_anew(), 1,
               jpp_done_code(jpp_gzip_open(&gz, &arena, 6, &sink)));
}


JPP_TEST(jpp_test_gunzip_memory)
{
    uint8_t      *data;
    jpp_vec_t    *vec, *out;
    jpp_arena_t   work = { 0 };

    data = malloc(JPP_MIB);
    jpp_fill(data, JPP_MIB);

    jpp_test_anew();
    vec = jpp_test_packed(&arena, data, JPP_MIB, 6);

    jpp_denies(&work, out = jpp_gzip_out(&work, JPP_CAP), 1,
               jpp_gunzip(vec->data, vec->len, JPP_MIB, out, &err));
    jpp_arena_destroy(&work);

    free(data);
}
