
#include <string.h>

#include "jpp_boxes.h"
#include "jpp_sort.h"


/* pixels: the narrowest box of a node, and of a rest */
#define JPP_BOXES_NODE  1.0
#define JPP_BOXES_REST  3.0


typedef struct {
    const jpp_tree_t  *tree;
    jpp_boxes_t       *boxes;
    jpp_vec_t         *wide;       /* uint32_t: children of one box */
    double             scale;      /* pixels of a unit of width */
} jpp_layout_t;


static bool
jpp_boxes_add(jpp_layout_t *layout, const jpp_box_t *parent, uint32_t node,
    uint32_t n_rest, double x, double width)
{
    uint32_t      owner;
    jpp_box_t    *box;
    jpp_boxes_t  *boxes;

    boxes = layout->boxes;

    box = jpp_vec_push(boxes->boxes, sizeof(jpp_box_t));
    if (box == NULL) {
        return false;
    }

    owner = jpp_tree_owner(layout->tree->profile,
                           jpp_tree_node(layout->tree, node)->function);

    box->node = node;
    box->depth = parent->width > 0 ? parent->depth + 1 : 0;
    box->n_rest = n_rest;
    box->owner = owner != 0 ? owner : parent->owner;
    box->x = x;
    box->width = width;

    if (box->depth >= boxes->height) {
        boxes->height = box->depth + 1;
    }

    boxes->n_left_out -= n_rest == 0;

    return true;
}


static int
jpp_boxes_compare(const void *a, const void *b, void *ctx)
{
    double               x, y;
    uint32_t             i, k;
    const jpp_layout_t  *layout;

    layout = ctx;
    i = *(const uint32_t *) a;
    k = *(const uint32_t *) b;
    x = jpp_tree_node(layout->tree, i)->width;
    y = jpp_tree_node(layout->tree, k)->width;

    if (x < y || x > y) {
        return x > y ? -1 : 1;
    }

    return i < k ? -1 : 1;
}


static bool
jpp_boxes_children(jpp_layout_t *layout, size_t i)
{
    double                  x, width, rest;
    size_t                  k, n;
    uint32_t                child, n_rest, *wide;
    jpp_box_t               box;
    const jpp_tree_node_t  *node;

    box = jpp_vec_items(layout->boxes->boxes, jpp_box_t)[i];

    if (box.n_rest != 0) {
        return true;
    }

    layout->wide->len = 0;
    rest = 0;
    n_rest = 0;

    for (child = jpp_tree_node(layout->tree, box.node)->child;
         child != 0;
         child = node->next)
    {
        node = jpp_tree_node(layout->tree, child);
        width = node->width * layout->scale;

        if (width < JPP_BOXES_NODE) {
            rest += width;
            n_rest++;
            continue;
        }

        wide = jpp_vec_push(layout->wide, sizeof(uint32_t));
        if (wide == NULL) {
            return false;
        }

        *wide = child;
    }

    wide = jpp_vec_items(layout->wide, uint32_t);
    n = jpp_vec_count(layout->wide, uint32_t);
    x = box.x;

    jpp_sort(wide, n, sizeof(uint32_t), jpp_boxes_compare, layout);

    for (k = 0; k < n; k++) {
        width = jpp_tree_node(layout->tree, wide[k])->width * layout->scale;

        if (!jpp_boxes_add(layout, &box, wide[k], 0, x, width)) {
            return false;
        }

        x += width;
    }

    return rest < JPP_BOXES_REST
           || jpp_boxes_add(layout, &box, box.node, n_rest, x, rest);
}


bool
jpp_boxes_init(jpp_boxes_t *boxes, const jpp_tree_t *tree, double width)
{
    size_t         i;
    jpp_box_t      root;
    jpp_arena_t   *arena;
    jpp_layout_t   layout;

    arena = tree->profile->arena;

    memset(&root, 0, sizeof(jpp_box_t));
    memset(boxes, 0, sizeof(jpp_boxes_t));

    boxes->boxes = jpp_vec_create(arena);
    boxes->n_left_out = jpp_vec_count(tree->nodes, jpp_tree_node_t);

    layout.tree = tree;
    layout.boxes = boxes;
    layout.wide = jpp_vec_create(arena);
    layout.scale = jpp_tree_node(tree, 0)->width > 0
                   ? width / jpp_tree_node(tree, 0)->width : 0;

    if (boxes->boxes == NULL || layout.wide == NULL
        || !jpp_boxes_add(&layout, &root, 0, 0, 0, width))
    {
        return false;
    }

    for (i = 0; i < jpp_vec_count(boxes->boxes, jpp_box_t); i++) {
        if (!jpp_boxes_children(&layout, i)) {
            return false;
        }
    }

    return true;
}


size_t
jpp_boxes_owners(const jpp_boxes_t *boxes, uint32_t *owners, size_t n,
    size_t max)
{
    size_t            i, k;
    const jpp_box_t  *box;

    box = jpp_vec_items(boxes->boxes, jpp_box_t);

    for (i = 0; i < jpp_vec_count(boxes->boxes, jpp_box_t) && n < max; i++) {

        for (k = 0; k < n && owners[k] != box[i].owner; k++) { /* void */ }

        if (k == n && box[i].owner != 0) {
            owners[n++] = box[i].owner;
        }
    }

    return n;
}
