
/*
 * Bytes out: a buffer in front of a write function, with a sticky error.
 *
 * Writers append and never check; the opener of the sink checks once, at the
 * end (jpp_sink_flush).  After a failure the sink drops everything appended
 * and does not call the write function again.
 *
 * The buffer belongs to the caller.  One thread at a time.
 */


#ifndef _JPP_SINK_H_INCLUDED_
#define _JPP_SINK_H_INCLUDED_


#include "jpp_arena.h"


#define JPP_SINK_BUFFER  (64 * 1024)


typedef struct jpp_sink_s  jpp_sink_t;

/* Takes all LEN bytes and returns 0, or an errno. */
typedef int (*jpp_sink_write_pt)(void *ctx, const uint8_t *data, size_t len);


struct jpp_sink_s {
    uint8_t            *pos;
    uint8_t            *start;
    uint8_t            *end;
    jpp_sink_write_pt   write;
    void               *ctx;
    uint64_t            total;     /* bytes handed to write */
    int                 error;     /* the first errno, sticky */
};


/* Initialize the caller's SINK with SIZE bytes of BUFFER before WRITE. */
void jpp_sink_init(jpp_sink_t *sink, uint8_t *buffer, size_t size,
    jpp_sink_write_pt write, void *ctx);

/* A WRITE function whose CTX is a jpp_vec_t: collects everything in memory. */
int jpp_sink_to_vec(void *ctx, const uint8_t *data, size_t len);

/* Append LEN bytes. */
void jpp_sink_write(jpp_sink_t *sink, const void *data, size_t len);

/* Append a NUL-terminated string. */
void jpp_sink_str(jpp_sink_t *sink, const char *s);

/* Append a number in decimal; in hexadecimal without prefix. */
void jpp_sink_i64(jpp_sink_t *sink, int64_t n);
void jpp_sink_u64(jpp_sink_t *sink, uint64_t n);
void jpp_sink_hex(jpp_sink_t *sink, uint64_t n);

/* Append at most 511 bytes of formatted text: for headings, not for loops. */
void jpp_sink_printf(jpp_sink_t *sink, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * SIZE contiguous bytes of the buffer; the caller fills them and advances
 * sink->pos.  NULL after an error, and if SIZE exceeds the buffer's.
 */
uint8_t *jpp_sink_reserve(jpp_sink_t *sink, size_t size);

/* Make the sink fail with ERROR, an errno. */
void jpp_sink_fail(jpp_sink_t *sink, int error);

/* Write what is buffered; returns 0, or the first errno. */
int jpp_sink_flush(jpp_sink_t *sink);


static inline void
jpp_sink_char(jpp_sink_t *sink, char c)
{
    if (sink->pos < sink->end || jpp_sink_reserve(sink, 1) != NULL) {
        *sink->pos++ = (uint8_t) c;
    }
}


#endif /* _JPP_SINK_H_INCLUDED_ */
