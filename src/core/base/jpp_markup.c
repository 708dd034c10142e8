
/* Escapes foreign text for HTML and XML. */


#include "jpp_sink.h"


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
    size_t  i;

    static const struct {
        char         c;
        const char  *text;
    } escapes[] = {
        { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" },
        { '\'', "&#39;" }
    };

    for (i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        if (escapes[i].c == c) {
            jpp_sink_str(sink, escapes[i].text);
            return true;
        }
    }

    return false;
}
