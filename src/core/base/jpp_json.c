
/* Writes JSON: commas, lines and quoting. */

#include "jpp_sink.h"
#include "jpp_units.h"
#include "jpp_utf8.h"


#define JPP_JSON_NAME  4096


void
jpp_json_init(jpp_json_t *json, jpp_sink_t *sink)
{
    json->sink = sink;
    json->depth = 0;
    json->is_first = true;
}


static void
jpp_json_line(jpp_json_t *json)
{
    unsigned  i;

    jpp_sink_char(json->sink, '\n');

    for (i = 0; i < json->depth; i++) {
        jpp_sink_str(json->sink, "  ");
    }
}


static void
jpp_json_char(jpp_json_t *json, char c)
{
    if (c == '\n') {
        jpp_sink_str(json->sink, "\\n");

    } else if ((unsigned char) c < 0x20) {
        jpp_sink_printf(json->sink, "\\u%04x", (unsigned char) c);

    } else {
        if (c == '"' || c == '\\') {
            jpp_sink_char(json->sink, '\\');
        }

        jpp_sink_char(json->sink, jpp_ascii(c));
    }
}


static void
jpp_json_text(jpp_json_t *json, const char *s, size_t len)
{
    const char  *end;

    jpp_sink_char(json->sink, '"');

    for (end = s + len; s < end; s++) {
        jpp_json_char(json, *s);
    }

    jpp_sink_char(json->sink, '"');
}


/* The comma, the line and the key of what follows; an array's have no key. */

static void
jpp_json_member(jpp_json_t *json, const char *key)
{
    if (!json->is_first) {
        jpp_sink_char(json->sink, ',');
    }

    if (json->depth != 0) {
        jpp_json_line(json);
    }

    if (key != NULL) {
        jpp_json_text(json, key, strlen(key));
        jpp_sink_str(json->sink, ": ");
    }

    json->is_first = false;
}


void
jpp_json_open(jpp_json_t *json, const char *key, char bracket)
{
    jpp_json_member(json, key);
    jpp_sink_char(json->sink, bracket);

    json->depth++;
    json->is_first = true;
}


void
jpp_json_close(jpp_json_t *json, char bracket)
{
    json->depth--;

    if (!json->is_first) {
        jpp_json_line(json);
    }

    jpp_sink_char(json->sink, bracket);

    if (json->depth == 0) {
        jpp_sink_char(json->sink, '\n');
    }

    json->is_first = false;
}


void
jpp_json_str(jpp_json_t *json, const char *key, const char *value)
{
    if (value == NULL) {
        jpp_json_null(json, key);
        return;
    }

    jpp_json_bytes(json, key, value, strlen(value));
}


void
jpp_json_bytes(jpp_json_t *json, const char *key, const char *data, size_t len)
{
    jpp_json_member(json, key);
    jpp_json_text(json, data, len);
}


void
jpp_json_name(jpp_json_t *json, const char *key, const char *data, size_t len)
{
    char  text[JPP_UTF8_ESCAPED(JPP_JSON_NAME)];

    len = jpp_utf8_escape(text, data,
                          len < JPP_JSON_NAME ? len : JPP_JSON_NAME);

    jpp_json_utf8(json, key, text, len);
}


void
jpp_json_utf8(jpp_json_t *json, const char *key, const char *data, size_t len)
{
    size_t          n;
    uint32_t        code;
    const uint8_t  *p, *end;

    jpp_json_member(json, key);
    jpp_sink_char(json->sink, '"');

    p = (const uint8_t *) data;

    for (end = p + len; p < end; p += n) {

        n = jpp_utf8_len(p, (size_t) (end - p));

        if (n > 1) {
            code = jpp_utf8_code(p, n);

            if (code >= 0x10000) {
                code -= 0x10000;
                jpp_sink_printf(json->sink, "\\u%04x", 0xd800 + (code >> 10));
                code = 0xdc00 + (code & 0x3ff);
            }

            jpp_sink_printf(json->sink, "\\u%04x", code);
            continue;
        }

        n = 1;
        jpp_json_char(json, jpp_ascii((char) *p));
    }

    jpp_sink_char(json->sink, '"');
}


void
jpp_json_i64(jpp_json_t *json, const char *key, int64_t value)
{
    jpp_json_member(json, key);
    jpp_sink_i64(json->sink, value);
}


void
jpp_json_u64(jpp_json_t *json, const char *key, uint64_t value)
{
    jpp_json_member(json, key);
    jpp_sink_u64(json->sink, value);
}


void
jpp_json_bool(jpp_json_t *json, const char *key, bool value)
{
    jpp_json_member(json, key);
    jpp_sink_str(json->sink, value ? "true" : "false");
}


static void
jpp_json_number(jpp_json_t *json, uint64_t number)
{
    if (number == JPP_NONE) {
        jpp_sink_str(json->sink, "null");

    } else {
        jpp_sink_u64(json->sink, number);
    }
}


void
jpp_json_known(jpp_json_t *json, const char *key, uint64_t value)
{
    jpp_json_member(json, key);
    jpp_json_number(json, value);
}


void
jpp_json_list(jpp_json_t *json, const jpp_json_number_t *numbers)
{
    for ( /* void */ ; numbers->key != NULL; numbers++) {
        jpp_json_known(json, numbers->key, numbers->value);
    }
}


void
jpp_json_pair(jpp_json_t *json, uint64_t one, uint64_t other)
{
    jpp_json_member(json, NULL);

    jpp_sink_char(json->sink, '[');
    jpp_json_number(json, one);
    jpp_sink_str(json->sink, ", ");
    jpp_json_number(json, other);
    jpp_sink_char(json->sink, ']');
}
