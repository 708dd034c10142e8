
/*
 * The tables of addresses that loaded objects call functions of others by
 * (global offset tables, and pointers in data): functions in them are replaced
 * by others, and put back.
 *
 * Patched are slots that hold the function.  What holds anything else is
 * somebody else's, and stays so, when patching and when restoring.
 *
 * A slot that is not bound yet may become either: an object that was opened
 * with RTLD_DEEPBIND calls libc's malloc() beside any other allocator, and must
 * not free by one what the other has allocated.  The linker decides: functions
 * that do nothing for a null pointer are called with one by such slots, which
 * binds them.  What is still not bound then is patched in objects whose other
 * slots hold our functions, and nobody else's.
 *
 * Slots in pages that are read-only (RELRO) are written after mprotect(), and
 * their pages get the protection back that they had.
 *
 * It takes effect as a whole or not at all: the pages are made writable first,
 * and nothing is written if one of them cannot be.  Each slot is written at
 * once, so other threads may call by it meanwhile.
 *
 * Objects are pinned, so a slot stays what it is.  One thread at a time,
 * outside signals; it needs /proc/self/maps.  amd64 only.
 */


#ifndef _JPP_GOT_H_INCLUDED_
#define _JPP_GOT_H_INCLUDED_


#include "jpp_images.h"


/* slots of a process: about four for each object */
#define JPP_GOT_SLOTS  8192


typedef struct {
    const char                 *name;      /* as the linker knows it */
    uintptr_t                   real;      /* 0: it is left alone */
    uintptr_t                   hook;      /* takes its place */
    bool                        is_idle;   /* does nothing if called with 0s */
} jpp_got_function_t;


typedef struct {
    uintptr_t                  *at;
    uintptr_t                   was;
    uint32_t                    function;
} jpp_got_slot_t;


typedef struct {
    uintptr_t                   start;
    int                         protection;
} jpp_got_page_t;


/* zeroed but for the first three, it has patched nothing; about 330 KB */
typedef struct {
    const jpp_got_function_t   *functions;
    uint32_t                    n_functions;
    uintptr_t                   except;    /* the object that this address */
                                           /*   lies in is left alone; 0 */
    uint32_t                    n_slots;
    uint32_t                    n_objects; /* that have slots */
    uint32_t                    n_foreign; /* slots with another's address */
    uint32_t                    n_pages;
    jpp_got_slot_t              slots[JPP_GOT_SLOTS];
    jpp_got_page_t              pages[JPP_GOT_SLOTS];
} jpp_got_t;


/*
 * Patch every object that is loaded; also again, for those that were loaded
 * since.  On failure no new slot is patched, and GOT has those from before; but
 * a page that cannot be made read-only again is found too late, so that GOT has
 * them all.
 */
jpp_code_t jpp_got_patch(jpp_got_t *got, jpp_err_t *err);

/*
 * Put back what the slots had, unless they hold somebody else's by now; GOT has
 * none then.  On failure all stay patched, with the same exception.
 */
jpp_code_t jpp_got_restore(jpp_got_t *got, jpp_err_t *err);

/* How many of the slots hold somebody else's address by now. */
uint32_t jpp_got_lost(const jpp_got_t *got);


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


/*
 * The address of the function NAME, as a call of it ends up: in the allocator,
 * where a program that is loaded at a fixed address has an entry of its own
 * for it.  0: there is none.
 */
uintptr_t jpp_got_find(const char *name);

/* Do both addresses lie in one loaded object? */
bool jpp_got_is_beside(uintptr_t one, uintptr_t other);


#endif /* _JPP_GOT_H_INCLUDED_ */
