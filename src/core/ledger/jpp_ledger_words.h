
/*
 * What the rows of a ledger are, and what that is called.
 */


#ifndef _JPP_LEDGER_WORDS_H_INCLUDED_
#define _JPP_LEDGER_WORDS_H_INCLUDED_


#include "jpp_pools_table.h"


typedef enum {

    /* by the walk through the pools */

    JPP_LEDGER_REQUESTS = 0,
    JPP_LEDGER_CONNECTIONS,
    JPP_LEDGER_HTTP2,
    JPP_LEDGER_UPSTREAMS,
    JPP_LEDGER_SESSIONS,
    JPP_LEDGER_MODULES,
    JPP_LEDGER_CONFIGURATION,
    JPP_LEDGER_SLOTS,
    JPP_LEDGER_CACHES,
    JPP_LEDGER_INHERITED,              /* outside of pools */
    JPP_LEDGER_SINCE,

    /* what jemalloc has besides */

    JPP_LEDGER_SAMPLED,                /* what its profiler moved elsewhere */
    JPP_LEDGER_TCACHE,
    JPP_LEDGER_FRAGMENTATION,
    JPP_LEDGER_DIRTY,
    JPP_LEDGER_MUZZY,
    JPP_LEDGER_METADATA,               /* in blocks of its own */
    JPP_LEDGER_INTERNAL,               /* allocated as others do */
    JPP_LEDGER_MALLOC,                 /* all that, where it does not say */

    /* other mappings */

    JPP_LEDGER_OWN,                    /* this module's */
    JPP_LEDGER_MAPS,                   /* anonymous: LuaJIT's, mmap() */
    JPP_LEDGER_CODE,                   /* made at run time */
    JPP_LEDGER_STACKS,
    JPP_LEDGER_KERNEL,                 /* [vdso] */
    JPP_LEDGER_FILE,                   /* by name */
    JPP_LEDGER_ZONE,                   /* by name */
    JPP_LEDGER_SHARED,                 /* in no zone */
    JPP_LEDGER_UNKNOWN,
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


/* What the owners of KIND count as. */
jpp_ledger_kind_t jpp_ledger_of(jpp_pools_kind_t kind);

/* Is KIND anonymous memory? */
bool jpp_ledger_kind_is_anonymous(jpp_ledger_kind_t kind);


#endif /* _JPP_LEDGER_WORDS_H_INCLUDED_ */
