
/*
 * Where the nodes of a tree lie in a picture.
 *
 * A box is as wide as its share of WIDTH pixels, and lies below its caller's,
 * the widest first.  Nodes narrower than a pixel have none; where many such
 * siblings leave a gap that can be seen, one box stands for them.  So there are
 * at most as many boxes as the picture has room for, whatever the tree.
 */


#ifndef _JPP_BOXES_H_INCLUDED_
#define _JPP_BOXES_H_INCLUDED_


#include "jpp_tree.h"


typedef struct {
    uint32_t     node;         /* of the tree; of a rest: its caller */
    uint32_t     depth;
    uint32_t     n_rest;       /* the siblings that it stands for, or 0 */
    uint32_t     owner;        /* see jpp_tree_owner() */
    double       x;            /* pixels */
    double       width;
} jpp_box_t;


typedef struct {
    jpp_vec_t   *boxes;        /* jpp_box_t, by depth */
    uint32_t     height;       /* rows */
    size_t       n_left_out;   /* nodes without a box */
} jpp_boxes_t;


/* Fill the caller's BOXES from TREE; false: no memory. */
bool jpp_boxes_init(jpp_boxes_t *boxes, const jpp_tree_t *tree, double width);

/*
 * Append owners that boxes have and that are not among the N of OWNERS, which
 * has room for MAX; returns how many there are then.
 */
size_t jpp_boxes_owners(const jpp_boxes_t *boxes, uint32_t *owners, size_t n,
    size_t max);


#endif /* _JPP_BOXES_H_INCLUDED_ */
