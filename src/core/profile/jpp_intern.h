
/*
 * What the samples of a profile refer to, each kept once: strings, comments,
 * mappings, locations, functions and label sets.
 *
 * The samples themselves are in jpp_profile.h, which knows nothing of this.
 * One thread at a time; memory from the profile's arena.
 */


#ifndef _JPP_INTERN_H_INCLUDED_
#define _JPP_INTERN_H_INCLUDED_


#include "jpp_profile.h"


/*
 * The id of the string of LEN bytes at DATA; bytes that are not UTF-8 and
 * control bytes are stored as question marks.  0 is the empty string and, for
 * any other string, no memory.
 */
uint32_t jpp_profile_string(jpp_profile_t *profile, const char *data,
    size_t len);

/* The string with ID. */
jpp_str_t jpp_profile_str(const jpp_profile_t *profile, uint32_t id);

/*
 * Append a comment.  Without memory it is lost, and profile->is_mute is true
 * from then on: whoever has appended all of them looks there once.
 */
void jpp_profile_comment(jpp_profile_t *profile, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * The id of the mapping like MAPPING: same object, same part of it (device,
 * inode, path, offset and size; where it was loaded does not matter, nor
 * whether the file was deleted, which is noted).  SHOWN is the path to show,
 * which becomes mapping->file.
 */
uint32_t jpp_profile_mapping(jpp_profile_t *profile,
    const jpp_mapping_t *mapping, const char *shown);

/*
 * The id of the mapping NAME, from START on, that nobody has loaded: for
 * jpp_profile_frame().
 */
uint32_t jpp_profile_frames(jpp_profile_t *profile, uint64_t start,
    const char *name);

/*
 * The id of the location at ADDRESS in mapping MAPPING (an id, or 0).  ADDRESS
 * must lie inside it.
 */
uint32_t jpp_profile_location(jpp_profile_t *profile, uint32_t mapping,
    uint64_t address);

/*
 * The id of the location that is nothing but its name, the LEN bytes at NAME:
 * a frame of a capture that has names and no addresses.  It has its function,
 * which the symbolizer leaves as it is.  MAPPING is 0, or one of
 * jpp_profile_frames().
 */
uint32_t jpp_profile_frame(jpp_profile_t *profile, uint32_t mapping,
    const char *name, size_t len);

/* The name of the function with ID, and of that of the location with ID. */
jpp_str_t jpp_profile_function_name(const jpp_profile_t *profile, uint32_t id);
jpp_str_t jpp_profile_location_name(const jpp_profile_t *profile, uint32_t id);

/* The id of the function NAME of MAPPING; names are string ids. */
uint32_t jpp_profile_function(jpp_profile_t *profile, uint32_t mapping,
    uint32_t name, uint32_t system_name);

/* The label set of N LABELS, JPP_MAX_LABELS at most, in *SET. */
bool jpp_profile_labels(jpp_profile_t *profile, const jpp_label_t *labels,
    size_t n, uint32_t *set);

/* The same for the labels of the set FROM and, behind them, N others. */
bool jpp_profile_labels_more(jpp_profile_t *profile, uint32_t from,
    const jpp_label_t *labels, size_t n, uint32_t *set);

/*
 * The same for labels of a PART, which is not 0: sets of different parts
 * differ even if their labels are equal.
 */
bool jpp_profile_part(jpp_profile_t *profile, const jpp_label_t *labels,
    size_t n, uint64_t part, uint32_t *set);


#endif /* _JPP_INTERN_H_INCLUDED_ */
