
#include "jpp_cpu.h"
#include "jpp_owner_names.h"
#include "jpp_parsers.h"
#include "jpp_source.h"

#include <sys/syscall.h>


/* of the sampler's thread */
#define JPP_CPU_STACK    (256 * 1024)

/* all windows that are wanted, and as many that are not */
#define JPP_CPU_CHANGES  (2 * JPP_CPU_WINDOWS)


static const char *const  jpp_cpu_modes[JPP_MODES] = {
    [JPP_MODE_CPU]  = "cpu",
    [JPP_MODE_WALL] = "wall"
};


static const char *const  jpp_cpu_states[JPP_CPU_STATES] = {
    [JPP_CPU_RUNS]    = "cpu",
    [JPP_CPU_BLOCKED] = "blocked"
};


/*
 * Who does what:
 *
 *     the handler, in any thread     adds a sample to every window of its mode
 *     the sampler, a thread          opens and ends windows; sees who has come
 *                                    and gone; looks at every thread, for
 *                                    windows of wall time
 *     the caller                     says which windows there are to be
 *
 * The lock is about what the caller says: the list of windows, and the stage of
 * each.  It is held for some microseconds, and not while the sampler is at
 * work, which may take as long as there are threads to look at.  What the
 * sampler writes into a window is the caller's to read once it is over.  The
 * handler reads the sampler's list of open windows, and nothing else that
 * changes.  One that is over is unmapped when no thread is in the handler.
 */


static pthread_mutex_t    jpp_cpu_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t     jpp_cpu_wanted;        /* something, of the sampler */
static pthread_cond_t     jpp_cpu_done = PTHREAD_COND_INITIALIZER;
static bool               jpp_cpu_is_ready;      /* jpp_cpu_wanted is */
static bool               jpp_cpu_is_running;    /* the sampler's thread */
static jpp_cpu_window_t  *jpp_cpu_windows;       /* all but those over */
static jpp_cpu_window_t  *jpp_cpu_ended;         /* to be unmapped */


static void
jpp_cpu_window_facts(const jpp_cpu_window_t *window, const char *why_early,
    jpp_sink_t *sink)
{
    const struct {
        const char  *key;
        uint64_t     value;
    } *fact, facts[] = {
        { "frequency", window->frequency },
        { "highest", window->highest },
        { "duration", window->closed - window->opened },
        { "dropped", window->dropped },
        { "dropped_nanos", window->dropped_nanos },
        { "idle", window->idle },
        { "waits", window->waits },
        { "threads", window->seen.threads },
        { "deaf", window->seen.deaf },
        { "beyond", window->seen.beyond }
    };

    jpp_each_of(fact, facts) {
        jpp_sink_printf(sink, "%s %" PRIu64 "\n", fact->key, fact->value);
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
                jpp_sink_printf(sink, "labels 2\nstate=%s\n",
                                jpp_cpu_states[state]);

            } else {
                jpp_sink_str(sink, "labels 1\n");
            }

            jpp_sink_printf(sink, "thread=%s\n", window->seen.names[i]);
        }
    }
}


/* what is written to, and the numbers that owners have there; 0: not yet */
typedef struct {
    jpp_sink_t   sink;
    uint16_t     numbers[JPP_OWNER_NAMES];
    uint16_t     n_owners;
} jpp_cpu_write_t;


static void
jpp_cpu_window_owner(jpp_site_t *site, void *data)
{
    jpp_cpu_write_t *write = data;

    jpp_owner_t  names;

    if (site->key.owner == JPP_OWNER_NONE
        || write->numbers[site->key.owner] != 0)
    {
        return;
    }

    write->numbers[site->key.owner] = ++write->n_owners;
    names = jpp_owner_names(site->key.owner);

    jpp_sink_str(&write->sink, "owner ");
    jpp_owner_write(&names, &write->sink);
    jpp_sink_char(&write->sink, '\n');
}


static void
jpp_cpu_window_site(jpp_site_t *site, void *data)
{
    jpp_cpu_write_t *write = data;

    uint32_t     i, owner;
    uint64_t     count, nanos;
    jpp_sink_t  *sink;

    sink = &write->sink;
    owner = write->numbers[site->key.owner];
    count = jpp_atomic_get(&site->allocated);
    nanos = jpp_atomic_get(&site->allocated_bytes);

    if (nanos == 0) {
        return;
    }

    jpp_sink_printf(sink, "@ %u", site->key.kind);

    if (owner != 0) {
        jpp_sink_printf(sink, ".%" PRIu32, owner - 1);
    }

    jpp_sink_printf(sink, " %" PRIu64 " %" PRIu64, count, nanos);

    for (i = 0; i < site->n; i++) {
        jpp_sink_str(sink, " 0x");
        jpp_sink_hex(sink, site->pcs[i]);
    }

    jpp_sink_char(sink, '\n');
}


/* Write WINDOW, which has ended, to FD. */

static jpp_code_t
jpp_cpu_window_write(jpp_cpu_window_t *window, const char *why_early,
    int fd, jpp_err_t *err)
{
    jpp_vec_t        *maps;
    jpp_code_t        rc;
    jpp_arena_t       arena;
    jpp_cpu_write_t  *write;

    jpp_arena_init(&arena, JPP_PROC_ARENA);

    write = jpp_arena_alloc(&arena, sizeof(jpp_cpu_write_t) + JPP_SINK_BUFFER);
    maps = jpp_vec_create(&arena);

    rc = write != NULL && maps != NULL ? jpp_proc_maps(maps, err)
                                       : jpp_err_memory(err);

    if (rc == JPP_OK) {
        jpp_sink_init(&write->sink, (uint8_t *) (write + 1), JPP_SINK_BUFFER,
                      jpp_write, &fd);

        jpp_sink_printf(&write->sink, JPP_TIMES_HEAD "%s\n",
                        jpp_cpu_modes[window->mode]);

        jpp_cpu_window_facts(window, why_early, &write->sink);
        jpp_cpu_window_labels(window, &write->sink);

        jpp_sites_walk(&window->sites, jpp_cpu_window_owner, write);
        jpp_sites_walk(&window->sites, jpp_cpu_window_site, write);

        jpp_sink_str(&write->sink, JPP_TIMES_MAPS);
        jpp_sink_write(&write->sink, maps->data, maps->len);

        if (jpp_sink_flush(&write->sink) != 0) {
            rc = jpp_write_failed(err, write->sink.error, "its samples");
        }
    }

    jpp_arena_destroy(&arena);

    return rc;
}


/* Unmap the windows that have ended, unless a thread is in the handler. */

static void
jpp_cpu_reap(void)
{
    jpp_cpu_window_t  *window;

    while (jpp_cpu_ended != NULL && jpp_signal_is_left(JPP_SIGNAL_CPU)) {

        window = jpp_cpu_ended;
        jpp_cpu_ended = window->next;

        (void) munmap(window, sizeof(jpp_cpu_window_t));
    }
}


/* Without a window, the signal is nobody's. */

static void
jpp_cpu_rest(void)
{
    if (!jpp_cpu_is_running) {
        jpp_signal_release(JPP_SIGNAL_CPU);
        jpp_cpu_reap();
    }
}


jpp_code_t
jpp_cpu_check(jpp_err_t *err)
{
    jpp_code_t  rc;

    if (!JPP_UNWIND_IS_HERE) {
        return jpp_err_set(err, JPP_ERR_ABSENT, "there is no unwinder for this "
                           "machine: stacks can be sampled on x86-64 only");
    }

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    rc = jpp_signal_claim(JPP_SIGNAL_CPU, jpp_cpu_sampler_receive, err);

    jpp_cpu_rest();

    (void) pthread_mutex_unlock(&jpp_cpu_lock);

    return rc;
}


/* There is room for a window of MODE, and the kernel allows what it needs. */

static jpp_code_t
jpp_cpu_may(jpp_mode_t mode, jpp_err_t *err)
{
    uint32_t                 n, n_same;
    jpp_code_t               rc;
    const jpp_cpu_window_t  *other;

    rc = jpp_signal_claim(JPP_SIGNAL_CPU, jpp_cpu_sampler_receive, err);

    if (rc != JPP_OK) {
        return rc;
    }

    n = 0;
    n_same = 0;

    for (other = jpp_cpu_windows; other != NULL; other = other->next) {
        n += other->stage != JPP_CPU_UNWANTED;
        n_same += other->mode == mode;
    }

    if (n == JPP_CPU_WINDOWS) {
        return jpp_err_set(err, JPP_ERR_BUSY, "%d profiles of its CPU are "
                           "being taken already: try again when they are done",
                           JPP_CPU_WINDOWS);
    }

    return n_same == 0 ? jpp_cpu_threads_check(mode, err) : JPP_OK;
}


static void
jpp_cpu_over(jpp_cpu_window_t *window)
{
    jpp_cpu_window_t  **at;

    for (at = &jpp_cpu_windows; *at != window; at = &(*at)->next) {
        /* void */
    }

    *at = window->next;
    window->stage = JPP_CPU_OVER;

    if (window->is_left) {
        window->next = jpp_cpu_ended;
        jpp_cpu_ended = window;
    }
}


static void *
jpp_cpu_main(void *data)
{
    uint32_t           i, n;
    uint64_t           begun, ended, next, rested;
    jpp_cpu_window_t  *window, *changes[JPP_CPU_CHANGES];

    (void) data;

    jpp_thread_name();
    jpp_thread_leave_files();

    jpp_cpu_sampler.tid = (pid_t) syscall(SYS_gettid);

    next = 0;

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    while (jpp_cpu_windows != NULL) {

        /* those to be opened or ended now */

        n = 0;

        for (window = jpp_cpu_windows; window != NULL; window = window->next) {

            if (window->stage != JPP_CPU_OPEN) {
                changes[n++] = window;
            }

            if (window->stage == JPP_CPU_WANTED) {
                window->stage = JPP_CPU_OPEN;
            }
        }

        begun = jpp_clock();

        if (n == 0 && begun < next) {
            jpp_thread_wait(&jpp_cpu_wanted, &jpp_cpu_lock, next);
            continue;
        }

        (void) pthread_mutex_unlock(&jpp_cpu_lock);

        if (n != 0) {
            jpp_cpu_sampler_change(changes, n);
        }

        next = jpp_cpu_sampler_step();
        ended = jpp_clock();

        /* the CPU is for others, however many threads there are to look at */

        rested = 2 * ended - begun;
        next = next > rested ? next : rested;

        (void) pthread_mutex_lock(&jpp_cpu_lock);

        for (i = 0; i < n; i++) {
            if (changes[i]->closed != 0) {
                jpp_cpu_over(changes[i]);
            }
        }

        (void) pthread_cond_broadcast(&jpp_cpu_done);

        jpp_cpu_reap();
    }

    jpp_cpu_is_running = false;

    jpp_cpu_rest();

    (void) pthread_cond_broadcast(&jpp_cpu_done);
    (void) pthread_mutex_unlock(&jpp_cpu_lock);

    return NULL;
}


static jpp_code_t
jpp_cpu_start(jpp_err_t *err)
{
    int  error;

    if (jpp_cpu_is_running) {
        return JPP_OK;
    }

    if (!jpp_cpu_is_ready) {
        jpp_thread_cond(&jpp_cpu_wanted);
        jpp_cpu_is_ready = true;
    }

    error = jpp_thread_start(JPP_CPU_STACK, jpp_cpu_main, NULL, NULL);

    if (error != 0) {
        return jpp_err_sys(err, error, "cannot start a thread for the sampler");
    }

    jpp_cpu_is_running = true;

    return JPP_OK;
}


jpp_cpu_window_t *
jpp_cpu_open(jpp_mode_t mode, uint32_t frequency, jpp_err_t *err)
{
    jpp_code_t         rc;
    jpp_cpu_window_t  *window;

    if (!jpp_backtrace_start()) {
        (void) jpp_cpu_check(err);
        return NULL;
    }

    window = jpp_own_pages(sizeof(jpp_cpu_window_t));

    if (window == NULL) {
        (void) jpp_err_memory(err);
        return NULL;
    }

    window->mode = mode;
    window->frequency = frequency;
    jpp_sites_init(&window->sites, window->memory, JPP_CPU_WORDS);

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    rc = jpp_cpu_may(mode, err);

    if (rc == JPP_OK) {
        rc = jpp_cpu_start(err);
    }

    if (rc == JPP_OK) {
        window->next = jpp_cpu_windows;
        jpp_cpu_windows = window;

        (void) pthread_cond_signal(&jpp_cpu_wanted);
    }

    jpp_cpu_rest();

    (void) pthread_mutex_unlock(&jpp_cpu_lock);

    if (rc != JPP_OK) {
        (void) munmap(window, sizeof(jpp_cpu_window_t));
        return NULL;
    }

    return window;
}


/* WINDOW is over: at once if the sampler does not know it, or a little later */

static void
jpp_cpu_end(jpp_cpu_window_t *window)
{
    if (window->stage == JPP_CPU_WANTED) {
        jpp_cpu_over(window);

    } else if (window->stage == JPP_CPU_OPEN) {
        window->stage = JPP_CPU_UNWANTED;
        (void) pthread_cond_signal(&jpp_cpu_wanted);
    }
}


jpp_code_t
jpp_cpu_dump(jpp_cpu_window_t *window, const char *why_early, int fd,
    jpp_err_t *err)
{
    jpp_code_t  rc;

    rc = JPP_OK;

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    /* somebody else may have taken the signal meanwhile */

    if (window->stage != JPP_CPU_OVER) {
        rc = jpp_signal_claim(JPP_SIGNAL_CPU, jpp_cpu_sampler_receive, err);
    }

    jpp_cpu_end(window);

    while (window->stage != JPP_CPU_OVER) {
        (void) pthread_cond_wait(&jpp_cpu_done, &jpp_cpu_lock);
    }

    (void) pthread_mutex_unlock(&jpp_cpu_lock);

    return rc == JPP_OK ? jpp_cpu_window_write(window, why_early, fd, err) : rc;
}


void
jpp_cpu_close(jpp_cpu_window_t *window)
{
    if (window == NULL) {
        return;
    }

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    if (window->stage == JPP_CPU_OVER) {
        window->next = jpp_cpu_ended;
        jpp_cpu_ended = window;
    }

    window->is_left = true;

    jpp_cpu_end(window);
    jpp_cpu_reap();

    (void) pthread_mutex_unlock(&jpp_cpu_lock);
}


bool
jpp_cpu_is_on(void)
{
    bool                     is_on;
    const jpp_cpu_window_t  *window;

    is_on = false;

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    for (window = jpp_cpu_windows; window != NULL; window = window->next) {
        is_on |= window->stage != JPP_CPU_UNWANTED;
    }

    (void) pthread_mutex_unlock(&jpp_cpu_lock);

    return is_on;
}


void
jpp_cpu_exit(void)
{
    jpp_cpu_window_t  *window, *next;

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    for (window = jpp_cpu_windows; window != NULL; window = next) {
        next = window->next;
        jpp_cpu_end(window);
    }

    while (jpp_cpu_is_running) {
        (void) pthread_cond_wait(&jpp_cpu_done, &jpp_cpu_lock);
    }

    (void) pthread_mutex_unlock(&jpp_cpu_lock);
}
