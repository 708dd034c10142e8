
/*
 * Workers for the tests of src/core/fleet: tame ones, and ones with an attack
 * in every string.  And a sink that collects, or fails at a given write.
 */


#ifndef _JPP_TEST_FLEET_H_INCLUDED_
#define _JPP_TEST_FLEET_H_INCLUDED_


#include "jpp_answers.h"
#include "jpp_test.h"


#define JPP_FLEET_TEXT  (256 * 1024)

/* quotes, tags, control bytes, UTF-8 and bytes that are none, a format */
#define JPP_FLEET_EVIL                                                        \
    "\"'\\</pre><script>&amp;\x01\n\r\t\x7f\xc3\xa9\xff\xed\xa0\x80%s%n"

/* what is to be seen of it */
#define JPP_FLEET_ASCII  "\"'\\</pre><script>&amp;"


typedef struct {
    char           text[JPP_FLEET_TEXT];
    size_t         len;
    unsigned       n_writes;
    unsigned       fail_at;        /* 0: none */
} jpp_output_t;


static inline jpp_worker_t
jpp_fleet_worker(uint32_t index, jpp_jemalloc_state_t state)
{
    jpp_worker_t  worker = { 0 };

    worker.who.index = index;
    worker.who.pid = 4711 + index;
    worker.who.generation = 2;
    worker.started = 1795233720;

    /* the first has VMs, the others have none */

    worker.lua.bytes[0] = index == 0 ? 67108864 : JPP_NONE;
    worker.lua.bytes[1] = JPP_NONE;
    jpp_print(worker.lua.why, "%s", index == 0 ? ""
                                               : "nginx has no Lua module");

    worker.jemalloc.state = state;

    if (state == JPP_JEMALLOC_ABSENT) {
        strcpy(worker.jemalloc.allocator, "libc.so.6");
        return worker;
    }

    strcpy(worker.jemalloc.version, "5.3.0");
    worker.jemalloc.variable = "MALLOC_CONF";
    worker.jemalloc.active = state == JPP_JEMALLOC_READY;
    worker.jemalloc.lg_sample = 19;

    if (state > JPP_JEMALLOC_OFF) {
        worker.jemalloc.hook = JPP_HOOK_OFF;
    }

    worker.has_stats = true;
    worker.stats.allocated = 12897484;
    worker.stats.active = 14680064;
    worker.stats.metadata = 3;
    worker.stats.resident = 21076377;
    worker.stats.mapped = UINT64_MAX;
    worker.stats.retained = 0;

    return worker;
}


static inline jpp_worker_t
jpp_fleet_evil(uint32_t index, jpp_jemalloc_state_t state)
{
    jpp_worker_t    worker;
    jpp_jemalloc_t  *jemalloc;

    worker = jpp_fleet_worker(index, state);
    jemalloc = &worker.jemalloc;

    memset(jemalloc->allocator, '<', sizeof(jemalloc->allocator) - 1);
    memcpy(jemalloc->allocator, JPP_FLEET_EVIL, strlen(JPP_FLEET_EVIL));
    memset(jemalloc->version, '&', sizeof(jemalloc->version) - 1);
    memcpy(jemalloc->version, "\"</td><b>\n\x80'\x1b", 14);
    jemalloc->version[13] = '\xff';
    jemalloc->variable = JPP_FLEET_EVIL;

    worker.who.pid = INT64_MIN;
    worker.who.generation = UINT64_MAX;
    worker.started = INT64_MAX;
    worker.is_exiting = true;
    worker.last_error.time = INT64_MIN;
    strcpy(worker.last_error.text, JPP_FLEET_EVIL);
    jemalloc->interval = jemalloc->gdump = jemalloc->final = true;
    jemalloc->leak_error = jemalloc->accum = jemalloc->unsampled = true;
    jemalloc->lg_sample = UINT32_MAX;

    return worker;
}


/* N WORKERS of N_ASKED; the others are not named. */
static inline jpp_fleet_t
jpp_fleet_of(uint32_t n_asked, const jpp_worker_t *workers, size_t n)
{
    return (jpp_fleet_t) {
        .nginx = "1.22.1",
        .host = "web1",
        .n_asked = n_asked,
        .workers = workers,
        .n = n
    };
}


static inline int
jpp_output_write(void *ctx, const uint8_t *data, size_t len)
{
    jpp_output_t  *output = ctx;

    if (++output->n_writes == output->fail_at) {
        return ENOSPC;
    }

    if (len >= JPP_FLEET_TEXT - output->len) {
        return EFBIG;
    }

    memcpy(output->text + output->len, data, len);
    output->len += len;
    output->text[output->len] = '\0';

    return 0;
}


/*
 * What WRITER writes of FLEET, in OUTPUT through a small buffer; the write
 * that fails is FAIL_AT.  The result is the sink's.
 */
static inline int
jpp_output_fill(jpp_output_t *output,
    void (*writer)(const jpp_fleet_t *fleet, jpp_sink_t *sink),
    const jpp_fleet_t *fleet, unsigned fail_at)
{
    uint8_t     buffer[64];
    jpp_sink_t  sink;

    output->len = 0;
    output->text[0] = '\0';
    output->n_writes = 0;
    output->fail_at = fail_at;

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_output_write, output);
    writer(fleet, &sink);

    return jpp_sink_flush(&sink);
}


/*
 * In MADE, what COMMAND makes of a file with LEN bytes of TEXT, whose name
 * comes behind it.
 */
static inline void
jpp_output_filter(const char *command, const char *text, size_t len,
    jpp_output_t *made)
{
    int    fd;
    char   path[] = "/tmp/jpp_output.XXXXXX", line[2048];
    FILE  *pipe;

    fd = mkstemp(path);
    jpp_ok(fd != -1 && write(fd, text, len) == (ssize_t) len, "%s", path);
    close(fd);

    jpp_print(line, "%s %s", command, path);
    pipe = popen(line, "r");
    made->len = pipe != NULL ? fread(made->text, 1, JPP_FLEET_TEXT - 1, pipe)
                             : 0;
    made->text[made->len] = '\0';

    jpp_ok(pipe != NULL && pclose(pipe) == 0, "%.20s... succeeds", command);
    unlink(path);
}


/* Fails each write of WRITER in turn: nothing may be written after it. */
static inline void
jpp_output_fails(jpp_output_t *output,
    void (*writer)(const jpp_fleet_t *fleet, jpp_sink_t *sink),
    const jpp_fleet_t *fleet)
{
    unsigned  n, n_writes, wrong;

    wrong = jpp_output_fill(output, writer, fleet, 0) != 0;
    n_writes = output->n_writes;

    for (n = 1; n <= n_writes; n++) {
        wrong += jpp_output_fill(output, writer, fleet, n) != ENOSPC
                 || output->n_writes != n;
    }

    jpp_is_u64(wrong, 0, "each of %u writes failed once", n_writes);
    jpp_ok(n_writes > 20, "and there were many");
}


#endif /* _JPP_TEST_FLEET_H_INCLUDED_ */
