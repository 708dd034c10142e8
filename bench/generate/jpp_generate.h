
/*
 * Makes heap dumps as jemalloc writes them (heap_v2), of any size, for the
 * benchmark and for tests by hand.  The same options make the same bytes.
 *
 * The stacks are the leaves of a call tree: they share their outermost frames,
 * a return address leads to the call sites of one function whichever way it
 * was reached, and the innermost frames are libjemalloc's own.  They come in
 * jemalloc's order, which compares the raw bytes of the addresses, leaf first
 * (prof_gctx_comp in prof_data.c): neighbours share their innermost frames
 * too.
 *
 * The files that the maps section names do not exist, so that a result does
 * not depend on what is installed.  Memory from an arena of its own.
 */


#ifndef _JPP_GENERATE_H_INCLUDED_
#define _JPP_GENERATE_H_INCLUDED_


#include "jpp_sink.h"


/* what the options may be */
#define JPP_GENERATE_STACKS_MIN     100
#define JPP_GENERATE_STACKS_MAX     4000000
#define JPP_GENERATE_DEPTH_MIN      8
#define JPP_GENERATE_DEPTH_MAX      100
#define JPP_GENERATE_ADDRESSES_MIN  64
#define JPP_GENERATE_ADDRESSES_MAX  4000000
#define JPP_GENERATE_THREADS_MAX    1000
#define JPP_GENERATE_MAPPINGS_MAX   60000


typedef struct {
    uint32_t    seed;
    uint32_t    stacks;
    uint32_t    depth;          /* mean number of frames, jemalloc's too */
    uint32_t    addresses;      /* distinct ones; 0: as many as is usual */
    uint32_t    threads;        /* a stack has 1 to so many thread lines */
    uint32_t    mappings;       /* lines of the maps section, at least */
    uint32_t    period;
    bool        has_accum;      /* prof_accum:true */
    bool        is_non_pie;     /* the program's addresses are short */
    bool        is_unsorted;    /* in the order of the call tree */
} jpp_generate_t;


/* Initialize the caller's OPTIONS with the defaults. */
void jpp_generate_init(jpp_generate_t *options);

/*
 * Append the dump to SINK, which needs a buffer of JPP_SINK_BUFFER bytes; not
 * flushed.  False: no memory; the sink's errors stay in the sink.
 */
bool jpp_generate(const jpp_generate_t *options, jpp_sink_t *sink);


#endif /* _JPP_GENERATE_H_INCLUDED_ */
