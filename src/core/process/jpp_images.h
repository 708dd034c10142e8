
/*
 * The objects loaded into this process: their build ids, read from memory, and
 * their segments for the unwinder.  The owner of dl_iterate_phdr().
 *
 * No state; any thread, but not while the objects may change under it.
 */


#ifndef _JPP_IMAGES_H_INCLUDED_
#define _JPP_IMAGES_H_INCLUDED_


#include "jpp_frame.h"


typedef struct {
    uint64_t          address;     /* of its code */
    jpp_build_id_t    build_id;
} jpp_image_t;


/* an object that stays loaded */
typedef struct {
    const char           *name;    /* "" for the program */
    uintptr_t             base;    /* what its addresses are added to */
    uintptr_t             dynamic; /* its dynamic section, 0: none */
    uintptr_t             code;    /* the first that is executable, 0: none */
    jpp_mapped_object_t   mapped;
} jpp_images_object_t;


/* False: enough. */
typedef bool (*jpp_images_visit_pt)(const jpp_images_object_t *object,
    void *data);


/* Are there LEN > 0 bytes of OBJECT, which can be read, at ADDRESS? */
bool jpp_images_holds(const jpp_images_object_t *object, uintptr_t address,
    size_t len);

/*
 * The value of TAG in the dynamic section of OBJECT; and the address of the LEN
 * bytes that it stands for, as far as OBJECT holds them.  0: there is none.
 */
uintptr_t jpp_images_dynamic(const jpp_images_object_t *object, int64_t tag);
uintptr_t jpp_images_table(const jpp_images_object_t *object, int64_t tag,
    size_t len);

/* Append what is loaded and has a build id to IMAGES; false: no memory. */
bool jpp_images_read(jpp_vec_t *images);

/*
 * Add every object that is loaded, and not in OBJECTS yet, after pinning it:
 * dlclose() does not unmap it any more.  One that cannot be pinned is left out,
 * and so is one for which there is no room.  Outside signals, one thread at a
 * time.
 */
void jpp_images_unwind(jpp_mapped_t *objects);

/*
 * Append, as pairs of uint64_t, the pages from which to which what is loaded
 * has zeroed data, in no file.  False: no memory.
 */
bool jpp_images_zeroed(jpp_vec_t *pairs);

/* Has anything that is loaded the global symbol NAME? */
bool jpp_images_has(const char *name);

/* Do both addresses lie in one object? */
bool jpp_images_is_beside(uintptr_t one, uintptr_t other);

/* Was anything loaded since *LOADS was so many?  It becomes as many as there
   were so far; those that are gone count. */
bool jpp_images_is_new(uint64_t *loads);

/*
 * Call VISIT with every object that is loaded, in the linker's order and after
 * pinning it, until it returns false; one that cannot be pinned is left out.
 * VISIT may call the linker.  Outside signals.
 */
void jpp_images_pinned(jpp_images_visit_pt visit, void *data);


#endif /* _JPP_IMAGES_H_INCLUDED_ */
