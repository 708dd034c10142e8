
/*
 * The first half of a report: captures into a profile, bad ones left out.
 * Used by jpp_report.c alone.
 */


#ifndef _JPP_REPORT_READ_H_INCLUDED_
#define _JPP_REPORT_READ_H_INCLUDED_


#include "jpp_capture.h"
#include "jpp_formats.h"
#include "jpp_origin.h"


typedef struct {
    jpp_profile_t                 profile;
    jpp_vec_t                    *base[JPP_MAX_COLUMNS];  /* the values of */
                                             /*   bases, where they are kept */
    bool                          has_base;
    jpp_arena_t                  *arena;
    jpp_symbols_t                *symbols;

    const jpp_capture_t          *captures;
    size_t                        n;
    const jpp_report_options_t   *options;
    const jpp_format_t           *format;

    jpp_err_t                    *baselines;      /* the error of each */
    bool                          has_baselines;  /* any to be read */
    bool                          is_raw;         /* the profile is */
    bool                          is_split;       /* by origin */
    jpp_origin_split_t            split;
    bool                          is_spoiled;     /* by a bad baseline */

    const char                   *dump;      /* the last one read, where */
    size_t                        dump_len;  /*   the format is jemalloc */
} jpp_reporter_t;


/* Read the captures of REPORT into its profile, which is initialized here. */
jpp_code_t jpp_report_read(jpp_reporter_t *report, jpp_err_t *err);


#endif /* _JPP_REPORT_READ_H_INCLUDED_ */
