
/*
 * One dump into a profile, whoever's allocator it is of.  Used by
 * jpp_report_read.c alone.
 */


#ifndef _JPP_REPORT_DUMP_H_INCLUDED_
#define _JPP_REPORT_DUMP_H_INCLUDED_


#include "jpp_heap.h"
#include "jpp_symbolize.h"


/*
 * Add the LEN bytes of dump at DATA, as jemalloc wrote it, to PROFILE.  Where
 * the allocator lies is found out here and set in OPTIONS.
 */
jpp_code_t jpp_report_dump(jpp_profile_t *profile, jpp_symbols_t *symbols,
    jpp_heap_options_t *options, const char *data, size_t len,
    jpp_err_t *err);


#endif /* _JPP_REPORT_DUMP_H_INCLUDED_ */
