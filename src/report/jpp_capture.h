
/*
 * What goes into a report: captures, and how they are to be reported.
 */


#ifndef _JPP_CAPTURE_H_INCLUDED_
#define _JPP_CAPTURE_H_INCLUDED_


#include "jpp_readers.h"
#include "jpp_sink.h"
#include "jpp_symbolize.h"


/* What gzip level 1 costs and saves is in bench/. */
#define JPP_REPORT_LEVEL  1


/*
 * A dump as jemalloc wrote it, gzip-ed or not.
 *
 * Where captures can be left out, those of one source are left out together: a
 * base and what it is to be subtracted from must be of one source.
 *
 * A process that was forked shows what its parent had allocated too.  With its
 * baseline, a dump of when it started, that part gets labels of its own, and
 * of the captures of one group counts once (jpp_origin.h says how).  Where
 * there are baselines, the labels of any two captures have to differ, and so
 * have those of what two groups inherited.
 *
 * Without a baseline all is its own, and so it is in a report that has a base:
 * what changes is a process's own doing.  A baseline that is bad, or was taken
 * with another sampling period, is as none, but for a comment that says why.
 * One of before a reset that kept the period cannot be told from a good one
 * and is not to be passed.
 */
typedef struct {
    const char           *data;
    size_t                len;
    bool                  is_base;      /* to be subtracted */
    const jpp_label_t    *labels;       /* of its samples */
    size_t                n_labels;
    const char           *tail;         /* see jpp_dump.h */
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
 * What the caller has to say of the profile once its captures were read, and
 * options->errors says which of them were not: a NULL-terminated array, or NULL
 * without memory, which is an error of the report.
 */
typedef const char *const *(*jpp_report_comments_pt)(void *data,
    jpp_arena_t *arena);


typedef struct {
    const jpp_reader_t   *reader;       /* of all captures */
    jpp_args_t            args;
    int                   level;        /* of gzip, 1 to 9 */
    int64_t               time_nanos;   /* when it was taken */
    int64_t               duration_nanos;   /* > 0 for a difference */
    jpp_report_comments_pt
                          comments;     /* NULL: none */
    void                 *data;         /* for comments */
    jpp_err_t            *errors;       /* one for each capture, or NULL */
    jpp_err_t            *baselines;    /* the same for their baselines: set */
                                        /*   before by who could not get one */
} jpp_report_options_t;


#endif /* _JPP_CAPTURE_H_INCLUDED_ */
