
/*
 * The parsers of captures, one for each grammar.
 *
 * A report uses a capture only through its parser, which is the last thing in
 * its file.
 */


#ifndef _JPP_PARSERS_H_INCLUDED_
#define _JPP_PARSERS_H_INCLUDED_


#include "jpp_heap.h"
#include "jpp_pools_table.h"
#include "jpp_stall.h"


/*
 * The columns of a profile of pools.
 *
 * Nothing in it is sampled: the memory that nginx holds, by its own units, to
 * the byte.  inuse_space is what the allocator has set aside, and unused_space
 * what of it has never been handed out.  What is in no pool is there by
 * difference, so that the sum is all that the worker's event loop holds, where
 * the allocator counts that.
 */

/* the synthetic mapping of all frames */
#define JPP_POOLS_MAPPING  "[nginx]"

/* the label of a block of the configuration: "nginx.conf:41" */
#define JPP_POOLS_PLACE_KEY  "place"


enum {
    JPP_POOLS_INUSE_OBJECTS = 0,
    JPP_POOLS_INUSE_SPACE,
    JPP_POOLS_UNUSED_SPACE,
    JPP_POOLS_TYPES
};


/* By jpp_pools_class_t; NULL for JPP_POOLS_ITSELF. */
extern const char *const  jpp_pools_classes[JPP_POOLS_CLASSES];

/* By jpp_pools_reason_t: why a walk ended early. */
extern const char *const  jpp_pools_reasons[JPP_POOLS_REASONS];

/* What an owner of KIND is: "request", "http2 connection". */
const char *jpp_pools_kind_name(jpp_pools_kind_t kind);


/* tables of what a walk through nginx's pools found */
extern const jpp_parser_t  jpp_parser_pools;

/* iterations of an event loop that took long */
extern const jpp_parser_t  jpp_parser_stalls;

/* stacks with their CPU time, with the time that passed */
extern const jpp_parser_t  jpp_parser_cpu;
extern const jpp_parser_t  jpp_parser_wall;

enum {
    JPP_STALLS_COUNT = 0,
    JPP_STALLS_DELAY,
    JPP_STALLS_TYPES
};


/* how a capture of times begins, before its kind; and its mappings */
#define JPP_TIMES_HEAD  "jpp_times/1 "
#define JPP_TIMES_MAPS  "MAPPED_LIBRARIES:\n"


enum {
    JPP_TIMES_SAMPLES = 0,
    JPP_TIMES_NANOS,               /* of the profile's mode */
    JPP_TIMES_OTHER,               /* of the other, which it has not */
    JPP_TIMES_TYPES
};


#endif /* _JPP_PARSERS_H_INCLUDED_ */
