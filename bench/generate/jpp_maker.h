
/*
 * The parts of the generator: the files and the call sites in them
 * (jpp_maker_sites.c), the tree of calls whose leaves are the stacks
 * (jpp_maker_tree.c), their order (jpp_maker_order.c), and the text
 * (jpp_maker_write.c).  jpp_generate.c calls them in this order.
 *
 * Everything lies in the maker's arena.  After a failed allocation "failed" is
 * set, and nothing is made any more.
 */


#ifndef _JPP_MAKER_H_INCLUDED_
#define _JPP_MAKER_H_INCLUDED_


#include "jpp_generate.h"


#define JPP_PAGE_SIZE       4096
#define JPP_MEGABYTE        (1024 * 1024)

/* more than JPP_GENERATE_DEPTH_MAX and a quarter */
#define JPP_PATH_MAX        256

/* addresses in jemalloc, and the frames of it that lead a stack */
#define JPP_JEMALLOC_SITES  16
#define JPP_JEMALLOC_FRAMES 4

#define JPP_ROOT_SITES      8

/* call sites of a function */
#define JPP_FUNCTION_SITES  8

/* frames of a way to the allocator */
#define JPP_WRAPPER         3

/* " 0x" and 16 digits */
#define JPP_ADDRESS_TEXT    19


typedef struct {
    char        path[64];
    uint64_t    start;          /* of the first of its mappings */
    uint64_t    text;           /* bytes that are executable */
    uint32_t    inode;
    bool        is_jemalloc;
} jpp_lib_t;


/* an address as the dump writes it, and how many there are before it */
typedef struct {
    uint64_t    address;
    uint32_t    len;
    char        text[JPP_ADDRESS_TEXT + 1];
} jpp_site_t;


typedef struct {
    uint32_t    frames;         /* where they begin */
    uint32_t    n;
    uint32_t    objects;
    uint32_t    accum;          /* objects ever allocated */
    uint32_t    size;           /* of one object */
} jpp_made_t;


typedef struct {
    jpp_generate_t          options;
    jpp_sink_t             *sink;
    jpp_arena_t             arena;
    uint64_t                random;
    bool                    failed;

    jpp_vec_t              *libs;       /* jpp_lib_t, by address */
    jpp_vec_t              *sites;      /* jpp_site_t, see jpp_make_sites() */
    uint32_t                n_sites;
    uint32_t                split;      /* no two stacks share more frames */

    uint32_t                path[JPP_PATH_MAX];   /* sites, outermost first */
    jpp_vec_t              *frames;     /* uint32_t, leaf first */
    jpp_vec_t              *made;       /* jpp_made_t */
} jpp_maker_t;


/* The files, and the addresses in them: fill libs and sites. */
void jpp_make_sites(jpp_maker_t *maker);

/* Fill frames and made, in the order of the tree. */
void jpp_make_tree(jpp_maker_t *maker);

/*
 * Sort what was made as jemalloc does.  The sites' numbers become their ranks,
 * so that numbers compare as the bytes of the addresses do.
 */
void jpp_make_order(jpp_maker_t *maker);

/* The text of the whole dump, into the sink. */
void jpp_make_text(jpp_maker_t *maker);

/* SIZE bytes at the end of VEC; NULL, and failed is set. */
void *jpp_make_push(jpp_maker_t *maker, jpp_vec_t *vec, size_t size);

/* splitmix64 */
uint64_t jpp_make_mix(uint64_t x);

/* 0 to N - 1; the maker's next */
uint32_t jpp_make_random(jpp_maker_t *maker, uint32_t n);


#endif /* _JPP_MAKER_H_INCLUDED_ */
