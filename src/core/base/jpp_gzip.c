
/* Compresses and decompresses gzip; the owner of zlib. */


#include "jpp_sink.h"
#include "jpp_units.h"

#include <zlib.h>


/* windowBits of zlib.h: the largest window, and 16 for a gzip header */
#define JPP_GZIP_WINDOW   (15 + 16)
#define JPP_GZIP_MEMLEVEL 8

#define JPP_GUNZIP_STEP   (256 * 1024)


static voidpf
jpp_gzip_alloc(voidpf opaque, uInt items, uInt size)
{
    return jpp_arena_alloc(opaque, (size_t) items * size);
}


/* zlib's memory goes with the arena */

static void
jpp_gzip_free(voidpf opaque, voidpf address)
{
    (void) opaque;
    (void) address;
}


static int
jpp_gzip_deflate(jpp_gzip_t *gz, int flush)
{
    int          rc;
    z_stream    *zs;
    jpp_sink_t  *out;

    zs = gz->stream;
    out = gz->out;

    do {
        if (jpp_sink_reserve(out, 1) == NULL) {
            return out->error;
        }

        zs->next_out = out->pos;
        zs->avail_out = (uInt) (out->end - out->pos);

        rc = deflate(zs, flush);

        out->pos = zs->next_out;

    } while (rc == Z_OK && zs->avail_out == 0);

    return 0;
}


static int
jpp_gzip_write(void *ctx, const uint8_t *data, size_t len)
{
    int          error;
    z_stream    *zs;
    jpp_gzip_t  *gz;

    gz = ctx;
    zs = gz->stream;

    while (len != 0) {
        zs->next_in = (Bytef *) (uintptr_t) data;
        zs->avail_in = (uInt) jpp_smaller(len, UINT_MAX);

        data += zs->avail_in;
        len -= zs->avail_in;

        error = jpp_gzip_deflate(gz, Z_NO_FLUSH);

        if (error != 0) {
            return error;
        }
    }

    return 0;
}


bool
jpp_gzip_open(jpp_gzip_t *gz, jpp_arena_t *arena, int level, jpp_sink_t *out)
{
    uint8_t   *buffer;
    z_stream  *zs;

    zs = jpp_arena_alloc(arena, sizeof(z_stream));
    buffer = jpp_arena_alloc(arena, JPP_SINK_BUFFER);

    if (zs == NULL || buffer == NULL) {
        return false;
    }

    zs->zalloc = jpp_gzip_alloc;
    zs->zfree = jpp_gzip_free;
    zs->opaque = arena;

    if (deflateInit2(zs, level, Z_DEFLATED, JPP_GZIP_WINDOW,
                     JPP_GZIP_MEMLEVEL, Z_DEFAULT_STRATEGY)
        != Z_OK)
    {
        return false;
    }

    jpp_sink_init(&gz->sink, buffer, JPP_SINK_BUFFER, jpp_gzip_write, gz);
    gz->out = out;
    gz->stream = zs;

    return true;
}


int
jpp_gzip_close(jpp_gzip_t *gz)
{
    int  error;

    error = jpp_sink_flush(&gz->sink);

    if (error == 0) {
        error = jpp_gzip_deflate(gz, Z_FINISH);
    }

    (void) deflateEnd(gz->stream);

    return error;
}


bool
jpp_gzip_is(const uint8_t *data, size_t len)
{
    return len >= 3 && data[0] == 0x1f && data[1] == 0x8b && data[2] == 8;
}


static jpp_code_t
jpp_gunzip_members(z_stream *zs, const uint8_t *data, size_t len, size_t max,
    jpp_vec_t *out, jpp_err_t *err)
{
    int       rc;
    size_t    room, limit;
    uint8_t  *p;

    limit = max;

    for (rc = Z_OK; zs->avail_in != 0 || len != 0; max -= room) {

        if (zs->avail_in == 0) {
            zs->next_in = (Bytef *) (uintptr_t) data;
            zs->avail_in = (uInt) jpp_smaller(len, UINT_MAX);

            data += zs->avail_in;
            len -= zs->avail_in;
        }

        /* another member; it needs no memory */

        if (rc == Z_STREAM_END) {
            (void) inflateReset(zs);
        }

        /* room for one byte too many: more may follow what fills the limit */

        room = max < JPP_GUNZIP_STEP ? max + 1 : JPP_GUNZIP_STEP;

        p = jpp_vec_reserve(out, room);
        if (p == NULL) {
            return jpp_err_memory(err);
        }

        zs->next_out = p;
        zs->avail_out = (uInt) room;

        rc = inflate(zs, Z_NO_FLUSH);

        room -= zs->avail_out;

        if (room > max) {
            return jpp_err_set(err, JPP_ERR_LIMIT, "gzip: more than %zu bytes "
                               "unpacked", limit);
        }

        out->len += room;

        if (rc == Z_MEM_ERROR) {
            return jpp_err_memory(err);
        }

        if (rc != Z_OK && rc != Z_STREAM_END) {
            return jpp_err_set(err, JPP_ERR_INPUT,
                               "gzip: the compressed data is damaged (%s)",
                               zs->msg != NULL ? zs->msg : "no progress");
        }
    }

    /* the input may end while output is pending only in a damaged file */

    if (rc != Z_STREAM_END) {
        return jpp_err_set(err, JPP_ERR_CUT,
                           "gzip: the compressed data is incomplete");
    }

    return JPP_OK;
}


jpp_code_t
jpp_gunzip(const uint8_t *data, size_t len, size_t max, jpp_vec_t *out,
    jpp_err_t *err)
{
    z_stream    zs;
    jpp_code_t  rc;

    memset(&zs, 0, sizeof(z_stream));

    zs.zalloc = jpp_gzip_alloc;
    zs.zfree = jpp_gzip_free;
    zs.opaque = out->arena;

    if (inflateInit2(&zs, JPP_GZIP_WINDOW) != Z_OK) {
        return jpp_err_memory(err);
    }

    rc = jpp_gunzip_members(&zs, data, len, max, out, err);

    (void) inflateEnd(&zs);

    return rc;
}
