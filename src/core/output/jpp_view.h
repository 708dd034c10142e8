
/*
 * What a writer is given: the profile, and how it is to be shown.
 *
 * A writer drains the model into a sink and returns false without memory;
 * errors of the sink stay in the sink.  The format's row (jpp_formats.h) says
 * whether locations have functions.
 */


#ifndef _JPP_VIEW_H_INCLUDED_
#define _JPP_VIEW_H_INCLUDED_


#include "jpp_args.h"
#include "jpp_profile.h"
#include "jpp_sink.h"


typedef struct {
    jpp_profile_t       *profile;       /* its default type is shown */
    const jpp_args_t    *args;
    const char *const   *parts;         /* see jpp_readers.h, or NULL */
    jpp_vec_t *const    *base;          /* if the format keeps the base: */
                                        /*   its columns; NULL: there is none */
    const char          *title;         /* of what is shown, for people */
    int                  level;         /* of gzip, 1 to 9 */
    bool                 is_raw;        /* values are counts as sampled */
    const char          *capture;       /* if the format takes one: its */
    size_t               capture_len;   /*   bytes, unpacked */
} jpp_view_t;


#endif /* _JPP_VIEW_H_INCLUDED_ */
