
/*
 * Files whose functions cannot be read, and why: a file that is damaged, or
 * takes too much, stays refused until stat() says that it has changed.
 *
 * A table of fixed size: a new row replaces the oldest.  One thread at a time.
 */


#ifndef _JPP_REFUSED_H_INCLUDED_
#define _JPP_REFUSED_H_INCLUDED_


#include "jpp_file.h"


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


#endif /* _JPP_REFUSED_H_INCLUDED_ */
