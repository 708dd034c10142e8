
#include <inttypes.h>
#include <string.h>

#include "jpp_owner_names.h"
#include "jpp_proc.h"
#include "jpp_samples_dump.h"
#include "jpp_sink.h"
#include "jpp_write.h"


/* memory for the list of mappings, and a buffer */
#define JPP_DUMP_ARENA  ((size_t) 64 << 20)


typedef struct {
    const jpp_samples_t   *samples;
    jpp_sink_t             sink;
    uint32_t               n_owners;
    jpp_site_t            *owners;     /* the counts of the sites of each */
    jpp_site_t             total;      /* and of all; the last, for it might */
                                       /*   have frames */
} jpp_samples_dump_t;


static void
jpp_dump_zero(jpp_site_t *site, void *data)
{
    (void) data;

    site->live = 0;
    site->live_bytes = 0;
}


static void
jpp_dump_live(uint64_t object, void *data)
{
    jpp_samples_dump_t *dump = data;

    jpp_site_t  *site;

    site = jpp_sites_at(&dump->samples->sites, jpp_live_site(object));

    site->live++;
    site->live_bytes += jpp_live_size(object);
}


static void
jpp_dump_add(jpp_site_t *sum, const jpp_site_t *site)
{
    sum->live += site->live;
    sum->live_bytes += site->live_bytes;
    sum->allocated += __atomic_load_n(&site->allocated, __ATOMIC_RELAXED);
    sum->allocated_bytes += __atomic_load_n(&site->allocated_bytes,
                                            __ATOMIC_RELAXED);
}


static inline uint32_t
jpp_dump_owner(const jpp_samples_dump_t *dump, const jpp_site_t *site)
{
    return site->key.owner < dump->n_owners ? site->key.owner
                                            : JPP_OWNER_NONE;
}


static void
jpp_dump_total(jpp_site_t *site, void *data)
{
    jpp_samples_dump_t *dump = data;

    jpp_dump_add(&dump->total, site);
    jpp_dump_add(&dump->owners[jpp_dump_owner(dump, site)], site);
}


static void
jpp_dump_counts(jpp_sink_t *sink, const jpp_site_t *site)
{
    jpp_sink_u64(sink, site->live);
    jpp_sink_str(sink, ": ");
    jpp_sink_u64(sink, site->live_bytes);
    jpp_sink_str(sink, " [");
    jpp_sink_u64(sink, site->allocated);
    jpp_sink_str(sink, ": ");
    jpp_sink_u64(sink, site->allocated_bytes);
    jpp_sink_char(sink, ']');
}


/*
 * An owner takes the place of a thread, which has a number and a name: readers
 * that want neither sum them up.
 */

static void
jpp_dump_owners(jpp_samples_dump_t *dump)
{
    uint32_t      i;
    jpp_owner_t   names;

    for (i = 0; i < dump->n_owners || i == 0; i++) {
        jpp_sink_printf(&dump->sink, "  t%" PRIu32 ": ", i);
        jpp_dump_counts(&dump->sink, &dump->owners[i]);

        if (dump->n_owners != 0) {
            names = jpp_owner_names(i);

            jpp_sink_str(&dump->sink, " owner\t");
            jpp_owner_write(&names, &dump->sink);
        }

        jpp_sink_char(&dump->sink, '\n');
    }
}


static void
jpp_dump_site(jpp_site_t *site, void *data)
{
    jpp_samples_dump_t *dump = data;

    uint32_t  i;

    if (site->live == 0
        && __atomic_load_n(&site->allocated, __ATOMIC_RELAXED) == 0)
    {
        return;
    }

    jpp_sink_char(&dump->sink, '@');

    for (i = 0; i < site->n; i++) {
        jpp_sink_str(&dump->sink, " 0x");
        jpp_sink_hex(&dump->sink, site->pcs[i]);
    }

    jpp_sink_str(&dump->sink, "\n  t*: ");
    jpp_dump_counts(&dump->sink, site);
    jpp_sink_printf(&dump->sink, "\n  t%" PRIu32 ": ",
                    jpp_dump_owner(dump, site));
    jpp_dump_counts(&dump->sink, site);
    jpp_sink_char(&dump->sink, '\n');
}


jpp_code_t
jpp_samples_dump(jpp_samples_t *samples, int fd, jpp_err_t *err)
{
    uint8_t             *buffer;
    jpp_vec_t           *maps;
    jpp_code_t           rc;
    jpp_arena_t          arena;
    jpp_samples_dump_t   dump;

    jpp_arena_init(&arena, JPP_DUMP_ARENA);

    /* one that is added meanwhile waits for the next dump */

    dump.n_owners = jpp_owner_names_count();
    dump.owners = jpp_arena_alloc(&arena, (dump.n_owners + 1)
                                          * sizeof(jpp_site_t));
    buffer = jpp_arena_alloc(&arena, JPP_SINK_BUFFER);
    maps = jpp_vec_create(&arena);

    rc = buffer != NULL && maps != NULL && dump.owners != NULL
         ? jpp_proc_maps(maps, err) : jpp_err_memory(err);

    if (rc != JPP_OK) {
        jpp_arena_destroy(&arena);
        return rc;
    }

    memset(&dump.total, 0, sizeof(dump.total));
    dump.samples = samples;
    jpp_sink_init(&dump.sink, buffer, JPP_SINK_BUFFER, jpp_write, &fd);

    jpp_sites_walk(&samples->sites, jpp_dump_zero, NULL);
    jpp_live_walk(&samples->live, jpp_dump_live, &dump);
    jpp_sites_walk(&samples->sites, jpp_dump_total, &dump);

    jpp_sink_printf(&dump.sink, "heap_v2/%" PRIu64 "\n",
                    (uint64_t) 1 << samples->lg);
    jpp_sink_str(&dump.sink, "  t*: ");
    jpp_dump_counts(&dump.sink, &dump.total);
    jpp_sink_char(&dump.sink, '\n');
    jpp_dump_owners(&dump);

    jpp_sites_walk(&samples->sites, jpp_dump_site, &dump);

    jpp_sink_str(&dump.sink, "\nMAPPED_LIBRARIES:\n");
    jpp_sink_write(&dump.sink, maps->data, maps->len);

    if (jpp_sink_flush(&dump.sink) != 0) {
        rc = jpp_write_failed(err, dump.sink.error, "the dump");
    }

    jpp_arena_destroy(&arena);

    return rc;
}
