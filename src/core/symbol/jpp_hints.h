
/*
 * Names for functions without a symbol, from what a process knows about its
 * own code.  A stripped program still has tables that point to its static
 * functions, and the table says what a function is for ("directive http").
 *
 * A hint is the address of a function in a process.  It is kept as a place in
 * a file, so it holds for every process that loaded the file, at any address.
 * It counts only where .eh_frame has the start of a function that no symbol
 * covers.
 *
 * A function in several tables gets the name of the first, and ", ...".
 * Functions with the same name get their owner, or their offset, appended.
 * The owner of a function that none of its tables names is its neighbours':
 * functions of one source file are adjacent.
 *
 * Never changes after it is made; any thread may read it then.
 */


#ifndef _JPP_HINTS_H_INCLUDED_
#define _JPP_HINTS_H_INCLUDED_


#include "jpp_elf.h"
#include "jpp_maps.h"
#include "jpp_profile.h"


/* of one process; a server with all its modules has some 1500 */
#define JPP_MAX_HINTS   8192

/* a name, and an owner; what is longer is cut */
#define JPP_HINT_NAME   96


typedef struct {
    uint64_t          address;     /* where the function starts */
    const char       *name;
    const char       *owner;       /* its module; NULL: unknown */
} jpp_hint_t;


/* A hint, as stored. */
typedef struct {
    uint64_t          device;
    uint64_t          inode;
    uint64_t          offset;      /* in the file */
    uint32_t          name;        /* into names */
    uint32_t          len;
} jpp_hint_row_t;


/* Zeros are no hints. */
typedef struct {
    jpp_vec_t        *rows;        /* jpp_hint_row_t, by place */
    jpp_vec_t        *names;       /* NUL-terminated */
} jpp_hints_t;


/*
 * Make the caller's HINTS, in ARENA, from the N hints at GIVEN; the process's
 * mappings are PROFILE's and MAPS.  False: no memory.
 */
bool jpp_hints_init(jpp_hints_t *hints, jpp_arena_t *arena,
    const jpp_profile_t *profile, const jpp_vec_t *maps,
    const jpp_hint_t *given, size_t n);

/*
 * Give the nameless functions of ELF, the file DEVICE and INODE, the names
 * that are known, behind all others in ELF's names, from elf->hinted on.
 * Memory from ARENA; false: no memory.
 */
bool jpp_hints_apply(const jpp_hints_t *hints, uint64_t device,
    uint64_t inode, jpp_elf_t *elf, jpp_arena_t *arena);


#endif /* _JPP_HINTS_H_INCLUDED_ */
