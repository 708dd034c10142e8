
/*
 * gzip, both ways; the owner of zlib.  zlib's memory comes from the arena.
 *
 * Writing: a jpp_gzip_t is a sink in front of another sink.  Reading: a whole
 * gzip file in memory into a vector, under a cap, for dumps that somebody
 * compressed before moving them.
 */


#ifndef _JPP_GZIP_H_INCLUDED_
#define _JPP_GZIP_H_INCLUDED_


#include "jpp_err.h"
#include "jpp_sink.h"


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


#endif /* _JPP_GZIP_H_INCLUDED_ */
