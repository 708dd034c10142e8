
/* Escapes foreign text for HTML and XML. */


#include "jpp_sink.h"
#include "jpp_utf8.h"


static const char *const  jpp_markup_escapes[256] = {
    ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;",
    ['\''] = "&#39;"
};


static void
jpp_markup_char(jpp_sink_t *sink, char c)
{
    if (jpp_markup_escapes[(uint8_t) c] != NULL) {
        jpp_sink_str(sink, jpp_markup_escapes[(uint8_t) c]);

    } else {
        jpp_sink_char(sink, c);
    }
}


void
jpp_markup_text(jpp_sink_t *sink, const char *text, size_t len)
{
    size_t  i;

    for (i = 0; i < len; i++) {
        jpp_markup_char(sink, (uint8_t) text[i] >= 0x20 && text[i] != 0x7f
                              ? text[i] : '?');
    }
}


void
jpp_markup_printf(jpp_sink_t *sink, const char *fmt, ...)
{
    bool         is_long;
    va_list      args;
    const char  *s;

    va_start(args, fmt);

    for ( /* void */ ; *fmt != '\0'; fmt++) {

        if (*fmt != '%') {
            jpp_sink_char(sink, *fmt);
            continue;
        }

        is_long = strspn(fmt + 1, "lz") != 0;
        fmt += 1 + strspn(fmt + 1, "lz");

        switch (*fmt) {

        case 's':
            for (s = va_arg(args, const char *); *s != '\0'; s++) {
                jpp_markup_char(sink, *s == '\n' ? '\n' : jpp_ascii(*s));
            }
            break;

        case 'd':
            jpp_sink_i64(sink, is_long ? va_arg(args, int64_t)
                                       : va_arg(args, int));
            break;

        case 'u':
            jpp_sink_u64(sink, is_long ? va_arg(args, uint64_t)
                                       : va_arg(args, unsigned));
            break;

        default:
            jpp_sink_char(sink, *fmt);
        }
    }

    va_end(args);
}
