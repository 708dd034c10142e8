
/*
 * What the files of the console share: what it shows, escaped text, durations,
 * bars.
 *
 * Bars are SVG with attributes, since the policy of the page forbids a style
 * attribute.  A bar says in words what it shows.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_CONSOLE_PARTS_H_INCLUDED_
#define _JPP_CONSOLE_PARTS_H_INCLUDED_


#include "jpp_outcome.h"
#include "jpp_telemetry.h"


#define JPP_CONSOLE_AGE  32


/* A resource, or one way to request it. */
typedef struct {
    const char    *address;        /* "heap?format=top"; NULL ends the list */
    const char    *text;           /* what it is */
    const char    *command;        /* to be copied */
    bool           is_post;        /* POST only: not a link */
} jpp_console_link_t;


typedef struct {
    const jpp_telemetry_t      *telemetry;
    const jpp_console_link_t   *links;
    const jpp_outcome_t        *outcome;       /* of a form; or NULL */
    bool                        has_control;   /* forms are answered here */
    int64_t                     now;           /* seconds since the epoch */
} jpp_console_t;


/* A part of a bar; JPP_NONE bytes are left out. */
typedef struct {
    const char    *css;            /* class */
    const char    *what;           /* "allocated"; NULL ends the list */
    uint64_t       bytes;
} jpp_console_part_t;


/* Append the string S as printable ASCII, newlines and escaped markup. */
void jpp_console_text(jpp_sink_t *sink, const char *s);

/* Append the LEN bytes of a name of the configuration as text. */
void jpp_console_name(jpp_sink_t *sink, const char *data, size_t len);

/* Append BYTES with a unit, or "-" for JPP_NONE. */
void jpp_console_bytes(jpp_sink_t *sink, uint64_t bytes);

/* Write how long FROM is before TO, "2 h 13 min", to TEXT; returns TEXT. */
const char *jpp_console_age(int64_t from, int64_t to,
    char text[JPP_CONSOLE_AGE]);

/* The sum of what PARTS have; JPP_NONE: there is no such number. */
uint64_t jpp_console_sum(const jpp_console_part_t *parts);

/* Append PARTS in words: "12.3 MiB allocated, 1.7 MiB fragmentation". */
void jpp_console_words(jpp_sink_t *sink, const jpp_console_part_t *parts);

/* Append PARTS as a bar, as wide as its place if they are SCALE bytes. */
void jpp_console_bar(jpp_sink_t *sink, const jpp_console_part_t *parts,
    uint64_t scale);

/*
 * Append how much USED is of ALL as a meter with the LABEL: red from nine
 * tenths on, yellow from eight.
 */
void jpp_console_meter(jpp_sink_t *sink, uint64_t used, uint64_t all,
    const char *label);

/* Does LINKS have the resource NAME, in whatever form? */
bool jpp_console_serves(const jpp_console_link_t *links, const char *name);


#endif /* _JPP_CONSOLE_PARTS_H_INCLUDED_ */
