
/*
 * How much of a profile has no name, and what to do about it: one comment.
 *
 * Only files that were stripped count.  Where a symbol table is whole, what
 * has no name in it has none anywhere; and what could not be read at all has a
 * comment of its own.
 *
 * For one profile; memory from the profile's arena.
 */


#ifndef _JPP_UNNAMED_H_INCLUDED_
#define _JPP_UNNAMED_H_INCLUDED_


#include "jpp_packages.h"
#include "jpp_profile.h"


/* that are told of by name */
#define JPP_UNNAMED_FILES  4


typedef struct {
    uint32_t          file;        /* string id */
    uint32_t          n;           /* its addresses without a name */
} jpp_unnamed_file_t;


/* Zeros are nothing without a name. */
typedef struct {
    jpp_unnamed_file_t   files[JPP_UNNAMED_FILES];   /* by n, falling */
    uint32_t             n_files;
    uint64_t             n;
} jpp_unnamed_t;


/* N > 0 addresses of FILE have no name. */
void jpp_unnamed_add(jpp_unnamed_t *unnamed, uint32_t file, uint32_t n);

/* Append the comment, if there is any, to PROFILE; false: no memory. */
bool jpp_unnamed_comment(const jpp_unnamed_t *unnamed,
    jpp_profile_t *profile, const jpp_host_t *host);


#endif /* _JPP_UNNAMED_H_INCLUDED_ */
