
/*
 * Files that were proven before.
 *
 * What a report needs of most files is their build id, and what it needs of
 * the others is in the cache of objects.  So a file that stat() says is what it
 * was need not be opened again: device, inode, size and the times of change are
 * the same.  One that was changed so lately that its time might be the same
 * after another change is not kept.
 *
 * A table of fixed size, the oldest row goes first.  One thread at a time.
 */


#ifndef _JPP_KNOWN_H_INCLUDED_
#define _JPP_KNOWN_H_INCLUDED_


#include "jpp_file.h"


/* nginx and its libraries are 20 to 40 */
#define JPP_KNOWN_FILES  128


/* Zeros are an empty one. */
typedef struct {
    jpp_file_t  files[JPP_KNOWN_FILES];
    uint32_t    n;                       /* that were ever kept */
} jpp_known_t;


/*
 * Fill FILE, but for its descriptor (-1), with what is known of MAPPING's file,
 * whose build id is the text BUILD_ID ("": not known).  False: nothing is, or
 * it has changed.
 */
bool jpp_known_find(const jpp_known_t *known, const jpp_mapping_t *mapping,
    const char *build_id, jpp_file_t *file);

/*
 * Keep what FILE is, in place of what it was.  Not kept is one that was not
 * proven, was found elsewhere, or has changed just now.
 */
void jpp_known_add(jpp_known_t *known, const jpp_file_t *file);


#endif /* _JPP_KNOWN_H_INCLUDED_ */
