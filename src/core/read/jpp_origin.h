
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


#ifndef _JPP_ORIGIN_H_INCLUDED_
#define _JPP_ORIGIN_H_INCLUDED_


#include "jpp_dump.h"


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


#endif /* _JPP_ORIGIN_H_INCLUDED_ */
