
/* Tables of text: widths, sides, and cells that are too long. */


#include <stdlib.h>

#include "jpp_table.h"
#include "jpp_test_main.h"


/* four bytes for two characters */
#define JPP_TWO    "\xc3\xa4\xc3\xb6"

#define JPP_TEN    "1234567890"
#define JPP_FORTY  JPP_TEN JPP_TEN JPP_TEN JPP_TEN
#define JPP_BLANKS "                                        "


static const struct {
    const char  *name;
    const char  *cells[6];      /* of two columns, the first at the right */
    const char  *text;
} rows[] = {
    { "one row", { "1", "a" }, "1  a\n" },
    { "numbers end at the right", { "1", "a", "100", "b" },
      "  1  a\n100  b\n" },
    { "a character of two bytes is one", { JPP_TWO, "a", "100", "b" },
      " " JPP_TWO "  a\n100  b\n" },
    { "as long as may be", { JPP_FORTY "12345678", "a", "1", "b" },
      JPP_FORTY "12345678  a\n       " JPP_BLANKS "1  b\n" },
    { "one more", { JPP_FORTY "123456789", "a" }, JPP_FORTY "12345...  a\n" },
    { "a cut is before a character", { JPP_FORTY "1234" JPP_TWO "5678", "a" },
      JPP_FORTY "1234\xc3\xa4...  a\n" },
    { "the last column is whole", { "1", JPP_FORTY JPP_FORTY },
      "1  " JPP_FORTY JPP_FORTY "\n" },
    { "bytes that are no text", { "1", "a\nb\x01" }, "1  a\\x0ab\\x01\n" }
};


JPP_TEST(jpp_table_test_rows)
{
    char          text[1024], expected[1024];
    size_t        i, k;
    uint8_t       buffer[64];
    jpp_vec_t    *out;
    jpp_sink_t    sink;
    jpp_arena_t   arena;
    jpp_table_t   table;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_arena_init(&arena, 1 << 20);
        out = jpp_vec_create(&arena);
        jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_sink_to_vec, out);

        jpp_table_init(&table, &arena, 2, 1);

        for (k = 0; k < 6 && rows[i].cells[k] != NULL; k++) {
            jpp_table_name(&table, rows[i].cells[k], strlen(rows[i].cells[k]));
        }

        jpp_ok(jpp_table_write(&table, &sink) && jpp_sink_flush(&sink) == 0,
               "%s", rows[i].name);

        snprintf(text, sizeof(text), "%.*s", (int) out->len,
                 (const char *) out->data);
        snprintf(expected, sizeof(expected), "%s", rows[i].text);
        jpp_is_str(text, expected, "%s: its text", rows[i].name);

        jpp_arena_destroy(&arena);
    }
}


/* The left column is filled up behind it, the last one never. */

JPP_TEST(jpp_table_test_left)
{
    uint8_t       buffer[64];
    jpp_vec_t    *out;
    jpp_sink_t    sink;
    jpp_arena_t   arena;
    jpp_table_t   table;

    jpp_arena_init(&arena, 1 << 20);
    out = jpp_vec_create(&arena);
    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_sink_to_vec, out);

    jpp_table_init(&table, &arena, 3, 4);
    jpp_table_cell(&table, "%d", 7);
    jpp_table_text(&table, "abc", 2);
    jpp_table_valued(&table, "1 KiB", "all", 3);
    jpp_table_cell(&table, "%s", "long");
    jpp_table_text(&table, "", 0);
    jpp_table_cell(&table, "5");

    jpp_ok(jpp_table_write(&table, &sink) && jpp_sink_flush(&sink) == 0,
           "three columns");
    *(char *) jpp_vec_push(out, 1) = '\0';
    jpp_is_str((const char *) out->data,
               "7     ab  1 KiB: all\nlong               5\n", "their text");

    jpp_arena_destroy(&arena);
}
