
/*
 * The formats of a profile: one table, one row each.
 *
 * The rows provide the words of the parameter "format" and of its error, the
 * header Content-Type, the name that an answer is saved under, and the help of
 * the tool.  A new format is a row and a writer.
 *
 * No state; any thread.
 */


#ifndef _JPP_FORMATS_H_INCLUDED_
#define _JPP_FORMATS_H_INCLUDED_


#include "jpp_parsers.h"
#include "jpp_view.h"


/* How a format shows functions. */
typedef enum {
    JPP_NAMES_NONE = 0,        /* addresses: its parsers look names up */
    JPP_NAMES_OPTIONAL,        /* names, or build ids to look them up by */
    JPP_NAMES_ALWAYS           /* names, or addresses in their place */
} jpp_format_names_t;


typedef struct {
    const char       *name;
    const char       *about;       /* for people: one line */
    const char       *type;        /* Content-Type */
    const char       *suffix;      /* of a file's name; NULL: shown */
    const char       *policy;      /* what a browser that shows it may do, as */
                                   /*   Content-Security-Policy; NULL: none */
                                   /*   needs to show it */
    const jpp_parser_t
                     *parser;      /* of whose profiles only; NULL: of all */
    jpp_format_names_t
                      names;
    bool              is_binary;   /* not for a terminal */
    bool              takes_one;   /* the bytes of exactly one capture */
    bool              is_raw;      /* counts of one capture as sampled */
    bool              is_counted;  /* shows samples and errors of figures */
    bool              keeps_base;  /* shows both sides of a difference */
    bool              is_legacy;   /* what jeprof asks its parser's for */
    bool              has_owners;  /* by= is a table of its own, not roots */
    bool            (*write)(const jpp_view_t *view, jpp_sink_t *sink);
} jpp_format_t;


/* The rows, as people read them: the first is the default. */
extern const jpp_format_t  jpp_formats[];
extern const size_t        jpp_formats_n;

/* The names of the rows as the words of the parameter "format". */
extern const jpp_words_t   jpp_format_words;

/* The row with the name that is the string NAME, or NULL. */
const jpp_format_t *jpp_format_find(const char *name);

/* The form of the profiles of PARSER that jeprof reads; NULL: none. */
const jpp_format_t *jpp_format_legacy(const jpp_parser_t *parser);

/* The row that ARGS select, by format or by debug. */
const jpp_format_t *jpp_format_of(const jpp_args_t *args);


#endif /* _JPP_FORMATS_H_INCLUDED_ */
