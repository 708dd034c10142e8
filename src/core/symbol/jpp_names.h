
/*
 * The name of the location at an address: see the table in jpp_symbolize.h.
 * Each function of an object is named once, however many locations it has.
 *
 * For one profile; one thread at a time; memory from the profile's arena.
 */


#ifndef _JPP_NAMES_H_INCLUDED_
#define _JPP_NAMES_H_INCLUDED_


#include "jpp_elf.h"
#include "jpp_profile.h"


typedef char *(*jpp_demangle_pt)(const char *name, char *buf, size_t *len,
    int *status);


/* The demangler, or NULL if the process has none.  Slow: call it once. */
jpp_demangle_pt jpp_demangle_find(void);

/*
 * Write the demangled NAME to the SIZE bytes at BUF; false if DEMANGLE is
 * NULL, NAME is not mangled, or the result exceeds the bounds or BUF.
 */
bool jpp_demangle(jpp_demangle_pt demangle, const char *name, char *buf,
    size_t size);


typedef struct {
    jpp_profile_t      *profile;
    jpp_demangle_pt     demangle;
    jpp_vec_t          *functions;      /* uint32_t: ids, by index in elf */
    const char         *table;          /* what hinted names are from */

    uint32_t            id;             /* the mapping at work */
    jpp_mapping_t      *mapping;        /* NULL for id 0 */
    const char         *module;         /* what is shown of its path */
    const jpp_elf_t    *elf;            /* NULL: could not be read */
    bool                is_named;       /* of the last function */
} jpp_names_t;


/* Initialize the caller's NAMES for PROFILE; false: no memory. */
bool jpp_names_init(jpp_names_t *names, jpp_profile_t *profile);

/* Give back what is no longer needed. */
void jpp_names_destroy(jpp_names_t *names);

/* What follows is about mapping ID (or 0) and ELF (or NULL) behind it. */
bool jpp_names_enter(jpp_names_t *names, uint32_t id, const jpp_elf_t *elf);

/*
 * The id of the function at ADDRESS; 0: no memory.  Sets has_functions of the
 * mapping when the name is from a symbol table.
 */
uint32_t jpp_names_function(jpp_names_t *names, uint64_t address);


#endif /* _JPP_NAMES_H_INCLUDED_ */
