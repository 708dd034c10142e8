
/*
 * Settings that processes change at once: none is lost, and what is taken back
 * is one's own.
 */


#include "jpp_test_main.h"
#include "jpp_control.h"
#include "jpp_test_golden.h"


#define JPP_ROUNDS   500000
#define JPP_WRITERS  2


/* what these processes share */
typedef struct {
    jpp_settings_t   settings;
    unsigned         n_ready;
} jpp_shared_t;


/* Sets what is not -1. */

static jpp_settings_change_t
jpp_settings_put(jpp_settings_t *settings, int active, int lg_sample,
    int sampler, int sampler_lg)
{
    jpp_control_t           control;
    jpp_settings_change_t   change;

    jpp_control_init(&control);

    control.active = active;
    control.lg_sample = lg_sample;
    control.sampler = sampler;
    control.sampler_lg = sampler_lg;

    jpp_settings_set(settings, &control, &change);

    return change;
}


static void
jpp_settings_are(const jpp_settings_t *settings, int active, int lg_sample,
    int sampler, int sampler_lg, const char *what)
{
    jpp_control_t  control;

    jpp_control_init(&control);
    jpp_settings_get(settings, &control);

    jpp_ok(control.active == active && control.lg_sample == lg_sample
           && control.sampler == sampler && control.sampler_lg == sampler_lg,
           "%s: %d %d %d %d", what, control.active, control.lg_sample,
           control.sampler, control.sampler_lg);
}


JPP_TEST(jpp_test_values)
{
    jpp_settings_t  settings = { 0 };

    jpp_settings_are(&settings, -1, -1, -1, -1, "none was ever set");

    (void) jpp_settings_put(&settings, 0, 24, 1, 12);
    jpp_settings_are(&settings, 0, 24, 1, 12, "all");

    (void) jpp_settings_put(&settings, -1, 10, -1, -1);
    jpp_settings_are(&settings, 0, 10, 1, 12, "one of them");

    (void) jpp_settings_put(&settings, -1, -1, -1, -1);
    jpp_settings_are(&settings, 0, 10, 1, 12, "none");
}


/* The largest value, and the settings of the event loop. */

JPP_TEST(jpp_test_loop)
{
    jpp_control_t           control;
    jpp_settings_t          settings = { 0 };
    jpp_settings_change_t   change;

    jpp_control_init(&control);

    control.stall = JPP_CONTROL_MAX_STALL;
    jpp_settings_set(&settings, &control, &change);

    control.stall = -1;
    control.owners = 0;
    jpp_settings_set(&settings, &control, &change);
    jpp_settings_get(&settings, &control);

    jpp_note_of("a time, and owners off", control, stall, owners, active);

    control.stall = 0;
    control.owners = 1;
    jpp_settings_set(&settings, &control, &change);
    jpp_settings_get(&settings, &control);

    jpp_note_of("off, and on", control, stall, owners);
    jpp_shows_notes("settings of the event loop");
}


JPP_TEST(jpp_test_back)
{
    jpp_settings_t          settings = { 0 };
    jpp_settings_change_t   mine;

    mine = jpp_settings_put(&settings, 1, 14, -1, -1);
    jpp_settings_take_back(&settings, &mine);
    jpp_settings_are(&settings, -1, -1, -1, -1, "the first, taken back");

    mine = jpp_settings_put(&settings, 1, -1, -1, 13);
    mine = jpp_settings_put(&settings, 0, 15, -1, -1);
    (void) jpp_settings_put(&settings, -1, -1, 1, -1);
    jpp_settings_take_back(&settings, &mine);
    jpp_settings_are(&settings, 1, -1, 1, 13,
                     "taken back, beside a later change of another setting");

    mine = jpp_settings_put(&settings, 0, 16, -1, -1);
    (void) jpp_settings_put(&settings, 0, -1, -1, -1);
    jpp_settings_take_back(&settings, &mine);
    jpp_settings_are(&settings, 0, -1, 1, 13,
                     "what somebody has set since stays, the same value too");
}


static unsigned
jpp_writer(jpp_shared_t *shared, unsigned writer)
{
    int                     value;
    unsigned                i, lost;
    jpp_control_t           now;
    jpp_settings_t         *settings;
    jpp_settings_change_t   other;

    settings = &shared->settings;

    /* what never comes ends by this */

    (void) alarm(60);
    jpp_atomic_add(&shared->n_ready, 1);

    while (jpp_atomic_get(&shared->n_ready) < JPP_WRITERS) {
        /* void */
    }

    for (i = 0, lost = 0; i < JPP_ROUNDS; i++) {
        value = 10 + (int) (i % 15);

        (void) jpp_settings_put(settings, -1, writer == 0 ? value : -1, -1,
                                writer == 0 ? -1 : value);

        other = jpp_settings_put(settings, (int) (i % 2), -1, -1, -1);
        jpp_settings_take_back(settings, &other);

        jpp_settings_get(settings, &now);
        lost += (writer == 0 ? now.lg_sample : now.sampler_lg) != value
                || now.sampler != -1;
    }

    return lost;
}


/*
 * Processes, each with a setting of its own, which nobody else may change; and
 * one that both change and take back.
 */

JPP_TEST(jpp_test_at_once)
{
    int            i, status, wrong;
    pid_t          pids[JPP_WRITERS];
    jpp_shared_t  *shared;

    shared = mmap(NULL, sizeof(jpp_shared_t), PROT_READ|PROT_WRITE,
                  MAP_SHARED|MAP_ANONYMOUS, -1, 0);

    if (!jpp_ok(shared != MAP_FAILED, "shared memory")) {
        return;
    }

    for (i = 0; i < JPP_WRITERS; i++) {
        pids[i] = fork();

        if (pids[i] == 0) {
            _exit(jpp_writer(shared, (unsigned) i) != 0);
        }
    }

    for (i = 0, wrong = 0; i < JPP_WRITERS; i++) {
        wrong += waitpid(pids[i], &status, 0) != pids[i] || status != 0;
    }

    jpp_is_i64(wrong, 0, "%d changes by each of %d processes, none is lost",
               JPP_ROUNDS, JPP_WRITERS);

    (void) munmap(shared, sizeof(jpp_shared_t));
}
