
/*
 * Mappings and os-release come from the system, builds from memory, names from
 * nginx's tables, and from what already runs:
 *
 *     listening handler                      of a socket
 *     worker process cycle                   what a worker runs in
 */


#include "ngx_http_jpp.h"
#include "ngx_http_jpp_functions.h"
#include "ngx_http_jpp_hints.h"

#include "jpp_backtrace.h"
#include "jpp_images.h"
#include "jpp_proc.h"


/* mappings and hints of this process; freed before a request comes */
#define NGX_HTTP_JPP_HINTS_CAP  (64 * 1024 * 1024)

/* of this stack: main() and what leads from there to init_process */
#define NGX_HTTP_JPP_CALLERS    32

/* bytes of os-release that are read: it has 300 to 700 */
#define NGX_HTTP_JPP_OS_RELEASE  4096


/* Where the functions on the stack start, the innermost first. */
typedef struct {
    uintptr_t         starts[NGX_HTTP_JPP_CALLERS];
    ngx_uint_t        n;
} ngx_http_jpp_callers_t;


static size_t ngx_http_jpp_hints_release(char text[NGX_HTTP_JPP_OS_RELEASE]);
static void ngx_http_jpp_hints_listening(ngx_http_jpp_gather_t *gather);
static void ngx_http_jpp_hints_callers(ngx_http_jpp_gather_t *gather);
static ngx_uint_t ngx_http_jpp_hints_caller(
    const ngx_http_jpp_callers_t *callers, uintptr_t start);


void
ngx_http_jpp_hints(jpp_symbols_t *symbols)
{
    jpp_vec_t                         *maps, *images;
    jpp_arena_t                        arena;
    char                               os_release[
                                   NGX_HTTP_JPP_OS_RELEASE];
    jpp_loaded_source_t                source;
    ngx_http_jpp_gather_t              gather;

    jpp_arena_init(&arena, NGX_HTTP_JPP_HINTS_CAP);

    maps = jpp_vec_create(&arena);
    images = jpp_vec_create(&arena);

    ngx_memzero(&gather, sizeof(ngx_http_jpp_gather_t));

    gather.arena = &arena;
    gather.hints = jpp_vec_create(&arena);

    if (maps != NULL
        && images != NULL
        && gather.hints != NULL
        && jpp_images_read(images)
        && jpp_proc_maps(maps, NULL) == JPP_OK)
    {
        ngx_http_jpp_functions(&gather);
        ngx_http_jpp_hints_listening(&gather);
        ngx_http_jpp_hints_callers(&gather);

        source.maps = (char *) maps->data;
        source.maps_len = maps->len;
        source.images = jpp_vec_items(images, jpp_image_t);
        source.n_images = jpp_vec_count(images, jpp_image_t);
        source.hints = jpp_vec_items(gather.hints, jpp_hint_t);
        source.n_hints = gather.failed
                         ? 0 : jpp_vec_count(gather.hints, jpp_hint_t);
        source.table = "nginx table";
        source.os_release = os_release;
        source.os_release_len = ngx_http_jpp_hints_release(os_release);

        jpp_loaded_init(&symbols->loaded, &source);
    }

    jpp_arena_destroy(&arena);
}


static size_t
ngx_http_jpp_hints_release(char text[NGX_HTTP_JPP_OS_RELEASE])
{
    int      fd;
    ssize_t  n;

    fd = open("/etc/os-release", O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        return 0;
    }

    n = read(fd, text, NGX_HTTP_JPP_OS_RELEASE);

    (void) close(fd);

    return n > 0 ? n : 0;
}


static void
ngx_http_jpp_hints_listening(ngx_http_jpp_gather_t *gather)
{
    ngx_uint_t        i;
    ngx_listening_t  *ls;

    ls = ngx_cycle->listening.elts;

    for (i = 0; i < ngx_cycle->listening.nelts; i++) {
        ngx_http_jpp_hint(gather, ngx_http_jpp_code(ls[i].handler),
                          "listening handler");
        ngx_http_jpp_hint(gather, ngx_http_jpp_code(ls[i].log.handler),
            "listening log handler");

        if (ls[i].connection != NULL && ls[i].connection->read != NULL) {
            ngx_http_jpp_hint(gather,
                ngx_http_jpp_code(
                    ls[i].connection->read->handler),
                "listening read handler");
        }
    }
}


/*
 * This runs in init_process, which is called on the way from
 * ngx_spawn_process() to a worker's loop: the functions between them on the
 * stack are in every stack of the profile, and in no table.  A compiler may
 * have merged two of them.  Without an unwinder these hints are missing.
 */

static void
ngx_http_jpp_hints_callers(ngx_http_jpp_gather_t *gather)
{
    uintptr_t                           pcs[NGX_HTTP_JPP_CALLERS];
    ngx_uint_t                          i, init, spawn, master;
    ngx_http_jpp_callers_t              callers;

    callers.n = jpp_backtrace(pcs, NGX_HTTP_JPP_CALLERS);

    for (i = 0; i < callers.n; i++) {
        callers.starts[i] = jpp_backtrace_function(pcs[i] - 1);
    }

    init = ngx_http_jpp_hints_caller(&callers,
               ngx_http_jpp_code(
                   ngx_http_jemalloc_pprof_module.init_process));
    spawn = ngx_http_jpp_hints_caller(&callers,
                                      ngx_http_jpp_code(ngx_spawn_process));
    master = ngx_http_jpp_hints_caller(&callers,
                 ngx_http_jpp_code(ngx_master_process_cycle));

    if (spawn == callers.n || init >= spawn) {
        return;
    }

    if (spawn - init > 1) {
        ngx_http_jpp_hint(gather, callers.starts[spawn - 1],
                          "worker process cycle");
    }

    if (spawn - init == 3) {
        ngx_http_jpp_hint(gather, callers.starts[init + 1],
                          "worker process init");
    }

    if (master != callers.n && master - spawn == 2) {
        ngx_http_jpp_hint(gather, callers.starts[spawn + 1],
                          "start worker processes");
    }
}


/* The index of START in CALLERS, or their number. */

static ngx_uint_t
ngx_http_jpp_hints_caller(const ngx_http_jpp_callers_t *callers,
    uintptr_t start)
{
    ngx_uint_t  i;

    for (i = 0; i < callers->n && callers->starts[i] != start; i++) {
        /* void */
    }

    return i;
}
