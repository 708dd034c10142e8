
/*
 * The whole way in one call: captures and options in, bytes out.
 *
 *     captures --read--> profile --symbolize--> profile --write--> sink
 *
 * A pure function of its inputs and of the files that the mappings name.
 * Nothing can be wrong in a server that is right in the tool, because both
 * call this.
 *
 * All memory comes from the arena, and from the symbol cache, which has its
 * own; after the call the arena can be destroyed whatever happened.  One
 * thread at a time per arena and cache.
 */


#ifndef _JPP_REPORT_H_INCLUDED_
#define _JPP_REPORT_H_INCLUDED_


#include "jpp_formats.h"
#include "jpp_heap.h"
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
    const char           *tail;         /* see jpp_maps_read() */
    uint32_t              source;       /* 0: one of its own */
    const char           *name;         /* "worker 3", or NULL */

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
    jpp_args_t            args;
    int                   level;        /* of gzip, 1 to 9 */
    int64_t               time_nanos;   /* when it was taken */
    int64_t               duration_nanos;   /* > 0 for a difference */
    jpp_report_comments_pt
                          comments;     /* NULL: none */
    void                 *data;         /* for comments */
    jpp_err_t            *errors;       /* one for each capture, or NULL */
} jpp_report_options_t;


/* Initialize the caller's ARGS for a report. */
void jpp_report_args_init(jpp_args_t *args);

/* Initialize the caller's OPTIONS with the defaults. */
void jpp_report_options_init(jpp_report_options_t *options);

/*
 * Can there be a report of N captures, bases included, with OPTIONS?  To be
 * asked before they are taken; jpp_report() asks too.
 */
jpp_code_t jpp_report_check(const jpp_report_options_t *options, size_t n,
    jpp_err_t *err);

/* Will OPTIONS have names looked up? */
bool jpp_report_has_names(const jpp_report_options_t *options);

/*
 * Write the report of N CAPTURES to SINK, which needs a buffer of
 * JPP_SINK_BUFFER bytes and is flushed at the end.  ERR is required; in it,
 * capture says which of them was wrong.
 *
 * Without options->errors one that cannot be read fails the report.  With it,
 * what is wrong with each is in there (code JPP_OK: nothing), and the report
 * is, to the byte, that of the others: what was left out is the caller's to
 * tell.  Only where none is left does it fail, with the error of the first.
 * Want of memory is no error of a capture.
 */
jpp_code_t jpp_report(jpp_arena_t *arena, jpp_symbols_t *symbols,
    const jpp_capture_t *captures, size_t n,
    const jpp_report_options_t *options, jpp_sink_t *sink, jpp_err_t *err);


#endif /* _JPP_REPORT_H_INCLUDED_ */
