
/* The table of a profile's formats. */


#include "jpp_view.h"


static bool
jpp_format_top(const jpp_view_t *view, jpp_sink_t *sink)
{
    bool        is_done;
    jpp_wrap_t  wrap;

    jpp_wrap_open(&wrap, view->args->values[JPP_ARG_COLS], sink);

    is_done = view->parts != NULL ? jpp_places_write(view, &wrap.sink)
                                  : jpp_functions_write(view, &wrap.sink);

    return jpp_wrap_close(&wrap) && is_done;
}


static bool
jpp_format_as_it_is(const jpp_view_t *view, jpp_sink_t *sink)
{
    jpp_sink_write(sink, view->capture, view->capture_len);

    return true;
}


const jpp_format_t  jpp_formats[] = {

    { .name = "pprof", .about = "for go tool pprof, Parca, Pyroscope",
      .type = "application/octet-stream", .suffix = "pb.gz",
      .names = JPP_NAMES_OPTIONAL, .is_binary = true,
      .write = jpp_pprof_write },

    { .name = "text", .about = "the legacy text form, for jeprof",
      .type = "text/plain",
      .parser = &jpp_parser_heap,
      .names = JPP_NAMES_NONE, .is_raw = true, .is_legacy = true,
      .write = jpp_text_write },

    { .name = "binary", .about = "the legacy form of CPU time, for jeprof",
      .type = "application/octet-stream", .suffix = "prof",
      .parser = &jpp_parser_cpu,
      .names = JPP_NAMES_NONE, .is_binary = true, .is_legacy = true,
      .write = jpp_binary_write },

    { .name = "jemalloc", .about = "the dump, unchanged",
      .type = "text/plain", .suffix = "heap",
      .parser = &jpp_parser_heap,
      .names = JPP_NAMES_NONE, .takes_one = true,
      .write = jpp_format_as_it_is },

    { .name = "folded", .about = "a line per stack, for flame graphs",
      .type = "text/plain",
      .names = JPP_NAMES_ALWAYS,
      .write = jpp_folded_write },

    { .name = "top", .about = "a table of the largest functions, for people",
      .type = "text/plain",
      .names = JPP_NAMES_ALWAYS, .is_counted = true, .has_owners = true,
      .write = jpp_format_top },

    { .name = "html", .about = "a page with flame graphs, for a browser",
      .type = "text/html", .suffix = "html", .policy = jpp_html_policy,
      .names = JPP_NAMES_ALWAYS, .keeps_base = true, .shows_owners = true,
      .write = jpp_html_write },

    { .name = "svg", .about = "a flame graph as a picture",
      .type = "image/svg+xml", .suffix = "svg", .policy = jpp_svg_policy,
      .names = JPP_NAMES_ALWAYS, .is_counted = true, .keeps_base = true,
      .write = jpp_svg_write }
};


const jpp_words_t  jpp_format_words = {
    &jpp_formats[0].name, sizeof(jpp_format_t),
    sizeof(jpp_formats) / sizeof(jpp_formats[0]), 0
};


const jpp_format_t *
jpp_format_find(const char *name)
{
    uint32_t  i;

    return jpp_words_find(&jpp_format_words, name, strlen(name), &i)
           ? &jpp_formats[i] : NULL;
}


const jpp_format_t *
jpp_format_legacy(const jpp_parser_t *parser)
{
    const jpp_format_t  *format;

    jpp_each_of(format, jpp_formats) {
        if (format->is_legacy && format->parser == parser) {
            return format;
        }
    }

    return NULL;
}


const jpp_format_t *
jpp_format_of(const jpp_args_t *args)
{
    /* as the profiles of Go have it */

    if (!args->is_set[JPP_ARG_FORMAT] && args->values[JPP_ARG_DEBUG] == 1) {
        return jpp_format_find("text");
    }

    return &jpp_formats[args->values[JPP_ARG_FORMAT]];
}
