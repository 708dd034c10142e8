
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "jpp_cpu_window.h"
#include "jpp_owner_names.h"
#include "jpp_proc.h"
#include "jpp_sink.h"
#include "jpp_times.h"
#include "jpp_write.h"


/* memory for the list of mappings, and a buffer */
#define JPP_CPU_ARENA  ((size_t) 64 << 20)


static const char *const  jpp_cpu_modes[JPP_MODES] = {
    [JPP_MODE_CPU]  = "cpu",
    [JPP_MODE_WALL] = "wall"
};


static const char *const  jpp_cpu_states[JPP_CPU_STATES] = {
    [JPP_CPU_RUNS]    = "cpu",
    [JPP_CPU_BLOCKED] = "blocked"
};


jpp_cpu_window_t *
jpp_cpu_window_create(jpp_mode_t mode, uint32_t frequency, jpp_err_t *err)
{
    jpp_cpu_window_t  *window;

    window = mmap(NULL, sizeof(jpp_cpu_window_t), PROT_READ|PROT_WRITE,
                  MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0);

    if (window == MAP_FAILED) {
        (void) jpp_err_memory(err);
        return NULL;
    }

    window->mode = mode;
    window->frequency = frequency;

    return window;
}


void
jpp_cpu_window_destroy(jpp_cpu_window_t *window)
{
    (void) munmap(window, sizeof(jpp_cpu_window_t));
}


static void
jpp_cpu_window_facts(const jpp_cpu_window_t *window, const char *why_early,
    jpp_sink_t *sink)
{
    size_t  i;

    const struct {
        const char  *key;
        uint64_t     value;
    } facts[] = {
        { "frequency", window->frequency },
        { "highest", window->highest },
        { "duration", window->closed - window->opened },
        { "dropped", window->table.dropped },
        { "dropped_nanos", window->table.dropped_nanos },
        { "idle", window->idle },
        { "waits", window->waits },
        { "threads", window->seen.threads },
        { "deaf", window->seen.deaf },
        { "beyond", window->seen.beyond }
    };

    for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        jpp_sink_printf(sink, "%s %" PRIu64 "\n", facts[i].key,
                        facts[i].value);
    }

    if (why_early != NULL) {
        jpp_sink_printf(sink, "early %s\n", why_early);
    }
}


/* A set for every name and state, of which CPU time has one only. */

static void
jpp_cpu_window_labels(const jpp_cpu_window_t *window, jpp_sink_t *sink)
{
    uint32_t  i, state;

    for (i = 0; i < window->seen.n_names; i++) {

        for (state = 0; state < JPP_CPU_STATES; state++) {

            if (window->mode == JPP_MODE_WALL) {
                jpp_sink_printf(sink, "labels 2\nstate=%s\nthread=%s\n",
                                jpp_cpu_states[state], window->seen.names[i]);

            } else {
                jpp_sink_printf(sink, "labels 1\nthread=%s\n",
                                window->seen.names[i]);
            }
        }
    }
}


/* Those that have samples, each with a number of the capture in NUMBERS; 0: it
   has none. */

static void
jpp_cpu_window_owners(const jpp_cpu_window_t *window,
    uint16_t numbers[JPP_OWNER_NAMES], jpp_sink_t *sink)
{
    uint32_t               i, n, next;
    jpp_owner_t            names;
    const jpp_cpu_site_t  *site;

    memset(numbers, 0, JPP_OWNER_NAMES * sizeof(uint16_t));

    n = __atomic_load_n(&window->table.n_sites, __ATOMIC_ACQUIRE);
    next = 1;

    for (i = 0; i < n; i++) {
        site = &window->table.sites[i];

        if (__atomic_load_n(&site->nanos, __ATOMIC_RELAXED) == 0
            || site->owner == JPP_OWNER_NONE || numbers[site->owner] != 0)
        {
            continue;
        }

        numbers[site->owner] = (uint16_t) next++;
        names = jpp_owner_names(site->owner);

        jpp_sink_str(sink, "owner ");
        jpp_owner_write(&names, sink);
        jpp_sink_char(sink, '\n');
    }
}


static void
jpp_cpu_window_site(const jpp_cpu_window_t *window,
    const jpp_cpu_site_t *site, const uint16_t numbers[JPP_OWNER_NAMES],
    jpp_sink_t *sink)
{
    uint32_t  i;
    uint64_t  count, nanos;

    count = __atomic_load_n(&site->count, __ATOMIC_RELAXED);
    nanos = __atomic_load_n(&site->nanos, __ATOMIC_RELAXED);

    if (nanos == 0) {
        return;
    }

    jpp_sink_str(sink, "@ ");
    jpp_sink_u64(sink, (uint64_t) site->name * JPP_CPU_STATES + site->state);

    if (numbers[site->owner] != 0) {
        jpp_sink_char(sink, '.');
        jpp_sink_u64(sink, numbers[site->owner] - 1u);
    }

    jpp_sink_char(sink, ' ');
    jpp_sink_u64(sink, count);
    jpp_sink_char(sink, ' ');
    jpp_sink_u64(sink, nanos);

    for (i = 0; i < site->n; i++) {
        jpp_sink_str(sink, " 0x");
        jpp_sink_hex(sink, window->table.frames[site->frames + i]);
    }

    jpp_sink_char(sink, '\n');
}


jpp_code_t
jpp_cpu_window_write(const jpp_cpu_window_t *window, const char *why_early,
    int fd, jpp_err_t *err)
{
    uint32_t      i, n;
    uint8_t      *buffer;
    jpp_vec_t    *maps;
    jpp_code_t    rc;
    jpp_sink_t    sink;
    uint16_t      numbers[JPP_OWNER_NAMES];
    jpp_arena_t   arena;

    jpp_arena_init(&arena, JPP_CPU_ARENA);

    buffer = jpp_arena_alloc(&arena, JPP_SINK_BUFFER);
    maps = jpp_vec_create(&arena);

    rc = buffer != NULL && maps != NULL ? jpp_proc_maps(maps, err)
                                        : jpp_err_memory(err);

    if (rc != JPP_OK) {
        jpp_arena_destroy(&arena);
        return rc;
    }

    jpp_sink_init(&sink, buffer, JPP_SINK_BUFFER, jpp_write, &fd);

    jpp_sink_printf(&sink, JPP_TIMES_HEAD "%s\n", jpp_cpu_modes[window->mode]);

    jpp_cpu_window_facts(window, why_early, &sink);
    jpp_cpu_window_labels(window, &sink);
    jpp_cpu_window_owners(window, numbers, &sink);

    n = __atomic_load_n(&window->table.n_sites, __ATOMIC_ACQUIRE);

    for (i = 0; i < n; i++) {
        jpp_cpu_window_site(window, &window->table.sites[i], numbers, &sink);
    }

    jpp_sink_str(&sink, JPP_TIMES_MAPS);
    jpp_sink_write(&sink, maps->data, maps->len);

    if (jpp_sink_flush(&sink) != 0) {
        rc = jpp_write_failed(err, sink.error, "its samples");
    }

    jpp_arena_destroy(&arena);

    return rc;
}
