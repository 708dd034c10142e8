
/*
 * From overlapping extents of code to a table in which every address has one
 * owner.
 *
 * Symbol tables name one address many times (malloc and __libc_malloc) and
 * nest functions into each other; .eh_frame knows more functions than the
 * symbol table, but no names.  Here it is decided who wins: of the names of
 * one start the best, of nested extents the inner one, and of a symbol and
 * .eh_frame the symbol.
 *
 * Pure functions; memory from the arena of the vectors.  They return false
 * when memory is out.
 */


#ifndef _JPP_EXTENTS_H_INCLUDED_
#define _JPP_EXTENTS_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_elf.h"


typedef struct {
    uint64_t           start;
    uint64_t           end;
    uint64_t           entry;           /* start of the function it is of */
    uint32_t           name;            /* offset into strings; 0: nameless */
    uint32_t           rank;            /* of the name; the lowest is taken */
} jpp_extent_t;


/*
 * The rank of a symbol's NAME of LEN bytes.  The order is the one that gives
 * the name of the source code, and the same name with and without debug
 * symbols (which add __libc_malloc to malloc, and __GI___write to write):
 * what is not local, has fewer leading underscores, is not weak, is shorter.
 */
uint32_t jpp_extent_rank(const char *name, size_t len, bool is_local,
    bool is_weak);

/* The length of the symbol NAME without its version ("@@GLIBC_2.2.5"). */
size_t jpp_extent_name_len(const char *name);

/*
 * Sort EXTENTS and append pieces that do not overlap to PIECES.  The names are
 * in STRINGS and NUL-terminated.
 */
bool jpp_extents_resolve(jpp_vec_t *extents, const char *strings,
    jpp_vec_t *pieces);

/* Append NAMED and what of NAMELESS they leave free, by start, to TABLE. */
bool jpp_extents_fill(const jpp_vec_t *named, const jpp_vec_t *nameless,
    jpp_vec_t *table);

/* Make ELF's functions and names of TABLE, in memory of ARENA. */
bool jpp_extents_store(const jpp_vec_t *table, const char *strings,
    jpp_elf_t *elf, jpp_arena_t *arena);


#endif /* _JPP_EXTENTS_H_INCLUDED_ */
