
/*
 * The input of a report: captures, and options for reporting them.
 */


#ifndef _JPP_CAPTURE_H_INCLUDED_
#define _JPP_CAPTURE_H_INCLUDED_


#include "jpp_parsers.h"
#include "jpp_symbolize.h"


/*
 * A dump as jemalloc wrote it, gzip-ed or not.
 *
 * If a capture is left out, so are all captures of its source: a base and the
 * capture it is subtracted from must have the same source.
 *
 * A forked process also shows what its parent had allocated.  With a baseline,
 * a dump from the time of the fork, that part gets labels of its own and
 * counts once for all captures of one group (jpp_origin.h says how).  With
 * baselines, any two captures must have different labels, and so must the
 * inherited parts of any two groups.
 *
 * Without a baseline everything counts as the process's own; in a report that
 * has a base it does so in any case, because changes are the process's own
 * doing.  A bad baseline, or one with another sampling period, is ignored, and
 * a comment says why.  A baseline taken before a reset that kept the period is
 * indistinguishable from a good one: do not pass it.
 */
typedef struct {
    const char           *data;
    size_t                len;
    bool                  is_base;      /* to be subtracted */
    const jpp_label_t    *labels;       /* of its samples */
    size_t                n_labels;
    const char           *tail;         /* see jpp_maps_read() */
    uint32_t              source;       /* 0: one of its own */
    const char           *name;         /* "worker 3", or NULL */
    size_t                index;        /* the caller's: of which of its own */
                                        /*   it is; nobody here looks at it */

    const char           *baseline;     /* a dump, or NULL */
    size_t                baseline_len;
    const jpp_label_t    *inherited_labels;    /* of the group's samples: */
    size_t                n_inherited_labels;  /*   the same for all of it */
    uint32_t              group;        /* of one parent, of one time */
} jpp_capture_t;


/*
 * Append the caller's comments to PROFILE (jpp_profile_comment()); one that is
 * lost fails the report.  Called after reading, when options->errors says which
 * captures could not be read.
 */
typedef void (*jpp_report_comments_pt)(void *data, jpp_profile_t *profile);


typedef struct {
    const jpp_parser_t   *parser;       /* of all captures */
    jpp_args_t            args;
    const char           *prefers;      /* the type that is shown where the */
                                        /*   profile has it and none is asked */
                                        /*   for; NULL: the parser's default */
    const char           *title;        /* of a page or picture */
    int                   level;        /* of gzip, 1 to 9 */
    int64_t               time_nanos;   /* when it was taken */
    int64_t               duration_nanos;   /* > 0 for a difference, and for */
                                        /*   what came in some time */
    jpp_report_comments_pt
                          comments;     /* NULL: none */
    void                 *data;         /* for comments */
    jpp_err_t            *errors;       /* one for each capture, or NULL */
    jpp_err_t            *baselines;    /* the same for their baselines: set */
                                        /*   before by who could not get one */
} jpp_report_options_t;


#endif /* _JPP_CAPTURE_H_INCLUDED_ */
