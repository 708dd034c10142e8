
/*
 * Which connection a server is serving, as the words of a stack say: handlers
 * carry it down, so that some words point at it.  Others may be left over from
 * earlier calls.
 *
 * A connection has a record in each of several arrays, at the same index.  A
 * word that points at the start of a record names the connection, if that has
 * a number: what a free record is, and the caller knows nothing else of it.
 * Nothing is followed: only the words are read.
 *
 * [signal] No lock, no memory; any thread.
 */


#ifndef _JPP_SERVING_H_INCLUDED_
#define _JPP_SERVING_H_INCLUDED_


#include "jpp_core.h"


#define JPP_SERVING_RANGES  3

/* the number of a connection that has none yet */
#define JPP_SERVING_NEW     UINT64_MAX

/* what a connection serves: one at a time, the next; or the first of several */
#define JPP_SERVING_NEXT    1
#define JPP_SERVING_FIRST   2

/* or nobody: it accepts others */
#define JPP_SERVING_OTHERS  3

/* words of a stack that are looked at */
#define JPP_SERVING_WORDS   1024


typedef struct {
    uintptr_t              start;
    uint32_t               size;       /* of a record, in bytes */
} jpp_serving_range_t;


/* zeroed, there are no connections */
typedef struct {
    jpp_serving_range_t    ranges[JPP_SERVING_RANGES];
    uint32_t               n;          /* records of each */

    /* what tells a connection from those that had its record before; 0: there
       is none, or none that serves anybody */
    uint64_t             (*number)(uint32_t index);

    /* where a record of the first range has that itself (another word means
       that NUMBER has to be asked), and an int: -1, it was closed */
    uint32_t               number_at;
    uint32_t               open_at;

    uintptr_t              low;        /* of all ranges: */
    uintptr_t              span;       /*   jpp_serving_init() */
} jpp_serving_t;


typedef struct {
    uint64_t               number;
    uint32_t               index;
    uint32_t               range;      /* whose record the word points at */
} jpp_serving_one_t;


/* The caller has set the ranges of SERVING, N, NUMBER and where both are. */
void jpp_serving_init(jpp_serving_t *serving);

/* Does WORD name a connection, which becomes ONE? */
bool jpp_serving_is(const jpp_serving_t *serving, uintptr_t word,
    jpp_serving_one_t *one);

/*
 * The outermost of the N words at ADDRESS, of which the last JPP_SERVING_WORDS
 * are looked at, that names a connection: returns its place, from 1; 0: there
 * is none.
 */
uint32_t jpp_serving_find(const jpp_serving_t *serving, uintptr_t address,
    uint32_t n, jpp_serving_one_t *one);


#endif /* _JPP_SERVING_H_INCLUDED_ */
