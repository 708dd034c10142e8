
/*
 * Numbers and texts of a picture in SVG.
 *
 * No state but the caller's sink.
 */


#ifndef _JPP_PICTURE_H_INCLUDED_
#define _JPP_PICTURE_H_INCLUDED_


#include "jpp_sink.h"


/* pixels that a character takes */
#define JPP_PICTURE_CHAR  7


/* Append the path of a box. */
void jpp_picture_box(jpp_sink_t *sink, double x, uint32_t y, double width,
    uint32_t height);

/* Append "97.5 %" of a SHARE of 0.975. */
void jpp_picture_percent(jpp_sink_t *sink, double share);

/* Append N >= 0 with a decimal, unless that is zero; whatever the locale. */
void jpp_picture_pixels(jpp_sink_t *sink, double n);

/*
 * Append as much of the LEN bytes of UTF-8 at TEXT as WIDTH pixels from X, Y on
 * have room for; nothing if that would be too little to read.
 */
void jpp_picture_text(jpp_sink_t *sink, double x, uint32_t y, double width,
    const char *text, size_t len);


#endif /* _JPP_PICTURE_H_INCLUDED_ */
