
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


#include "jpp_capture.h"
#include "jpp_formats.h"


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
