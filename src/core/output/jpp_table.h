
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


#ifndef _JPP_TABLE_H_INCLUDED_
#define _JPP_TABLE_H_INCLUDED_


#include "jpp_core.h"


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


#endif /* _JPP_TABLE_H_INCLUDED_ */
