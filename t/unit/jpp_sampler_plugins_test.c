
/*
 * Objects that are opened late, in every way that dlopen() knows, beside every
 * malloc(): what they allocate and free while the sampler is switched goes to
 * the allocator that they would call without it.  And they can be closed, and
 * replaced.
 */


#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <fcntl.h>

#include "jpp_backtrace.h"
#include "jpp_test_sampler.h"


#if defined(__x86_64__) && defined(__LP64__)


#define JPP_SWITCHES  100

#define JPP_COMMAND   160

/* bytes of the library, at most */
#define JPP_LIBRARY   (1 << 20)

/* in the library */
#define JPP_VERSION   "version 1"


/* two plugins exchange what they allocate */
#define JPP_PLUGINS   2


typedef struct {
    char            name[64];
    void           *handle;
    jpp_malloc_pt   allocate;
    void          (*free)(void *p);
    const char   *(*version)(void);
} jpp_plugin_t;


static const struct {
    const char     *name;
    int             mode;
} jpp_modes[] = {
    { "lazy",                 RTLD_LAZY },
    { "now",                  RTLD_NOW },
    { "lazy, deep",           RTLD_LAZY|RTLD_DEEPBIND },
    { "now, deep",            RTLD_NOW|RTLD_DEEPBIND },
    { "lazy, for ever",       RTLD_LAZY|RTLD_NODELETE },
    { "lazy, deep, for ever", RTLD_LAZY|RTLD_DEEPBIND|RTLD_NODELETE },
    { "lazy, global",         RTLD_LAZY|RTLD_GLOBAL }
};


/*
 * A copy of the library is another object, with slots of its own.  It takes the
 * place of an older file, as an upgrade does it.
 */

static bool
jpp_plugin_copy(const char *name, int version)
{
    int      fd;
    char     path[4096], *text;
    ssize_t  n;

    static char  library[JPP_LIBRARY];

    n = readlink("/proc/self/exe", path, sizeof(path) - 64);
    path[n > 0 ? n : 0] = '\0';
    strcpy(strrchr(path, '/') + 1, "jpp_plugin.so");

    fd = open(path, O_RDONLY|O_CLOEXEC);
    n = read(fd, library, JPP_LIBRARY);
    close(fd);

    text = n > 0 ? memmem(library, (size_t) n, JPP_VERSION,
                          sizeof(JPP_VERSION)) : NULL;

    if (text == NULL) {
        return false;
    }

    text[sizeof(JPP_VERSION) - 2] = (char) ('0' + version);

    snprintf(path, sizeof(path), "%s.new", name);

    fd = open(path, O_WRONLY|O_CREAT|O_CLOEXEC, 0700);
    n -= write(fd, library, (size_t) n);
    close(fd);

    return n == 0 && rename(path, name) == 0;
}


static bool
jpp_plugin_load(jpp_plugin_t *plugin, int mode)
{
    plugin->handle = dlopen(plugin->name, mode);

    if (plugin->handle == NULL) {
        return jpp_check(false, "a plugin: %s", dlerror());
    }

    *(void **) &plugin->allocate = dlsym(plugin->handle, "jpp_plugin_malloc");
    *(void **) &plugin->free = dlsym(plugin->handle, "jpp_plugin_free");
    *(void **) &plugin->version = dlsym(plugin->handle, "jpp_plugin_version");

    return true;
}


static bool
jpp_plugin_open(jpp_plugin_t *plugin, int mode)
{
    bool  is_loaded;

    strcpy(plugin->name, "/tmp/jpp_plugin_XXXXXX");
    close(mkstemp(plugin->name));

    is_loaded = jpp_plugin_copy(plugin->name, 1)
                && jpp_plugin_load(plugin, mode);

    unlink(plugin->name);

    return is_loaded;
}


/* What each allocates, on or off, the other frees, off or on. */

static void
jpp_play_mode(int mode, const char *name, bool is_used)
{
    int           i, bad, n_sampled;
    bool          is_ours;
    void         *p;
    jpp_plugin_t  plugins[JPP_PLUGINS], *one, *other;

    if (!jpp_plugin_open(&plugins[0], mode)
        || !jpp_plugin_open(&plugins[1], mode))
    {
        return;
    }

    if (is_used) {
        plugins[0].free(jpp_use(plugins[0].allocate(1)));
    }

    for (i = 0, bad = 0, n_sampled = 0; i < JPP_SWITCHES; i++) {
        one = &plugins[i % JPP_PLUGINS];
        other = &plugins[(i + i / 2) % JPP_PLUGINS];

        bad += jpp_sampler_on(JPP_FINE, NULL) != JPP_OK;

        p = jpp_use(one->allocate(JPP_BLOCK));
        other->free(jpp_use(other->allocate(JPP_BLOCK)));
        n_sampled += jpp_sample(p) == JPP_BLOCK;

        bad += i % 3 != 0 && jpp_sampler_off(NULL) != JPP_OK;

        other->free(p);
        p = jpp_use(other->allocate(JPP_BLOCK));

        bad += i % 3 == 0 && jpp_sampler_off(NULL) != JPP_OK;

        one->free(p);
    }

    jpp_check(bad == 0, "%s%s: %d times on and off", name,
              is_used ? ", used before" : "", JPP_SWITCHES);

    /* beside another allocator, deep ones call libc's */

    is_ours = (mode & RTLD_DEEPBIND) == 0 || getenv("LD_PRELOAD") == NULL;

    jpp_check(n_sampled == (is_ours ? JPP_SWITCHES : 0), "%s: %d are sampled",
              name, n_sampled);

    (void) dlclose(plugins[0].handle);
    (void) dlclose(plugins[1].handle);
}


static void
jpp_play_modes(void)
{
    size_t  i;

    for (i = 0; i < sizeof(jpp_modes) / sizeof(jpp_modes[0]); i++) {
        jpp_play_mode(jpp_modes[i].mode, jpp_modes[i].name, false);
        jpp_play_mode(jpp_modes[i].mode, jpp_modes[i].name, true);
    }
}


/* As nginx does it once a second. */

static void
jpp_tick(void)
{
    jpp_err_t  err;

    jpp_check(jpp_sampler_rescan(&err) == JPP_OK, "a look");

    jpp_backtrace_refresh();
}


static bool
jpp_knows(const jpp_plugin_t *plugin)
{
    return jpp_backtrace_function((uintptr_t) plugin->version) != 0;
}


/* Closed, replaced on disk, and opened again: which one is it? */

static void
jpp_replaced(jpp_plugin_t *plugin, int file, int version, const char *when)
{
    const char  *got;

    jpp_plugin_copy(plugin->name, file);

    if (jpp_plugin_load(plugin, RTLD_LAZY)) {
        got = plugin->version();

        jpp_check(got[sizeof(JPP_VERSION) - 2] == '0' + version,
                  "%s: %s", when, got);
    }
}


static void
jpp_play_replaced(void)
{
    jpp_plugin_t  plugin;

    strcpy(plugin.name, "/tmp/jpp_plugin_XXXXXX");
    close(mkstemp(plugin.name));

    jpp_replaced(&plugin, 1, 1, "nothing is used");
    dlclose(plugin.handle);
    jpp_replaced(&plugin, 2, 2, "nor then");

    /* it was there when the first user came */

    jpp_check(jpp_backtrace_start(), "a user of stacks");
    jpp_check(jpp_knows(&plugin), "the plugin is known");
    dlclose(plugin.handle);
    jpp_tick();
    jpp_check(jpp_knows(&plugin), "and stays so");
    jpp_replaced(&plugin, 3, 2, "it was not unloaded");
    dlclose(plugin.handle);
    jpp_backtrace_stop();
    jpp_check(jpp_backtrace_is_used(), "it is still to be let go");
    jpp_tick();
    jpp_check(!jpp_backtrace_is_used() && !jpp_knows(&plugin),
              "and is, without users");
    jpp_replaced(&plugin, 3, 3, "it was");

    /* what comes while there is one goes while there is one */

    dlclose(plugin.handle);
    jpp_check(jpp_backtrace_start(), "another user");
    jpp_replaced(&plugin, 4, 4, "it comes later");
    jpp_check(!jpp_knows(&plugin), "and is not known");
    jpp_tick();
    jpp_check(jpp_knows(&plugin), "until the next look");
    jpp_tick();
    jpp_check(jpp_knows(&plugin), "what is open stays");
    dlclose(plugin.handle);
    jpp_tick();
    jpp_check(!jpp_knows(&plugin), "what is closed goes");
    jpp_replaced(&plugin, 5, 5, "while others walk");
    jpp_tick();

    /* its slots are the sampler's until it is off */

    jpp_on(JPP_FINE);
    plugin.free(jpp_use(plugin.allocate(JPP_BLOCK)));
    dlclose(plugin.handle);
    jpp_tick();
    jpp_replaced(&plugin, 6, 5, "the sampler is on");
    jpp_allocated("it", plugin.allocate(JPP_BLOCK), JPP_BLOCK);
    dlclose(plugin.handle);
    jpp_off();
    jpp_tick();
    jpp_replaced(&plugin, 6, 6, "the sampler is off");
    jpp_tick();
    dlclose(plugin.handle);

    jpp_backtrace_stop();
    jpp_tick();
    jpp_check(!jpp_backtrace_is_used(), "nothing is held in the end");

    unlink(plugin.name);
}


static const jpp_part_t  jpp_parts[] = {
    { "replaced", jpp_play_replaced, true },
    { "modes", jpp_play_modes, true }
};


/* Allocators that not every machine has. */

static void
jpp_others(void)
{
    char           command[JPP_COMMAND];
    size_t         i;
    jpp_program_t  program = { NULL, "", NULL, true };

    static const char *const  preloads[] = {
        "libtcmalloc_minimal.so.4", "libmimalloc.so.2", "libmimalloc.so.3"
    };

    for (i = 0; i < sizeof(preloads) / sizeof(preloads[0]); i++) {
        program.what = preloads[i];
        program.preload = preloads[i];

        snprintf(command, sizeof(command),
                 "test -z \"$(LD_PRELOAD=%s /bin/true 2>&1)\"", preloads[i]);

        if (JPP_IS_SANITIZED || system(command) != 0) {
            jpp_ok(true, "%s # SKIP it is not there", preloads[i]);
            continue;
        }

        jpp_run(&program, jpp_parts[1].name);
    }
}


int
main(int argc, char **argv)
{
    if (argc == 1) {
        jpp_others();
    }

    return jpp_play(argc, argv, jpp_parts,
                    sizeof(jpp_parts) / sizeof(jpp_parts[0]), NULL);
}


#else


int
main(void)
{
    jpp_ok(true, "plugins # SKIP not on this machine");

    return jpp_done();
}


#endif
