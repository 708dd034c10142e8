
#include "jpp_markup.h"


void
jpp_markup_text(jpp_sink_t *sink, const char *text, size_t len)
{
    size_t  i;

    for (i = 0; i < len; i++) {

        switch (text[i]) {

        case '&':
            jpp_sink_str(sink, "&amp;");
            break;

        case '<':
            jpp_sink_str(sink, "&lt;");
            break;

        case '>':
            jpp_sink_str(sink, "&gt;");
            break;

        case '"':
            jpp_sink_str(sink, "&quot;");
            break;

        case '\'':
            jpp_sink_str(sink, "&#39;");
            break;

        default:
            jpp_sink_char(sink, (uint8_t) text[i] >= 0x20 && text[i] != 0x7f
                                ? text[i] : '?');
        }
    }
}
