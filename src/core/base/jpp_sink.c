
#include "jpp_sink.h"
#include "jpp_units.h"


#define JPP_SINK_TEXT  4096


void
jpp_sink_init(jpp_sink_t *sink, uint8_t *buffer, size_t size,
    jpp_sink_write_pt write, void *ctx)
{
    sink->pos = buffer;
    sink->start = buffer;
    sink->end = buffer + size;
    sink->write = write;
    sink->ctx = ctx;
    sink->total = 0;
    sink->error = 0;
}


int
jpp_sink_to_vec(void *ctx, const uint8_t *data, size_t len)
{
    uint8_t  *p;

    p = jpp_vec_push(ctx, len);

    if (p == NULL) {
        return ENOMEM;
    }

    memcpy(p, data, len);

    return 0;
}


static void
jpp_sink_hand_on(jpp_sink_t *sink, const uint8_t *data, size_t len)
{
    int  error;

    if (sink->error != 0) {
        return;
    }

    error = sink->write(sink->ctx, data, len);

    if (error != 0) {
        jpp_sink_fail(sink, error);
        return;
    }

    sink->total += len;
}


void
jpp_sink_write(jpp_sink_t *sink, const void *data, size_t len)
{
    if (len > (size_t) (sink->end - sink->pos)) {

        (void) jpp_sink_flush(sink);

        if (len > (size_t) (sink->end - sink->start)) {
            jpp_sink_hand_on(sink, data, len);
            return;
        }
    }

    if (sink->error == 0 && len != 0) {
        memcpy(sink->pos, data, len);
        sink->pos += len;
    }
}


void
jpp_sink_str(jpp_sink_t *sink, const char *s)
{
    jpp_sink_write(sink, s, strlen(s));
}


void
jpp_sink_i64(jpp_sink_t *sink, int64_t n)
{
    if (n < 0) {
        jpp_sink_char(sink, '-');
    }

    jpp_sink_u64(sink, n < 0 ? 0 - (uint64_t) n : (uint64_t) n);
}


void
jpp_sink_u64(jpp_sink_t *sink, uint64_t n)
{
    char   text[20], *p;

    p = text + sizeof(text);

    do {
        *--p = (char) ('0' + n % 10);
        n /= 10;
    } while (n != 0);

    jpp_sink_write(sink, p, (size_t) (text + sizeof(text) - p));
}


void
jpp_sink_hex(jpp_sink_t *sink, uint64_t n)
{
    char   text[16], *p;

    p = text + sizeof(text);

    do {
        *--p = "0123456789abcdef"[n & 15];
        n >>= 4;
    } while (n != 0);

    jpp_sink_write(sink, p, (size_t) (text + sizeof(text) - p));
}


void
jpp_sink_printf(jpp_sink_t *sink, const char *fmt, ...)
{
    int      len;
    char     text[JPP_SINK_TEXT];
    va_list  args;

    va_start(args, fmt);
    len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    if (len < 0) {
        jpp_sink_fail(sink, EINVAL);
        return;
    }

    jpp_sink_write(sink, text, jpp_smaller((size_t) len, sizeof(text) - 1));
}


uint8_t *
jpp_sink_reserve(jpp_sink_t *sink, size_t size)
{
    if (size > (size_t) (sink->end - sink->pos)) {
        (void) jpp_sink_flush(sink);
    }

    if (sink->error != 0 || size > (size_t) (sink->end - sink->pos)) {
        return NULL;
    }

    return sink->pos;
}


void
jpp_sink_fail(jpp_sink_t *sink, int error)
{
    if (sink->error == 0) {
        sink->error = error;
    }

    sink->pos = sink->start;
}


int
jpp_sink_flush(jpp_sink_t *sink)
{
    size_t  len;

    len = (size_t) (sink->pos - sink->start);
    sink->pos = sink->start;

    if (len != 0) {
        jpp_sink_hand_on(sink, sink->start, len);
    }

    return sink->error;
}


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
