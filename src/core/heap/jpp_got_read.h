
/*
 * The places of one loaded object that hold addresses of functions: its
 * dynamic relocations, read from memory.
 *
 * What the object says of itself is checked against its segments: a damaged
 * one has fewer places, and no read goes outside.
 *
 * No state; any thread, and the object must stay loaded.  amd64 only: others
 * have none.
 */


#ifndef _JPP_GOT_READ_H_INCLUDED_
#define _JPP_GOT_READ_H_INCLUDED_


#include "jpp_images.h"


typedef struct {
    uintptr_t            *at;          /* the place */
    const char           *name;        /* of the function */
    bool                  is_call;     /* of the table for calls */
    bool                  is_unbound;  /* which still leads to the linker */
    bool                  is_own;      /* the object has a function so named */
} jpp_got_reloc_t;


/* False: enough. */
typedef bool (*jpp_got_visit_pt)(const jpp_got_reloc_t *reloc, void *data);


/* Call VISIT with every place of OBJECT, until it returns false. */
void jpp_got_read(const jpp_images_object_t *object, jpp_got_visit_pt visit,
    void *data);


#endif /* _JPP_GOT_READ_H_INCLUDED_ */
