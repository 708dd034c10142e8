
/*
 * One dump into a profile, wherever its allocator lies.  Used by
 * jpp_report_read.c alone.
 */


#ifndef _JPP_REPORT_DUMP_H_INCLUDED_
#define _JPP_REPORT_DUMP_H_INCLUDED_


#include "jpp_readers.h"
#include "jpp_symbolize.h"


/*
 * Add the samples of DUMP, which READER opened, to PROFILE.  Finds out where
 * the allocator lies, and sets that in OPTIONS.
 */
jpp_code_t jpp_report_dump(jpp_profile_t *profile, jpp_symbols_t *symbols,
    const jpp_reader_t *reader, const jpp_dump_t *dump,
    jpp_read_options_t *options, jpp_err_t *err);


#endif /* _JPP_REPORT_DUMP_H_INCLUDED_ */
