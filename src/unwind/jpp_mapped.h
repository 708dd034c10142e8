
/*
 * The loaded objects that can be unwound through: where their code lies, and
 * where their call-frame information is mapped.
 *
 * What is loaded comes from the caller (jpp_images_unwind() of src/capture
 * fills the table by dl_iterate_phdr()), who keeps an object mapped as long as
 * it is in the table.
 *
 * One writer at a time adds and forgets, outside signals; readers in any thread
 * and any signal handler see an entry only when it is complete.  No lock, no
 * memory but the table itself.
 *
 * Readers count themselves while they follow pointers into an object.  The
 * writer hides it first, and looks at the count afterwards: with nobody inside,
 * nobody has it, and nobody will get it.
 */


#ifndef _JPP_MAPPED_H_INCLUDED_
#define _JPP_MAPPED_H_INCLUDED_


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


/* segments of code; an object has one, seldom two */
#define JPP_MAPPED_MAX     1024

/* segments of an object that are looked at */
#define JPP_MAPPED_SEGMENTS  16


typedef struct {
    uintptr_t         start;
    uintptr_t         end;
    bool              is_readable;
    bool              is_executable;
} jpp_segment_t;


/* an object as it is loaded */
typedef struct {
    jpp_segment_t     segments[JPP_MAPPED_SEGMENTS];
    uint32_t          n;
    uintptr_t         frames;      /* its .eh_frame_hdr, 0: it has none */
    void             *handle;      /* the caller's; NULL: never unmapped */
} jpp_mapped_object_t;


/* a segment of code, and the table of .eh_frame_hdr: pairs of start, FDE */
typedef struct {
    bool              is_there;    /* else readers pass over it */
    bool              stays;       /* the caller's */
    void             *handle;
    uintptr_t         start;
    uintptr_t         end;
    bool              is_readable;
    const uint8_t    *table;       /* in order of starts */
    uint64_t          count;       /* 0: no information */
    uintptr_t         base;        /* what the table's numbers are added to */
    const uint8_t    *low;         /* the segment that holds .eh_frame */
    const uint8_t    *high;
} jpp_mapped_code_t;


typedef struct {
    uint32_t          n;           /* the last to be stored */
    uint32_t          n_inside;    /* readers */
    jpp_mapped_code_t      objects[JPP_MAPPED_MAX];
} jpp_mapped_t;


/*
 * Add OBJECT's segments of code; those that are known already are left as they
 * are.  Information that is not the sorted table every linker writes, or that
 * lies in no readable segment, is none: the code is known then, and has no
 * rules.  False: the table is full.
 */
bool jpp_mapped_add(jpp_mapped_t *objects,
    const jpp_mapped_object_t *object);

/* Hide what has HANDLE, or show it again. */
void jpp_mapped_show(jpp_mapped_t *objects, const void *handle, bool is_there);

/* Is no reader inside? */
bool jpp_mapped_is_left(const jpp_mapped_t *objects);

/* Forget what has HANDLE, which is hidden and which nobody reads. */
void jpp_mapped_forget(jpp_mapped_t *objects, const void *handle);

/* Has the table anything with HANDLE; NULL: with any? */
bool jpp_mapped_has(const jpp_mapped_t *objects, const void *handle);

/* [signal] Does the instruction at ADDRESS of CODE return?  False where code
   cannot be read. */
bool jpp_mapped_returns(const jpp_mapped_code_t *code, uintptr_t address);

/* [signal] The code that ADDRESS lies in, NULL: in none that is known. */
const jpp_mapped_code_t *jpp_mapped_find(const jpp_mapped_t *objects,
    uintptr_t address);

/*
 * [signal] A reader goes inside, and leaves: around jpp_mapped_find() and what
 * is read of the code that it finds.
 */
static inline void
jpp_mapped_enter(jpp_mapped_t *objects)
{
    (void) __atomic_fetch_add(&objects->n_inside, 1, __ATOMIC_SEQ_CST);
}


static inline void
jpp_mapped_leave(jpp_mapped_t *objects)
{
    (void) __atomic_fetch_sub(&objects->n_inside, 1, __ATOMIC_RELEASE);
}


#endif /* _JPP_MAPPED_H_INCLUDED_ */
