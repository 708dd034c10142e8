
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


enum {
    JPP_POOLS_INUSE_OBJECTS = 0,
    JPP_POOLS_INUSE_SPACE,
    JPP_POOLS_UNUSED_SPACE,
    JPP_POOLS_TYPES
};


/* By jpp_pools_class_t; NULL for JPP_POOLS_ITSELF. */
extern const char *const  jpp_pools_classes[JPP_POOLS_CLASSES];

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


/*
 * The heap of LuaJIT by the path that holds it; nothing is sampled.  The frames
 * of a stack are names of a path, and the leaf is what is held there.
 */
extern const jpp_parser_t  jpp_parser_lua;

enum {
    JPP_LUA_OBJECTS = 0,
    JPP_LUA_SPACE,
    JPP_LUA_VALUES
};

#define JPP_LUA_HEAD     "jpp_lua/1\n"

/* names of a path, and bytes of a name with its end */
#define JPP_LUA_DEPTH    32
#define JPP_LUA_NAME     512

/* what nothing reaches that counts */
#define JPP_LUA_GARBAGE  "(garbage, weak, traces)"

/* what is held: first the VM's own state, then objects by their types */
#define JPP_LUA_KINDS    10

extern const char *const  jpp_lua_kinds[JPP_LUA_KINDS + 1];


/* how a capture of times begins, before its kind; and its mappings */
#define JPP_TIMES_HEAD  "jpp_times/1 "
#define JPP_TIMES_MAPS  "MAPPED_LIBRARIES:\n"


enum {
    JPP_TIMES_SAMPLES = 0,
    JPP_TIMES_NANOS,               /* of the profile's mode */
    JPP_TIMES_OTHER,               /* of the other, which it has not */
    JPP_TIMES_TYPES
};


/*
 * Separates the memory that a worker inherited from the memory that it
 * allocated itself.
 *
 * The dumps of a forked process also show what its parent had allocated.  Its
 * baseline, a dump from when it started, says how much: for every stack and
 * value the process inherited the smaller of the two, because memory freed
 * since then is only in the baseline, and memory allocated since then is not
 * in it.
 *
 *     inherited = min(now, baseline)
 *     own       = now - inherited
 *
 * The processes of one parent share what they inherited until they write to
 * it: it exists once, however many hold it.  If one of them frees it, the
 * others still have it:
 *
 *     of a group = max(inherited of each)
 *
 * The counts of samples and of doubts are split in the same way, so both parts
 * know the number of samples behind an estimate.
 *
 *     jpp_origin_init();
 *     for each process: read its dump, under labels of a part that no other
 *         has, and its baseline under the same but into split.baseline,
 *         jpp_origin_take();
 *     jpp_origin_keep();
 *
 * One thread at a time; memory from the profile's arena.
 */

/* the bit of the part of a label set that says: inherited, by this group */
#define JPP_ORIGIN_GROUP  (1ULL << 63)


typedef struct {
    jpp_profile_t    *profile;
    jpp_vec_t        *baseline[JPP_MAX_COLUMNS];   /* as profile->columns */
} jpp_origin_split_t;


/* Initialize the caller's SPLIT of PROFILE, which has no sample yet. */
bool jpp_origin_init(jpp_origin_split_t *split, jpp_profile_t *profile);

/* Can BASELINE be a baseline of DUMP? */
jpp_code_t jpp_origin_check(const jpp_dump_t *baseline, const jpp_dump_t *dump,
    jpp_err_t *err);

/*
 * Of the samples from FROM on, those of one process and its baseline, move
 * what was inherited to samples under SET, the label set of its group.
 */
bool jpp_origin_take(jpp_origin_split_t *split, uint32_t from, uint32_t set);

/* Keep what has ORIGIN, and count the samples behind its estimates. */
void jpp_origin_keep(jpp_profile_t *profile, jpp_origin_t origin);


#endif /* _JPP_PARSERS_H_INCLUDED_ */
