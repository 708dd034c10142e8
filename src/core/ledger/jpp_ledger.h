
/*
 * The ledger of a worker: assigns every byte of its Pss to a row, with the
 * accuracy of each row.
 *
 *     jpp_ledger_bases_find(), which adds jemalloc's blocks to the ranges
 *     jpp_ledger_init(), with the ranges whose owners are known
 *     for each mapping of the process: jpp_ledger_map()
 *     jpp_ledger_finish(), with what the walk and jemalloc have counted
 *
 * A mapping belongs to somebody as a whole, by its name, but for the ranges
 * that lie in it.  The states of its pages say how much of each range is in
 * memory, and what the process has for itself alone; the share of a page that
 * others have, too, is the mean of the mapping, and between a half and what it
 * is if all processes have it.
 *
 * The last step shares out what is left of the allocator's mappings among what
 * is known by its sum only.  Each of these parts has bounds: what the event
 * loop's thread holds outside of pools is exact, the rest is between 0 and what
 * jemalloc counts.  As the kernel knows what they are together, the bounds of
 * each follow from those of the others; in between, all parts have the same
 * fraction.
 *
 * jemalloc says how many bytes of metadata it has handed out, not where its
 * blocks are, and most of them nobody has touched.  They are found by what a
 * block begins with, and believed only if all of them together have what
 * jemalloc says.
 *
 * The rows travel as bytes from the worker that they are of to whoever asked.
 * Both are of one module: another layout is refused.
 *
 * A pure function of the caller's values; one thread at a time; memory from the
 * arena.
 */


#ifndef _JPP_LEDGER_H_INCLUDED_
#define _JPP_LEDGER_H_INCLUDED_


#include "jpp_host.h"
#include "jpp_jemalloc.h"
#include "jpp_pools_table.h"


/*
 * By the walk through the pools, up to _CACHES, and what is in none; then what
 * jemalloc has besides, up to _MALLOC, which is all that where it does not say;
 * then other mappings, files and zones by name.
 */

#define JPP_LEDGER_LIST(X)                                                    \
    X(JPP_LEDGER_REQUESTS, "requests")                                        \
    X(JPP_LEDGER_CONNECTIONS, "client connections")                           \
    X(JPP_LEDGER_HTTP2, "http2 and http3 connections")                        \
    X(JPP_LEDGER_UPSTREAMS, "upstreams")                                      \
    X(JPP_LEDGER_SESSIONS, "stream and mail sessions")                        \
    X(JPP_LEDGER_MODULES, "connections of modules")                           \
    X(JPP_LEDGER_CONFIGURATION, "configuration")                              \
    X(JPP_LEDGER_SLOTS, "connection slots")                                   \
    X(JPP_LEDGER_CACHES, "open file cache and resolver")                      \
    X(JPP_LEDGER_INHERITED, "outside pools, inherited")                       \
    X(JPP_LEDGER_SINCE, "outside pools, since start")                         \
    X(JPP_LEDGER_SAMPLED, "jemalloc's profiler")                              \
    X(JPP_LEDGER_TCACHE, "thread caches")                                     \
    X(JPP_LEDGER_FRAGMENTATION, "fragmentation")                              \
    X(JPP_LEDGER_DIRTY, "dirty pages")                                        \
    X(JPP_LEDGER_MUZZY, "muzzy pages")                                        \
    X(JPP_LEDGER_METADATA, "jemalloc's metadata")                             \
    X(JPP_LEDGER_INTERNAL, "jemalloc's own allocations")                      \
    X(JPP_LEDGER_MALLOC, "malloc's own, and what is in no pool")              \
    X(JPP_LEDGER_OWN, "this module's maps")                                   \
    X(JPP_LEDGER_MAPS, "anonymous maps that are not malloc's")                \
    X(JPP_LEDGER_CODE, "code made at run time")                               \
    X(JPP_LEDGER_STACKS, "stacks")                                            \
    X(JPP_LEDGER_KERNEL, "maps of the kernel")                                \
    X(JPP_LEDGER_FILE, "file")                                                \
    X(JPP_LEDGER_ZONE, "zone")                                                \
    X(JPP_LEDGER_SHARED, "shared memory that is no zone")                     \
    X(JPP_LEDGER_UNKNOWN, "unknown")

typedef enum {
    JPP_LEDGER_LIST(JPP_LIST_ID)
    JPP_LEDGER_KINDS
} jpp_ledger_kind_t;


typedef enum {
    JPP_LEDGER_EXACT = 0,              /* to 2 %, or a page */
    JPP_LEDGER_BOUND,                  /* between least and most */
    JPP_LEDGER_ESTIMATE,               /* a mean, or a share of a sum */
    JPP_LEDGER_HOWS
} jpp_ledger_how_t;


/* What a kind is called, for people. */
extern const char *const  jpp_ledger_kinds[JPP_LEDGER_KINDS];
extern const char *const  jpp_ledger_hows[JPP_LEDGER_HOWS];

/* What owners count as, by their kind. */
extern const jpp_ledger_kind_t  jpp_ledger_owners[JPP_POOLS_KINDS];

/* Is KIND anonymous memory? */
bool jpp_ledger_kind_is_anonymous(jpp_ledger_kind_t kind);


/* rows by name, of zones and files; what is past them has no name */
#define JPP_LEDGER_ROWS    512

/* bytes of a name: the last ones of a path */
#define JPP_LEDGER_NAME    96


typedef struct {
    uint32_t     kind;                 /* jpp_ledger_kind_t */
    uint32_t     how;                  /* jpp_ledger_how_t */
    uint64_t     bytes;                /* of Pss */
    uint64_t     least;
    uint64_t     most;
    uint64_t     held;                 /* bytes set aside, touched or not; */
                                       /*   JPP_NONE: nobody counts them */
    uint32_t     name_len;
    char         name[JPP_LEDGER_NAME];    /* any bytes */
} jpp_ledger_row_t;


/* Whose memory lies where. */
typedef struct {
    uint64_t     start;
    uint64_t     end;
    uint32_t     kind;
    const char  *name;                 /* of a zone, or NULL; a file's is */
    size_t       name_len;             /*   that of the mapping before it */
} jpp_ledger_range_t;


/* Of the memory that is jemalloc's, what no range has. */
typedef struct {
    uint64_t     pss;
    uint64_t     shared_rss;           /* of it, of pages of other processes, */
    uint64_t     shared_pss;           /*   too */
    uint64_t     slack;                /* by so much it may be more, or less */
    uint64_t     lazy_free;
    uint64_t     size;                 /* of the mappings, all of them */
} jpp_ledger_rest_t;


typedef struct {
    uint64_t     pss;
    uint64_t     rss;
    uint64_t     swap;                 /* its share of that, besides */
    uint64_t     anonymous;            /* of pss, in rows of no file, nor of */
                                       /*   shared memory; once finished */
    uint64_t     n_mappings;
    uint64_t     n_unpaged;            /* of them, whose pages are unknown, */
                                       /*   and had to be */
    uint64_t     n_unnamed;            /* names that had no room */
} jpp_ledger_sums_t;


typedef struct {
    jpp_arena_t          *arena;
    uint64_t              page;
    uint64_t              sharers;     /* the caller's: how many processes */
                                       /*   may have a page; 0: any number */
    jpp_ledger_sums_t     sums;
    jpp_vec_t            *rows;        /* jpp_ledger_row_t; the largest first */
                                       /*   once it is finished */
    const jpp_ledger_range_t  *ranges; /* sorted, apart */
    size_t                n_ranges;
    size_t                next_range;
    uint64_t              ranged[JPP_LEDGER_KINDS];   /* bytes set aside */
    jpp_ledger_rest_t     rest;
    uint64_t              guard;       /* where an inaccessible mapping ended */
    size_t                file_row;    /* of the last file, + 1 */
    bool                  failed;      /* there was no memory for a row: */
    jpp_ledger_row_t      spare;       /*   this one took its place */
} jpp_ledger_t;


/*
 * The row of KIND with the name that ends with the LEN bytes at NAME, which is
 * made if need be, until the next call.  Without memory the ledger has failed,
 * and the row is none of its own.
 */
jpp_ledger_row_t *jpp_ledger_row(jpp_ledger_t *ledger, jpp_ledger_kind_t kind,
    const char *name, size_t len);

/*
 * Initialize the caller's LEDGER, of pages of PAGE bytes, with RANGES of
 * jpp_ledger_range_t, which are sorted; of overlapping ones the first counts.
 * False: no memory.
 */
bool jpp_ledger_init(jpp_ledger_t *ledger, jpp_arena_t *arena, uint64_t page,
    jpp_vec_t *ranges);

/*
 * Do the pages of MAPPING have to be known: is more than one owner in it?
 * Mappings come in the order of their addresses.
 */
bool jpp_ledger_needs_pages(jpp_ledger_t *ledger, const jpp_smaps_t *mapping);

/*
 * Add MAPPING, whose pages have the states (jpp_host.h) at PAGES, or NULL.
 * IS_MALLOC: it is the allocator's.  False: no memory.
 */
bool jpp_ledger_map(jpp_ledger_t *ledger, const jpp_smaps_t *mapping,
    const uint8_t *pages, bool is_malloc);

/* Is MAPPING one that may be the allocator's: anonymous, and no stack? */
bool jpp_ledger_is_anonymous(const jpp_ledger_t *ledger,
    const jpp_smaps_t *mapping);


/* BYTES * PART / WHOLE; 0 of nothing. */
static inline uint64_t
jpp_ledger_scale(uint64_t bytes, uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (uint64_t) ((unsigned __int128) bytes * part
                                        / whole);
}


typedef struct {
    const jpp_pools_t  *pools;
    const jpp_stats_t  *stats;         /* NULL: there is no jemalloc */
    uint64_t            internal;      /* of stats->allocated, its own */
    bool                is_sampled;    /* its profiler is on */
    bool                is_marked;     /* its mappings are known as such; */
                                       /*   else all anonymous ones count */
} jpp_ledger_heap_t;


/* Sort the rows, the largest first. */
void jpp_ledger_sort(jpp_ledger_t *ledger);

/* Complete the rows, and sort them.  False: no memory. */
bool jpp_ledger_finish(jpp_ledger_t *ledger, const jpp_ledger_heap_t *heap);


/* words at the beginning of a block: see jpp_ledger_bases.c */
#define JPP_LEDGER_BASE_WORDS  5


/*
 * Copies the first words at ADDRESS to WORDS; false: they are not there, or
 * nobody has touched them.
 */
typedef bool (*jpp_ledger_base_read_pt)(void *ctx, uint64_t address,
    uint64_t words[JPP_LEDGER_BASE_WORDS]);


/*
 * Append the blocks, as jpp_ledger_range_t, that lie in what the LEN bytes of
 * /proc/self/maps at TEXT have as anonymous memory, read by READ; *USED is what
 * of them is, by jemalloc's own account.  False: no memory.
 */
bool jpp_ledger_bases(jpp_vec_t *ranges, const char *text, size_t len,
    jpp_ledger_base_read_pt read, void *ctx, uint64_t *used);

/* Are blocks with USED bytes all of them, if jemalloc has METADATA there? */
bool jpp_ledger_bases_are_all(uint64_t used, uint64_t metadata);

/*
 * Append the blocks of this process to RANGES, of jpp_ledger_range_t, if all of
 * them are found; PAGEMAP is open, or -1.  False: they are not, and jemalloc's
 * metadata stays known as a sum.
 */
bool jpp_ledger_bases_find(jpp_vec_t *ranges, int pagemap, uint64_t metadata,
    jpp_arena_t *arena);


#define JPP_LEDGER_WHY  256


/* What there is besides the rows; JPP_NONE: nobody knows. */
typedef struct {
    jpp_ledger_sums_t        sums;
    uint64_t                 has_luajit;   /* 0, 1 */
    uint64_t                 lua;          /* bytes of its VMs; 0: unknown */
    uint64_t                 sockets;      /* the kernel's memory for them, */
    uint64_t                 n_sockets;    /*   and of how many sockets */
    uint64_t                 nanos;        /* that reading took the kernel */
    char                     why[JPP_LEDGER_WHY];  /* pages are unknown; "" */
} jpp_ledger_facts_t;


/* "LuaJIT's VMs have 1023.9 KiB" */
#define JPP_LEDGER_HINT  48

/* What may be behind ROW of a ledger with FACTS, perhaps in TEXT; NULL: nobody
   knows. */
const char *jpp_ledger_hint(const jpp_ledger_facts_t *facts,
    const jpp_ledger_row_t *row, char text[JPP_LEDGER_HINT]);


/* A ledger that was read: points into its bytes. */
typedef struct {
    jpp_ledger_facts_t       facts;
    const jpp_ledger_row_t  *rows;
    size_t                   n;
} jpp_ledger_read_t;


/* Write FACTS and the rows of LEDGER to FD, an empty file. */
jpp_code_t jpp_ledger_save(const jpp_ledger_t *ledger,
    const jpp_ledger_facts_t *facts, int fd, jpp_err_t *err);

/*
 * Fill LEDGER from the LEN bytes at DATA, aligned to 8, which stay; ERR says
 * what is wrong with them.
 */
jpp_code_t jpp_ledger_load(jpp_ledger_read_t *ledger, const char *data,
    size_t len, jpp_err_t *err);


#endif /* _JPP_LEDGER_H_INCLUDED_ */
