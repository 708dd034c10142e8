
/*
 * Writes a profile as one HTML page: flame graphs, tables and differences,
 * which need no server.
 *
 *     head | title | base64 of the pprof form | the same of the base | script
 *
 * The page is src/web/page.html with its style and its script, made into
 * string literals by tools/page.sh.  Nothing else of a profile gets into it:
 * no name ever becomes HTML.  Whoever has the page has the profile.
 */


#include "jpp_page.h"
#include "jpp_view.h"


#define JPP_HTML_POLICY                                                       \
    "default-src 'none'; script-src '" JPP_PAGE_SCRIPT_HASH "'; "             \
    "style-src '" JPP_PAGE_STYLE_HASH "'; connect-src 'self'; "               \
    "base-uri 'none'; form-action 'none'; trusted-types 'none'; "             \
    "require-trusted-types-for 'script'"


/* What comes before the policy, the title and the profiles; and the rest. */

static const char *const  jpp_html_parts[4] = { JPP_PAGE_PARTS };

/* frame-ancestors means nothing in a meta element */

const char  jpp_html_policy[] = JPP_HTML_POLICY "; frame-ancestors 'none'";


static bool
jpp_html_profile(const jpp_view_t *view, const char *id, jpp_sink_t *sink)
{
    bool           is_written;
    jpp_base64_t   b64;

    jpp_sink_printf(sink, "<script type=\"application/octet-stream\" "
                    "id=\"%s\">", id);

    if (!jpp_base64_open(&b64, view->profile->arena, sink)) {
        return false;
    }

    is_written = jpp_pprof_write(view, &b64.sink);

    if (jpp_base64_close(&b64) != 0) {
        jpp_sink_fail(sink, b64.sink.error);
    }

    jpp_sink_str(sink, "</script>\n");

    return is_written;
}


/* The same profile with the values of the base. */

static bool
jpp_html_base(const jpp_view_t *view, jpp_sink_t *sink)
{
    jpp_view_t     before;
    jpp_profile_t  profile;

    before = *view;
    profile = *view->profile;
    before.profile = &profile;

    memcpy(profile.columns, view->base, sizeof(profile.columns));

    profile.time_nanos -= profile.duration_nanos;
    profile.duration_nanos = 0;

    return jpp_html_profile(&before, "base", sink);
}


bool
jpp_html_write(const jpp_view_t *view, jpp_sink_t *sink)
{
    jpp_sink_str(sink, jpp_html_parts[0]);
    jpp_sink_str(sink, JPP_HTML_POLICY);

    jpp_sink_str(sink, jpp_html_parts[1]);
    jpp_markup_text(sink, view->title, strlen(view->title));

    jpp_sink_str(sink, jpp_html_parts[2]);

    if (!jpp_html_profile(view, "profile", sink)
        || (view->base != NULL && !jpp_html_base(view, sink)))
    {
        return false;
    }

    jpp_sink_str(sink, jpp_html_parts[3]);

    return true;
}
