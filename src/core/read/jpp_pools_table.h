
/*
 * The result of a worker's pool scan, in nginx's terms: owners, classes of
 * memory, and bytes.  The scan fills the table.  Its bytes (jpp_pools_file.c)
 * are sent to the asking worker, and become a profile (jpp_parsers.h) or a list
 * of requests (answers/jpp_requests.c).
 *
 *     names   <- owners <- rows      what is held, added up by its key
 *                       <- units     the largest requests and connections
 *
 * The table knows nothing of nginx.  An owner is a place in the configuration:
 * a kind, and the names of a server, a location and a third, which depends on
 * the kind.  A row is what one owner holds of one class.  A unit is a single
 * request or connection; only the largest are kept.  What a unit holds is known
 * when it ends; what is expensive to find out, the kernel's queues for example,
 * is asked only of a unit that is kept by then.
 *
 *     jpp_pools_init();
 *     for each request or connection:
 *         jpp_pools_begin();
 *         for each of its pools: jpp_pools_owner(), jpp_pools_add() ...
 *         unit = jpp_pools_end();
 *         if it is not NULL: fill in what is expensive to find out
 *     for the configuration, slots and so on: owner, add
 *     table.facts = ...
 *
 * A walk may stop between any two calls and go on later: the table holds copies
 * only.  The pointers that tell names apart are compared, never followed.
 *
 * The table is bounded.  Names past JPP_POOLS_NAMES become, by sort, "(other
 * locations)" and the like, so that nothing is lost from the sums.  Without
 * memory a call adds nothing and returns 0, false or NULL, and the table is
 * partial from then on.
 *
 * One thread at a time; everything lives in the arena.
 */


#ifndef _JPP_POOLS_TABLE_H_INCLUDED_
#define _JPP_POOLS_TABLE_H_INCLUDED_


#include "jpp_profile.h"


/* distinct names, all sorts together, and besides one for the rest of a sort */
#define JPP_POOLS_NAMES      2000

/* bytes of a name: a word of the configuration; what is longer is cut */
#define JPP_POOLS_NAME       4096

/* what is past them goes to owners of other names, rows of other classes */
#define JPP_POOLS_OWNERS     16384
#define JPP_POOLS_ROWS       65536

/* classes of one unit that are told apart; those after them are "other" */
#define JPP_POOLS_SUMS       16

#define JPP_POOLS_SEVERAL    UINT32_MAX

#define JPP_POOLS_CLIENT     64
#define JPP_POOLS_URI        256
#define JPP_POOLS_ALLOCATOR  64


/*
 * Who holds memory.  What frames each becomes is a table in jpp_pools.c;
 * the names in brackets are those it needs, and the others are 0.
 */
typedef enum {
    JPP_POOLS_CLIENT_CONNECTION = 0,   /* http [server] */
    JPP_POOLS_CLOSING,                 /* http [server]: no request any more */
    JPP_POOLS_HTTP2,                   /* http [server]: the connection */
    JPP_POOLS_HTTP2_HEADERS,           /* http [server]: of its streams */
    JPP_POOLS_HTTP3,                   /* http [server]: connection, streams */
    JPP_POOLS_REQUEST,                 /* http [server] [location] */
    JPP_POOLS_UPSTREAM,                /* http [server] [location] [upstream] */
    JPP_POOLS_KEEPALIVE,               /* [upstream], which is idle */
    JPP_POOLS_STREAM,                  /* [address as third] */
    JPP_POOLS_MAIL,                    /* [address as third] */
    JPP_POOLS_MODULE_CONNECTION,       /* [module as third] */
    JPP_POOLS_CONFIGURATION,
    JPP_POOLS_SLOTS_USED,              /* connections[] and its events */
    JPP_POOLS_SLOTS_FREE,
    JPP_POOLS_OPEN_FILES,
    JPP_POOLS_RESOLVER,
    JPP_POOLS_KINDS
} jpp_pools_kind_t;


/*
 * What it is held for, and the words for it: the blocks of a pool, or its large
 * allocations.
 */

#define JPP_POOLS_CLASS_LIST(X)                                               \
    X(JPP_POOLS_ITSELF, NULL)                          /* in no pool: slots */\
    X(JPP_POOLS_BLOCKS, "pool blocks")                                        \
    X(JPP_POOLS_HEADERS, "client header buffers")                             \
    X(JPP_POOLS_BODY, "request body")                                         \
    X(JPP_POOLS_UPSTREAM_HEADER, "upstream header buffer") /* u->buffer */    \
    X(JPP_POOLS_UPSTREAM_BUFFERS, "upstream buffers")  /* pipe */             \
    X(JPP_POOLS_OUTPUT, "output buffers")              /* r->out */           \
    X(JPP_POOLS_TLS, "tls buffer")                     /* c->ssl->buf */      \
    X(JPP_POOLS_HTTP2_BUFFERS, "http2")                /* hpack's */          \
    X(JPP_POOLS_SESSION, "session buffers")                                   \
    X(JPP_POOLS_MODULE, "module ")                     /* its name */         \
    X(JPP_POOLS_OTHER, "other")

typedef enum {
    JPP_POOLS_CLASS_LIST(JPP_LIST_ID)
    JPP_POOLS_CLASSES
} jpp_pools_class_t;


/*
 * The sorts of a name, and what it becomes when there are too many: a file is
 * the configuration's, a word is static text, of an action or a state.
 */

#define JPP_POOLS_SORT_LIST(X)                                                \
    X(JPP_POOLS_SERVER, "(other servers)")                                    \
    X(JPP_POOLS_LOCATION, "(other locations)")                                \
    X(JPP_POOLS_UPSTREAM_NAME, "(other upstreams)")                           \
    X(JPP_POOLS_MODULE_NAME, "(other modules)")                               \
    X(JPP_POOLS_ADDRESS, "(other addresses)")                                 \
    X(JPP_POOLS_FILE, "(other files)")                                        \
    X(JPP_POOLS_WORD, "(other)")

typedef enum { JPP_POOLS_SORT_LIST(JPP_LIST_ID) } jpp_pools_sort_t;

/*
 * The sort of the third name of an owner's kind, or of its units: a request has
 * an upstream.  JPP_POOLS_SERVER: there is none.
 */
extern const jpp_pools_sort_t  jpp_pools_thirds[JPP_POOLS_KINDS];


/* Names are ids from 1; 0: none.  So are owners. */

typedef struct {
    uint8_t        kind;               /* jpp_pools_kind_t */
    uint32_t       server;
    uint32_t       location;
    uint32_t       third;              /* upstream, module or address */
    uint64_t       n_units;            /* that ended: how many requests; of */
                                       /*   an upstream, those that use it, */
                                       /*   which the walk counts */
    uint32_t       file;               /* a name: where its block begins; */
    uint32_t       line;               /*   0 and JPP_POOLS_SEVERAL: there */
                                       /*   are several of the same names */
} jpp_pools_owner_t;


typedef struct {
    uint32_t       owner;
    uint32_t       module;             /* a name, of JPP_POOLS_MODULE */
    uint8_t        class;              /* jpp_pools_class_t */
    uint8_t        is_inherited;       /* of the rows of the same key, what */
                                       /*   the process had when it started: */
                                       /*   not in addition to them */
    uint64_t       objects;            /* blocks, large allocations, slots */
    uint64_t       bytes;              /* by the allocator's size, all of it */
    uint64_t       unused;             /* of these, never handed out */
} jpp_pools_row_t;


typedef enum {
    JPP_POOLS_HTTP1 = 0,
    JPP_POOLS_H2,
    JPP_POOLS_H3,
    JPP_POOLS_TCP,                     /* a stream session */
    JPP_POOLS_UDP,
    JPP_POOLS_MAILS,
    JPP_POOLS_PROTOCOLS
} jpp_pools_protocol_t;


/* The first lines are filled in here; what follows is the walk's. */
typedef struct {
    uint32_t       owner;              /* that it began with */
    uint32_t       upstream;           /* a name: of its owners' */
    uint64_t       objects;
    uint64_t       bytes;
    uint64_t       unused;
    uint32_t       most_owner;         /* what holds most: of which owner, */
    uint8_t        most_class;         /*   class and module, and how much */
    uint32_t       most_module;
    uint64_t       most_bytes;

    /* the directive that bounds it, where the walk knows: "8 4k" is 8, 4096 */

    uint32_t       bound_module;       /* a name: "proxy", "fastcgi" ... */
    uint64_t       bound_number;       /* 0: the directive has none */
    uint64_t       bound_size;         /* 0: not known */

    uint64_t       sending;            /* the kernel's memory for what its */
    uint64_t       receiving;          /*   sockets have queued, of the */
                                       /*   client and the upstream */
    uint64_t       age_msec;           /* of the request, or the connection */
    uint64_t       n_requests;         /* on this connection so far */
    uint32_t       state;              /* names: nginx's words */
    uint32_t       action;
    uint8_t        protocol;           /* jpp_pools_protocol_t */
    uint8_t        is_tls;
    uint16_t       client_len;
    uint16_t       uri_len;
    char           client[JPP_POOLS_CLIENT];   /* raw bytes, not strings; */
    char           uri[JPP_POOLS_URI];         /*   without arguments; empty */
                                               /*   unless they were wanted */
} jpp_pools_unit_t;


/* Why a walk did not see everything, for people; and what: one PRIu64. */
#define JPP_POOLS_CUT  "no memory was left for its results"
#define JPP_POOLS_CUT_TEXT                                                    \
    "%" PRIu64 " connections were not seen: " JPP_POOLS_CUT


/* How many connections a walk has left out, for people: one PRIu64. */
#define JPP_POOLS_UNPROVEN                                                    \
    "connections left out: %" PRIu64 ".  They have no descriptor, and no "    \
    "timer proves that their memory is still there (init_worker_by_lua "      \
    "leaves one behind in each worker)"


/* What the walk says of itself and of the whole heap. */
typedef struct {
    uint8_t        is_partial;         /* the arena's cap: set by the table */
    uint8_t        has_total;          /* total and outside are known: the */
                                       /*   allocator counts by thread */
    uint8_t        is_estimate;        /* its sizes are not what it set */
                                       /*   aside: glibc's leave out headers */
    uint8_t        has_scripts;        /* njs, perl: outside is not TLS only */
    uint32_t       outside_owner;      /* has half of what is in no pool, or */
                                       /*   more: by samples; 0: not known */
    uint64_t       total;              /* allocated - deallocated, by the */
                                       /*   thread of the event loop, after */
                                       /*   the last slice */
    uint64_t       outside_inherited;  /* total minus all rows, as the worker */
                                       /*   started */
    uint64_t       outside_bytes;      /* of outside_owner, an estimate */
    uint64_t       n_connections;      /* in use */
    uint64_t       n_slots;
    uint64_t       n_tls;              /* connections with an SSL object */
    uint64_t       n_missed;           /* connections not seen */
    uint64_t       n_unproven;         /* without a descriptor, and without a */
                                       /*   proof that their pool is there */
    uint64_t       n_slices;
    uint64_t       nanos;              /* of all slices */
    uint64_t       longest_nanos;
    char           allocator[JPP_POOLS_ALLOCATOR];   /* "jemalloc 5.3.0" */
} jpp_pools_facts_t;


/* Which units are kept. */
typedef enum {
    JPP_POOLS_NO_UNITS = 0,
    JPP_POOLS_REQUESTS,                /* of kind REQUEST */
    JPP_POOLS_CONNECTIONS,             /* of all other kinds */
    JPP_POOLS_WANTS
} jpp_pools_wants_t;


/* What has a name. */
typedef struct {
    const void    *key;
    uint32_t       name;
} jpp_pools_named_t;


/* What the unit that is open holds of one class. */
typedef struct {
    uint32_t       owner;
    uint32_t       module;
    uint8_t        class;
    uint64_t       bytes;
} jpp_pools_sum_t;


/* A unit that is filled. */
typedef struct {
    bool                 is_open;
    jpp_pools_unit_t     unit;
    jpp_pools_sum_t      sums[JPP_POOLS_SUMS];
    uint32_t             n_sums;
} jpp_pools_open_t;


typedef struct {
    jpp_arena_t         *arena;
    jpp_pools_facts_t    facts;

    jpp_vec_t           *names;        /* jpp_str_t */
    jpp_vec_t           *keys;         /* jpp_pools_named_t */
    jpp_vec_t           *owners;       /* jpp_pools_owner_t */
    jpp_vec_t           *rows;         /* jpp_pools_row_t */
    jpp_vec_t           *units;        /* jpp_pools_unit_t: a heap, the */
                                       /*   smallest first */
    jpp_index_t          name_index;   /* by text */
    jpp_index_t          key_index;    /* by what has the name */
    jpp_index_t          owner_index;
    jpp_index_t          row_index;
    uint32_t             last_row;     /* added to; the next addition mostly */
                                       /*   finds it again; 0: none */

    jpp_pools_wants_t    wants;
    uint32_t             top;          /* units to keep */

    jpp_pools_open_t     open;
} jpp_pools_t;


/*
 * Initialize the caller's TABLE, empty, which keeps the TOP largest units of
 * those it WANTS (JPP_MAX_ROWS at most).  False: no memory.
 */
bool jpp_pools_init(jpp_pools_t *table, jpp_arena_t *arena,
    jpp_pools_wants_t wants, uint32_t top);

/* The id of the name that was added with KEY, or 0. */
uint32_t jpp_pools_find(const jpp_pools_t *table, const void *key);

/*
 * The id of the name of what is at KEY, the address of a server's configuration
 * or of a static string: the LEN bytes at DATA, any bytes, which are copied the
 * first time.  Equal names have one id, whatever their sort.  0: no memory.
 */
uint32_t jpp_pools_name(jpp_pools_t *table, jpp_pools_sort_t sort,
    const void *key, const char *data, size_t len);

/* The id of the owner of KIND with these names (0: none).  0: no memory. */
uint32_t jpp_pools_owner(jpp_pools_t *table, jpp_pools_kind_t kind,
    uint32_t server, uint32_t location, uint32_t third);

/* The block of OWNER, an id or 0, begins at LINE of FILE, a name. */
void jpp_pools_place(jpp_pools_t *table, uint32_t owner, uint32_t file,
    uint32_t line);

/* columns of a file's name that are shown */
#define JPP_POOLS_PATH   40
#define JPP_POOLS_PLACE  (JPP_UTF8_SHORT(JPP_POOLS_PATH) + 16)

/* the label of a block of the configuration */
#define JPP_POOLS_PLACE_KEY  "place"

/* LINE of FILE, of LEN bytes, as TEXT: "nginx.conf:41".  A long name is cut. */
const char *jpp_place_text(const char *file, size_t len, uint32_t line,
    char text[JPP_POOLS_PLACE]);

/* The place of OWNER as TEXT; "": unknown, or there are several. */
const char *jpp_pools_place_text(const jpp_pools_t *table,
    const jpp_pools_owner_t *owner, char text[JPP_POOLS_PLACE]);


static inline jpp_pools_owner_t *
jpp_pools_owner_at(const jpp_pools_t *table, uint32_t id)
{
    return &jpp_vec_items(table->owners, jpp_pools_owner_t)[id - 1];
}


/* The name with ID, 0 for "". */
static inline jpp_str_t
jpp_pools_str(const jpp_pools_t *table, uint32_t id)
{
    static const jpp_str_t  none = { "", 0 };

    return id == 0 ? none : jpp_vec_items(table->names, jpp_str_t)[id - 1];
}


/* Are units of OWNER's kind kept? */
static inline bool
jpp_pools_is_wanted(const jpp_pools_t *table, uint32_t owner)
{
    return table->wants != JPP_POOLS_NO_UNITS && owner != 0
           && table->wants == (jpp_pools_owner_at(table, owner)->kind
                               == JPP_POOLS_REQUEST ? JPP_POOLS_REQUESTS
                                                    : JPP_POOLS_CONNECTIONS);
}


/*
 * What is added to TABLE from now on belongs to a unit of OWNER, too, if it is
 * wanted; what is not is only counted.
 */
void jpp_pools_begin(jpp_pools_t *table, uint32_t owner);

/*
 * Add to what OWNER holds of CLASS, and of MODULE (a name, or 0), and to the
 * open unit.  BYTES is the allocator's size with everything; UNUSED is what of
 * it is still free in the pool.  False: no memory, or an owner of 0, which
 * means the same.
 */
bool jpp_pools_add(jpp_pools_t *table, uint32_t owner,
    jpp_pools_class_t class, uint32_t module, uint64_t objects,
    uint64_t bytes, uint64_t unused);

/*
 * What the process had of that when it started, and its parent has, too, as far
 * as it still has it.  It is said beside what was added, not in addition to it.
 */
bool jpp_pools_add_inherited(jpp_pools_t *table, uint32_t owner,
    jpp_pools_class_t class, uint64_t objects, uint64_t bytes,
    uint64_t unused);

/*
 * The open unit has ended.  Returns it if it is one of the largest so far, to
 * fill in the rest, until the next call; or NULL.
 */
jpp_pools_unit_t *jpp_pools_end(jpp_pools_t *table);

/*
 * More of the unit that is open is added later: keep it at PARKED, as it is, to
 * fill in the rest there; no unit is open now.  TABLE->open gets it back.
 */
void jpp_pools_park(jpp_pools_t *table, jpp_pools_open_t *parked);

/*
 * What of the total of TABLE is in no pool: the thread's total less all rows.
 * *IS_SHORT: the rows are more than that, and the result is 0.
 */
uint64_t jpp_pools_outside(const jpp_pools_t *table, bool *is_short);


/*
 * A table of pools into bytes, for another process to load.
 *
 * For it they are foreign, a file in memory that another has filled: everything
 * in them is checked, and a file that was cut, by a writer that was killed for
 * example, is refused as that (JPP_ERR_CUT).
 *
 * No state; any thread.
 */


/*
 * Write TABLE, which has no open unit, to SINK.  Its errors stay in the sink;
 * the opener of the sink flushes it.
 */
void jpp_pools_write(const jpp_pools_t *table, jpp_sink_t *sink);

/* Write TABLE to the file FD, from where it stands. */
jpp_code_t jpp_pools_save(const jpp_pools_t *table, int fd, jpp_err_t *err);

/*
 * Initialize the caller's TABLE from the LEN bytes at DATA, which it refers to:
 * nothing can be added to it.  All ids and enumerations in it are valid, and
 * all amounts fit into an int64_t; names may have any bytes.
 */
jpp_code_t jpp_pools_load(jpp_pools_t *table, jpp_arena_t *arena,
    const char *data, size_t len, jpp_err_t *err);


#endif /* _JPP_POOLS_TABLE_H_INCLUDED_ */
