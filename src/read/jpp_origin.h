
/*
 * What a worker inherited, told apart from what it allocated itself.
 *
 * The dumps of a process that was forked show what its parent had allocated
 * too.  Its baseline, a dump from when it started, tells how much: of every
 * stack and value the smaller of both was inherited, because what was freed
 * since is in the baseline alone, and what was allocated since is not.
 *
 *     inherited = min(now, baseline)
 *     own       = now - inherited
 *
 * The processes of one parent share what they inherited until they write to
 * it, so that it is there once, however many hold it.  One that has freed it
 * does not make it less for the others:
 *
 *     of a group = max(inherited of each)
 *
 * Samples are counted in the same way, in columns of their own: how many
 * samples an estimate rests on is known for either part.
 *
 *     jpp_origin_init();
 *     for each process: read its dump, under labels of a part that no other
 *         has, and its baseline under the same but into split.baseline,
 *         jpp_origin_take();
 *     jpp_origin_keep();
 *
 * One thread at a time; memory from the profile's arena.
 */


#ifndef _JPP_ORIGIN_H_INCLUDED_
#define _JPP_ORIGIN_H_INCLUDED_


#include "jpp_args.h"
#include "jpp_dump.h"


/* the bit of the part of a label set that says: inherited, by this group */
#define JPP_ORIGIN_GROUP  (1ULL << 63)


typedef struct {
    jpp_profile_t    *profile;
    jpp_vec_t        *baseline[JPP_MAX_COLUMNS];   /* as profile->columns */
} jpp_origin_split_t;


/* Initialize the caller's SPLIT of PROFILE, which has no sample yet. */
bool jpp_origin_init(jpp_origin_split_t *split, jpp_profile_t *profile);

/* Can BASELINE be one of DUMP? */
jpp_code_t jpp_origin_check(const jpp_dump_t *baseline, const jpp_dump_t *dump,
    jpp_err_t *err);

/*
 * Move what was inherited of the samples from FROM on, which are those of one
 * process and its baseline, to samples under the label set SET of its group.
 */
bool jpp_origin_take(jpp_origin_split_t *split, uint32_t from, uint32_t set);

/* Keep what is of ORIGIN, and count the samples that it is estimated from. */
void jpp_origin_keep(jpp_profile_t *profile, jpp_origin_t origin);


#endif /* _JPP_ORIGIN_H_INCLUDED_ */
