
/*
 * The formats that a profile is written in: one table, one row each.
 *
 * The parameter "format" and the sentence of what it allows, the header
 * Content-Type, the name that an answer is saved under and the help of the
 * tool are taken from the rows.  A new format is a row and a writer.
 *
 * No state; any thread.
 */


#ifndef _JPP_FORMATS_H_INCLUDED_
#define _JPP_FORMATS_H_INCLUDED_


#include "jpp_readers.h"
#include "jpp_view.h"


/* What a format needs of the functions of locations. */
typedef enum {
    JPP_NAMES_NONE = 0,        /* nothing: its readers look them up */
    JPP_NAMES_OPTIONAL,        /* names, or build ids to find them by */
    JPP_NAMES_ALWAYS           /* names, or addresses in their place */
} jpp_names_t;


typedef struct {
    const char       *name;
    const char       *about;       /* for people: one line */
    const char       *type;        /* Content-Type */
    const char       *suffix;      /* of a file's name; NULL: it is shown */
    const jpp_reader_t
                     *reader;      /* of whose profiles only; NULL: of all */
    jpp_names_t       names;
    bool              is_binary;   /* nothing for a terminal */
    bool              takes_one;   /* the bytes of exactly one capture */
    bool              is_raw;      /* counts of one capture as sampled */
    bool              is_counted;  /* it says what its figures rest on */
    bool            (*write)(const jpp_view_t *view, jpp_sink_t *sink);
} jpp_format_t;


/* The rows, as people read them: the first is the default. */
extern const jpp_format_t  jpp_formats[];
extern const size_t        jpp_formats_n;

/* The names of the rows as the words of the parameter "format". */
extern const jpp_words_t   jpp_format_words;

/* The row with the name that is the string NAME, or NULL. */
const jpp_format_t *jpp_format_find(const char *name);

/* The row that ARGS ask for, in whichever way. */
const jpp_format_t *jpp_format_of(const jpp_args_t *args);


#endif /* _JPP_FORMATS_H_INCLUDED_ */
