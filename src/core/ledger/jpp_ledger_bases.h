
/*
 * The blocks that jemalloc keeps its metadata in.
 *
 * jemalloc says how many bytes of them it has handed out, not where they are,
 * and most of them nobody has touched.  They are found by what a block begins
 * with, and believed only if all of them together have what jemalloc says.
 *
 * For the thread that makes a ledger; memory from the arena.
 */


#ifndef _JPP_LEDGER_BASES_H_INCLUDED_
#define _JPP_LEDGER_BASES_H_INCLUDED_


#include "jpp_ledger.h"


/* words at the beginning of a block: see jpp_ledger_bases.c */
#define JPP_LEDGER_BASE_WORDS  5


/*
 * Copies the first words at ADDRESS to WORDS; false: they are not there, or
 * nobody has touched them.
 */
typedef bool (*jpp_ledger_base_read_pt)(void *ctx, uint64_t address,
    uint64_t words[JPP_LEDGER_BASE_WORDS]);


typedef struct {
    uint64_t      start;
    uint64_t      end;
    uint64_t      used;            /* of it, by jemalloc's own account */
} jpp_ledger_base_t;


/*
 * Append the blocks, as jpp_ledger_base_t, that lie in what the LEN bytes of
 * /proc/self/maps at TEXT have as anonymous memory, read by READ.  False: no
 * memory.
 */
bool jpp_ledger_bases(jpp_vec_t *bases, const char *text, size_t len,
    jpp_ledger_base_read_pt read, void *ctx);

/* Are BASES all of them, if jemalloc has METADATA bytes there? */
bool jpp_ledger_bases_are_all(const jpp_vec_t *bases, uint64_t metadata);

/*
 * Append the blocks of this process to RANGES, of jpp_ledger_range_t, if all of
 * them are found; PAGEMAP is open, or -1.  False: they are not, and jemalloc's
 * metadata stays known as a sum.
 */
bool jpp_ledger_bases_find(jpp_vec_t *ranges, int pagemap, uint64_t metadata,
    jpp_arena_t *arena);


#endif /* _JPP_LEDGER_BASES_H_INCLUDED_ */
