
/*
 * Finds jemalloc's blocks of metadata in its mappings.  Their format (base.c
 * and edata.h of jemalloc, since 5.0):
 *
 *     block := size:8 next:8 extent ... to its end
 *     extent := bits:8 address:8 left:8 ...
 *
 * A block is aligned to a huge page, and its size is a multiple of that.  The
 * extent is what is left of it: where the next allocation goes, and how many
 * bytes there are up to the end of the block.
 */


#include "jpp_ledger.h"


/* a multiple of it, where huge pages are larger */
#define JPP_LEDGER_HUGE        ((uint64_t) 2 * 1024 * 1024)

/* what is skipped for alignment, in all */
#define JPP_LEDGER_BASE_SLACK  65536


typedef enum {
    JPP_LEDGER_BASE_SIZE = 0,
    JPP_LEDGER_BASE_NEXT,
    JPP_LEDGER_BASE_BITS,
    JPP_LEDGER_BASE_ADDRESS,
    JPP_LEDGER_BASE_LEFT
} jpp_ledger_base_word_t;


/* this process */
typedef struct {
    jpp_peek_t    peek;
    int           pagemap;
} jpp_ledger_bases_t;


/* words that have to give an address: nobody else writes them there */

static bool
jpp_ledger_base_is(uint64_t address,
    const uint64_t words[JPP_LEDGER_BASE_WORDS])
{
    uint64_t  size, end;

    size = words[JPP_LEDGER_BASE_SIZE];

    return size != 0 && size % JPP_LEDGER_HUGE == 0
           && !__builtin_add_overflow(address, size, &end)
           && words[JPP_LEDGER_BASE_ADDRESS] > address
           && words[JPP_LEDGER_BASE_ADDRESS] <= end
           && words[JPP_LEDGER_BASE_LEFT]
              == end - words[JPP_LEDGER_BASE_ADDRESS];
}


bool
jpp_ledger_bases(jpp_vec_t *ranges, const char *text, size_t len,
    jpp_ledger_base_read_pt read, void *ctx, uint64_t *used)
{
    uint64_t             address, words[JPP_LEDGER_BASE_WORDS];
    const char          *end;
    jpp_ledger_range_t  *range;
    jpp_scan_mapping_t   m;

    end = text + len;
    *used = 0;

    while ((text = jpp_proc_line(text, end, &m)) != NULL) {
        /* is it anonymous memory? */

        if (!m.is_readable || !m.is_writable || m.is_executable || m.is_shared
            || m.inode != 0)
        {
            continue;
        }

        address = (m.start + JPP_LEDGER_HUGE - 1) & ~(JPP_LEDGER_HUGE - 1);

        while (address >= m.start && address < m.limit) {

            if (!read(ctx, address, words)
                || !jpp_ledger_base_is(address, words))
            {
                address += JPP_LEDGER_HUGE;
                continue;
            }

            range = jpp_vec_push(ranges, sizeof(jpp_ledger_range_t));

            if (range == NULL) {
                return false;
            }

            range->start = address;
            range->end = address + words[JPP_LEDGER_BASE_SIZE];
            range->kind = JPP_LEDGER_METADATA;

            *used += words[JPP_LEDGER_BASE_ADDRESS] - address;
            address = range->end;
        }
    }

    return true;
}


/* More of them have more than jemalloc says, and fewer have less. */

bool
jpp_ledger_bases_are_all(uint64_t used, uint64_t metadata)
{
    return used != 0 && used >= metadata
           && used - metadata <= metadata / 50 + JPP_LEDGER_BASE_SLACK;
}


/* A page that nobody has touched is not in memory, and stays so. */

static bool
jpp_ledger_bases_read(void *ctx, uint64_t address,
    uint64_t words[JPP_LEDGER_BASE_WORDS])
{
    uint8_t                    page;
    jpp_err_t                  err;
    const jpp_ledger_bases_t  *bases;

    bases = ctx;

    return jpp_pagemap_read(bases->pagemap, address, &page, 1, &err)
           && page != JPP_PAGE_ABSENT
           && jpp_peek(&bases->peek, (uintptr_t) address, words,
                       JPP_LEDGER_BASE_WORDS * sizeof(uint64_t));
}


bool
jpp_ledger_bases_find(jpp_vec_t *ranges, int pagemap, uint64_t metadata,
    jpp_arena_t *arena)
{
    bool                 is_found;
    size_t               before;
    uint64_t             used;
    jpp_vec_t           *maps;
    jpp_ledger_bases_t   bases;

    maps = jpp_vec_create(arena);
    bases.pagemap = pagemap;

    if (maps == NULL || pagemap == -1 || jpp_proc_maps(maps, NULL) != JPP_OK
        || !jpp_peek_open(&bases.peek))
    {
        return false;
    }

    before = ranges->len;

    is_found = jpp_ledger_bases(ranges, (char *) maps->data, maps->len,
                                jpp_ledger_bases_read, &bases, &used)
               && jpp_ledger_bases_are_all(used, metadata);

    jpp_peek_close(&bases.peek);
    jpp_vec_release(maps);

    if (!is_found) {
        ranges->len = before;
    }

    return is_found;
}
