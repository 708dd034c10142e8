
#include "jpp_test_main.h"
#include "jpp_test_arena.h"
#include "jpp_test_golden.h"


static jpp_json_t   json;
static jpp_sink_t   sink;


void
jpp_before_each(void)
{
    jpp_test_sink(&sink, &arena);
    jpp_json_init(&json, &sink);
}


JPP_TEST(jpp_test_nesting)
{
    jpp_json_open(&json, NULL, '{');
    jpp_json_open(&json, "none", '[');
    jpp_json_close(&json, ']');
    jpp_json_open(&json, "some", '[');
    jpp_json_i64(&json, NULL, INT64_MIN);
    jpp_json_open(&json, NULL, '{');
    jpp_json_u64(&json, "u", UINT64_MAX);
    jpp_json_bool(&json, "t", true);
    jpp_json_close(&json, '}');
    jpp_json_null(&json, NULL);
    jpp_json_object(&json, NULL, { "n", 1 }, { "none", JPP_NONE });
    jpp_json_close(&json, ']');
    jpp_json_str(&json, "s", NULL);
    jpp_json_bool(&json, "f", false);
    jpp_json_close(&json, '}');

    jpp_shows(jpp_test_text(&sink), "nested");
}


JPP_TEST(jpp_test_strings)
{
    unsigned  c;
    char      value[2], expected[32];

    for (c = 1; c < 256; c++) {
        value[0] = (char) c;
        value[1] = '\0';

        if (c == '\n') {
            strcpy(expected, "\"\\n\"");

        } else if (c < 0x20) {
            jpp_print(expected, "\"\\u00%02x\"", c);

        } else {
            (void) snprintf(expected, sizeof(expected), "\"%s%c\"",
                            c == '"' || c == '\\' ? "\\" : "",
                            c < 0x7f ? (char) c : '?');
        }

        jpp_test_begin();
        jpp_json_str(&json, NULL, value);
        jpp_is_str(jpp_test_text(&sink), expected, "byte 0x%02x", c);
    }
}


JPP_TEST(jpp_test_names)
{
    size_t  i;

    static const struct {
        const char  *name;
        size_t       len;
    } cases[] = {
        { "", 0 }, { "a \"b\" \\d", 8 }, { "a\0b\n", 4 },
        { "\xd0\xbf\xe2\x82\xac", 5 }, { "\xf0\x9f\x8c\x8d", 4 },
        { "\xef\xbf\xbf\xf0\x90\x80\x80", 7 },
        { "\\xff", 4 }, { "\xff\xe2\x82", 3 }, { "\xe2\x80\xae", 3 }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        jpp_test_begin();
        jpp_json_name(&json, NULL, cases[i].name, cases[i].len);
        jpp_note("name %zu: %s", i, jpp_test_text(&sink));

        jpp_test_begin();
        jpp_json_utf8(&json, NULL, cases[i].name, cases[i].len);
        jpp_note("text %zu: %s", i, jpp_test_text(&sink));

        jpp_test_begin();
        jpp_json_bytes(&json, NULL, cases[i].name, cases[i].len);
        jpp_note("bytes %zu: %s", i, jpp_test_text(&sink));
    }

    jpp_shows_notes("as names, as texts that need no escapes, as anything");
}
