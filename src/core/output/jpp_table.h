
/*
 * A table of cells for a terminal: columns as wide as their widest cell, the
 * last one with whatever there is.
 *
 *     jpp_table_init(), jpp_table_cell() or jpp_table_name() for each cell row
 *     by row, the headings first, jpp_table_write()
 *
 * A cell that is too wide is cut, and ends in "...".  One thread at a time;
 * memory from the arena.  Without it a cell is lost, and writing fails.
 */


#ifndef _JPP_TABLE_H_INCLUDED_
#define _JPP_TABLE_H_INCLUDED_


#include "jpp_core.h"


#define JPP_TABLE_COLUMNS  16

/* characters of a cell that is not in the last column */
#define JPP_TABLE_WIDTH    48


typedef struct {
    jpp_arena_t   *arena;
    jpp_vec_t     *cells;          /* const char *: escaped, row by row */
    uint32_t       columns;
    uint32_t       right;          /* a bit for each that ends at the right */
    bool           failed;
} jpp_table_t;


/*
 * Initialize the caller's TABLE of COLUMNS; those with a bit in RIGHT, the
 * first the lowest, are of numbers.
 */
void jpp_table_init(jpp_table_t *table, jpp_arena_t *arena, uint32_t columns,
    uint32_t right);

/* Append a cell of formatted text, 255 bytes at most. */
void jpp_table_cell(jpp_table_t *table, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Append CELLS, with tabs between them. */
void jpp_table_row(jpp_table_t *table, const char *cells);

/* Append a cell of the LEN bytes of a name, which may be any. */
void jpp_table_name(jpp_table_t *table, const char *data, size_t len);

/* Append a cell of the LEN bytes of text, such as a profile's. */
void jpp_table_text(jpp_table_t *table, const char *data, size_t len);

/* The same behind its VALUE: "1.5 MiB: deflate". */
void jpp_table_valued(jpp_table_t *table, const char *value, const char *data,
    size_t len);

/* Append the table to SINK; false: no memory. */
bool jpp_table_write(jpp_table_t *table, jpp_sink_t *sink);


#endif /* _JPP_TABLE_H_INCLUDED_ */
