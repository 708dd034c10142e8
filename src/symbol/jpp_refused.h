
/*
 * Files whose functions cannot be had, and why: what is damaged, or takes too
 * much, stays so until stat() says that the file has changed.
 *
 * A table of fixed size, the oldest row goes first.  One thread at a time.
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


/* Zeros are an empty one. */
typedef struct {
    jpp_refused_file_t   files[JPP_REFUSED_FILES];
    uint32_t             n;        /* that were ever kept */
} jpp_refused_t;


/* Was FILE, as it is now, refused?  Then ERR, or NULL, says why. */
bool jpp_refused_find(const jpp_refused_t *refused, const jpp_file_t *file,
    jpp_err_t *err);

/*
 * Keep that FILE was refused for the reason ERR.  Not kept are reasons that
 * may pass, a system call that failed, and a file that has just changed.
 */
void jpp_refused_add(jpp_refused_t *refused, const jpp_file_t *file,
    const jpp_err_t *err);


#endif /* _JPP_REFUSED_H_INCLUDED_ */
