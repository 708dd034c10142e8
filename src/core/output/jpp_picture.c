
#include <math.h>

#include "jpp_markup.h"
#include "jpp_picture.h"


/* pixels around a text; characters: a name is not shown with fewer */
#define JPP_PICTURE_SPARE  4
#define JPP_PICTURE_LEAST  3


void
jpp_picture_pixels(jpp_sink_t *sink, double n)
{
    uint64_t  tenths;

    tenths = (uint64_t) (n * 10 + 0.5);

    jpp_sink_u64(sink, tenths / 10);

    if (tenths % 10 != 0) {
        jpp_sink_char(sink, '.');
        jpp_sink_char(sink, (char) ('0' + tenths % 10));
    }
}


void
jpp_picture_box(jpp_sink_t *sink, double x, uint32_t y, double width,
    uint32_t height)
{
    jpp_sink_char(sink, 'M');
    jpp_picture_pixels(sink, x);
    jpp_sink_char(sink, ' ');
    jpp_sink_u64(sink, y);
    jpp_sink_char(sink, 'h');
    jpp_picture_pixels(sink, width);
    jpp_sink_char(sink, 'v');
    jpp_sink_u64(sink, height);
    jpp_sink_str(sink, "h-");
    jpp_picture_pixels(sink, width);
    jpp_sink_char(sink, 'z');
}


void
jpp_picture_percent(jpp_sink_t *sink, double share)
{
    uint64_t  tenths;

    tenths = (uint64_t) llrint(1000 * share);

    jpp_sink_u64(sink, tenths / 10);
    jpp_sink_char(sink, '.');
    jpp_sink_u64(sink, tenths % 10);
    jpp_sink_str(sink, " %");
}


void
jpp_picture_text(jpp_sink_t *sink, double x, uint32_t y, double width,
    const char *text, size_t len)
{
    bool    is_cut;
    size_t  i, n, room, keep;

    if (width < JPP_PICTURE_SPARE + JPP_PICTURE_LEAST * JPP_PICTURE_CHAR) {
        return;
    }

    room = (size_t) (width - JPP_PICTURE_SPARE) / JPP_PICTURE_CHAR;
    keep = len;

    /* continuation bytes are no characters */

    for (i = 0, n = 0; i < len; i++) {

        if (((uint8_t) text[i] & 0xc0) == 0x80) {
            continue;
        }

        if (n == room - 2) {
            keep = i;
        }

        n++;
    }

    is_cut = n > room;

    jpp_sink_str(sink, "<text x=\"");
    jpp_picture_pixels(sink, x + JPP_PICTURE_SPARE / 2);
    jpp_sink_str(sink, "\" y=\"");
    jpp_sink_u64(sink, y);
    jpp_sink_str(sink, "\">");
    jpp_markup_text(sink, text, is_cut ? keep : len);
    jpp_sink_str(sink, is_cut ? "..</text>" : "</text>");
}
