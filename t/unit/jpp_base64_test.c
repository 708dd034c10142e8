
#include "jpp_test_arena.h"
#include "jpp_test_main.h"


static const char *
jpp_base64_text(const char *data, size_t len, size_t piece)
{
    size_t         i;
    uint8_t        buffer[8];
    jpp_vec_t     *vec;
    jpp_sink_t     sink;
    jpp_base64_t   b64;

    vec = jpp_vec_create(&arena);
    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_sink_to_vec, vec);
    jpp_base64_open(&b64, &arena, &sink);

    for (i = 0; i < len; i += piece) {
        jpp_sink_write(&b64.sink, data + i, len - i < piece ? len - i : piece);
        (void) jpp_sink_flush(&b64.sink);
    }

    jpp_is_u64(jpp_base64_close(&b64), 0, "closed");
    jpp_sink_char(&sink, '\0');
    jpp_is_u64(jpp_sink_flush(&sink), 0, "written");

    return (const char *) vec->data;
}


/* The vectors of RFC 4648, and each letter of the alphabet. */

JPP_TEST(jpp_base64_test_rfc)
{
    size_t  i;

    static const char *const  vectors[][2] = {
        { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" }, { "\377\377\377\376", "/////g==" },
        { "\020\121\207\040\222\213\060\323\217\101\024\223\121\125\227\141"
          "\226\233\161\327\237\202\030\243\222\131\247\242\232\253\262\333"
          "\257\303\034\263\323\135\267\343\236\273\363\337\277",
          "EFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" }
    };

    for (i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        jpp_is_str(jpp_base64_text(vectors[i][0],
                                   strlen(vectors[i][0]), 100),
                   vectors[i][1], "vector %zu", i);
    }

    jpp_is_str(jpp_base64_text("\0\0\0\0", 4, 100), "AAAAAA==",
               "zeros are bytes as others are");
}


/* However the bytes come. */

JPP_TEST(jpp_base64_test_pieces)
{
    size_t        piece;
    const char   *whole;

    static const char  data[] = "the quick brown fox jumps over it";

    whole = jpp_base64_text(data, sizeof(data), sizeof(data));

    for (piece = 1; piece < 8; piece++) {
        jpp_is_str(jpp_base64_text(data, sizeof(data), piece), whole,
                   "in pieces of %zu", piece);
    }
}


static int
jpp_base64_full(void *ctx, const uint8_t *data, size_t len)
{
    (void) ctx;
    (void) data;
    (void) len;

    return ENOSPC;
}


JPP_TEST(jpp_base64_test_fails)
{
    uint8_t        buffer[16];
    jpp_sink_t     sink;
    jpp_base64_t   b64;

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_base64_full, NULL);

    jpp_ok(jpp_base64_open(&b64, &arena, &sink), "opened");
    jpp_sink_str(&b64.sink, "more than the buffer has room for");
    jpp_is_u64(jpp_base64_close(&b64), ENOSPC, "an error of the other sink");

    jpp_arena_fresh(&arena, 1);

    jpp_ok(!jpp_base64_open(&b64, &arena, &sink), "without memory");
}
