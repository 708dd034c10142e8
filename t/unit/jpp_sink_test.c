
#include "jpp_test_main.h"
#include "jpp_sink.h"
#include "jpp_test_arena.h"
#include "jpp_test_golden.h"


#define JPP_MAX_OUT  8192


/* a write function that fails at its n-th call */

typedef struct {
    uint8_t    data[JPP_MAX_OUT];
    size_t     len;
    unsigned   n_calls;
    unsigned   fail_at;
} jpp_out_t;


/* in place of libc's: how write() fails, is interrupted, or cut */
static int       jpp_write_error;
static size_t    jpp_write_most = SIZE_MAX;
static unsigned  jpp_write_calls;


ssize_t
write(int fd, const void *data, size_t len)
{
    jpp_write_calls++;

    if (jpp_write_error != 0) {
        errno = jpp_write_error;
        jpp_write_error = errno == EINTR ? 0 : errno;
        return -1;
    }

    return syscall(SYS_write, fd, data,
                   len < jpp_write_most ? len : jpp_write_most);
}


static int
jpp_out_write(void *ctx, const uint8_t *data, size_t len)
{
    jpp_out_t  *out;

    out = ctx;

    if (++out->n_calls == out->fail_at) {
        return EIO;
    }

    memcpy(out->data + out->len, data, len);
    out->len += len;

    return 0;
}


static void
jpp_open(jpp_sink_t *sink, uint8_t *buffer, size_t size, jpp_out_t *out,
    unsigned fail_at)
{
    memset(out, 0, sizeof(jpp_out_t));
    out->fail_at = fail_at;

    jpp_sink_init(sink, buffer, size, jpp_out_write, out);
}


/* One of everything, and nothing that needs a contiguous buffer. */

static void
jpp_script(jpp_sink_t *sink)
{
    int  i;

    for (i = 0; i < 20; i++) {
        jpp_sink_str(sink, "stack;");
        jpp_sink_str(sink, "");
        jpp_sink_char(sink, ' ');
        jpp_sink_i64(sink, INT64_MIN + i);
        jpp_sink_u64(sink, (uint64_t) i);
        jpp_sink_hex(sink, 0xabc);
        jpp_sink_printf(sink, "%d%%\n", i);
        jpp_sink_write(sink, "\0\377", 2);
        jpp_sink_write(sink, NULL, 0);
        jpp_sink_str(sink, "a line that is longer than the small buffers are");
    }
}


/*
 * The output does not depend on the size of the buffer.  With each write
 * failing once, the output is a prefix, and no write follows the failed one.
 */

JPP_TEST(jpp_test_script)
{
    size_t             size, wrong;
    uint8_t            buffer[4096];
    unsigned           n, n_calls;
    jpp_sink_t         sink;
    static jpp_out_t   whole, out;

    jpp_open(&sink, buffer, sizeof(buffer), &whole, 0);
    jpp_script(&sink);

    jpp_is_u64(whole.n_calls, 0, "nothing is written before it must be");
    jpp_is_u64(sink.total, 0, "and nothing counted");
    jpp_is_i64(jpp_sink_flush(&sink), 0, "flush");
    jpp_is_u64(sink.total, whole.len, "what is written is counted");
    jpp_is_i64(jpp_sink_flush(&sink), 0, "a second flush");
    jpp_is_u64(whole.n_calls, 1, "writes nothing");

    for (size = 1, wrong = 0; size <= 100; size++) {

        jpp_open(&sink, buffer, size, &out, 0);
        jpp_script(&sink);

        wrong += jpp_sink_flush(&sink) != 0 || sink.total != whole.len
                 || out.len != whole.len
                 || memcmp(out.data, whole.data, whole.len) != 0;

        n_calls = out.n_calls;

        for (n = 1; n <= n_calls; n++) {
            jpp_open(&sink, buffer, size, &out, n);
            jpp_script(&sink);

            wrong += jpp_sink_flush(&sink) != EIO || out.n_calls != n
                     || sink.total != out.len
                     || memcmp(out.data, whole.data, out.len) != 0;
        }
    }

    jpp_is_u64(wrong, 0, "buffers of 1 to 100 bytes, every write failed once");
}


JPP_TEST(jpp_test_edges)
{
    size_t             before, len, wrong;
    uint8_t            buffer[16], data[64];
    jpp_sink_t         sink;
    static jpp_out_t   out;

    for (len = 0; len < sizeof(data); len++) {
        data[len] = (uint8_t) (len + 1);
    }

    for (before = 0, wrong = 0; before <= 16; before++) {
        for (len = 0; len + before <= sizeof(data); len++) {

            jpp_open(&sink, buffer, sizeof(buffer), &out, 0);
            jpp_sink_write(&sink, data, before);
            jpp_sink_write(&sink, data + before, len);

            wrong += before + len <= 16 && out.n_calls != 0;
            wrong += jpp_sink_flush(&sink) != 0 || out.len != before + len
                     || memcmp(out.data, data, before + len) != 0;
        }
    }

    jpp_is_u64(wrong, 0, "writes around the end of the buffer");
}


JPP_TEST(jpp_test_numbers)
{
    size_t             i;
    uint8_t            buffer[32];
    jpp_sink_t         sink;
    static jpp_out_t   out;

    static const uint64_t  numbers[] = {
        0, 9, 10, 255, INT64_MAX, (uint64_t) INT64_MIN, UINT64_MAX
    };

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        jpp_open(&sink, buffer, sizeof(buffer), &out, 0);
        jpp_sink_i64(&sink, (int64_t) numbers[i]);
        jpp_sink_str(&sink, ", ");
        jpp_sink_u64(&sink, numbers[i]);
        jpp_sink_str(&sink, ", ");
        jpp_sink_hex(&sink, numbers[i]);
        (void) jpp_sink_flush(&sink);
        jpp_note("%s", (char *) out.data);
    }

    jpp_shows_notes("numbers, with a sign, without, and in hexadecimal");
}


JPP_TEST(jpp_test_printf)
{
    int                len;
    size_t             wrong;
    uint8_t            buffer[1024];
    jpp_sink_t         sink;
    static jpp_out_t   out;

    for (len = 4050, wrong = 0; len < 4150; len++) {
        jpp_open(&sink, buffer, sizeof(buffer), &out, 0);
        jpp_sink_printf(&sink, "%*d", len, 7);
        jpp_sink_char(&sink, '.');

        wrong += jpp_sink_flush(&sink) != 0
                 || out.len != (size_t) (len < 4096 ? len : 4095) + 1
                 || out.data[out.len - 1] != '.';
    }

    jpp_is_u64(wrong, 0, "formatted text is cut at 4095 bytes");
}


JPP_TEST(jpp_test_reserve)
{
    uint8_t            buffer[16], *p;
    jpp_sink_t         sink;
    static jpp_out_t   out;

    jpp_open(&sink, buffer, sizeof(buffer), &out, 0);

    p = jpp_sink_reserve(&sink, 16);
    jpp_ok(p == buffer, "the whole buffer");
    memcpy(p, "0123456789", 10);
    sink.pos += 10;

    p = jpp_sink_reserve(&sink, 6);
    jpp_ok(p == buffer + 10 && out.n_calls == 0, "the rest of it");

    p = jpp_sink_reserve(&sink, 7);
    jpp_ok(p == buffer && out.len == 10, "more than the rest: written first");

    jpp_ok(jpp_sink_reserve(&sink, 17) == NULL, "more than the buffer");
    jpp_is_i64(sink.error, 0, "is no error of the sink");

    jpp_sink_str(&sink, "abc");
    jpp_is_i64(jpp_sink_flush(&sink), 0, "the sink takes more");
    jpp_is_str((char *) out.data, "0123456789abc", "and writes it");

    jpp_open(&sink, buffer, sizeof(buffer), &out, 1);
    jpp_sink_str(&sink, "abc");
    jpp_ok(jpp_sink_reserve(&sink, 16) == NULL, "a write that fails");
    jpp_ok(jpp_sink_reserve(&sink, 1) == NULL, "and nothing after it");
    jpp_is_i64(jpp_sink_flush(&sink), EIO, "and its error");
}


JPP_TEST(jpp_test_fail)
{
    int                i;
    uint8_t            buffer[16];
    jpp_sink_t         sink;
    static jpp_out_t   out;

    jpp_open(&sink, buffer, sizeof(buffer), &out, 0);
    jpp_sink_str(&sink, "abc");
    jpp_sink_fail(&sink, ENOSPC);
    jpp_sink_fail(&sink, EIO);

    for (i = 0; i < 100; i++) {
        jpp_sink_char(&sink, 'x');
    }

    jpp_script(&sink);

    jpp_is_i64(jpp_sink_flush(&sink), ENOSPC, "the first error stays");
    jpp_is_u64(out.n_calls, 0, "and nothing is written");
    jpp_ok(sink.pos >= sink.start && sink.pos <= sink.end, "in its buffer");
}


JPP_TEST(jpp_test_vec)
{
    uint8_t      buffer[7];
    jpp_vec_t   *vec;
    jpp_sink_t   sink;

    vec = jpp_vec_create(&arena);

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_sink_to_vec, vec);
    jpp_sink_str(&sink, "into ");
    jpp_sink_str(&sink, "a vector");
    jpp_ok(jpp_sink_flush(&sink) == 0 && vec->len == 13, "into a vector");
    jpp_is_mem(vec->data, "into a vector", 13, "as it was");

    arena.fail_at = arena.n_calls + 1;
    jpp_sink_write(&sink, vec->data, 8);
    vec->len = vec->size;
    jpp_sink_write(&sink, "12345678", 8);
    jpp_is_i64(jpp_sink_flush(&sink), ENOMEM, "a vector that cannot grow");
}


/* A file takes as much as it likes, after an interruption. */

JPP_TEST(jpp_test_file)
{
    int          fd;
    char         text[32];
    uint8_t      buffer[7];
    jpp_sink_t   sink;

    fd = memfd_create("sink", MFD_CLOEXEC);
    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_write, &fd);

    jpp_write_error = EINTR;
    jpp_write_most = 3;
    jpp_write_calls = 0;

    jpp_sink_str(&sink, "as much as it likes");
    jpp_is_i64(jpp_sink_flush(&sink), 0, "into a file");
    jpp_is_i64(pread(fd, text, sizeof(text), 0), 19, "all of it");
    jpp_is_mem(text, "as much as it likes", 19, "in its order");
    jpp_is_u64(jpp_write_calls, 8, "by threes, the first of them twice");

    jpp_write_most = 0;
    jpp_sink_str(&sink, "more");
    jpp_is_i64(jpp_sink_flush(&sink), EIO, "one that takes nothing");

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_write, &fd);
    jpp_write_error = ENOSPC;
    jpp_sink_str(&sink, "more");
    jpp_is_i64(jpp_sink_flush(&sink), ENOSPC, "and one that is full");

    jpp_write_error = 0;
    jpp_write_most = SIZE_MAX;
    (void) close(fd);
}
