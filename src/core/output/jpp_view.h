
/*
 * The writers of profiles, and what each is given: the profile, and how it is
 * shown.
 *
 * A writer drains the model into a sink and returns false without memory;
 * errors of the sink stay in the sink.  The format's row (jpp_formats.h) says
 * whether locations have functions.
 */


#ifndef _JPP_VIEW_H_INCLUDED_
#define _JPP_VIEW_H_INCLUDED_


#include "jpp_args.h"
#include "jpp_profile.h"


typedef struct {
    jpp_profile_t       *profile;       /* its default type is shown */
    const jpp_args_t    *args;
    const char *const   *parts;         /* see jpp_parsers.h, or NULL */
    jpp_vec_t *const    *base;          /* if the format keeps the base: */
                                        /*   its columns; NULL: there is none */
    const char          *title;         /* of what is shown, for people */
    int                  level;         /* of gzip, 1 to 9 */
    bool                 is_raw;        /* values are counts as sampled */
    const char          *capture;       /* if the format takes one: its */
    size_t               capture_len;   /*   bytes, unpacked */
} jpp_view_t;


/* Append the profile of VIEW, which is one of CPU time, to SINK. */
bool jpp_binary_write(const jpp_view_t *view, jpp_sink_t *sink);

/* Append the values of the profile of VIEW to SINK. */
bool jpp_folded_write(const jpp_view_t *view, jpp_sink_t *sink);

/*
 * What an answer with the page has as its Content-Security-Policy: the page's
 * own script and style run, by their hashes, and nothing else does.  The page
 * says so as well, for those who save it.
 */
extern const char  jpp_html_policy[];

/* Append the page with the profile of VIEW, and its base, to SINK. */
bool jpp_html_write(const jpp_view_t *view, jpp_sink_t *sink);

/* Append the table of the profile of VIEW, which has parts, to SINK. */
bool jpp_places_write(const jpp_view_t *view, jpp_sink_t *sink);

/* What an answer with the picture has as its Content-Security-Policy. */
extern const char  jpp_svg_policy[];

/* Append the picture of the profile of VIEW, which has counts, to SINK. */
bool jpp_svg_write(const jpp_view_t *view, jpp_sink_t *sink);

/* Append the table of the profile of VIEW, which has counts, to SINK. */
bool jpp_top_write(const jpp_view_t *view, jpp_sink_t *sink);

/* Append the profile of VIEW, which is a heap's, to SINK. */
bool jpp_text_write(const jpp_view_t *view, jpp_sink_t *sink);

/* Append the profile of VIEW to SINK, gzip-ed. */
bool jpp_pprof_write(const jpp_view_t *view, jpp_sink_t *sink);

/*
 * Append PROFILE to SINK, which needs a buffer of JPP_SINK_BUFFER bytes, as it
 * is.  Strings are added to the profile, and its functions are marked
 * (jpp_wrappers_mark()).
 */
bool jpp_pprof_pack(jpp_profile_t *profile, jpp_sink_t *sink);


/*
 * Functions that only pass memory on to their callers: ngx_palloc(),
 * CRYPTO_malloc(), strdup() ...  At the head of a table of functions they say
 * nothing.
 *
 * They are known by name, and where they have none by the functions next to
 * them.  Memory from the profile's arena.
 */

/* What a function is. */
typedef enum {
    JPP_WRAPPER_NOT = 0,
    JPP_WRAPPER_YES,
    JPP_WRAPPER_UNNAMED        /* "nginx+0x3f2a0", "0x3000" */
} jpp_wrappers_t;


/* What the function NAME is, by its name alone. */
jpp_wrappers_t jpp_wrappers(const char *name);

/*
 * What each function of PROFILE is, by id from 1 on; NULL: no memory.  One
 * without a name that lies among the functions of nginx's pools (see
 * jpp_symbolize.h) passes on.  In a profile without bytes, as one of time, no
 * function does.  All locations of PROFILE have functions.
 */
const uint8_t *jpp_wrappers_table(const jpp_profile_t *profile);

/*
 * Put "passes memory on" in front of the files of such functions of PROFILE,
 * for those who read it and do not know the names: pprof -hide, and the page.
 * False: no memory.
 */
bool jpp_wrappers_mark(jpp_profile_t *profile);

/*
 * The innermost frame of the packed STACK, which ends at END, that does more
 * than pass memory on.  A stack of nothing else keeps its outermost frame.  A
 * frame without a name passes on if its callee and its caller do.
 */
const uint8_t *jpp_wrappers_skip(const jpp_profile_t *profile,
    const uint8_t *table, const uint8_t *stack, const uint8_t *end);


#endif /* _JPP_VIEW_H_INCLUDED_ */
