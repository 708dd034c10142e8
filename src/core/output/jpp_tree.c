
/*
 * The stacks of a profile as a tree of functions, for flame graphs: from the
 * root, or from the leaf.
 */


#include "jpp_view.h"

#include <math.h>


/* frames of pools that own: what their names begin with */

static const char *const  jpp_tree_pools[] = {
    "server ", "location ", "connection of ", "configuration",
    "connection slots", "open file cache", "resolver"
};


/* What sample I adds to each node of its stack. */

static void
jpp_tree_value(const jpp_tree_t *tree, const jpp_view_t *view, uint32_t i,
    jpp_tree_node_t *value)
{
    double                n, doubt;
    uint32_t              type, seen;
    const jpp_profile_t  *profile;

    memset(value, 0, sizeof(jpp_tree_node_t));

    profile = tree->profile;
    type = profile->default_type;
    seen = jpp_profile_seen(profile, profile->types[type].count);

    value->after = jpp_profile_value(profile->columns[type], i);
    value->seen = jpp_profile_value(profile->columns[seen], i);
    n = (double) value->seen;
    doubt = (double) jpp_profile_value(profile->columns[seen + 1], i);

    if (view->base != NULL) {
        value->before = jpp_profile_value(view->base[type], i);
        n -= (double) jpp_profile_value(view->base[seen], i);

        if (value->seen == 0) {
            value->seen = jpp_profile_value(view->base[seen], i);
        }

        doubt -= (double) jpp_profile_value(view->base[seen + 1], i);
    }

    value->variance = jpp_error_of_value((double) value->after
                                         - (double) value->before, n,
                                         doubt / JPP_DOUBT_ONE);
}


/* The child of PARENT that is FUNCTION; 0: no memory. */

static uint32_t
jpp_tree_child(jpp_tree_t *tree, uint32_t parent, uint32_t function)
{
    uint32_t         id, key[2] = { function, parent };
    jpp_tree_node_t  node;

    id = jpp_index_find(&tree->index, tree->nodes, key,
                        sizeof(jpp_tree_node_t), sizeof(key));

    /* ids count from 1, nodes from 0 */

    if (id != 0) {
        return id - 1;
    }

    memset(&node, 0, sizeof(jpp_tree_node_t));

    node.function = function;
    node.parent = parent;
    node.next = jpp_tree_node(tree, parent)->child;

    id = jpp_index_intern(&tree->index, tree->nodes, &node,
                          sizeof(jpp_tree_node_t), sizeof(key));
    if (id == 0) {
        return 0;
    }

    jpp_tree_node(tree, parent)->child = id - 1;

    return id - 1;
}


/* *NODE is where SAMPLE ends in the tree, *LEAF the function that holds it. */

static bool
jpp_tree_path(jpp_tree_t *tree, const jpp_sample_t *sample, uint32_t *leaf,
    uint32_t *node)
{
    uint32_t         n, k, id, ids[JPP_MAX_FRAMES];
    const uint8_t   *p, *end;

    p = sample->stack;
    end = p + sample->stack_len;

    if (tree->is_passed_over) {
        p = jpp_wrappers_skip(tree->profile, tree->passing, p, end);
    }

    for (n = 0; p < end; n++) {
        p = jpp_stack_next(p, &id);
        ids[n] = jpp_profile_location_at(tree->profile, id)->function;
    }

    *leaf = n != 0 ? ids[0] : 0;
    *node = 0;

    for (k = 0; k < n; k++) {
        *node = jpp_tree_child(tree, *node,
                               ids[tree->is_by_leaf ? k : n - 1 - k]);
        if (*node == 0) {
            return false;
        }
    }

    return true;
}


static void
jpp_tree_add(jpp_tree_node_t *sum, const jpp_tree_node_t *value)
{
    sum->after = jpp_add_i64(sum->after, value->after);
    sum->before = jpp_add_i64(sum->before, value->before);
    sum->seen = jpp_add_i64(sum->seen, value->seen);
    sum->variance += value->variance;
}


/* The owner is that of the innermost frame that does not pass memory on. */

static void
jpp_tree_own(jpp_tree_t *tree, const jpp_sample_t *sample,
    const jpp_tree_node_t *value)
{
    uint32_t        id, owner;
    const uint8_t  *p, *end;

    p = sample->stack;
    end = p + sample->stack_len;
    p = jpp_wrappers_skip(tree->profile, tree->passing, p, end);
    owner = 0;

    while (p < end && owner == 0) {
        p = jpp_stack_next(p, &id);
        owner = jpp_tree_owner(tree->profile,
                               jpp_profile_location_at(tree->profile,
                                                       id)->function);
    }

    tree->owned[owner] = jpp_add_i64(tree->owned[owner], llabs(value->after));
}


static bool
jpp_tree_sample(jpp_tree_t *tree, const jpp_view_t *view, uint32_t i)
{
    uint32_t          leaf, node;
    jpp_sample_t      sample;
    jpp_tree_node_t   value;

    jpp_profile_sample(tree->profile, i, &sample);
    jpp_tree_value(tree, view, i, &value);

    if (value.after == 0 && value.before == 0) {
        return true;
    }

    tree->is_difference |= view->base != NULL || value.after < 0;

    if (!jpp_tree_path(tree, &sample, &leaf, &node)) {
        return false;
    }

    jpp_tree_add(jpp_tree_node(tree, node), &value);
    tree->flat[leaf] = jpp_add_i64(tree->flat[leaf],
                                   jpp_add_i64(value.after, -value.before));
    jpp_tree_own(tree, &sample, &value);

    return true;
}


/* From what stacks that end in a node have to what its subtree has. */

static void
jpp_tree_totals(jpp_tree_t *tree)
{
    uint32_t          i, n;
    jpp_tree_node_t  *node, *parent;

    n = (uint32_t) jpp_vec_count(tree->nodes, jpp_tree_node_t);

    jpp_vec_each(node, tree->nodes) {
        node->width = fmax(fabs((double) node->after),
                           fabs((double) node->before));
    }

    for (i = n - 1; i > 0; i--) {
        node = jpp_tree_node(tree, i);
        parent = jpp_tree_node(tree, node->parent);

        parent->width += node->width;
        jpp_tree_add(parent, node);
    }
}


bool
jpp_tree_init(jpp_tree_t *tree, const jpp_view_t *view, bool is_by_leaf)
{
    size_t                n_functions, n_strings;
    uint32_t              i;
    const jpp_args_t     *args;
    const jpp_profile_t  *profile;

    memset(tree, 0, sizeof(jpp_tree_t));

    args = view->args;
    profile = view->profile;
    n_functions = jpp_vec_count(profile->functions, jpp_function_t);
    n_strings = jpp_vec_count(profile->strings, jpp_str_t);

    tree->profile = profile;
    tree->is_by_leaf = is_by_leaf;
    tree->is_passed_over = args->is_set[JPP_ARG_CALLERS]
                           ? args->values[JPP_ARG_CALLERS] == 1 : is_by_leaf;
    tree->nodes = jpp_vec_create(profile->arena);
    tree->flat = jpp_arena_alloc(profile->arena,
                                 (n_functions + 1) * sizeof(int64_t));
    tree->owned = jpp_arena_alloc(profile->arena,
                                  n_strings * sizeof(int64_t));
    tree->passing = jpp_wrappers_table(profile, false);

    jpp_index_init(&tree->index, profile->arena);

    if (tree->nodes == NULL || tree->flat == NULL || tree->owned == NULL
        || tree->passing == NULL
        || !jpp_index_expect(&tree->index, 4 * profile->n_samples)
        || jpp_vec_push(tree->nodes, sizeof(jpp_tree_node_t)) == NULL)
    {
        return false;
    }

    jpp_profile_each(i, profile) {
        if (!jpp_tree_sample(tree, view, i)) {
            return false;
        }
    }

    jpp_tree_totals(tree);

    return true;
}


uint32_t
jpp_tree_owner(const jpp_profile_t *profile, uint32_t function)
{
    jpp_str_t              file, name;
    const char *const     *pool;
    const jpp_function_t  *f;

    if (function == 0) {
        return 0;
    }

    f = jpp_profile_function_at(profile, function);

    if (f->mapping == 0) {
        return 0;
    }

    file = jpp_profile_str(profile,
                           jpp_profile_mapping_at(profile, f->mapping)->file);

    if (strcmp(file.data, "[nginx]") != 0) {
        return jpp_profile_mapping_at(profile, f->mapping)->file;
    }

    name = jpp_profile_str(profile, f->name);

    jpp_each_of(pool, jpp_tree_pools) {
        if (strncmp(name.data, *pool, strlen(*pool)) == 0) {
            return f->name;
        }
    }

    return 0;
}


/* Few are asked for, so that a search for each is cheap. */

uint32_t
jpp_tree_next(const int64_t *values, size_t n, uint32_t id)
{
    int       order;
    uint32_t  i, next;

    for (i = 1, next = 0; i <= n; i++) {
        order = id != 0 ? jpp_sums_compare(values[id], values[i]) : -1;

        if (values[i] != 0 && (order < 0 || (order == 0 && id < i))
            && (next == 0 || jpp_sums_compare(values[i], values[next]) < 0))
        {
            next = i;
        }
    }

    return next;
}
