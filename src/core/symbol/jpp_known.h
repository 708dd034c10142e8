
/*
 * Files that were proven before.
 *
 * A report needs only the build ids of most files, and the cache of objects
 * has the others.  So a file is not opened again while stat() says that it is
 * unchanged: same device, inode, size and times of change.  A file that
 * changed so recently that another change might get the same time is not kept.
 *
 * A table of fixed size: a new row replaces the oldest.  One thread at a time.
 */


#ifndef _JPP_KNOWN_H_INCLUDED_
#define _JPP_KNOWN_H_INCLUDED_


#include "jpp_file.h"


/*
 * Files whose functions cannot be read, and why: a file that is damaged, or
 * takes too much, stays refused until stat() says that it has changed.
 *
 * A table of fixed size: a new row replaces the oldest.  One thread at a time.
 */

#define JPP_REFUSED_FILES  32
#define JPP_REFUSED_TEXT   160


typedef struct {
    struct stat    st;
    jpp_code_t     code;
    char           text[JPP_REFUSED_TEXT];
} jpp_refused_file_t;


/* Zeros are an empty table. */
typedef struct {
    jpp_refused_file_t   files[JPP_REFUSED_FILES];
    uint32_t             n;        /* ever kept */
} jpp_refused_t;


/* Was FILE, as it is now, refused?  Then ERR, or NULL, says why. */
bool jpp_refused_find(const jpp_refused_t *refused, const jpp_file_t *file,
    jpp_err_t *err);

/*
 * Remember that FILE was refused for the reason ERR; but not if the reason may
 * pass, such as a failed system call, or if the file changed just now.
 */
void jpp_refused_add(jpp_refused_t *refused, const jpp_file_t *file,
    const jpp_err_t *err);


/* nginx and its libraries are 20 to 40 */
#define JPP_KNOWN_FILES  128


/* Zeros are an empty table. */
typedef struct {
    jpp_file_t  files[JPP_KNOWN_FILES];
    uint32_t    n;                       /* ever kept */
} jpp_known_t;


/*
 * Fill FILE, but for its descriptor (-1), with what is known of MAPPING's
 * file, whose build id is the text BUILD_ID ("": not known).  False: nothing
 * is known, or it has changed.
 */
bool jpp_known_find(const jpp_known_t *known, const jpp_mapping_t *mapping,
    const char *build_id, jpp_file_t *file);

/*
 * Keep FILE, in place of what was known.  A file is not kept if it is not
 * proven, was found elsewhere, or changed just now.
 */
void jpp_known_add(jpp_known_t *known, const jpp_file_t *file);


#endif /* _JPP_KNOWN_H_INCLUDED_ */
