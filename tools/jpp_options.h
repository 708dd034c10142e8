
/*
 * The command line of the tool.
 *
 * "--key=value" and "--key value", "-oFILE" and "-o FILE", in any order with
 * the files; after "--" all are files.  An option with a value that is given
 * twice is an error, because either of them might be the one that was meant.
 * jpp_args.h checks its own keys, with the same table as for a server's query.
 */


#ifndef _JPP_OPTIONS_H_INCLUDED_
#define _JPP_OPTIONS_H_INCLUDED_


#include "jpp_report.h"


#define JPP_TOOL          "jemalloc-pprof"

#define JPP_OPTIONS_HELP  4096


typedef struct {
    jpp_report_options_t   report;      /* args and level */
    const char            *base;
    const char            *type;
    const char            *member;      /* of each file */
    bool                   is_pools;    /* not heaps */
    bool                   is_list;     /* of members, and no report */
    const char            *output;
    bool                   any_kernel;
    char                 **files;       /* the head of argv, compacted */
    size_t                 n_files;

    const char            *answer;      /* print this, and no more */
    char                   help[JPP_OPTIONS_HELP];
    uint32_t               given;       /* bits: rows of the table */
} jpp_options_t;


/*
 * Read ARGV into the caller's OPTIONS; ARGV is changed.  Errors are
 * JPP_ERR_ARG, and JPP_ERR_LIMIT for too many files; the sentence says what is
 * wrong.
 */
jpp_code_t jpp_options_read(jpp_options_t *options, int argc, char **argv,
    jpp_err_t *err);


#endif /* _JPP_OPTIONS_H_INCLUDED_ */
