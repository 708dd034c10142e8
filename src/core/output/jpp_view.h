
/*
 * The writers of profiles, and their argument: a profile, and how to show it.
 *
 * A writer drains the model into a sink and returns false without memory;
 * errors of the sink stay in the sink.  The format's row (jpp_formats.c) says
 * whether locations have functions.
 */


#ifndef _JPP_VIEW_H_INCLUDED_
#define _JPP_VIEW_H_INCLUDED_


#include "jpp_ages.h"
#include "jpp_parsers.h"


/*
 * Tables, and the text around them, for a terminal of COLS columns.
 *
 *     jpp_wrap_open()
 *     jpp_table_init(), jpp_table_column() for each column, then
 *     jpp_table_cell() or jpp_table_name() for each cell row by row,
 *     jpp_table_write()
 *     jpp_wrap_close()
 *
 * A table that is too wide leaves columns out, the one of the highest rank
 * first, until numbers and a part of each name have room.  Then names go on in
 * the next lines; a word that is too long, and what has no room in the last of
 * these lines, is cut in the middle, since ends tell most.  A line below says
 * what is missing, and how wide a terminal shows it.  JPP_TABLE_ALIKE rows or
 * more with the same names and the same cells of rank 0 stand as one,
 * "30 x 4.0 MiB".
 *
 * One thread at a time; memory from the arena.  Without it a cell is lost, and
 * writing fails.
 */

#define JPP_TABLE_COLUMNS  16

#define JPP_TABLE_ALIKE    10

/* the narrowest column of names that is worth its place */
#define JPP_TABLE_NAME     12


typedef struct {
    const char    *heading;
    uint32_t       rank;           /* 0: always shown */
    uint32_t       least;          /* columns of a name; 0: numbers, which */
                                   /*   stand at the right and are never cut */
    uint32_t       needs;          /* columns of the widest cell */
    uint32_t       width;          /* and what it has; 0: left out */
} jpp_column_t;


typedef struct {
    jpp_arena_t   *arena;
    jpp_vec_t     *cells;          /* const char *: escaped, row by row */
    jpp_column_t   columns[JPP_TABLE_COLUMNS];
    uint32_t       n;              /* columns */
    uint32_t       cols;
    bool           is_cut;         /* a name, in what is written */
    bool           failed;
} jpp_table_t;


/* Initialize the caller's TABLE. */
void jpp_table_init(jpp_table_t *table, jpp_arena_t *arena, uint32_t cols);

/* Add a column with a HEADING, which has to stay; see jpp_column_t. */
void jpp_table_column(jpp_table_t *table, const char *heading, uint32_t rank,
    uint32_t least);

/* Append a cell of formatted text, such as a profile's. */
void jpp_table_cell(jpp_table_t *table, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Append a cell of BYTES, "-" for JPP_NONE. */
void jpp_table_bytes(jpp_table_t *table, uint64_t bytes);

/* Append a cell of the LEN bytes of a name, which may be any. */
void jpp_table_name(jpp_table_t *table, const char *data, size_t len);

/* Append the table to SINK, which fails without memory. */
void jpp_table_write(jpp_table_t *table, jpp_sink_t *sink);


/* bytes of a line; a longer one is divided here */
#define JPP_WRAP_MOST    8192
#define JPP_WRAP_BUFFER  1024


/* Lines: a sink in front of another, which divides long lines at blanks. */
typedef struct {
    jpp_sink_t     sink;           /* append here */
    jpp_sink_t    *out;
    size_t         len;
    uint32_t       cols;
    uint8_t        buffer[JPP_WRAP_BUFFER];
    char           line[JPP_WRAP_MOST + 1];
} jpp_wrap_t;


/* Prepare the caller's WRAP in front of OUT. */
void jpp_wrap_open(jpp_wrap_t *wrap, uint32_t cols, jpp_sink_t *out);

/*
 * Write what is left.  False: a table had no memory; other errors are those of
 * OUT.
 */
bool jpp_wrap_close(jpp_wrap_t *wrap);


typedef struct {
    jpp_profile_t       *profile;       /* its default type is shown */
    const jpp_args_t    *args;
    const char *const   *parts;         /* see jpp_parsers.h, or NULL */
    jpp_vec_t *const    *base;          /* if the format keeps the base: */
                                        /*   its columns; NULL: there is none */
    const char          *title;         /* of what is shown, for people */
    int                  level;         /* of gzip, 1 to 9 */
    bool                 is_raw;        /* values are counts as sampled */
    const char          *capture;       /* if the format takes one: its */
    size_t               capture_len;   /*   bytes, unpacked */
} jpp_view_t;


/* Append the profile of VIEW, which is one of CPU time, to SINK. */
bool jpp_binary_write(const jpp_view_t *view, jpp_sink_t *sink);

/* Append the values of the profile of VIEW to SINK. */
bool jpp_folded_write(const jpp_view_t *view, jpp_sink_t *sink);

/*
 * What an answer with the page has as its Content-Security-Policy: the page's
 * own script and style run, by their hashes, and nothing else does.  The page
 * says so as well, for those who save it.
 */
extern const char  jpp_html_policy[];

/* Append the page with the profile of VIEW, and its base, to SINK. */
bool jpp_html_write(const jpp_view_t *view, jpp_sink_t *sink);

/* Append the table of the profile of VIEW, which has parts, to SINK. */
bool jpp_places_write(const jpp_view_t *view, jpp_sink_t *sink);

/* What an answer with the picture has as its Content-Security-Policy. */
extern const char  jpp_svg_policy[];

/* Append the picture of the profile of VIEW, which has counts, to SINK. */
bool jpp_svg_write(const jpp_view_t *view, jpp_sink_t *sink);

/* Append the table of the profile of VIEW, which has counts, to SINK. */
bool jpp_functions_write(const jpp_view_t *view, jpp_sink_t *sink);

/* Append the profile of VIEW, which is a heap's, to SINK. */
bool jpp_text_write(const jpp_view_t *view, jpp_sink_t *sink);

/* Append the profile of VIEW to SINK, gzip-ed. */
bool jpp_pprof_write(const jpp_view_t *view, jpp_sink_t *sink);

/*
 * Append PROFILE to SINK, which needs a buffer of JPP_SINK_BUFFER bytes, as it
 * is.  Strings are added to the profile, and its functions are marked
 * (jpp_wrappers_mark()).
 */
bool jpp_pprof_pack(jpp_profile_t *profile, jpp_sink_t *sink);


/*
 * Functions that only pass memory on to their callers: ngx_palloc(),
 * CRYPTO_malloc(), strdup() ...  At the head of a table of functions they say
 * nothing.
 *
 * They are known by name, and where they have none by the functions next to
 * them.  Memory from the profile's arena.
 */

/* What a function is. */
typedef enum {
    JPP_WRAPPER_NOT = 0,
    JPP_WRAPPER_YES,
    JPP_WRAPPER_UNNAMED        /* "nginx+0x3f2a0", "0x3000" */
} jpp_wrappers_t;


/* What the function NAME is, by its name alone. */
jpp_wrappers_t jpp_wrappers(const char *name);

/*
 * What each function of PROFILE is, by id from 1 on; NULL: no memory.  One
 * without a name that lies among the functions of nginx's pools (see
 * jpp_symbolize.h) passes on.  In a profile without bytes, as one of time, no
 * function does, nor where such functions ARE_SHOWN.  All locations of PROFILE
 * have functions.
 */
const uint8_t *jpp_wrappers_table(const jpp_profile_t *profile, bool are_shown);

/*
 * Put "passes memory on" in front of the files of such functions of PROFILE,
 * for those who read it and do not know the names: pprof -hide, and the page.
 * False: no memory.
 */
bool jpp_wrappers_mark(jpp_profile_t *profile);

/*
 * The innermost frame of the packed STACK, which ends at END, that does more
 * than pass memory on.  A stack of nothing else keeps its outermost frame.  A
 * frame without a name passes on if its callee and its caller do.
 */
const uint8_t *jpp_wrappers_skip(const jpp_profile_t *profile,
    const uint8_t *table, const uint8_t *stack, const uint8_t *end);


/*
 * What tables for people share: values by their unit, percentages, the comments
 * below; and what they add up over the samples of a profile, by the type that
 * is shown: its value, the objects behind it, and how far off it may be.
 *
 * No state but the caller's; any thread.
 */

#define JPP_FIGURES_TEXT  24


/*
 * The error of a figure that is a sum of estimates: jpp_error_variance() of
 * each sample, summed up, then jpp_error_percent() and jpp_error_text().
 */

#define JPP_ERROR_TEXT   24

/* per cent: a smaller error is shown as exact */
#define JPP_ERROR_EXACT  0.05


/* The variance of sample I of PROFILE, which has counts, in type TYPE. */
double jpp_error_variance(const jpp_profile_t *profile, uint32_t type,
    uint32_t i);

/* The variance of VALUE, of N things with DOUBT; both may be changes. */
double jpp_error_of_value(double value, double n, double doubt);

/*
 * The standard error of VALUE in per cent of it; 0 if it is exact or VALUE is
 * 0.
 */
double jpp_error_percent(double variance, int64_t value);

/*
 * The same for people: "+- 0.5 %", or "exact" below JPP_ERROR_EXACT; in TEXT,
 * which is the result.
 */
const char *jpp_error_text(double percent, char text[JPP_ERROR_TEXT]);


/*
 * Write VALUE in UNIT to TEXT, which is the result; a number as it is if the
 * unit is none for people.
 */
const char *jpp_figures_text(const char *unit, int64_t value,
    char text[JPP_FIGURES_TEXT]);

/* For one use, as jpp_bytes(): of a unit, and of the type that is shown. */
#define jpp_figure_of(unit, value)                                            \
    jpp_figures_text(unit, value, (char[JPP_FIGURES_TEXT]) { 0 })
#define jpp_figure(profile, value)                                            \
    jpp_figure_of((profile)->types[(profile)->default_type].unit, value)
#define jpp_error(percent)                                                    \
    jpp_error_text(percent, (char[JPP_ERROR_TEXT]) { 0 })

/* Append VALUE, and what percentage of TOTAL it is, as cells. */
void jpp_figures_cells(const jpp_profile_t *profile, int64_t value,
    int64_t total, jpp_table_t *table);

/* Append that N rows of WHAT are not shown to SINK, if there are any. */
void jpp_figures_more(size_t n, const char *what, jpp_sink_t *sink);

/* Append the comments of PROFILE to SINK, behind an empty line. */
void jpp_figures_comments(const jpp_profile_t *profile, jpp_sink_t *sink);


typedef struct {
    int64_t                value;
    int64_t                objects;
    int64_t                size;       /* of these objects */
    double                 variance;
} jpp_sum_t;


/* The types that are added up: the default one, and those that explain it. */
typedef struct {
    const jpp_profile_t   *profile;
    uint32_t               type;
    uint32_t               objects;
    uint32_t               size;       /* the type of objects: there is none */
} jpp_sums_t;


/* Initialize the caller's SUMS of PROFILE, which has counts. */
void jpp_sums_init(jpp_sums_t *sums, const jpp_profile_t *profile);

/* What sample I has, in *SUM; false: its value is 0. */
bool jpp_sums_sample(const jpp_sums_t *sums, uint32_t i, jpp_sum_t *sum);

void jpp_sum_add(jpp_sum_t *sum, const jpp_sum_t *more);

/*
 * The columns that explain a value, and their cells for SUM: the things that
 * are counted, their mean size, and the error of the value.
 */
void jpp_sums_columns(const jpp_sums_t *sums, jpp_table_t *table);
void jpp_sums_cells(const jpp_sums_t *sums, const jpp_sum_t *sum,
    jpp_table_t *table);

/* The error of VALUE as a cell, without its sign. */
void jpp_error_cell(double variance, int64_t value, jpp_table_t *table);

/*
 * Which of two values comes first: what shrank by much in a difference is as
 * interesting as what grew.  As qsort() has it.
 */
int jpp_sums_compare(int64_t m, int64_t n);


/*
 * How old live memory is, by row of a table: the median age, and which rows are
 * suspected of a leak.  Without ages=1 and age= nothing is kept or written.
 *
 * Memory from the profile's arena; one thread at a time.
 */

typedef struct {
    int64_t                live;       /* of the type that is shown */
    int64_t                allocated;
    int64_t                ages[JPP_AGE_POWERS];
    int64_t                quarters[JPP_AGE_QUARTERS];
    int64_t                seen[JPP_AGE_QUARTERS];    /* samples */
} jpp_aged_row_t;


typedef struct {
    const jpp_profile_t   *profile;
    jpp_aged_row_t        *rows;       /* NULL: nobody asks */
    bool                   is_known;   /* some sample has an age */
} jpp_aged_t;


/* Initialize the caller's AGED with N rows; false: no memory. */
bool jpp_aged_init(jpp_aged_t *aged, const jpp_view_t *view, size_t n);

/* Add sample I of the profile to ROW. */
void jpp_aged_add(jpp_aged_t *aged, size_t row, uint32_t i);

/* Append the median age of ROW as a cell. */
void jpp_aged_cell(const jpp_aged_t *aged, size_t row, jpp_table_t *table);

/*
 * Is ROW, which is called NAME, suspected of a leak?  Then append a line that
 * says why to SINK, unless N others, which come first, are enough.
 */
bool jpp_aged_suspect(const jpp_aged_t *aged, size_t row, size_t n,
    const char *name, jpp_sink_t *sink);

/* Append that there are no suspects to SINK, or how many of N have no line. */
void jpp_aged_rest(size_t n, jpp_sink_t *sink);


/*
 * The formats of a profile: one table, one row each.
 *
 * The rows provide the words of the parameter "format" and of its error, the
 * header Content-Type, the name that an answer is saved under, and the help of
 * the tool.  A new format is a row and a writer.
 *
 * No state; any thread.
 */

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
    bool              shows_owners;    /* as labels, also if nobody asks */
    bool            (*write)(const jpp_view_t *view, jpp_sink_t *sink);
} jpp_format_t;


/* The rows, as people read them: the first is the default. */
extern const jpp_format_t  jpp_formats[];

/* The names of the rows as the words of the parameter "format". */
extern const jpp_words_t   jpp_format_words;

/* The row with the name that is the string NAME, or NULL. */
const jpp_format_t *jpp_format_find(const char *name);

/* The form of the profiles of PARSER that jeprof reads; NULL: none. */
const jpp_format_t *jpp_format_legacy(const jpp_parser_t *parser);

/* The row that ARGS select, by format or by debug. */
const jpp_format_t *jpp_format_of(const jpp_args_t *args);


/*
 * The stacks of a profile as a tree of functions, for flame graphs: from the
 * root, or from the leaf.
 *
 * Node 0 is the root.  A parent has a smaller index than its children, which
 * are a list in no order.  Each node has the values of its subtree; where the
 * view has a base, those before and after.
 *
 * Memory from the profile's arena; one thread at a time.
 */

typedef struct {
    uint32_t     function;     /* id; 0: of the root, and of no stack */
    uint32_t     parent;
    uint32_t     child;        /* the first, or 0 */
    uint32_t     next;         /* sibling, or 0 */
    int64_t      after;
    int64_t      before;       /* 0 without a base */
    int64_t      seen;         /* samples; of what is gone, those before */
    double       variance;     /* of the change */
    double       width;        /* the greater of both, summed over leaves */
} jpp_tree_node_t;


typedef struct {
    const jpp_profile_t  *profile;
    jpp_vec_t            *nodes;       /* jpp_tree_node_t */
    jpp_index_t           index;       /* by parent and function */
    int64_t              *flat;        /* by function: what leaves gained */
    int64_t              *owned;       /* by string id: see jpp_tree_owner() */
    const uint8_t        *passing;     /* see jpp_view.h */
    bool                  is_passed_over;
    bool                  is_by_leaf;
    bool                  is_difference;
} jpp_tree_t;


/* Fill the caller's TREE from VIEW, whose profile has counts. */
bool jpp_tree_init(jpp_tree_t *tree, const jpp_view_t *view, bool is_by_leaf);

/*
 * Whose memory FUNCTION is: the id of a string.  That is the file of its
 * mapping; among the frames of pools, the function's own name if that is one
 * of a server, of a location, or of what belongs to none.  0: its caller's.
 */
uint32_t jpp_tree_owner(const jpp_profile_t *profile, uint32_t function);

/*
 * Which id of 1 to N comes behind ID, where the one with the largest of VALUES
 * is the first, which comes behind 0.  0: all others have the value 0.
 */
uint32_t jpp_tree_next(const int64_t *values, size_t n, uint32_t id);


static inline jpp_tree_node_t *
jpp_tree_node(const jpp_tree_t *tree, uint32_t i)
{
    return &jpp_vec_items(tree->nodes, jpp_tree_node_t)[i];
}


/*
 * Sums the samples of a profile by owner (jpp_roots.c), each with its largest
 * functions: a table in front of the table of functions.
 *
 * Memory from the profile's arena; one thread at a time.
 */

/* What a function has of a row itself. */
typedef struct {
    uint32_t               row;        /* from 1, in order of appearance */
    uint32_t               function;   /* id; 0: a stack without a frame */
    int64_t                value;
} jpp_owned_function_t;


typedef struct {
    uint32_t               names[JPP_ROOTS];   /* string ids; 0: not asked */
                                               /*   for */
    jpp_sum_t              sum;
    size_t                 first;      /* of owned->functions, its largest */
    size_t                 n;          /*   first */
} jpp_owned_row_t;


typedef struct {
    jpp_profile_t         *profile;
    jpp_sums_t             sums;
    bool                   shows[JPP_ROOTS];
    jpp_vec_t             *rows;       /* jpp_owned_row_t, the largest first */
    jpp_vec_t             *functions;  /* jpp_owned_function_t */
    jpp_sum_t              total;

    /* while it is filled */

    const uint8_t         *passing;
    uint32_t              *sets;       /* rows by label set, from 1 */
    jpp_index_t            row_index;
    jpp_index_t            function_index;
} jpp_owned_t;


/*
 * Fill the caller's OWNED from VIEW, whose profile has counts: by what by= says
 * or else by all there is.  False: no memory.
 */
bool jpp_owned_init(jpp_owned_t *owned, const jpp_view_t *view);

/* Append the table of its largest rows to SINK. */
void jpp_owned_write(const jpp_owned_t *owned, const jpp_view_t *view,
    jpp_sink_t *sink);


#endif /* _JPP_VIEW_H_INCLUDED_ */
