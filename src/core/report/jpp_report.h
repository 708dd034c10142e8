
/*
 * The whole way in one call: captures and options in, bytes out.
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


#include "jpp_capture.h"
#include "jpp_formats.h"


/* bench/ measures the cost and gain of gzip's level 1. */
#define JPP_REPORT_LEVEL  1


/* Initialize the caller's ARGS for a report. */
void jpp_report_args_init(jpp_args_t *args);

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
    const jpp_capture_t *captures, size_t n,
    const jpp_report_options_t *options, jpp_view_t *view, jpp_err_t *err);
jpp_code_t jpp_report_write(const jpp_view_t *view, jpp_sink_t *sink,
    jpp_err_t *err);

/*
 * Write the report of N CAPTURES to SINK, which needs a buffer of
 * JPP_SINK_BUFFER bytes and is flushed at the end.  ERR is required; its field
 * capture is the index of the capture that failed.
 *
 * Without options->errors, a capture that cannot be read fails the report.
 * With it, the errors of all captures are stored there (JPP_OK: none), and the
 * report is, to the byte, that of the remaining captures; reporting what was
 * left out is up to the caller.  Only if no capture remains does the report
 * fail, with the error of the first.  Running out of memory always fails the
 * report.
 */
jpp_code_t jpp_report(jpp_arena_t *arena, jpp_symbols_t *symbols,
    const jpp_capture_t *captures, size_t n,
    const jpp_report_options_t *options, jpp_sink_t *sink, jpp_err_t *err);


#endif /* _JPP_REPORT_H_INCLUDED_ */
