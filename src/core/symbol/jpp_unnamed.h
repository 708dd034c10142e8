
/*
 * The comment that says how many addresses of a profile have no name, in which
 * builds of which files, and where their debug symbols are.
 *
 * Only stripped files count.  If a symbol table is complete, nothing else has
 * more names; and files that could not be read have a comment of their own.
 *
 * For one profile; memory from the profile's arena.
 */


#ifndef _JPP_UNNAMED_H_INCLUDED_
#define _JPP_UNNAMED_H_INCLUDED_


#include "jpp_profile.h"


/* files listed by name */
#define JPP_UNNAMED_FILES  4

/* the files and build ids, and the words around them */
#define JPP_UNNAMED_TEXT   1280


typedef struct {
    uint32_t          file;        /* string id */
    uint32_t          build_id;    /* string id; 0: the file has none */
    uint32_t          n;           /* its addresses without a name */
} jpp_unnamed_file_t;


/* Zeros: everything has a name. */
typedef struct {
    jpp_unnamed_file_t   files[JPP_UNNAMED_FILES];   /* by n, falling */
    uint32_t             n_files;
    uint64_t             n;
} jpp_unnamed_t;


/* N > 0 addresses of MAPPING's file have no name. */
void jpp_unnamed_add(jpp_unnamed_t *unnamed, const jpp_mapping_t *mapping,
    uint32_t n);

/*
 * Write the sentence to TEXT, "" if all have names, and append it to PROFILE as
 * a comment.  False: no memory.
 */
bool jpp_unnamed_comment(const jpp_unnamed_t *unnamed,
    jpp_profile_t *profile, char text[JPP_UNNAMED_TEXT]);


#endif /* _JPP_UNNAMED_H_INCLUDED_ */
