
/*
 * pprof's symbol protocol: addresses of this process in, names out.
 *
 *     question := address *( "+" address )          address := [ "0x" ] hex
 *     answer   := "num_symbols: 1" NL *( "0x" hex " " name NL )
 *
 * Words that are not addresses are ignored, and so are addresses outside all
 * executable mappings: the clients expect lines for known addresses only.  Any
 * byte that is neither letter nor digit is a separator, and so is a
 * percent-encoded byte ("%2B"): clients separate addresses by plus signs,
 * people by blanks, commas and newlines.
 *
 * An address has at most 16 digits.  The answer has each address once, without
 * leading zeros, however often it is asked for: both clients compare values.
 *
 * Memory from the arena, which can be destroyed whatever happened; one thread
 * at a time per arena and cache.
 */


#ifndef _JPP_LOOKUP_H_INCLUDED_
#define _JPP_LOOKUP_H_INCLUDED_


#include "jpp_symbolize.h"


/*
 * Write the answer for the LEN bytes of question at TEXT to SINK, which is
 * flushed.  MAPS are the MAPS_LEN bytes of this process's mappings.  ERR is
 * required.
 */
jpp_code_t jpp_lookup(jpp_arena_t *arena, jpp_symbols_t *symbols,
    const char *maps, size_t maps_len, const char *text, size_t len,
    jpp_sink_t *sink, jpp_err_t *err);


#endif /* _JPP_LOOKUP_H_INCLUDED_ */
