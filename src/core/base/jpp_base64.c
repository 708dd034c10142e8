
#include "jpp_base64.h"


static const char  jpp_base64_alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";


static void
jpp_base64_letters(jpp_sink_t *out, const uint8_t bytes[3])
{
    uint32_t  n;
    uint8_t  *p;

    p = jpp_sink_reserve(out, 4);
    if (p == NULL) {
        return;
    }

    n = (uint32_t) bytes[0] << 16 | (uint32_t) bytes[1] << 8 | bytes[2];

    p[0] = (uint8_t) jpp_base64_alphabet[n >> 18];
    p[1] = (uint8_t) jpp_base64_alphabet[n >> 12 & 63];
    p[2] = (uint8_t) jpp_base64_alphabet[n >> 6 & 63];
    p[3] = (uint8_t) jpp_base64_alphabet[n & 63];

    out->pos += 4;
}


static int
jpp_base64_write(void *ctx, const uint8_t *data, size_t len)
{
    jpp_base64_t   *b64;
    const uint8_t  *end;

    b64 = ctx;
    end = data + len;

    while (data < end) {

        if (b64->n_rest == 0 && end - data >= 3) {
            jpp_base64_letters(b64->out, data);
            data += 3;
            continue;
        }

        b64->rest[b64->n_rest++] = *data++;

        if (b64->n_rest == 3) {
            jpp_base64_letters(b64->out, b64->rest);
            b64->n_rest = 0;
        }
    }

    return b64->out->error;
}


bool
jpp_base64_open(jpp_base64_t *b64, jpp_arena_t *arena, jpp_sink_t *out)
{
    uint8_t  *buffer;

    buffer = jpp_arena_alloc(arena, JPP_SINK_BUFFER);
    if (buffer == NULL) {
        return false;
    }

    jpp_sink_init(&b64->sink, buffer, JPP_SINK_BUFFER, jpp_base64_write, b64);
    b64->out = out;
    b64->n_rest = 0;

    return true;
}


int
jpp_base64_close(jpp_base64_t *b64)
{
    int     error;
    size_t  n;

    error = jpp_sink_flush(&b64->sink);

    if (error != 0 || b64->n_rest == 0) {
        return error;
    }

    for (n = b64->n_rest; n < 3; n++) {
        b64->rest[n] = 0;
    }

    jpp_base64_letters(b64->out, b64->rest);

    /* letters of nothing but the zeros just added */

    if (b64->out->error == 0) {
        for (n = b64->n_rest; n < 3; n++) {
            b64->out->pos[(int) n - 3] = '=';
        }
    }

    return b64->out->error;
}
