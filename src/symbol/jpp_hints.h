
/*
 * Names for functions that have no symbol, by what a process knows about its
 * own code: a program whose static functions lost their symbols still has
 * tables that point to them, and what stands in which table says what the
 * function is for ("directive http").
 *
 * A hint is the address of a function in a process.  It is kept as a place in
 * a file, so it holds for every process that has loaded the same file, at
 * whatever address; and it counts only where .eh_frame has a function start
 * that no symbol covers.
 *
 * One function that stands in many tables gets the name of the first of them
 * and ", ..."; of several functions with one name, each gets its owner behind
 * it, or its offset.  Who owns a function that no table of its owner names is
 * seen from its neighbours: functions of one source file lie side by side.
 *
 * Does not change once it is made, and may then be read by any thread.
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


/* A hint as it is kept. */
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
 * Make the caller's HINTS, in ARENA, of the N hints at GIVEN of a process whose
 * mappings are PROFILE's and MAPS.  False: no memory.
 */
bool jpp_hints_init(jpp_hints_t *hints, jpp_arena_t *arena,
    const jpp_profile_t *profile, const jpp_vec_t *maps,
    const jpp_hint_t *given, size_t n);

/*
 * Give the nameless functions of ELF, which is the file DEVICE and INODE, the
 * names that are known: they follow all others in ELF's names, from
 * elf->hinted on.  Memory from ARENA; false: there is none.
 */
bool jpp_hints_apply(const jpp_hints_t *hints, uint64_t device,
    uint64_t inode, jpp_elf_t *elf, jpp_arena_t *arena);


#endif /* _JPP_HINTS_H_INCLUDED_ */
