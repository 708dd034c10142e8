
/*
 * Tables of text: widths, sides, what is left out, cut and put together; and
 * lines that are too long.
 */


#include "jpp_test_arena.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_view.h"


/* four bytes for two characters, and three for one of two columns */
#define JPP_TWO    "\xc3\xa4\xc3\xb6"
#define JPP_WIDE   "\xe6\xbc\xa2"

#define JPP_TEN    "1234567890"
#define JPP_FORTY  JPP_TEN JPP_TEN JPP_TEN JPP_TEN


static jpp_sink_t   sink;


static jpp_table_t  table;


void
jpp_before_each(void)
{
    jpp_test_sink(&sink, &arena);
}


/* A number, a name that gives way, a number and a name that stay. */

static const struct {
    const char  *name;
    uint32_t     cols;
    const char  *cells[8];
} rows[] = {
    { "all of it", 80, { "1", "a", "22", "b", "100", "c", "4", "d" } },
    { "as wide as it may be", 24, { "1", "a", "22", "b" } },
    { "a column is left out", 22, { "1", "a", "22", "b" } },
    { "the highest rank first", 30, { "1", "a", "22", JPP_TEN JPP_TEN } },
    { "names are cut in the middle", 40,
      { "1", JPP_FORTY, "22", JPP_FORTY "end" } },
    { "as much as there is room for", 60,
      { "1", JPP_FORTY, "22", JPP_FORTY "end" } },
    { "names go on in the next line", 30,
      { "1", "a", "22", "one two three four five six", "5", "b", "6", "c" } },
    { "a blank where the line ends", 29,
      { "1", "a", "22", "one two three fourt five" } },
    { "a word that is too long for its line", 29,
      { "1", "a", "22", "of " JPP_TEN JPP_TEN JPP_TEN " x" } },
    { "and what is too long for all its lines", 29,
      { "1", "a", "22",
        JPP_TEN "12345678 b " JPP_TEN "12345678 d " JPP_TEN "12345678 f "
        JPP_TEN "12345678 and the end" } },
    { "no room for anything", 20,
      { "123456789012345", JPP_FORTY, "22", JPP_FORTY "end" } },
    { "characters of two bytes, and of two columns", 80,
      { JPP_TWO, JPP_WIDE, "100", "a", JPP_WIDE, "b", JPP_TWO, "c" } },
    { "nothing", 80, { "", "", "1", "" } },
    { "bytes that are no text", 80, { "1", "a\nb\x01", "2", "\xff" } },
    { NULL, 0, { NULL } }
};


static void
jpp_table_test_columns(uint32_t cols)
{
    jpp_table_init(&table, &arena, cols);
    jpp_table_column(&table, "n", 0, 0);
    jpp_table_column(&table, "optional", 2, 20);
    jpp_table_column(&table, "must", 0, 0);
    jpp_table_column(&table, "name", 0, 20);
}


JPP_TEST(jpp_table_test_rows)
{
    size_t  i, k;

    for (i = 0; rows[i].name != NULL; i++) {
        jpp_test_begin();
        jpp_table_test_columns(rows[i].cols);

        for (k = 0; k < 8 && rows[i].cells[k] != NULL; k++) {
            jpp_table_name(&table, rows[i].cells[k], strlen(rows[i].cells[k]));
        }

        jpp_table_write(&table, &sink);
        jpp_shows(jpp_test_text(&sink), "%s", rows[i].name);
    }
}


/* Cells of any kind; the last one is never filled up. */

JPP_TEST(jpp_table_test_cells)
{
    jpp_table_test_columns(80);
    jpp_table_cell(&table, "%d", 7);
    jpp_table_cell(&table, "%.2s", "abc");
    jpp_table_cell(&table, "%s", "long");
    jpp_table_cell(&table, "%s: %s", "1 KiB", "all");

    jpp_table_write(&table, &sink);
    jpp_shows(jpp_test_text(&sink), "cells of any kind");

    jpp_test_begin();
    jpp_table_init(&table, &arena, 80);
    jpp_table_column(&table, "n", 0, 0);
    jpp_table_cell(&table, "%0999d", 7);

    jpp_table_write(&table, &sink);
    jpp_is_u64(strlen(jpp_test_text(&sink)), 2 * 1000, "a number is never cut");
}


/* Ten rows are one, nine are not, and one that differs divides them. */

JPP_TEST(jpp_table_test_alike)
{
    size_t  i, k;

    static const struct {
        size_t  n;
        size_t  other;             /* a row with another name */
    } cases[] = { { 9, 9 }, { 10, 10 }, { 25, 3 } };

    for (i = 0; i < jpp_nelts(cases); i++) {
        jpp_test_begin();
        jpp_table_init(&table, &arena, 80);
        jpp_table_column(&table, "bytes", 0, 0);
        jpp_table_column(&table, "name", 2, 20);
        jpp_table_column(&table, "age", 1, 0);
        jpp_table_column(&table, "last", 0, 20);

        for (k = 0; k < cases[i].n; k++) {
            jpp_table_cell(&table, "4 KiB");
            jpp_table_cell(&table, "%s", k == cases[i].other ? "other"
                                                             : "same");
            jpp_table_cell(&table, "%zu", k);
            jpp_table_cell(&table, "x");
        }

        jpp_table_write(&table, &sink);
        jpp_shows(jpp_test_text(&sink), "%zu rows", cases[i].n);
    }
}


/* Whatever names are: no line is wider than the terminal. */

JPP_TEST(jpp_table_test_hostile)
{
    char         name[4096];
    size_t       i, k, n, len, n_wide;
    uint32_t     cols;
    const char  *p, *end;
    jpp_wrap_t   wrap;

    static const char *const  pieces[] = {
        "a", "\x1b[2J", "\n", JPP_WIDE, "\xf0\x9f\x98\x80",
        "\xe2\x80\xae\xd7\xa9\xd7\x9c", "\xff", "\\x41", "e\xcc\x81", "; "
    };

    static const uint32_t  widths[] = { JPP_MIN_COLS, 21, 33, 80, 120,
                                        JPP_MAX_COLS };

    n_wide = 0;

    for (i = 0; i < jpp_nelts(pieces) * jpp_nelts(widths); i++) {
        cols = widths[i / jpp_nelts(pieces)];
        p = pieces[i % jpp_nelts(pieces)];

        for (len = 0; len + strlen(p) <= sizeof(name); len += strlen(p)) {
            memcpy(name + len, p, strlen(p));
        }

        jpp_test_begin();
        jpp_wrap_open(&wrap, cols, &sink);
        jpp_table_test_columns(cols);

        for (k = 0; k < 3; k++) {
            jpp_table_cell(&table, "%zu", k);
            jpp_table_name(&table, name, len);
            jpp_table_cell(&table, "%s", "18446744073709551615");
            jpp_table_name(&table, name, k == 0 ? 0 : len);
        }

        jpp_table_write(&table, &wrap.sink);
        jpp_sink_printf(&wrap.sink, "  a sentence, and ");
        jpp_sink_write(&wrap.sink, name, p[0] == '\n' ? 0 : len);
        jpp_sink_str(&wrap.sink, ", which ends");
        jpp_ok(jpp_wrap_close(&wrap), "%u columns of %s", (unsigned) cols,
               i % jpp_nelts(pieces) == 0 ? p : "others");

        for (p = jpp_test_text(&sink); *p != '\0'; p = end + (*end != '\0')) {
            end = p + strcspn(p, "\n");
            n = jpp_utf8_width(p, (size_t) (end - p));
            n_wide += n > cols;
        }
    }

    jpp_is_u64(n_wide, 0, "no line is too wide");
}


/* Lines are divided at blanks, and where there is none anywhere. */

JPP_TEST(jpp_table_test_wrap)
{
    size_t      i;
    jpp_wrap_t  wrap;

    static const char  *cases[] = {
        "", "one\ntwo", "12345678901234567890\n", "1234567890123456789 1\n",
        "12345678901234567890 1\n", "123456789012345678901\n",
        "a 123456789012345678  12\n", "  ab 1234567890 1234567890 12\n",
        "  1234567890123456789\n", "           1234567890 12\n",
        "          1234567890 12\n", "  ab 1234567890123456 123 12\n"
    };

    for (i = 0; i < jpp_nelts(cases); i++) {
        jpp_test_begin();
        jpp_wrap_open(&wrap, 20, &sink);
        jpp_sink_str(&wrap.sink, cases[i]);
        jpp_ok(jpp_wrap_close(&wrap), "line %zu", i);
        jpp_note("\"%s\": \"%s\"", cases[i], jpp_test_text(&sink));
    }

    jpp_shows_notes("lines of 20 columns");
}


/* Without memory there is no table, and no half of one. */

JPP_TEST(jpp_table_test_memory)
{
    size_t    i;
    uint64_t  n;

    static uint8_t  room[64 * 1024];

    for (n = 0; n < 100; n++) {
        jpp_arena_fresh(&arena, n * 4096);
        jpp_sink_init(&sink, room, sizeof(room), NULL, NULL);

        jpp_table_test_columns(1000);

        for (i = 0; i < 4 * 100; i++) {
            jpp_table_name(&table, JPP_FORTY, 40);
        }

        jpp_table_write(&table, &sink);

        if (sink.error == 0) {
            break;
        }

        jpp_ok(sink.pos == sink.start && sink.error == ENOMEM,
               "%u pages: nothing, and the sink knows", (unsigned) n);
    }

    jpp_ok(n > 2 && n < 100, "not without memory, and with enough");
}
