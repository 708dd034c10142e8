
#include "jpp_jemalloc.h"
#include "jpp_owner_labels.h"
#include "jpp_owners.h"


/*
 * jemalloc's samples, walked by src/unwind: jpp_backtrace() in the place of
 * the unwinder that jemalloc comes with, usually libgcc's.  That one takes
 * fifty times as long, and aborts the process at code of LuaJIT.
 *
 * With jpp_owners.h, whom a sample belongs to is its last frame.
 *
 * jemalloc 5.3.0 and 5.3.1 have the hook, experimental.hooks.prof_backtrace.
 * It is the process's, and any thread that allocates may be in it: whoever sets
 * it stays loaded (jpp_images_unwind() sees to that).
 *
 * For one thread; jemalloc calls the hook itself in any.
 */


/* jemalloc's prof_backtrace_hook_t, in include/jemalloc/internal/prof_hook.h */
typedef void (*jpp_hook_pt)(void **pcs, unsigned *n, unsigned depth);


static const char  jpp_hook_name[] = "experimental.hooks.prof_backtrace";

static jpp_hook_pt  jpp_hook_before;


static bool
jpp_hook_get(jpp_hook_pt *hook)
{
    return jpp_mallctl_get(jpp_hook_name, hook, sizeof(jpp_hook_pt));
}


/* DEPTH is 128, or opt.prof_bt_max of 5.3.1: from 1 on. */

static void
jpp_hook_walk(void **pcs, unsigned *n, unsigned depth)
{
    uint32_t   owner;
    uintptr_t  buffer[JPP_BACKTRACE_MIN];

    if (depth >= JPP_BACKTRACE_MIN) {
        *n = jpp_backtrace((uintptr_t *) pcs, depth);
        owner = jpp_owners_here();

        /* a walk leaves room for two */

        if (owner != JPP_OWNER_NONE) {
            pcs[(*n)++] = (void *) (uintptr_t) (JPP_OWNER_FRAME + owner);
        }

        return;
    }

    *n = (unsigned) jpp_smaller(jpp_backtrace(buffer, JPP_BACKTRACE_MIN),
                                depth);
    memcpy(pcs, buffer, *n * sizeof(uintptr_t));
}


jpp_hook_t
jpp_hook_read(void)
{
    jpp_hook_pt  hook;

    if (!JPP_UNWIND_IS_HERE) {
        return JPP_HOOK_MACHINE;
    }

    if (!jpp_hook_get(&hook)) {
        return JPP_HOOK_ABSENT;
    }

    return hook == jpp_hook_walk ? JPP_HOOK_ON : JPP_HOOK_OFF;
}


jpp_hook_t
jpp_hook_set(void)
{
    jpp_hook_pt  hook;

    if (!jpp_hook_get(&hook) || hook == jpp_hook_walk
        || !jpp_backtrace_start())
    {
        return jpp_hook_read();
    }

    jpp_hook_before = hook;
    hook = jpp_hook_walk;

    (void) jpp_mallctl_call(jpp_hook_name, NULL, 0, &hook, sizeof(hook));

    return jpp_hook_read();
}


void
jpp_hook_reset(void)
{
    if (jpp_hook_read() == JPP_HOOK_ON) {
        (void) jpp_mallctl_call(jpp_hook_name, NULL, 0, &jpp_hook_before,
                                sizeof(jpp_hook_before));
    }
}


/*
 * What may be loaded beside nginx and maps its memory itself, so that malloc's
 * profiler and its counters have nothing of it.
 *
 * One table, of what was seen to do so; the others are named by nobody.  Any
 * thread.
 */


/* A symbol that nobody else defines, and what is said if somebody does. */

typedef struct {
    const char  *symbol;
    const char  *name;
} jpp_mapper_row_t;


static const jpp_mapper_row_t  jpp_mapper_rows[JPP_MAPPERS] = {
    [JPP_MAPPER_LUAJIT] = { "luaJIT_setmode", "LuaJIT" },
    [JPP_MAPPER_PYTHON] = { "Py_Initialize", "Python" },
    [JPP_MAPPER_GO] = { "_cgo_topofstack", "Go" },
    [JPP_MAPPER_JAVA] = { "JNI_CreateJavaVM", "Java" }
};


uint32_t
jpp_mappers_loaded(void)
{
    unsigned  i;
    uint32_t  mappers;

    for (i = 0, mappers = 0; i < JPP_MAPPERS; i++) {
        mappers |= (uint32_t) jpp_images_has(jpp_mapper_rows[i].symbol) << i;
    }

    return mappers;
}


const char *
jpp_mappers_text(uint32_t mappers, char text[JPP_MAPPERS_TEXT])
{
    char        *p;
    unsigned     i;
    uint32_t     rest;
    const char  *joint, *end;

    text[0] = '\0';

    /* another version of the module may know more of them */

    rest = mappers & (((uint32_t) 1 << JPP_MAPPERS) - 1);

    for (i = 0, p = text; rest != 0; i++) {

        if ((rest >> i & 1) == 0) {
            continue;
        }

        rest &= ~((uint32_t) 1 << i);

        joint = p == text ? "" : rest != 0 ? ", " : " and ";
        end = rest != 0 ? "" : p == text ? " is loaded" : " are loaded";

        p = stpcpy(stpcpy(stpcpy(p, joint), jpp_mapper_rows[i].name), end);
    }

    return text;
}


/* the first version in which prof_sys_thread_name is safe */
#define JPP_JEMALLOC_SAFE_NAMES  50301


/* What the lookup found; written once, see the header. */

static bool            jpp_jemalloc_is_found;
static jpp_jemalloc_t  jpp_jemalloc_fixed;


/* Fixed when the process starts.  Versions that lack one behave as if false. */

static void
jpp_jemalloc_options(void)
{
    bool         init;
    ssize_t      interval;
    const char  *version;

    jpp_jemalloc_fixed.accum = jpp_mallctl_is_true("opt.prof_accum");
    jpp_jemalloc_fixed.final = jpp_mallctl_is_true("opt.prof_final");
    jpp_jemalloc_fixed.leak_error = jpp_mallctl_is_true("opt.prof_leak_error");

    jpp_jemalloc_fixed.interval =
        jpp_mallctl_get("opt.lg_prof_interval", &interval, sizeof(interval))
        && interval >= 0;

    jpp_jemalloc_fixed.unsampled =
        jpp_mallctl_get("opt.prof_thread_active_init", &init, sizeof(init))
        && !init;

    /* "5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c" */

    if (jpp_mallctl_get("version", &version, sizeof(version))) {
        jpp_print(jpp_jemalloc_fixed.version, "%.*s",
                  (int) strcspn(version, "-"), version);
    }
}


/* "5.3.1" is 50301; one that cannot be read counts as the oldest. */

static uint32_t
jpp_jemalloc_number(void)
{
    unsigned  major, minor, bugfix;

    return sscanf(jpp_jemalloc_fixed.version, "%3u.%2u.%2u", &major, &minor,
                  &bugfix)
           == 3
           ? (uint32_t) (major * 10000 + minor * 100 + bugfix) : 0;
}


/* One errno has three causes: the order of the questions decides. */

static jpp_jemalloc_state_t
jpp_jemalloc_decide(void)
{
    if (!jpp_mallctl_is_true("config.prof")) {
        return JPP_JEMALLOC_NO_PROF;
    }

    if (!jpp_mallctl_is_true("opt.prof")) {
        return JPP_JEMALLOC_OFF;
    }

    if (jpp_mallctl_is_true("opt.prof_sys_thread_name")
        && jpp_jemalloc_number() < JPP_JEMALLOC_SAFE_NAMES)
    {
        return JPP_JEMALLOC_REFUSED;
    }

    return JPP_JEMALLOC_READY;
}


static void
jpp_jemalloc_current(jpp_jemalloc_t *jemalloc)
{
    size_t  lg_sample;

    jemalloc->active = jpp_mallctl_is_true("prof.active");
    jemalloc->gdump = jpp_mallctl_is_true("prof.gdump");
    jemalloc->hook = jpp_hook_read();
    jemalloc->has_luajit = jemalloc->mappers >> JPP_MAPPER_LUAJIT & 1;

    if (jpp_mallctl_get("prof.lg_sample", &lg_sample, sizeof(lg_sample))) {
        jemalloc->lg_sample = (uint32_t) lg_sample;
    }

    if (jemalloc->state == JPP_JEMALLOC_READY && !jemalloc->active) {
        jemalloc->state = JPP_JEMALLOC_INACTIVE;
    }
}


void
jpp_jemalloc_read(jpp_jemalloc_t *jemalloc)
{
    static uint32_t  mappers;
    static uint64_t  loads;

    if (jpp_images_is_new(&loads)) {
        mappers = jpp_mappers_loaded();
    }

    if (!jpp_jemalloc_is_found) {
        jpp_jemalloc_is_found = true;

        if (jpp_mallctl_find(&jpp_jemalloc_fixed.variable)) {
            jpp_jemalloc_options();
            jpp_jemalloc_fixed.state = jpp_jemalloc_decide();

        } else {
            jpp_mallctl_allocator(jpp_jemalloc_fixed.allocator,
                                  sizeof(jpp_jemalloc_fixed.allocator));
        }
    }

    *jemalloc = jpp_jemalloc_fixed;
    jemalloc->mappers = mappers;

    jpp_backtrace_count(&jemalloc->stacks);

    if (jemalloc->state >= JPP_JEMALLOC_REFUSED) {
        jpp_jemalloc_current(jemalloc);
    }
}


/* The last value of an option counts. */

bool
jpp_jemalloc_is_requested(void)
{
    bool         is_requested;
    uint32_t     i;
    const char  *conf, *variable;

    is_requested = false;

    for (i = 0; (variable = jpp_mallctl_variable(i)) != NULL; i++) {

        conf = getenv(variable);

        for ( /* void */ ; conf != NULL; conf = strchr(conf, ',')) {
            conf += *conf == ',';

            if (strncmp(conf, "prof:", sizeof("prof:") - 1) == 0) {
                is_requested = strncmp(conf, "prof:true",
                                       sizeof("prof:true") - 1)
                               == 0;
            }
        }
    }

    return is_requested;
}


bool
jpp_jemalloc_will_abort(const jpp_jemalloc_t *jemalloc)
{
    return jemalloc->state > JPP_JEMALLOC_OFF
           && jemalloc->has_luajit
           && jemalloc->hook != JPP_HOOK_ON;
}


bool
jpp_jemalloc_sample_thread(bool is_sampled)
{
    bool  was;

    return jpp_mallctl_call("thread.prof.active", &was, sizeof(was),
                            &is_sampled, sizeof(is_sampled))
           != 0
           || was;
}


jpp_code_t
jpp_jemalloc_dump(int fd, jpp_err_t *err)
{
    int          rc;
    char         path[64];
    sigset_t     was;
    const char  *name;

    if (jpp_jemalloc_fixed.state < JPP_JEMALLOC_INACTIVE) {
        return jpp_err_set(err, JPP_ERR_STATE, "cannot dump");
    }

    jpp_print(path, "/proc/self/fd/%d", fd);
    name = path;

    jpp_write_hold(&was);

    errno = 0;
    rc = jpp_mallctl_call("prof.dump", NULL, 0, &name, sizeof(name));

    jpp_write_release(&was);

    /* jemalloc overlooks what a limit has cut off */

    if (jpp_write_is_full(fd)) {
        return jpp_write_failed(err, EFBIG, "the dump");
    }

    if (rc == 0) {
        return JPP_OK;
    }

    /*
     * jemalloc returns EFAULT for every failure, and errno is whatever a call
     * in it left: mostly the cause, but not reliable.
     */

    return jpp_err_set(err, JPP_ERR_JEMALLOC, "jemalloc could not write the "
                       "dump: it needs /proc to be visible, two more free "
                       "descriptors (raise RLIMIT_NOFILE) and memory%s%s",
                       errno != 0 ? "; perhaps: " : "",
                       errno != 0 ? strerror(errno) : "");
}


/* Write NEW to NAME, which needs the state NEEDS at least; FAILED says what is
   left undone otherwise. */

static jpp_code_t
jpp_jemalloc_set(const char *name, jpp_jemalloc_state_t needs,
    const char *failed, void *new, size_t new_size, jpp_err_t *err)
{
    if (jpp_jemalloc_fixed.state < needs) {
        return jpp_err_set(err, JPP_ERR_STATE, "%s", failed);
    }

    errno = jpp_mallctl_call(name, NULL, 0, new, new_size);

    return errno == 0
           ? JPP_OK
           : jpp_err_set(err, JPP_ERR_JEMALLOC,
                         "%s: jemalloc refuses %s (%m), which 5.2.1 to "
                         "5.3.1 are known to allow", failed, name);
}


jpp_code_t
jpp_jemalloc_control(const jpp_control_t *control, bool *is_reset,
    jpp_err_t *err)
{
    bool             is_new, is_active;
    size_t           lg;
    jpp_code_t       rc;
    jpp_jemalloc_t   jemalloc;

    jpp_jemalloc_read(&jemalloc);

    is_new = control->lg_sample != -1
             && (uint32_t) control->lg_sample != jemalloc.lg_sample;

    rc = JPP_OK;
    *is_reset = false;

    if (control->reset || is_new) {
        lg = (size_t) control->lg_sample;

        rc = control->lg_sample == -1
             ? jpp_jemalloc_set("prof.reset", JPP_JEMALLOC_INACTIVE,
                                "the samples were not reset", NULL, 0, err)
             : jpp_jemalloc_set("prof.reset", JPP_JEMALLOC_INACTIVE,
                                "lg_sample was not set", &lg, sizeof(lg), err);

        *is_reset = rc == JPP_OK;
    }

    if (rc == JPP_OK && control->active != -1) {
        is_active = control->active != 0;
        rc = jpp_jemalloc_set("prof.active", JPP_JEMALLOC_INACTIVE,
                              "active was not set", &is_active,
                              sizeof(is_active), err);
    }

    /* 4096 is MALLCTL_ARENAS_ALL of jemalloc.h, since 5.0; that does without a
       profiler */

    if (rc == JPP_OK && control->purge) {
        rc = jpp_jemalloc_set("arena.4096.purge", JPP_JEMALLOC_NO_PROF,
                              "the memory was not purged", NULL, 0, err);
    }

    return rc;
}
