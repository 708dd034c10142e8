
/*
 * An output buffer in front of a write function, with a sticky error.
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
#include "jpp_err.h"


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

/* Append at most 4095 bytes of formatted text: not for long loops. */
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


/*
 * base64 (RFC 4648): a sink in front of another sink.
 *
 * Three bytes become four letters, the last ones with padding; there are no
 * line breaks.  The letters mean nothing to HTML.
 */


typedef struct {
    jpp_sink_t    sink;            /* append here */
    jpp_sink_t   *out;
    uint8_t       rest[3];         /* bytes without their letters yet */
    size_t        n_rest;
} jpp_base64_t;


/*
 * Prepare the caller's B64: what is appended to b64->sink goes to OUT.  False
 * when the arena is full.
 */
bool jpp_base64_open(jpp_base64_t *b64, jpp_arena_t *arena, jpp_sink_t *out);

/*
 * Write the last letters (OUT is not flushed); 0, or the first error of either
 * sink.
 */
int jpp_base64_close(jpp_base64_t *b64);


/*
 * Foreign text in HTML and XML.
 *
 * Names of functions come from files that anybody may have written.  Here they
 * become text and nothing else, in an element or in a quoted attribute.
 */

/*
 * Append the LEN bytes of UTF-8 at TEXT, with the characters of markup escaped
 * and control characters as question marks.
 */
void jpp_markup_text(jpp_sink_t *sink, const char *text, size_t len);

/*
 * As printf(), with the conversions %s, %d, %u, of any length, and %%: FMT is
 * markup, and a string is text, which is escaped; newlines stay, and what is
 * not printable ASCII becomes question marks.
 */
void jpp_markup_printf(jpp_sink_t *sink, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));


/*
 * Writing to files.  At the largest size that a process may give one
 * (RLIMIT_FSIZE), the kernel ends the process by SIGXFSZ.  Here the signal is
 * held back in the calling thread, so that the limit is an error like any
 * other, and nobody else's handler or mask changes.
 *
 * No state, no memory; any thread.
 */

/*
 * Write all LEN bytes of DATA to the file whose descriptor FD points to: a
 * write function of jpp_sink.h.  Returns 0, or an errno.
 */
int jpp_write(void *fd, const uint8_t *data, size_t len);

/*
 * The same for files that others write: from _hold() to _release(), which is
 * given the same WAS, no limit ends the process.  Errno is untouched.
 */
void jpp_write_hold(sigset_t *was);
void jpp_write_release(const sigset_t *was);

/* Has the file behind FD the largest size that it may have? */
bool jpp_write_is_full(int fd);

/*
 * WHAT could not be written, since a call failed with SYS_ERRNO: as
 * jpp_err_sys(), with the fix where that is the limit.
 */
jpp_code_t jpp_write_failed(jpp_err_t *err, int sys_errno, const char *what);


/*
 * What one read has of the small file PATH: SIZE bytes at most, to DATA; -1
 * with its errno.
 */
ssize_t jpp_read_file(const char *path, char *data, size_t size);

/* The same as a string, with a NUL as its last byte; 0: nothing, or no file. */
size_t jpp_read_text(const char *path, char *text, size_t size);

/* The same of the file at FD, from OFFSET on: fewer than LEN, where it ends. */
ssize_t jpp_read_at(int fd, void *data, size_t len, uint64_t offset);


/* The entries of an open directory, from where its descriptor FD is. */
typedef struct {
    int           fd;
    int           error;           /* errno; 0: none */
    long          len;
    long          pos;
    _Alignas(uint64_t) char  buffer[4096];
} jpp_directory_t;

void jpp_directory_init(jpp_directory_t *directory, int fd);

/* The name of the next one; NULL: no more, or an error. */
const char *jpp_directory_next(jpp_directory_t *directory);


/*
 * gzip, both ways; the owner of zlib.  zlib's memory comes from the arena.
 *
 * Writing: a jpp_gzip_t is a sink in front of another sink.  Reading: a whole
 * gzip file in memory into a vector, under a cap, for dumps that somebody
 * compressed before moving them.
 */

typedef struct {
    jpp_sink_t    sink;            /* append here */
    jpp_sink_t   *out;
    void         *stream;
} jpp_gzip_t;


/*
 * Prepare the caller's GZ: what is appended to gz->sink goes compressed at
 * LEVEL (1 to 9) to OUT.  False when the arena is full.
 */
bool jpp_gzip_open(jpp_gzip_t *gz, jpp_arena_t *arena, int level,
    jpp_sink_t *out);

/*
 * End the stream (OUT is not flushed); 0, or the first error of either sink.
 * Call it once, after an error too.
 */
int jpp_gzip_close(jpp_gzip_t *gz);

/* Does the data start as a gzip file does? */
bool jpp_gzip_is(const uint8_t *data, size_t len);

/*
 * Inflate the LEN bytes of gzip at DATA (several members may follow each
 * other) to the end of OUT, which may grow by at most MAX bytes.
 */
jpp_code_t jpp_gunzip(const uint8_t *data, size_t len, size_t max,
    jpp_vec_t *out, jpp_err_t *err);


/*
 * Writes JSON, one value a line and indented, so that people can read it too.
 *
 * The caller opens and closes objects and arrays as they nest; commas, lines
 * and quoting come by themselves.  In an array KEY is NULL.  The output is
 * ASCII: other bytes of a string become question marks.
 *
 * One thread at a time; the only memory is the sink's.
 */

typedef struct {
    jpp_sink_t    *sink;
    unsigned       depth;
    bool           is_first;       /* of the members of what is open */
} jpp_json_t;


typedef struct {
    const char    *key;            /* NULL ends a list */
    uint64_t       value;
} jpp_json_number_t;


/* Initialize the caller's JSON, which is written to SINK. */
void jpp_json_init(jpp_json_t *json, jpp_sink_t *sink);

/* Open an object or array by its BRACKET, '{' or '['; the matching '}', ']'. */
void jpp_json_open(jpp_json_t *json, const char *key, char bracket);
void jpp_json_close(jpp_json_t *json, char bracket);

/* A NUL-terminated string; NULL becomes null. */
void jpp_json_str(jpp_json_t *json, const char *key, const char *value);

/* The same of the LEN bytes of DATA, whatever they are. */
void jpp_json_bytes(jpp_json_t *json, const char *key, const char *data,
    size_t len);

/*
 * The LEN bytes of a name that anybody may have given, the first 4096 of them,
 * as jpp_utf8_escape() writes them.
 */
void jpp_json_name(jpp_json_t *json, const char *key, const char *data,
    size_t len);

/* LEN bytes of UTF-8, of which nothing is to be escaped any more. */
void jpp_json_utf8(jpp_json_t *json, const char *key, const char *data,
    size_t len);

void jpp_json_i64(jpp_json_t *json, const char *key, int64_t value);
void jpp_json_u64(jpp_json_t *json, const char *key, uint64_t value);
void jpp_json_bool(jpp_json_t *json, const char *key, bool value);

/*
 * Several numbers, of which JPP_NONE become null:
 *
 *     jpp_json_numbers(json, { "size", slot->size }, { "used", slot->used });
 *
 * jpp_json_object() opens an object before that, and closes it.
 */
#define jpp_json_numbers(json, ...)                                           \
    jpp_json_list(json, (const jpp_json_number_t[]) {                         \
        __VA_ARGS__, { NULL, 0 } })

#define jpp_json_object(json, key, ...)                                       \
    (jpp_json_open(json, key, '{'), jpp_json_numbers(json, __VA_ARGS__),      \
     jpp_json_close(json, '}'))

void jpp_json_list(jpp_json_t *json, const jpp_json_number_t *numbers);

/* A number; JPP_NONE becomes null. */
void jpp_json_known(jpp_json_t *json, const char *key, uint64_t value);
#define jpp_json_null(json, key)  jpp_json_known(json, key, JPP_NONE)

/* An array of two numbers on a line, in an array; JPP_NONE becomes null. */
void jpp_json_pair(jpp_json_t *json, uint64_t one, uint64_t other);


/*
 * tar, both ways: files with names of up to 99 bytes in one stream, as every
 * tar(1) reads it (ustar of POSIX.1-1988, without owners and directories).
 */

#define JPP_TAR_NAME  100


/* The member that was read last. */
typedef struct {
    char           name[JPP_TAR_NAME];
    const uint8_t *data;
    size_t         len;
    int64_t        time;           /* seconds since the epoch; 0: none */

    const uint8_t *pos;
    const uint8_t *end;
} jpp_tar_t;


/*
 * Append the LEN bytes at DATA as the file NAME, last changed at TIME (seconds
 * since the epoch); and the end of the archive.
 */
void jpp_tar_add(jpp_sink_t *sink, const char *name, int64_t time,
    const void *data, size_t len);
void jpp_tar_end(jpp_sink_t *sink);

/* Initialize the caller's TAR with the LEN bytes of an archive at DATA. */
void jpp_tar_init(jpp_tar_t *tar, const uint8_t *data, size_t len);

/*
 * Read the next regular file; one of another type is skipped.  Its data is
 * NULL at the end of the archive.  JPP_ERR_INPUT: it is not an archive, or
 * damaged; JPP_ERR_CUT: it ends too early.
 */
jpp_code_t jpp_tar_next(jpp_tar_t *tar, jpp_err_t *err);


#endif /* _JPP_SINK_H_INCLUDED_ */
