
/*
 * From overlapping extents of code to a table in which every address has one
 * owner.
 *
 * Symbol tables name one address many times (malloc and __libc_malloc) and
 * nest functions into each other; .eh_frame knows more functions than the
 * symbol table, but no names.  Who wins is decided here: the best of the names
 * at one start, the inner of nested extents, and a symbol over .eh_frame.
 *
 * Pure functions; memory from the arena of the vectors.  They return false if
 * there is no memory.
 */


#ifndef _JPP_EXTENTS_H_INCLUDED_
#define _JPP_EXTENTS_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_elf.h"


typedef struct {
    uint64_t           start;
    uint64_t           end;
    uint64_t           entry;           /* where its function starts */
    uint32_t           name;            /* offset into strings; 0: nameless */
    uint32_t           rank;            /* of the name; the lowest wins */
} jpp_extent_t;


/*
 * The rank of a symbol's NAME of LEN bytes.  Lower is better.  The order
 * yields the name in the source code, and the same name with and without debug
 * symbols (which add __libc_malloc to malloc, and __GI___write to write): not
 * local, fewer leading underscores, not weak, shorter.
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

/* Make ELF's functions and names from TABLE, in memory from ARENA. */
bool jpp_extents_store(const jpp_vec_t *table, const char *strings,
    jpp_elf_t *elf, jpp_arena_t *arena);


#endif /* _JPP_EXTENTS_H_INCLUDED_ */
