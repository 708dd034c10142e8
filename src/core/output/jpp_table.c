
#include "jpp_table.h"


#define JPP_TABLE_TEXT  256


void
jpp_table_init(jpp_table_t *table, jpp_arena_t *arena, uint32_t columns,
    uint32_t right)
{
    table->arena = arena;
    table->cells = jpp_vec_create(arena);
    table->columns = columns;
    table->right = right;
    table->failed = table->cells == NULL;
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
    char     text[JPP_TABLE_TEXT];
    va_list  args;

    va_start(args, fmt);
    (void) vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    jpp_table_add(table, jpp_arena_strndup(table->arena, text, strlen(text)));
}


void
jpp_table_row(jpp_table_t *table, const char *cells)
{
    size_t  len;

    for ( ;; ) {
        len = strcspn(cells, "\t");
        jpp_table_text(table, cells, len);

        if (cells[len] == '\0') {
            return;
        }

        cells += len + 1;
    }
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


void
jpp_table_text(jpp_table_t *table, const char *data, size_t len)
{
    jpp_table_add(table, jpp_arena_strndup(table->arena, data, len));
}


void
jpp_table_valued(jpp_table_t *table, const char *value, const char *data,
    size_t len)
{
    char    *text;
    size_t   n;

    n = strlen(value);
    text = jpp_arena_alloc(table->arena, n + sizeof(": ") + len);

    if (text != NULL) {
        memcpy(text, value, n);
        memcpy(text + n, ": ", 2);
        memcpy(text + n + 2, data, len);
    }

    jpp_table_add(table, text);
}


/* How wide TEXT is shown, if its first *CUT bytes are. */

static size_t
jpp_table_width(const char *text, size_t *cut)
{
    size_t  i, n, short_of;

    short_of = 0;

    for (i = 0, n = 0; text[i] != '\0'; i++) {

        /* the first byte of a character */

        if (((uint8_t) text[i] & 0xc0) == 0x80) {
            continue;
        }

        if (n == JPP_TABLE_WIDTH - 3) {
            short_of = i;
        }

        if (n == JPP_TABLE_WIDTH) {
            *cut = short_of;
            return n;
        }

        n++;
    }

    *cut = i;

    return n;
}


static void
jpp_table_pad(jpp_sink_t *sink, size_t n)
{
    while (n-- != 0) {
        jpp_sink_char(sink, ' ');
    }
}


bool
jpp_table_write(jpp_table_t *table, jpp_sink_t *sink)
{
    size_t    i, n, cut, width, widths[JPP_TABLE_COLUMNS] = { 0 };
    bool      is_last;
    char    **cells;
    uint32_t  column;

    if (table->failed) {
        return false;
    }

    cells = jpp_vec_items(table->cells, char *);
    n = jpp_vec_count(table->cells, char *);

    for (i = 0; i < n; i++) {
        column = (uint32_t) (i % table->columns);
        width = jpp_table_width(cells[i], &cut);

        widths[column] = width > widths[column] ? width : widths[column];
    }

    for (i = 0; i < n; i++) {
        column = (uint32_t) (i % table->columns);
        is_last = column == table->columns - 1;
        width = jpp_table_width(cells[i], &cut);

        if ((table->right >> column & 1) != 0) {
            jpp_table_pad(sink, widths[column] - width);
        }

        if (is_last) {
            jpp_sink_str(sink, cells[i]);
            jpp_sink_char(sink, '\n');
            continue;
        }

        jpp_sink_write(sink, cells[i], cut);
        jpp_sink_str(sink, cells[i][cut] != '\0' ? "..." : "");

        if ((table->right >> column & 1) == 0) {
            jpp_table_pad(sink, widths[column] - width);
        }

        jpp_table_pad(sink, 2);
    }

    return true;
}
