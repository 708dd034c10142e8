
/*
 * The stacks of a profile as a tree of functions, for flame graphs: from the
 * root, or from the leaf.
 *
 * Node 0 is the root.  A parent has a smaller index than its children, which
 * are a list in no order.  Each node has the values of its subtree; where the
 * view has a base, those before and after.
 *
 * Memory from the profile's arena; one thread at a time.
 */


#ifndef _JPP_TREE_H_INCLUDED_
#define _JPP_TREE_H_INCLUDED_


#include "jpp_view.h"


typedef struct {
    uint32_t     function;     /* id; 0: of the root, and of no stack */
    uint32_t     parent;
    uint32_t     child;        /* the first, or 0 */
    uint32_t     next;         /* sibling, or 0 */
    int64_t      after;
    int64_t      before;       /* 0 without a base */
    int64_t      seen;         /* samples; of what is gone, those before */
    double       variance;     /* of the change */
    double       width;        /* the greater of both, summed over leaves */
} jpp_tree_node_t;


typedef struct {
    const jpp_profile_t  *profile;
    jpp_vec_t            *nodes;       /* jpp_tree_node_t */
    jpp_index_t           index;       /* by parent and function */
    int64_t              *flat;        /* by function: what leaves gained */
    int64_t              *owned;       /* by string id: see jpp_tree_owner() */
    const uint8_t        *passing;     /* see jpp_view.h */
    bool                  is_passed_over;
    bool                  is_by_leaf;
    bool                  is_difference;
} jpp_tree_t;


/* Fill the caller's TREE from VIEW, whose profile has counts. */
bool jpp_tree_init(jpp_tree_t *tree, const jpp_view_t *view, bool is_by_leaf);

/*
 * Whose memory FUNCTION is: the id of a string.  That is the file of its
 * mapping; among the frames of pools, the function's own name if that is one
 * of a server, of a location, or of what belongs to none.  0: its caller's.
 */
uint32_t jpp_tree_owner(const jpp_profile_t *profile, uint32_t function);

/*
 * Which id of 1 to N comes behind ID, where the one with the largest of VALUES
 * is the first, which comes behind 0.  0: all others have the value 0.
 */
uint32_t jpp_tree_next(const int64_t *values, size_t n, uint32_t id);


static inline jpp_tree_node_t *
jpp_tree_node(const jpp_tree_t *tree, uint32_t i)
{
    return &jpp_vec_items(tree->nodes, jpp_tree_node_t)[i];
}


#endif /* _JPP_TREE_H_INCLUDED_ */
