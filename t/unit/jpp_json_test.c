
#include "jpp_test_main.h"
#include "jpp_json.h"
#include "jpp_test_golden.h"
#include "jpp_units.h"


static char  jpp_text[4096];


static int
jpp_collect(void *ctx, const uint8_t *data, size_t len)
{
    size_t  n;

    (void) ctx;

    n = strlen(jpp_text);

    if (len >= sizeof(jpp_text) - n) {
        return EFBIG;
    }

    memcpy(jpp_text + n, data, len);
    jpp_text[n + len] = '\0';

    return 0;
}


JPP_TEST(jpp_test_nesting)
{
    uint8_t     buffer[16];
    jpp_json_t  json;
    jpp_sink_t  sink;

    jpp_text[0] = '\0';
    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_collect, NULL);
    jpp_json_init(&json, &sink);

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

    jpp_is_i64(jpp_sink_flush(&sink), 0, "written");
    jpp_shows(jpp_text, "nested");
}


JPP_TEST(jpp_test_strings)
{
    unsigned     c;
    uint8_t      buffer[16];
    char         value[2], expected[32];
    jpp_json_t   json;
    jpp_sink_t   sink;

    for (c = 1; c < 256; c++) {
        jpp_text[0] = '\0';
        jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_collect, NULL);
        jpp_json_init(&json, &sink);

        value[0] = (char) c;
        value[1] = '\0';

        if (c == '\n') {
            strcpy(expected, "\"\\n\"");

        } else if (c < 0x20) {
            (void) snprintf(expected, sizeof(expected), "\"\\u00%02x\"", c);

        } else {
            (void) snprintf(expected, sizeof(expected), "\"%s%c\"",
                            c == '"' || c == '\\' ? "\\" : "",
                            c < 0x7f ? (char) c : '?');
        }

        jpp_json_str(&json, NULL, value);
        (void) jpp_sink_flush(&sink);
        jpp_is_str(jpp_text, expected, "byte 0x%02x", c);
    }
}


JPP_TEST(jpp_test_names)
{
    size_t      i;
    uint8_t     buffer[16];
    jpp_json_t  json;
    jpp_sink_t  sink;

    static const struct {
        const char  *name;
        size_t       len;
    } cases[] = {
        { "", 0 },
        { "a \"b\" \\d", 8 },
        { "a\0b\n", 4 },
        { "\xd0\xbf\xe2\x82\xac", 5 },
        { "\xf0\x9f\x8c\x8d", 4 },
        { "\\xff", 4 },
        { "\xff\xe2\x82", 3 },
        { "\xe2\x80\xae", 3 }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        jpp_text[0] = '\0';
        jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_collect, NULL);
        jpp_json_init(&json, &sink);

        jpp_json_name(&json, NULL, cases[i].name, cases[i].len);
        (void) jpp_sink_flush(&sink);
        jpp_note("name %zu: %s", i, jpp_text);

        jpp_text[0] = '\0';
        jpp_json_init(&json, &sink);

        jpp_json_utf8(&json, NULL, cases[i].name, cases[i].len);
        (void) jpp_sink_flush(&sink);
        jpp_note("text %zu: %s", i, jpp_text);

        jpp_text[0] = '\0';
        jpp_json_init(&json, &sink);

        jpp_json_bytes(&json, NULL, cases[i].name, cases[i].len);
        (void) jpp_sink_flush(&sink);
        jpp_note("bytes %zu: %s", i, jpp_text);
    }

    jpp_shows_notes("as names, as texts that need no escapes, as anything");
}
