
/*
 * The table of pools: open addressing, and an entry that leaves has those
 * behind it moved up, so that nothing is searched past its end.
 *
 * nginx creates and destroys pools in its event loop only, so there is no lock.
 */


#include <ngx_config.h>
#include <ngx_core.h>

#include <dlfcn.h>
#include <sys/mman.h>


#define NGX_TRUTH_SLOTS  (1 << 15)


typedef struct {
    const char               *creator;
    ngx_uint_t                kind;
} ngx_truth_creator_t;


static ngx_uint_t ngx_truth_slot(ngx_pool_t *pool);
static void ngx_truth_init(void);
static void ngx_truth_broken(const char *what);


static ngx_truth_creator_t  ngx_truth_creators[] = {
    { "ngx_init_cycle",            NGX_TRUTH_CONFIGURATION },
    { "ngx_http_alloc_request",    NGX_TRUTH_REQUEST },
    { "ngx_http_v2_init",          NGX_TRUTH_H2 },
    { "ngx_http_v2_idle_handler",  NGX_TRUTH_H2 },
    { "ngx_http_v2_state_headers", NGX_TRUTH_H2_HEADERS },
    { "ngx_http_v2_push_stream",   NGX_TRUTH_H2_HEADERS },
    { "ngx_quic_recvmsg",          NGX_TRUTH_H3 },
    { "ngx_quic_create_stream",    NGX_TRUTH_H3 },
    { "ngx_http_upstream_connect", NGX_TRUTH_UPSTREAM },
    { "ngx_mail_auth_http_init",   NGX_TRUTH_AUTH },
    { NULL, 0 }
};


static ngx_truth_pool_t  *ngx_truth_table;
static ngx_uint_t         ngx_truth_count;

ngx_uint_t                ngx_truth_again;
ngx_uint_t                ngx_truth_now;


void
ngx_truth_born(ngx_pool_t *pool, void *caller)
{
    ngx_uint_t         i;
    ngx_truth_pool_t  *entry;

    if (ngx_truth_table == NULL) {
        ngx_truth_init();
    }

    if (++ngx_truth_count > NGX_TRUTH_SLOTS / 2) {
        ngx_truth_broken("too many pools");
    }

    i = ngx_truth_slot(pool);

    while (ngx_truth_table[i].pool != NULL) {

        if (ngx_truth_table[i].pool == pool) {
            ngx_truth_broken("a pool was created where one lives");
        }

        i = (i + 1) % NGX_TRUTH_SLOTS;
    }

    entry = &ngx_truth_table[i];
    ngx_memzero(entry, sizeof(ngx_truth_pool_t));

    entry->pool = pool;
    entry->caller = caller;
    entry->born = ++ngx_truth_now;
    entry->changed = entry->born;
}


void
ngx_truth_died(ngx_pool_t *pool)
{
    ngx_uint_t         i, free, home;
    ngx_truth_pool_t  *entry;

    entry = ngx_truth_find(pool);

    if (entry == NULL) {
        ngx_truth_broken("a pool was destroyed that does not live");
    }

    free = entry - ngx_truth_table;
    i = free;

    for ( ;; ) {
        i = (i + 1) % NGX_TRUTH_SLOTS;

        if (ngx_truth_table[i].pool == NULL) {
            break;
        }

        /* what has its home behind the free slot stays */

        home = ngx_truth_slot(ngx_truth_table[i].pool);

        if ((i - home) % NGX_TRUTH_SLOTS < (i - free) % NGX_TRUTH_SLOTS) {
            continue;
        }

        ngx_truth_table[free] = ngx_truth_table[i];
        free = i;
    }

    ngx_truth_table[free].pool = NULL;
    ngx_truth_count--;
}


ngx_pool_t *
ngx_truth_creator(ngx_pool_t *pool, const char *creator)
{
    ngx_uint_t         i;
    ngx_truth_pool_t  *entry;

    if (pool == NULL) {
        return NULL;
    }

    entry = ngx_truth_find(pool);
    entry->creator = creator;

    for (i = 0; ngx_truth_creators[i].creator != NULL; i++) {
        if (ngx_strcmp(ngx_truth_creators[i].creator, creator) == 0) {
            entry->kind = ngx_truth_creators[i].kind;
        }
    }

    return pool;
}


void
ngx_truth_is(ngx_pool_t *pool, ngx_uint_t kind, void **srv_conf,
    void **loc_conf, void *third)
{
    ngx_truth_pool_t  *entry;

    entry = ngx_truth_find(pool);

    if (entry == NULL) {
        ngx_truth_broken("a pool is used that does not live");
    }

    /* a stream of QUIC begins as any connection does */

    if (kind != NGX_TRUTH_CLIENT || entry->kind != NGX_TRUTH_H3) {
        entry->kind = kind;
    }

    entry->srv_conf = srv_conf;
    entry->loc_conf = loc_conf;
    entry->third = third;
    entry->changed = ++ngx_truth_now;
}


void
ngx_truth_owner(ngx_pool_t *pool, void **srv_conf, void **loc_conf)
{
    ngx_truth_pool_t  *entry;

    entry = ngx_truth_find(pool);

    if (entry == NULL) {
        ngx_truth_broken("a pool is used that does not live");
    }

    ngx_truth_is(pool, entry->kind, srv_conf, loc_conf, entry->third);
}


ngx_truth_pool_t *
ngx_truth_find(ngx_pool_t *pool)
{
    ngx_uint_t  i;

    for (i = ngx_truth_slot(pool);
         ngx_truth_table[i].pool != NULL;
         i = (i + 1) % NGX_TRUTH_SLOTS)
    {
        if (ngx_truth_table[i].pool == pool) {
            return &ngx_truth_table[i];
        }
    }

    return NULL;
}


void
ngx_truth_each(void (*see)(ngx_truth_pool_t *entry, void *data), void *data)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_TRUTH_SLOTS; i++) {
        if (ngx_truth_table[i].pool != NULL) {
            see(&ngx_truth_table[i], data);
        }
    }
}


ngx_uint_t
ngx_truth_is_foreign(void *code)
{
    Dl_info  its, ours;

    return dladdr(code, &its) != 0 && dladdr(&ngx_truth_table, &ours) != 0
           && its.dli_fbase != ours.dli_fbase;
}


/* Pools are aligned to 16 bytes, and most are of 512 and more. */

static ngx_uint_t
ngx_truth_slot(ngx_pool_t *pool)
{
    uint64_t  x;

    x = (uint64_t) (uintptr_t) pool >> 4;

    return (x * 0x9e3779b97f4a7c15ULL >> 40) % NGX_TRUTH_SLOTS;
}


static void
ngx_truth_init(void)
{
    void  *p;

    p = mmap(NULL, NGX_TRUTH_SLOTS * sizeof(ngx_truth_pool_t),
             PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        ngx_truth_broken("no memory for the table");
    }

    ngx_truth_table = p;
    ngx_truth_again = getenv("TRUTH_AGAIN") != NULL;
}


static void
ngx_truth_broken(const char *what)
{
    ngx_write_stderr("truth: ");
    ngx_write_stderr((char *) what);
    ngx_write_stderr("\n");

    ngx_abort();
}
