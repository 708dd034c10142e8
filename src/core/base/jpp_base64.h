
/*
 * base64 (RFC 4648): a sink in front of another sink.
 *
 * Three bytes become four letters, the last ones with padding; there are no
 * line breaks.  The letters mean nothing to HTML.
 */


#ifndef _JPP_BASE64_H_INCLUDED_
#define _JPP_BASE64_H_INCLUDED_


#include "jpp_sink.h"


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


#endif /* _JPP_BASE64_H_INCLUDED_ */
