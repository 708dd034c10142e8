
/*
 * Writes a profile as a flame graph in SVG, for tickets, mail and README.
 *
 * It has no script, its style knows light and dark, and pointing at a box says
 * what it is.  Colours are owners (jpp_tree_owner()); in a difference red is
 * more and blue is less, and what is less than two standard errors is grey.
 */


#include "jpp_page.h"
#include "jpp_view.h"

#include <math.h>


/* pixels: a row, the last one a gap, and the lines above */
#define JPP_SVG_ROW      18
#define JPP_SVG_HEAD     26

#define JPP_SVG_LINE     512

/* colours of owners, of changes, and functions in the description */
#define JPP_SVG_OWNERS   12
#define JPP_SVG_STEPS    5
#define JPP_SVG_TOP      10

/* lines below the picture */
#define JPP_SVG_NOTES    4


/*
 * Where the nodes of a tree lie in a picture.
 *
 * A box is as wide as its share of WIDTH pixels, and lies below its caller's,
 * the widest first.  Nodes narrower than a pixel have none; where many such
 * siblings leave a gap that can be seen, one box stands for them.  So there are
 * at most as many boxes as the picture has room for, whatever the tree.
 */


typedef struct {
    uint32_t     node;         /* of the tree; of a rest: its caller */
    uint32_t     depth;
    uint32_t     n_rest;       /* the siblings that it stands for, or 0 */
    uint32_t     owner;        /* see jpp_tree_owner() */
    double       x;            /* pixels */
    double       width;
} jpp_box_t;


typedef struct {
    const jpp_tree_t  *tree;
    jpp_vec_t         *boxes;      /* jpp_box_t, by depth */
    uint32_t           height;     /* rows */
    size_t             n_left_out; /* nodes without a box */
    jpp_vec_t         *wide;       /* uint32_t: children of one box */
    double             scale;      /* pixels of a unit of width */
} jpp_boxes_t;


/* pixels: the narrowest box of a node, and of a rest */
#define JPP_BOXES_NODE  1.0
#define JPP_BOXES_REST  3.0


static bool
jpp_boxes_add(jpp_boxes_t *boxes, const jpp_box_t *parent, uint32_t node,
    uint32_t n_rest, double x, double width)
{
    uint32_t    owner;
    jpp_box_t  *box;

    box = jpp_vec_push(boxes->boxes, sizeof(jpp_box_t));
    if (box == NULL) {
        return false;
    }

    owner = jpp_tree_owner(boxes->tree->profile,
                           jpp_tree_node(boxes->tree, node)->function);

    box->node = node;
    box->depth = parent->width > 0 ? parent->depth + 1 : 0;
    box->n_rest = n_rest;
    box->owner = owner != 0 ? owner : parent->owner;
    box->x = x;
    box->width = width;

    boxes->height = (uint32_t) jpp_larger(boxes->height, box->depth + 1);

    boxes->n_left_out -= n_rest == 0;

    return true;
}


static int
jpp_boxes_compare(const void *a, const void *b, void *ctx)
{
    double               x, y;
    uint32_t             i, k;
    const jpp_boxes_t   *boxes;

    boxes = ctx;
    i = *(const uint32_t *) a;
    k = *(const uint32_t *) b;
    x = jpp_tree_node(boxes->tree, i)->width;
    y = jpp_tree_node(boxes->tree, k)->width;

    if (x < y || x > y) {
        return x > y ? -1 : 1;
    }

    return jpp_sort_order(i, k);
}


static bool
jpp_boxes_children(jpp_boxes_t *boxes, size_t i)
{
    double                  x, width, rest;
    size_t                  k, n;
    uint32_t                child, n_rest, *wide;
    jpp_box_t               box;
    const jpp_tree_node_t  *node;

    box = jpp_vec_items(boxes->boxes, jpp_box_t)[i];

    if (box.n_rest != 0) {
        return true;
    }

    boxes->wide->len = 0;
    rest = 0;
    n_rest = 0;

    for (child = jpp_tree_node(boxes->tree, box.node)->child;
         child != 0;
         child = node->next)
    {
        node = jpp_tree_node(boxes->tree, child);
        width = node->width * boxes->scale;

        if (width < JPP_BOXES_NODE) {
            rest += width;
            n_rest++;
            continue;
        }

        wide = jpp_vec_push(boxes->wide, sizeof(uint32_t));
        if (wide == NULL) {
            return false;
        }

        *wide = child;
    }

    wide = jpp_vec_items(boxes->wide, uint32_t);
    n = jpp_vec_count(boxes->wide, uint32_t);
    x = box.x;

    jpp_sort(wide, n, sizeof(uint32_t), jpp_boxes_compare, boxes);

    for (k = 0; k < n; k++) {
        width = jpp_tree_node(boxes->tree, wide[k])->width * boxes->scale;

        if (!jpp_boxes_add(boxes, &box, wide[k], 0, x, width)) {
            return false;
        }

        x += width;
    }

    return rest < JPP_BOXES_REST
           || jpp_boxes_add(boxes, &box, box.node, n_rest, x, rest);
}


/* Fill the caller's BOXES from TREE; false: no memory. */

static bool
jpp_boxes_init(jpp_boxes_t *boxes, const jpp_tree_t *tree, double width)
{
    size_t         i;
    jpp_box_t      root;
    jpp_arena_t   *arena;

    arena = tree->profile->arena;

    memset(&root, 0, sizeof(jpp_box_t));
    memset(boxes, 0, sizeof(jpp_boxes_t));

    boxes->boxes = jpp_vec_create(arena);
    boxes->n_left_out = jpp_vec_count(tree->nodes, jpp_tree_node_t);
    boxes->tree = tree;
    boxes->wide = jpp_vec_create(arena);
    boxes->scale = jpp_tree_node(tree, 0)->width > 0
                   ? width / jpp_tree_node(tree, 0)->width : 0;

    if (boxes->boxes == NULL || boxes->wide == NULL
        || !jpp_boxes_add(boxes, &root, 0, 0, 0, width))
    {
        return false;
    }

    for (i = 0; i < jpp_vec_count(boxes->boxes, jpp_box_t); i++) {
        if (!jpp_boxes_children(boxes, i)) {
            return false;
        }
    }

    return true;
}


/*
 * Numbers and texts of a picture in SVG.
 *
 * No state but the caller's sink.
 */


/* pixels that a character takes */
#define JPP_PICTURE_CHAR  7


/* pixels around a text; characters: a name is not shown with fewer */
#define JPP_PICTURE_SPARE  4
#define JPP_PICTURE_LEAST  3

/* bytes of a number as text */
#define JPP_PICTURE_NUMBER  32


/* N >= 0 with a decimal, unless that is zero; whatever the locale. */

static const char *
jpp_picture_pixels(double n, char text[JPP_PICTURE_NUMBER])
{
    uint64_t  tenths;

    tenths = (uint64_t) (n * 10 + 0.5);

    if (tenths % 10 != 0) {
        (void) snprintf(text, JPP_PICTURE_NUMBER, "%" PRIu64 ".%u",
                        tenths / 10, (unsigned) (tenths % 10));
    } else {
        (void) snprintf(text, JPP_PICTURE_NUMBER, "%" PRIu64, tenths / 10);
    }

    return text;
}


/*
 * Append as much of the LEN bytes of UTF-8 at TEXT as WIDTH pixels from X, Y on
 * have room for; nothing if that would be too little to read.
 */

static void
jpp_picture_text(jpp_sink_t *sink, double x, uint32_t y, double width,
    const char *text, size_t len)
{
    char    from[JPP_PICTURE_NUMBER];
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

    jpp_sink_printf(sink, "<text x=\"%s\" y=\"%" PRIu32 "\">",
                    jpp_picture_pixels(x + JPP_PICTURE_SPARE / 2, from), y);
    jpp_markup_text(sink, text, is_cut ? keep : len);
    jpp_sink_str(sink, is_cut ? "..</text>" : "</text>");
}


typedef struct {
    const jpp_view_t     *view;
    const jpp_profile_t  *profile;
    jpp_sink_t           *sink;
    jpp_tree_t            tree;
    jpp_boxes_t           boxes;
    uint32_t              width;
    bool                  is_counted;                /* not estimated */
    double                most;                      /* the largest change */
    uint32_t              owners[JPP_SVG_OWNERS];    /* those of most first */
    size_t                n_owners;
    const char           *workers;                   /* who answered, or "" */
    const char           *notes[JPP_SVG_NOTES];
    size_t                n_notes;
} jpp_svg_t;


static const char  jpp_svg_legend[] =
    "red: more, blue: less, grey: below two standard errors, outlined: new, "
    "dashed: gone";


const char  jpp_svg_policy[] =
    "default-src 'none'; style-src '" JPP_PICTURE_HASH "'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'";


/* What a parser of the figures must know: comments on what is left out. */

static void
jpp_svg_notes(jpp_svg_t *svg)
{
    size_t       i;
    const char  *text;

    svg->workers = "";

    for (i = 0;
         (text = jpp_profile_comment_at(svg->profile, i)) != NULL
         && svg->n_notes < JPP_SVG_NOTES;
         i++)
    {
        if (strncmp(text, "workers ", 8) == 0) {
            svg->workers = text;

        } else if (strstr(text, " is missing: ") != NULL
            || strncmp(text, "left out ", 9) == 0
            || strncmp(text, "origin=", 7) == 0)
        {
            svg->notes[svg->n_notes++] = text;
        }
    }
}


/* The owners of most memory, and then those that boxes have. */

static void
jpp_svg_owners(jpp_svg_t *svg)
{
    size_t            i, k, n;
    uint32_t          id;
    const jpp_box_t  *box;

    n = jpp_vec_count(svg->profile->strings, jpp_str_t) - 1;

    for (id = 0; svg->n_owners < JPP_SVG_OWNERS; svg->n_owners++) {

        id = jpp_tree_next(svg->tree.owned, n, id);
        if (id == 0) {
            break;
        }

        svg->owners[svg->n_owners] = id;
    }

    box = jpp_vec_items(svg->boxes.boxes, jpp_box_t);
    n = jpp_vec_count(svg->boxes.boxes, jpp_box_t);

    for (i = 0; i < n && svg->n_owners < JPP_SVG_OWNERS; i++) {

        for (k = 0; k < svg->n_owners && svg->owners[k] != box[i].owner; k++) {
            /* void */
        }

        if (k == svg->n_owners && box[i].owner != 0) {
            svg->owners[svg->n_owners++] = box[i].owner;
        }
    }
}


static bool
jpp_svg_init(jpp_svg_t *svg, const jpp_view_t *view)
{
    size_t                  i, n;
    const jpp_tree_node_t  *node;

    svg->view = view;
    svg->profile = view->profile;
    svg->width = view->args->values[JPP_ARG_WIDTH];

    if (!jpp_tree_init(&svg->tree, view,
                       view->args->values[JPP_ARG_INVERT] == 1)
        || !jpp_boxes_init(&svg->boxes, &svg->tree, svg->width))
    {
        return false;
    }

    node = jpp_tree_node(&svg->tree, 0);
    svg->is_counted = node->seen == 0 && node->width > 0;

    n = jpp_vec_count(svg->tree.nodes, jpp_tree_node_t);

    for (i = 1; i < n; i++) {
        node = jpp_tree_node(&svg->tree, (uint32_t) i);
        svg->most = fmax(svg->most,
                         fabs((double) node->after - (double) node->before));
    }

    jpp_svg_owners(svg);
    jpp_svg_notes(svg);

    return true;
}


/* "nginx on web1, 2026-11-22T05:50:00Z, inuse_space 5.1 MiB, ..." */

static void
jpp_svg_summary(const jpp_svg_t *svg, char line[JPP_SVG_LINE])
{
    char                    rests[40], change[JPP_FIGURES_TEXT + 32];
    int64_t                 by;
    const jpp_tree_node_t  *root;

    root = jpp_tree_node(&svg->tree, 0);
    by = root->after - root->before;

    change[0] = '\0';

    if (svg->view->base != NULL) {
        jpp_print(change, " (%s%s)", by > 0 ? "+" : "",
                  jpp_figure(svg->profile, by));
    }

    rests[0] = '\0';

    if (!svg->is_counted) {
        jpp_print(rests, ", %" PRId64 " samples", root->seen);
    }

    (void) snprintf(line, JPP_SVG_LINE, "%.256s, %s, %s %s%s%s%s%s%s%s",
                    svg->view->title,
                    jpp_date(svg->profile->time_nanos / 1000000000),
                    svg->profile->types[svg->profile->default_type].type,
                    jpp_figure(svg->profile, root->after), change,
                    rests, by != 0 ? ", " : "",
                    by != 0 ? jpp_error(jpp_error_percent(root->variance, by))
                            : "",
                    svg->workers[0] != '\0' ? ", " : "", svg->workers);
}


static jpp_str_t
jpp_svg_name(const jpp_svg_t *svg, uint32_t function)
{
    static const jpp_str_t  all = { "all", 3 };

    return function != 0 ? jpp_profile_function_name(svg->profile, function)
                         : all;
}


/* The functions that hold most, for those who cannot see. */

static void
jpp_svg_describe(const jpp_svg_t *svg)
{
    size_t     i, n;
    uint32_t   id;
    jpp_str_t  name;

    n = jpp_vec_count(svg->profile->functions, jpp_function_t);

    for (i = 0, id = 0; i < JPP_SVG_TOP; i++) {

        id = jpp_tree_next(svg->tree.flat, n, id);
        if (id == 0) {
            return;
        }

        name = jpp_svg_name(svg, id);

        jpp_markup_text(svg->sink, name.data, name.len);
        jpp_sink_printf(svg->sink, ": %s\n",
                        jpp_figure(svg->profile, svg->tree.flat[id]));
    }
}


static void
jpp_svg_head(const jpp_svg_t *svg)
{
    char        line[JPP_SVG_LINE];
    uint32_t    height;
    jpp_sink_t  *sink;

    sink = svg->sink;
    height = JPP_SVG_HEAD
             + JPP_SVG_ROW * (svg->boxes.height + 2 + (uint32_t) svg->n_notes);

    jpp_sink_printf(sink, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                    "width=\"%" PRIu32 "\" height=\"%" PRIu32 "\" "
                    "viewBox=\"0 0 %" PRIu32 " %" PRIu32 "\" role=\"img\">\n",
                    svg->width, height, svg->width, height);

    jpp_svg_summary(svg, line);

    jpp_sink_str(sink, "<title>");
    jpp_markup_text(sink, line, strlen(line));
    jpp_sink_str(sink, "</title>\n<desc>");
    jpp_svg_describe(svg);
    jpp_sink_str(sink, "</desc>\n<style>" JPP_PICTURE_STYLE "</style>\n"
                 "<defs><pattern id=\"h\" width=\"8\" height=\"8\" "
                 "patternUnits=\"userSpaceOnUse\">"
                 "<path d=\"M0 8L8 0\"/></pattern></defs>\n");

    jpp_picture_text(svg->sink, 0, 16, svg->width, line, strlen(line));
    jpp_sink_char(sink, '\n');
}


/* Its colour. */

static void
jpp_svg_class(const jpp_svg_t *svg, const jpp_box_t *box)
{
    size_t                  i;
    double                  change, step;
    const jpp_tree_node_t  *node;

    if (box->n_rest != 0) {
        jpp_sink_str(svg->sink, "h");
        return;
    }

    if (!svg->tree.is_difference) {

        for (i = 0; i < svg->n_owners; i++) {
            if (svg->owners[i] == box->owner) {
                jpp_sink_char(svg->sink, 'o');
                jpp_sink_u64(svg->sink, i);
                return;
            }
        }

        jpp_sink_str(svg->sink, "x");

        return;
    }

    node = jpp_tree_node(&svg->tree, box->node);
    change = (double) node->after - (double) node->before;

    if (change == 0) {
        jpp_sink_str(svg->sink, "s");

    } else if (change * change < 4 * node->variance) {
        jpp_sink_str(svg->sink, "n");

    } else {
        step = sqrt(fabs(change) / fmax(svg->most, 1)) * JPP_SVG_STEPS;

        jpp_sink_char(svg->sink, signbit(change) ? 'l' : 'm');
        jpp_sink_i64(svg->sink, (int64_t) fmin(step + 1, JPP_SVG_STEPS));
    }

    if (svg->view->base != NULL && (node->before == 0 || node->after == 0)) {
        jpp_sink_str(svg->sink, node->before == 0 ? " w" : " w g");
    }
}


static void
jpp_svg_title(const jpp_svg_t *svg, const jpp_box_t *box)
{
    int64_t                 change;
    uint64_t                tenths;
    jpp_str_t               name;
    jpp_sink_t             *sink;
    const jpp_tree_node_t  *node;

    sink = svg->sink;
    node = jpp_tree_node(&svg->tree, box->node);

    if (box->n_rest != 0) {
        jpp_sink_printf(sink, "%" PRIu32 " frames narrower than a pixel",
                        box->n_rest);
        return;
    }

    name = jpp_svg_name(svg, node->function);
    tenths = (uint64_t) llrint(1000 * box->width / svg->width);

    jpp_markup_text(sink, name.data, name.len);
    jpp_sink_printf(sink, ": %s, %" PRIu64 ".%" PRIu64 " %%",
                    jpp_figure(svg->profile, node->after),
                    tenths / 10, tenths % 10);

    if (!svg->is_counted) {
        jpp_sink_printf(sink, ", %" PRId64 " samples", node->seen);
    }

    if (svg->view->base == NULL) {
        return;
    }

    change = node->after - node->before;

    jpp_sink_printf(sink, ", %s%s since %s%s", change > 0 ? "+" : "",
                    jpp_figure(svg->profile, change),
                    jpp_figure(svg->profile, node->before),
                    node->after == 0 && node->before != 0 ? ", gone" : "");
}


static void
jpp_svg_box(const jpp_svg_t *svg, const jpp_box_t *box)
{
    char        more[JPP_SVG_LINE];
    char        from[JPP_PICTURE_NUMBER], wide[JPP_PICTURE_NUMBER];
    double      width;
    uint32_t    y;
    jpp_str_t   name;
    jpp_sink_t  *sink;

    sink = svg->sink;
    y = JPP_SVG_HEAD + box->depth * JPP_SVG_ROW;

    /* a gap between siblings, where there is room for one */

    width = box->width >= 2 ? box->width - 0.5 : box->width;

    (void) jpp_picture_pixels(box->x, from);
    (void) jpp_picture_pixels(width, wide);

    jpp_sink_str(sink, "<path class=\"");
    jpp_svg_class(svg, box);
    jpp_sink_printf(sink, "\" d=\"M%s %" PRIu32 "h%sv%dh-%sz\"><title>",
                    from, y, wide, JPP_SVG_ROW - 1, wide);
    jpp_svg_title(svg, box);
    jpp_sink_str(sink, "</title></path>");

    name = jpp_svg_name(svg, jpp_tree_node(&svg->tree, box->node)->function);

    if (box->n_rest != 0) {
        jpp_print(more, "+ %" PRIu32 " more", box->n_rest);
        name.data = more;
        name.len = strlen(more);
    }

    jpp_picture_text(sink, box->x, y + 13, width, name.data, name.len);
    jpp_sink_char(sink, '\n');
}


/* The owners, and what is not shown. */

static void
jpp_svg_foot(const jpp_svg_t *svg)
{
    char         line[JPP_SVG_LINE];
    size_t       i;
    double       x;
    uint32_t     y;
    const char  *p;

    y = JPP_SVG_HEAD + JPP_SVG_ROW * svg->boxes.height + 14;

    for (i = 0, x = 0; !svg->tree.is_difference && i < svg->n_owners; i++) {

        p = jpp_profile_str(svg->profile, svg->owners[i]).data;
        p = *p == '/' ? strrchr(p, '/') + 1 : p;

        if (x + 30 + (double) strlen(p) * JPP_PICTURE_CHAR > svg->width) {
            break;
        }

        jpp_sink_printf(svg->sink, "<path class=\"o%zu\" d=\"M%u %" PRIu32
                        "h12v12h-12z\"/>", i, (unsigned) x + 2, y - 10);
        jpp_picture_text(svg->sink, x + 14, y, svg->width, p, strlen(p));

        x += 36 + (double) strlen(p) * JPP_PICTURE_CHAR;
    }

    if (svg->tree.is_difference) {
        jpp_picture_text(svg->sink, 0, y, svg->width, jpp_svg_legend,
                         sizeof(jpp_svg_legend) - 1);
    }

    if (svg->boxes.n_left_out != 0) {
        jpp_print(line, "%zu frames narrower than a pixel are not shown",
                  svg->boxes.n_left_out);
        jpp_picture_text(svg->sink, 0, y += JPP_SVG_ROW, svg->width, line,
                         strlen(line));
    }

    for (i = 0; i < svg->n_notes; i++) {
        jpp_picture_text(svg->sink, 0, y += JPP_SVG_ROW, svg->width,
                         svg->notes[i], strlen(svg->notes[i]));
    }

    jpp_sink_str(svg->sink, "\n</svg>\n");
}


bool
jpp_svg_write(const jpp_view_t *view, jpp_sink_t *sink)
{
    jpp_svg_t         svg;
    const jpp_box_t  *box;

    memset(&svg, 0, sizeof(jpp_svg_t));

    svg.sink = sink;

    if (!jpp_svg_init(&svg, view)) {
        return false;
    }

    jpp_svg_head(&svg);

    jpp_vec_each(box, svg.boxes.boxes) {
        jpp_svg_box(&svg, box);
    }

    jpp_svg_foot(&svg);

    return true;
}
