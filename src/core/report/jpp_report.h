
/*
 * A whole report in one call: captures and options in, bytes out.
 *
 *     captures --read--> profile --symbolize--> profile --write--> sink
 *
 * A pure function of its inputs and of the files that the mappings name.  A
 * server and the tool both call this, so their reports cannot differ.
 *
 * All memory comes from the arena, and from the symbol cache, which has its
 * own; after the call the arena can be destroyed whatever happened.  One
 * thread at a time per arena and cache.
 */


#ifndef _JPP_REPORT_H_INCLUDED_
#define _JPP_REPORT_H_INCLUDED_


#include "jpp_symbolize.h"
#include "jpp_view.h"


/*
 * The input of a report: captures, and options for reporting them.
 */

/*
 * A dump as jemalloc wrote it, gzip-ed or not.
 *
 * If a capture is left out, so are all captures of its source: a base and the
 * capture it is subtracted from must have the same source.
 *
 * A forked process also shows what its parent had allocated.  With a baseline,
 * a dump from the time of the fork, that part gets labels of its own and
 * counts once for all captures of one group (jpp_parsers.h says how).  With
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
    const jpp_label_t    *labels;       /* of its samples: of more than */
                                        /*   JPP_MAX_LABELS, the first */
    size_t                n_labels;
    const char           *tail;         /* see jpp_maps_read() */
    uint32_t              source;       /* 0: one of its own */
    const char           *name;         /* "worker 3", or NULL */
    jpp_err_t             err;          /* why it was left out, or JPP_OK: is */
                                        /*   set by the report */

    const char           *baseline;     /* a dump, or NULL */
    size_t                baseline_len;
    const jpp_label_t    *inherited_labels;    /* of the group's samples: */
    size_t                n_inherited_labels;  /*   the same for all of it */
    uint32_t              group;        /* of one parent, of one time */
    jpp_err_t             baseline_err; /* set by who could not get one */
} jpp_capture_t;


/*
 * Append the caller's comments to PROFILE (jpp_profile_comment()); one that is
 * lost fails the report.  Called after reading, when captures that could not be
 * read have an error.
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
    bool                  leaves_out;   /* captures that cannot be read: the */
                                        /*   first of them fails the report, */
                                        /*   otherwise */
} jpp_report_options_t;


/* bench/ measures the cost and gain of gzip's level 1. */
#define JPP_REPORT_LEVEL  1


/* Initialize the caller's OPTIONS with the defaults. */
void jpp_report_options_init(jpp_report_options_t *options);

/*
 * Do OPTIONS allow a report of N captures, bases included?  Ask before taking
 * them; jpp_report() asks as well.
 */
jpp_code_t jpp_report_check(const jpp_report_options_t *options, size_t n,
    jpp_err_t *err);

/* Do OPTIONS need the names of functions? */
bool jpp_report_has_names(const jpp_report_options_t *options);

/*
 * The two steps of jpp_report(), which has their contract: fill the caller's
 * VIEW with the profile of N CAPTURES, which lies in ARENA and refers to
 * OPTIONS; and write it.
 */
jpp_code_t jpp_report_profile(jpp_arena_t *arena, jpp_symbols_t *symbols,
    jpp_capture_t *captures, size_t n,
    const jpp_report_options_t *options, jpp_view_t *view, jpp_err_t *err);
jpp_code_t jpp_report_write(const jpp_view_t *view, jpp_sink_t *sink,
    jpp_err_t *err);

/*
 * Write the report of N CAPTURES to SINK, which needs a buffer of
 * JPP_SINK_BUFFER bytes and is flushed at the end.  ERR is required; its field
 * capture is the index of the capture that failed.
 *
 * Without options->leaves_out, a capture that cannot be read fails the report.
 * With it, captures have their errors (JPP_OK: none), and the report is, to the
 * byte, that of the remaining captures; reporting what was left out is up to
 * the caller.  Only if no capture remains does the report
 * fail, with the error of the first.  Running out of memory always fails the
 * report.
 */
jpp_code_t jpp_report(jpp_arena_t *arena, jpp_symbols_t *symbols,
    jpp_capture_t *captures, size_t n,
    const jpp_report_options_t *options, jpp_sink_t *sink, jpp_err_t *err);


/*
 * pprof's symbol protocol: addresses of this process in, names out.
 *
 *     question := address *( "+" address )          address := [ "0x" ] hex
 *     answer   := "num_symbols: 1" NL *( "0x" hex " " name NL )
 *
 * Words that are not addresses are ignored, and so are addresses outside all
 * executable mappings: the clients expect lines for known addresses only.  Any
 * byte that is neither letter nor digit is a separator, and so is a
 * percent-encoded byte ("%2B"): clients separate addresses by plus signs,
 * people by blanks, commas and newlines.
 *
 * An address has at most 16 digits.  The answer has each address once, without
 * leading zeros, however often it is asked for: both clients compare values.
 *
 * Memory from the arena, which can be destroyed whatever happened; one thread
 * at a time per arena and cache.
 */

/*
 * Write the answer for the LEN bytes of question at TEXT to SINK, which is
 * flushed.  MAPS are the MAPS_LEN bytes of this process's mappings.  ERR is
 * required.
 */
jpp_code_t jpp_lookup(jpp_arena_t *arena, jpp_symbols_t *symbols,
    const char *maps, size_t maps_len, const char *text, size_t len,
    jpp_sink_t *sink, jpp_err_t *err);


#endif /* _JPP_REPORT_H_INCLUDED_ */
