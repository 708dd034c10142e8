
/* Tables, and the text around them, for a terminal of some columns. */

#include "jpp_view.h"


/* blanks between columns */
#define JPP_TABLE_GAP     2

/* the least of a name where there is room for nothing */
#define JPP_TABLE_STUMP   4

/* lines of a name */
#define JPP_TABLE_LINES   4


void
jpp_table_init(jpp_table_t *table, jpp_arena_t *arena, uint32_t cols)
{
    memset(table, 0, sizeof(jpp_table_t));

    table->arena = arena;
    table->cells = jpp_vec_create(arena);
    table->cols = cols;
    table->failed = table->cells == NULL;
}


void
jpp_table_column(jpp_table_t *table, const char *heading, uint32_t rank,
    uint32_t least)
{
    jpp_column_t  *column;

    column = &table->columns[table->n++];
    column->heading = heading;
    column->rank = rank;
    column->least = least;
}


static void
jpp_table_add(jpp_table_t *table, char *text)
{
    char  **cell;

    cell = text != NULL && !table->failed
           ? jpp_vec_push(table->cells, sizeof(char *)) : NULL;

    if (cell == NULL) {
        table->failed = true;
        return;
    }

    *cell = text;
}


void
jpp_table_cell(jpp_table_t *table, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    jpp_table_add(table, jpp_arena_vprintf(table->arena, fmt, args));
    va_end(args);
}


void
jpp_table_bytes(jpp_table_t *table, uint64_t bytes)
{
    jpp_table_cell(table, "%s", jpp_bytes(bytes));
}


void
jpp_table_name(jpp_table_t *table, const char *data, size_t len)
{
    char  *text;

    text = jpp_arena_alloc(table->arena, JPP_UTF8_ESCAPED(len) + 1);

    if (text != NULL) {
        text[jpp_utf8_escape(text, data, len)] = '\0';
    }

    jpp_table_add(table, text);
}


/* What a row of COLUMNS takes, by the least it can do with or by its widths. */

static uint32_t
jpp_table_sum(const jpp_table_t *table, bool is_least)
{
    uint32_t             sum;
    const jpp_column_t  *column;

    sum = 0;

    jpp_each(column, table->columns, table->n) {
        if (column->width != 0) {
            sum += JPP_TABLE_GAP
                   + (is_least && column->least != 0
                      ? (uint32_t) jpp_smaller(column->least, column->width)
                      : column->width);
        }
    }

    return sum - JPP_TABLE_GAP;
}


/* The column that is left out first, NULL: none may be. */

static jpp_column_t *
jpp_table_last(jpp_table_t *table)
{
    jpp_column_t  *column, *last;

    last = NULL;

    jpp_each(column, table->columns, table->n) {
        if (column->width != 0 && column->rank != 0
            && (last == NULL || column->rank >= last->rank))
        {
            last = column;
        }
    }

    return last;
}


/* The widest column of names, of those that have more than LEAST or their own
   least; NULL: there is none. */

static jpp_column_t *
jpp_table_widest(jpp_table_t *table, uint32_t least)
{
    jpp_column_t  *column, *widest;

    widest = NULL;

    jpp_each(column, table->columns, table->n) {
        if (column->least != 0
            && column->width > (least != 0 ? least : column->least)
            && (widest == NULL || column->width > widest->width))
        {
            widest = column;
        }
    }

    return widest;
}


/* Returns how wide the whole table is. */

static uint32_t
jpp_table_fit(jpp_table_t *table)
{
    uint32_t       needs;
    jpp_column_t  *column;

    jpp_each(column, table->columns, table->n) {
        column->width = column->needs;
    }

    needs = jpp_table_sum(table, false);

    while (jpp_table_sum(table, true) > table->cols
           && (column = jpp_table_last(table)) != NULL)
    {
        column->width = 0;
    }

    while (jpp_table_sum(table, false) > table->cols) {

        column = jpp_table_widest(table, 0);

        /* numbers alone are too wide: better a stump than a broken line */

        if (column == NULL) {
            column = jpp_table_widest(table, JPP_TABLE_STUMP);
        }

        if (column == NULL) {
            break;
        }

        column->width--;
    }

    return needs;
}


/* How many rows from the one at CELLS on are alike. */

static size_t
jpp_table_alike(const jpp_table_t *table, char **cells, char **end)
{
    char      **row;
    size_t      n;
    uint32_t    i;

    for (row = cells + table->n, n = 1; row < end; row += table->n, n++) {
        for (i = 0; i < table->n; i++) {
            if ((table->columns[i].rank == 0 || table->columns[i].least != 0)
                && strcmp(row[i], cells[i]) != 0)
            {
                return n;
            }
        }
    }

    return n;
}


/*
 * Make one of rows that are alike, "..." for their other numbers; returns the
 * end of the rows.
 */

static char **
jpp_table_gather(jpp_table_t *table, char **cells, char **end, size_t *most)
{
    char      **row, **to;
    size_t      n, k;
    uint32_t    i;

    static char  several[] = "...";

    for (row = cells, to = cells; row < end; row += n * table->n) {
        n = jpp_table_alike(table, row, end);
        n = n < JPP_TABLE_ALIKE ? 1 : n;

        for (i = 0; i < table->n; i++) {
            to[i] = row[i];

            for (k = 1; k < n; k++) {
                if (strcmp(row[k * table->n + i], row[i]) != 0) {
                    to[i] = several;
                }
            }
        }

        if (n > 1) {
            to[0] = jpp_arena_printf(table->arena, "%zu x %s", n, row[0]);

            table->failed |= to[0] == NULL;
        }

        *most = jpp_larger(*most, n);
        to += table->n;
    }

    return to;
}


static void
jpp_table_pad(jpp_sink_t *sink, size_t n)
{
    while (n-- != 0) {
        jpp_sink_char(sink, ' ');
    }
}


/*
 * Write to TEXT what fits into COLUMN of the name at *REST, as whole words, and
 * move *REST behind it.  The middle of a word that is too long is left out, and
 * of what remains in the last line.
 */

static size_t
jpp_table_piece(jpp_table_t *table, const jpp_column_t *column,
    const char **rest, bool is_last, char *text)
{
    size_t       len, n;
    const char  *name, *blank;

    name = *rest;
    len = strlen(name);
    n = jpp_utf8_fits(name, len, column->width);

    if (n < len && !is_last) {
        blank = memrchr(name, ' ', n + 1);
        blank = blank != NULL ? blank : strchr(name, ' ');
        len = blank != NULL ? (size_t) (blank - name) : len;
    }

    table->is_cut |= n < len;

    *rest = name + len;
    *rest += strspn(*rest, " ");

    return jpp_utf8_shorter(text, name, len, column->width);
}


/* A row: CELLS, which are used up; TEXT has room for one. */

static void
jpp_table_row(jpp_table_t *table, const char **cells, char *text,
    jpp_sink_t *sink)
{
    bool                  is_more;
    size_t                len, blanks, line;
    const char          **cell;
    const jpp_column_t   *column;

    line = 0;

    do {
        line++;
        blanks = 0;
        is_more = false;

        jpp_each(column, table->columns, table->n) {

            cell = &cells[column - table->columns];

            if (column->width == 0) {
                continue;
            }

            len = jpp_table_piece(table, column, cell,
                                  line == JPP_TABLE_LINES, text);
            is_more |= **cell != '\0';

            /* no blanks at the end of a line */

            if (len == 0) {
                blanks += column->width + JPP_TABLE_GAP;
                continue;
            }

            jpp_table_pad(sink, blanks);
            blanks = column->width - jpp_utf8_width(text, len);

            if (column->least == 0) {
                jpp_table_pad(sink, blanks);
                blanks = 0;
            }

            jpp_sink_write(sink, text, len);
            blanks += JPP_TABLE_GAP;
        }

        jpp_sink_char(sink, '\n');

    } while (is_more);
}


static void
jpp_table_cols(uint32_t needs, const char *before, const char *what,
    jpp_sink_t *sink)
{
    if (before[0] == '\0') {
        jpp_sink_printf(sink, "cols=%" PRIu32 " shows more: ",
                        needs < JPP_MAX_COLS ? needs : JPP_MAX_COLS);
    }

    jpp_sink_printf(sink, "%s%s", before, what);
}


/* What is not shown, and what shows it. */

static void
jpp_table_more(const jpp_table_t *table, uint32_t needs, size_t most,
    jpp_sink_t *sink)
{
    uint32_t             i;
    const char          *before;
    const jpp_column_t  *column;

    if (most > 1) {
        jpp_sink_printf(sink, "\"%zu x\": rows that differ only where \"...\" "
                        "stands; format=json has each\n", most);
    }

    for (i = 0, before = ""; i < table->n; i++) {
        column = &table->columns[i];

        if (column->width == 0) {
            jpp_table_cols(needs, before, column->heading, sink);
            before = ", ";
        }
    }

    if (table->is_cut) {
        jpp_table_cols(needs, before, "longer names", sink);
        before = ", ";
    }

    if (before[0] != '\0') {
        jpp_sink_char(sink, '\n');
    }
}


void
jpp_table_write(jpp_table_t *table, jpp_sink_t *sink)
{
    char          **cells, **end, **cell, *text, *none[JPP_TABLE_COLUMNS];
    size_t          width, most;
    uint32_t        i, needs;
    const char     *row[JPP_TABLE_COLUMNS];
    jpp_column_t   *column;

    cells = none;
    end = none;
    most = 1;

    if (!table->failed && table->cells->len != 0) {
        cells = jpp_vec_items(table->cells, char *);
        end = cells + jpp_vec_count(table->cells, char *);
        end = jpp_table_gather(table, cells, end, &most);
    }

    for (i = 0; i < table->n && !table->failed; i++) {
        column = &table->columns[i];
        column->needs = (uint32_t) strlen(column->heading);
        row[i] = column->heading;

        for (cell = cells + i; cell < end; cell += table->n) {
            width = jpp_utf8_width(*cell, strlen(*cell));
            column->needs = (uint32_t) jpp_larger(width, column->needs);
        }
    }

    needs = jpp_table_fit(table);
    text = jpp_arena_alloc(table->arena, JPP_UTF8_SHORT(needs));

    if (table->failed || text == NULL) {
        jpp_sink_fail(sink, ENOMEM);
        return;
    }

    jpp_table_row(table, row, text, sink);

    for ( /* void */ ; cells < end; cells += table->n) {
        memcpy(row, cells, table->n * sizeof(char *));
        jpp_table_row(table, row, text, sink);
    }

    jpp_table_more(table, needs, most, sink);
}


/* Divides a line at blanks; what follows begins in the column of its first. */

static void
jpp_wrap_put(jpp_wrap_t *wrap)
{
    char    *p, *end, *blank;
    size_t   n, indent, skip;

    p = wrap->line;
    end = p + wrap->len;
    *end = '\0';

    indent = strspn(p, " ");
    indent = indent < wrap->cols / 2 ? indent : 0;
    skip = indent;
    n = jpp_utf8_fits(p, wrap->len, wrap->cols);

    while (p + n < end) {
        blank = memrchr(p + skip, ' ', n + 1 - skip);
        n = blank != NULL ? (size_t) (blank - p) : n;

        jpp_sink_write(wrap->out, p, n);
        jpp_sink_char(wrap->out, '\n');
        jpp_table_pad(wrap->out, indent);

        p += n;
        p += strspn(p, " ");
        skip = 0;
        n = jpp_utf8_fits(p, (size_t) (end - p), wrap->cols - indent);
    }

    jpp_sink_write(wrap->out, p, (size_t) (end - p));
    wrap->len = 0;
}


static int
jpp_wrap_write(void *ctx, const uint8_t *data, size_t len)
{
    size_t        i;
    jpp_wrap_t  *wrap;

    wrap = ctx;

    for (i = 0; i < len; i++) {

        if (data[i] == '\n') {
            jpp_wrap_put(wrap);
            jpp_sink_char(wrap->out, '\n');
            continue;
        }

        if (wrap->len == JPP_WRAP_MOST) {
            jpp_wrap_put(wrap);
            jpp_sink_char(wrap->out, '\n');
        }

        wrap->line[wrap->len++] = (char) data[i];
    }

    return 0;
}


void
jpp_wrap_open(jpp_wrap_t *wrap, uint32_t cols, jpp_sink_t *out)
{
    jpp_sink_init(&wrap->sink, wrap->buffer, JPP_WRAP_BUFFER, jpp_wrap_write,
                  wrap);

    wrap->out = out;
    wrap->len = 0;
    wrap->cols = cols;
}


bool
jpp_wrap_close(jpp_wrap_t *wrap)
{
    bool  is_done;

    is_done = jpp_sink_flush(&wrap->sink) == 0;
    jpp_wrap_put(wrap);

    return is_done;
}
