
#include "jpp_markup.h"


void
jpp_markup_text(jpp_sink_t *sink, const char *text, size_t len)
{
    size_t  i;

    for (i = 0; i < len; i++) {

        if (!jpp_markup_escape(sink, text[i])) {
            jpp_sink_char(sink, (uint8_t) text[i] >= 0x20 && text[i] != 0x7f
                                ? text[i] : '?');
        }
    }
}


bool
jpp_markup_escape(jpp_sink_t *sink, char c)
{
    switch (c) {

    case '&':
        jpp_sink_str(sink, "&amp;");
        return true;

    case '<':
        jpp_sink_str(sink, "&lt;");
        return true;

    case '>':
        jpp_sink_str(sink, "&gt;");
        return true;

    case '"':
        jpp_sink_str(sink, "&quot;");
        return true;

    case '\'':
        jpp_sink_str(sink, "&#39;");
        return true;

    default:
        return false;
    }
}
