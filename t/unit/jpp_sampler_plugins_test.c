
/*
 * Objects that are opened late, in every way that dlopen() knows, beside every
 * malloc(): what they allocate and free while the sampler is switched goes to
 * the allocator that they would call without it.
 */


#include "jpp_test_sampler.h"

#include <sys/sendfile.h>


#if defined(__x86_64__) && defined(__LP64__)


#define JPP_SWITCHES  100

#define JPP_COMMAND   160


/* two plugins exchange what they allocate */
#define JPP_PLUGINS   2


typedef struct {
    char            name[64];
    void           *handle;
    jpp_malloc_pt   allocate;
    void          (*free)(void *p);
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


/* A copy of the library is another object, with slots of its own. */

static bool
jpp_plugin_copy(jpp_plugin_t *plugin)
{
    int      in, out;
    char     path[4096];
    ssize_t  n;

    strcpy(plugin->name, "/tmp/jpp_plugin_XXXXXX");

    in = open(jpp_beside("jpp_plugin.so", path), O_RDONLY|O_CLOEXEC);
    out = mkstemp(plugin->name);
    n = sendfile(out, in, NULL, 1 << 20);

    close(in);
    close(out);

    return n > 0;
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

    return true;
}


static bool
jpp_plugin_open(jpp_plugin_t *plugin, int mode)
{
    bool  is_open;

    is_open = jpp_plugin_copy(plugin) && jpp_plugin_load(plugin, mode);
    unlink(plugin->name);

    return is_open;
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


/*
 * The file of a plugin is replaced before it is loaded again: what the sampler
 * has seen stays, and what it has not is the new file.
 */

static void
jpp_play_replaced(void)
{
    int           i, bad, n_kept;
    void         *p, *kept;
    jpp_plugin_t  plugin, other;

    for (i = 0, bad = 0, n_kept = 0; i < JPP_SWITCHES; i++) {
        bad += !jpp_plugin_copy(&plugin)
               || !jpp_plugin_load(&plugin, RTLD_LAZY);
        p = jpp_use(plugin.allocate(JPP_BLOCK));

        if (i % 2 == 0) {
            bad += jpp_sampler_on(JPP_FINE, NULL) != JPP_OK;
        }

        (void) dlclose(plugin.handle);

        bad += !jpp_plugin_copy(&other) || rename(other.name, plugin.name) != 0;

        kept = dlopen(plugin.name, RTLD_LAZY|RTLD_NOLOAD);
        n_kept += kept != NULL;
        bad += (kept != NULL) != (i % 2 == 0)
               || !jpp_plugin_load(&plugin, RTLD_LAZY);

        plugin.free(p);
        p = jpp_use(plugin.allocate(JPP_BLOCK));
        bad += i % 2 == 0 && jpp_sampler_off(NULL) != JPP_OK;
        plugin.free(p);

        unlink(plugin.name);
    }

    jpp_check(bad == 0 && n_kept == JPP_SWITCHES / 2,
              "%d files replaced, %d plugins kept", JPP_SWITCHES, n_kept);
}


static const jpp_part_t  jpp_parts[] = {
    { "modes", jpp_play_modes, true, 0 },
    { "replaced", jpp_play_replaced, true, 0 }
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

        jpp_print(command, "test -z \"$(LD_PRELOAD=%s /bin/true 2>&1)\"",
                  preloads[i]);

        if (JPP_IS_SANITIZED || system(command) != 0) {
            jpp_ok(true, "%s # SKIP it is not there", preloads[i]);
            continue;
        }

        jpp_run(&program, jpp_parts[0].name);
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


#endif
