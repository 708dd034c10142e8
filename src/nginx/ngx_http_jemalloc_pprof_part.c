
#include "ngx_http_jemalloc_pprof_memory.h"
#include "ngx_http_jemalloc_pprof_part.h"


static void ngx_http_jemalloc_pprof_part_take_baseline(
    ngx_http_jemalloc_pprof_part_t *part);
static ngx_int_t ngx_http_jemalloc_pprof_part_hold(
    ngx_http_jemalloc_pprof_part_t *part, size_t len);


ngx_int_t
ngx_http_jemalloc_pprof_part_open(ngx_http_jemalloc_pprof_part_t *part)
{
    jpp_err_t   *err;
    const char  *directory;

    err = &part->peer.reply.err;
    directory = ngx_http_jemalloc_pprof_worker.directory;

    if (jpp_memfd_open(&part->dump, directory, err) == JPP_OK) {
        return NGX_OK;
    }

    if (directory == NULL
        && (err->sys_errno == NGX_EPERM || err->sys_errno == NGX_EACCES
            || err->sys_errno == NGX_ENOSYS))
    {
        (void) jpp_err_set(err, JPP_ERR_SYS,
                           "memfd_create is forbidden to nginx: name a "
                           "directory for its dumps by "
                           "jemalloc_pprof_temp_path");
    }

    return NGX_ERROR;
}


void
ngx_http_jemalloc_pprof_part_take(ngx_http_jemalloc_pprof_part_t *part)
{
    size_t      max_size;
    jpp_err_t  *err;

    err = &part->peer.reply.err;

    max_size = part->collection->max_size;

    if (jpp_memfd_map(&part->dump, max_size, err) != JPP_OK) {

        if (err->code == JPP_ERR_LIMIT) {
            (void) jpp_err_set(err, JPP_ERR_LIMIT,
                               "its dump is larger than the %zu bytes of "
                               "jemalloc_pprof_max_size: raise that, or "
                               "lg_prof_sample", max_size);
        }

        return;
    }

    if (ngx_http_jemalloc_pprof_part_hold(part, part->dump.len) != NGX_OK) {
        part->is_unfit = 1;

        (void) jpp_err_set(err, JPP_ERR_LIMIT,
                           "its dump of %zu bytes does not fit beside what is "
                           "in memory already (%d times "
                           "jemalloc_pprof_max_size): raise that",
                           part->dump.len, NGX_HTTP_JEMALLOC_PPROF_TOTAL);
        return;
    }

    (void) close(part->dump.fd);
    part->dump.fd = -1;

    if (part->peer.baseline != -1) {
        ngx_http_jemalloc_pprof_part_take_baseline(part);
    }
}


/*
 * Workers of one generation have the same file, which is mapped once.  Without
 * it a worker's inheritance is told as its own, and said so.
 */

static void
ngx_http_jemalloc_pprof_part_take_baseline(
    ngx_http_jemalloc_pprof_part_t *part)
{
    jpp_err_t                              ignored;
    ngx_uint_t                             i;
    struct stat                            st;
    jpp_memfd_t                           *memfd;
    ngx_http_jemalloc_pprof_part_t        *other;
    ngx_http_jemalloc_pprof_collection_t  *co;

    co = part->collection;
    memfd = &part->inherited;

    memfd->fd = part->peer.baseline;
    part->peer.baseline = -1;

    part->baseline = memfd;

    if (fstat(memfd->fd, &st) == -1) {
        jpp_memfd_close(memfd);
        return;
    }

    for (i = 0; i < co->n; i++) {
        other = &co->parts[i];

        if (other->baseline == &other->inherited && other != part
            && other->ino == st.st_ino && other->dev == st.st_dev)
        {
            jpp_memfd_close(memfd);
            part->baseline = other->baseline;
            return;
        }
    }

    part->dev = st.st_dev;
    part->ino = st.st_ino;

    if (jpp_memfd_map(memfd, co->max_size, &ignored) == JPP_OK
        && ngx_http_jemalloc_pprof_part_hold(part, memfd->len) == NGX_OK)
    {
        (void) close(memfd->fd);
        memfd->fd = -1;

    } else {
        jpp_memfd_close(memfd);
    }
}


/* LEN bytes more are PART's. */

static ngx_int_t
ngx_http_jemalloc_pprof_part_hold(ngx_http_jemalloc_pprof_part_t *part,
    size_t len)
{
    size_t  cap;

    cap = ngx_http_jemalloc_pprof_part_cap(&part->collection->inquiry,
                                           part->collection->max_size);

    if (ngx_http_jemalloc_pprof_memory_hold(len, cap) != NGX_OK) {
        return NGX_BUSY;
    }

    part->held += len;

    return NGX_OK;
}


size_t
ngx_http_jemalloc_pprof_part_cap(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry, size_t max_size)
{
    return (inquiry->is_second ? 2 : 1)
           * ngx_http_jemalloc_pprof_memory_cap(max_size);
}


void
ngx_http_jemalloc_pprof_part_close(ngx_http_jemalloc_pprof_part_t *part)
{
    ngx_http_jemalloc_pprof_peer_close(&part->peer);

    jpp_memfd_close(&part->dump);
    jpp_memfd_close(&part->inherited);

    ngx_http_jemalloc_pprof_memory_release(part->held);
    part->held = 0;
}
