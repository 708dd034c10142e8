
/*
 * Slots that are replaced and put back, in this process: getppid() stands for
 * what the sampler patches, so that nothing depends on malloc().
 */


#include "jpp_test_arena.h"
#include "jpp_proc.h"
#include "jpp_sampler.h"
#include "jpp_test_seccomp.h"


#if defined(__x86_64__) && defined(__LP64__)


#define JPP_HOOKED    4711
#define JPP_ANOTHER   4712
#define JPP_DEEP      4713

#define JPP_NAME      32

#define JPP_CALLS                                                             \
    "int getppid(void); int jpp_call(void) { return getppid(); } "


typedef pid_t (*jpp_call_pt)(void);


/* a place of this process: what is in it, and how its page is protected */
typedef struct {
    uintptr_t   *at;
    uintptr_t    value;
    int          protection;
} jpp_place_t;


static jpp_got_function_t  jpp_functions[] = {
    { "getppid", 0, 0, false },
    { "jpp_no_such_function", 0, 0, false }
};

static jpp_got_t    jpp_got;
static jpp_place_t  jpp_places[100000];
static size_t       jpp_places_n;
static uintptr_t   *jpp_slot;
static pid_t        jpp_parent;

/* a pointer in data, which the linker fills, in a page of its own */
static struct {
    pid_t      (*volatile call)(void);
    char         rest[4096 - sizeof(void *)];
} jpp_page __attribute__((aligned(4096))) = { getppid, "" };


static pid_t
jpp_hook(void)
{
    return JPP_HOOKED;
}


static pid_t
jpp_another(void)
{
    return JPP_ANOTHER;
}


static bool
jpp_place(const jpp_got_reloc_t *reloc, void *data)
{
    jpp_place_t     *place;
    const jpp_vec_t *maps = data;

    place = &jpp_places[jpp_places_n];

    if (jpp_places_n < sizeof(jpp_places) / sizeof(jpp_places[0])) {
        jpp_places_n++;

        place->at = reloc->at;
        place->value = *reloc->at;
        place->protection = jpp_proc_protection((const char *) maps->data,
                                                maps->len,
                                                (uintptr_t) reloc->at);
    }

    if (reloc->is_call && strcmp(reloc->name, "getppid") == 0
        && !reloc->is_own)
    {
        jpp_slot = reloc->at;
    }

    return true;
}


static bool
jpp_object(const jpp_images_object_t *object, void *data)
{
    jpp_got_read(object, jpp_place, data);

    return true;
}


/* The kernel's list of mappings. */

static jpp_vec_t *
jpp_maps(void)
{
    jpp_vec_t  *maps;

    jpp_arena_fresh(&arena, JPP_TEST_CAP);
    maps = jpp_vec_create(&arena);
    (void) jpp_proc_maps(maps, NULL);

    return maps;
}


/* Every place of every object. */

static void
jpp_look(void)
{
    jpp_places_n = 0;
    jpp_images_pinned(jpp_object, jpp_maps());
}


/* How many places are not what they were. */

static size_t
jpp_changed(void)
{
    size_t      i, n;
    jpp_vec_t  *maps = jpp_maps();

    for (i = 0, n = 0; i < jpp_places_n; i++) {
        n += *jpp_places[i].at != jpp_places[i].value
             || jpp_places[i].protection
                != jpp_proc_protection((const char *) maps->data, maps->len,
                                       (uintptr_t) jpp_places[i].at);
    }

    return n;
}


/* What a child finds, as the bits of its status. */

static int
jpp_in_child(int (*run)(void))
{
    int    status;
    pid_t  pid;

    pid = fork();

    if (pid == 0) {
        _exit(run());
    }

    return waitpid(pid, &status, 0) == pid && WIFEXITED(status)
           ? WEXITSTATUS(status) : -1;
}


/* The page of our pointer, as RELRO leaves one. */

static void
jpp_protect(int protection)
{
    (void) mprotect(&jpp_page, sizeof(jpp_page), protection);
}


static int
jpp_refused_on(void)
{
    int  found;

    jpp_protect(PROT_READ);
    found = !jpp_refuse_writable();

    /* what a failure calls is bound by then */

    (void) jpp_err_sys(&err, EPERM, "refused");
    jpp_look();

    found |= (jpp_got_patch(&jpp_got, &err) == JPP_ERR_SYS) << 1;
    found |= (jpp_changed() == 0 && jpp_got.n_slots == 0) << 3;
    found |= (strstr(err.text, "mprotect is refused") != NULL
              && strstr(err.text, "seccomp") != NULL) << 2;
    found |= (getppid() != JPP_HOOKED && jpp_page.call() != JPP_HOOKED) << 4;

    return found;
}


static int
jpp_refused_off(void)
{
    int       found;
    uint32_t  n;

    jpp_protect(PROT_READ);

    found = jpp_got_patch(&jpp_got, &err) != JPP_OK || !jpp_refuse_writable();
    n = jpp_got.n_slots;

    found |= (jpp_got_restore(&jpp_got, &err) == JPP_ERR_SYS) << 1;
    found |= (strstr(err.text, "mprotect is refused") != NULL) << 2;
    found |= (jpp_got.n_slots == n) << 3;
    found |= (getppid() == JPP_HOOKED && jpp_page.call() == JPP_HOOKED) << 4;

    return found;
}


JPP_TEST(jpp_test_patch)
{
    int  i;

    jpp_ok(getppid() != JPP_HOOKED && jpp_page.call() != JPP_HOOKED,
           "the real one");

    /* a slot that the linker binds meanwhile would have changed */

    jpp_look();
    (void) jpp_changed();
    (void) jpp_got_patch(&jpp_got, NULL);
    (void) jpp_got_restore(&jpp_got, NULL);
    jpp_protect(PROT_READ|PROT_WRITE);

    jpp_look();
    jpp_ok(jpp_places_n > 100 && jpp_slot != NULL,
           "%zu places, the slot for calls among them", jpp_places_n);
    jpp_is_u64(jpp_changed(), 0, "none has changed");

    jpp_is_i64(jpp_got_patch(&jpp_got, NULL), JPP_OK, "patch");
    jpp_ok(jpp_got.n_slots >= 2 && jpp_got.n_objects >= 1
           && jpp_got.n_foreign == 0, "%u slots of %u objects",
           jpp_got.n_slots, jpp_got.n_objects);
    jpp_is_i64(getppid(), JPP_HOOKED, "a call");
    jpp_is_i64(jpp_page.call(), JPP_HOOKED, "a pointer");
    jpp_is_u64(jpp_changed(), jpp_got.n_slots, "nothing else has changed");

    i = (int) jpp_got.n_slots;
    jpp_is_i64(jpp_got_patch(&jpp_got, NULL), JPP_OK, "once more");
    jpp_is_i64((int) jpp_got.n_slots, i, "no slot is taken twice");

    jpp_is_i64(jpp_got_restore(&jpp_got, NULL), JPP_OK, "restore");
    jpp_ok(getppid() != JPP_HOOKED && jpp_page.call() != JPP_HOOKED,
           "the real one again");
    jpp_is_u64(jpp_changed(), 0, "every slot and page is what it was");

    jpp_protect(PROT_READ);
    jpp_look();
    (void) jpp_got_patch(&jpp_got, NULL);
    jpp_is_i64(jpp_page.call(), JPP_HOOKED, "a pointer in a read-only page");

    for (i = 0; i < 100; i++) {
        (void) jpp_got_restore(&jpp_got, NULL);
        (void) jpp_got_patch(&jpp_got, NULL);
    }

    (void) jpp_got_restore(&jpp_got, NULL);
    jpp_is_u64(jpp_changed(), 0, "which is read-only again");
    jpp_protect(PROT_READ|PROT_WRITE);
}


/*
 * A library of the C source TEXT, whose slots are bound late, linked with the
 * file LIBRARY if that is not ""; its own is NAME.  NULL: no compiler.
 */

static void *
jpp_build(const char *text, const char *library, int mode, char name[JPP_NAME])
{
    char  command[1024];

    strcpy(name, "/tmp/jpp_got_XXXXXX");
    close(mkstemp(name));
    jpp_print(command, "echo '%s' | cc -shared -fPIC -fplt -Wl,-z,lazy -o %s "
              "-x c - -x none %s 2>/dev/null", text, name, library);

    return system(command) == 0 ? dlopen(name, mode) : NULL;
}


/* What calls getppid() in it; jpp_slot is its slot. */

static jpp_call_pt
jpp_late(const char *text, const char *library, int mode)
{
    char         name[JPP_NAME];
    void        *handle;
    jpp_call_pt  call;

    handle = jpp_build(text, library, mode, name);
    unlink(name);

    jpp_slot = NULL;
    jpp_look();

    *(void **) &call = handle != NULL ? dlsym(handle, "jpp_call") : NULL;

    return call;
}


/* Whose a slot is that was never called by is for the linker to say. */

JPP_TEST(jpp_test_unbound)
{
    uintptr_t    was;
    jpp_call_pt  call;

    call = jpp_late(JPP_CALLS, "", RTLD_LAZY);

    if (call == NULL) {
        jpp_ok(true, "a slot that is not bound # SKIP no compiler");
        return;
    }

    was = *jpp_slot;
    jpp_ok(was != jpp_functions[0].real, "a slot that is not bound");
    (void) jpp_got_patch(&jpp_got, NULL);
    jpp_is_u64(*jpp_slot, was, "alone in its object it is left to the linker");
    jpp_is_i64(call(), jpp_parent, "a call of it");
    jpp_is_u64(*jpp_slot, jpp_functions[0].real, "binds it");
    (void) jpp_got_patch(&jpp_got, NULL);
    jpp_is_i64(call(), JPP_HOOKED, "so that it is patched the next time");
    (void) jpp_got_restore(&jpp_got, NULL);
    jpp_is_u64(*jpp_slot, jpp_functions[0].real, "and restored");

    /* a function that does nothing when it is called for that */

    jpp_functions[0].is_idle = true;
    call = jpp_late(JPP_CALLS, "", RTLD_LAZY);
    jpp_ok(*jpp_slot != jpp_functions[0].real, "another");
    (void) jpp_got_patch(&jpp_got, NULL);
    jpp_is_i64(call(), JPP_HOOKED, "is bound to be patched");
    (void) jpp_got_restore(&jpp_got, NULL);
    jpp_is_u64(*jpp_slot, jpp_functions[0].real, "and restored");
    jpp_functions[0].is_idle = false;

    /* another place of the object says what the linker would do */

    call = jpp_late(JPP_CALLS "int (*jpp_pointer)(void) = getppid;", "",
                    RTLD_LAZY);
    was = *jpp_slot;
    jpp_ok(was != jpp_functions[0].real, "one beside a pointer");
    (void) jpp_got_patch(&jpp_got, NULL);
    jpp_is_i64(call(), JPP_HOOKED, "is patched");
    (void) jpp_got_restore(&jpp_got, NULL);
    jpp_is_u64(*jpp_slot, was, "and not bound again");
    jpp_ok(call() == jpp_parent && *jpp_slot == jpp_functions[0].real,
           "the linker binds it");

    /* the linker may do so while it is patched, too */

    (void) jpp_got_patch(&jpp_got, NULL);
    *jpp_slot = jpp_functions[0].real;
    jpp_is_u64(jpp_got_lost(&jpp_got), 1, "a slot that was written since");
    (void) jpp_got_patch(&jpp_got, NULL);
    jpp_is_i64(call(), JPP_HOOKED, "is patched again");
    (void) jpp_got_restore(&jpp_got, NULL);
    jpp_ok(*jpp_slot == jpp_functions[0].real, "and restored");
}


/*
 * An object that was opened with RTLD_DEEPBIND finds functions in what it was
 * linked with, before it finds ours.
 */

JPP_TEST(jpp_test_deep)
{
    char         name[JPP_NAME];
    uint32_t     n;
    uintptr_t    was;
    jpp_call_pt  call;

    if (jpp_build("int getppid(void) { return 4713; }", "",
                  RTLD_LAZY|RTLD_LOCAL, name) == NULL)
    {
        unlink(name);
        return;
    }

    /* sanitizers do not allow the mode */

    for (n = JPP_IS_SANITIZED ? 2 : 0; n < 2; n++) {
        jpp_functions[0].is_idle = n == 1;

        call = jpp_late(JPP_CALLS, name, RTLD_LAZY|RTLD_DEEPBIND);
        was = *jpp_slot;

        (void) jpp_got_patch(&jpp_got, NULL);
        jpp_is_i64(call(), JPP_DEEP, "one that binds elsewhere");
        jpp_ok(*jpp_slot != was, "which the linker does");
        jpp_is_u64(jpp_got.n_foreign, n, "is somebody else's");
        (void) jpp_got_restore(&jpp_got, NULL);
        jpp_is_i64(call(), JPP_DEEP, "and stays so");

        was = *jpp_slot;
        (void) jpp_got_patch(&jpp_got, NULL);
        (void) jpp_got_restore(&jpp_got, NULL);
        jpp_is_u64(*jpp_slot, was, "also the next time");
        *jpp_slot = jpp_functions[0].real;
    }

    jpp_functions[0].is_idle = false;
    unlink(name);
}


JPP_TEST(jpp_test_another)
{
    jpp_slot = NULL;
    jpp_look();

    *jpp_slot = (uintptr_t) jpp_another;
    (void) jpp_got_patch(&jpp_got, NULL);
    jpp_is_u64(*jpp_slot, (uintptr_t) jpp_another, "another's is left to it");
    jpp_is_u64(jpp_got.n_foreign, 1, "and counted");
    (void) jpp_got_restore(&jpp_got, NULL);
    jpp_is_u64(*jpp_slot, (uintptr_t) jpp_another, "also when restoring");
    *jpp_slot = jpp_functions[0].real;

    (void) jpp_got_patch(&jpp_got, NULL);
    jpp_is_u64(jpp_got_lost(&jpp_got), 0, "none is lost");
    *jpp_slot = (uintptr_t) jpp_another;
    jpp_is_u64(jpp_got_lost(&jpp_got), 1, "one that another takes over is");
    (void) jpp_got_restore(&jpp_got, NULL);
    jpp_is_u64(*jpp_slot, (uintptr_t) jpp_another, "it keeps what it took");

    /* and puts back what it found, after we have gone */

    *jpp_slot = (uintptr_t) jpp_hook;
    (void) jpp_got_patch(&jpp_got, NULL);
    (void) jpp_got_restore(&jpp_got, NULL);
    jpp_is_u64(*jpp_slot, jpp_functions[0].real,
               "what it gives back late is restored the next time");
    jpp_is_u64(jpp_changed(), 0, "every slot and page is what it was");
}


int
main(void)
{
    jpp_functions[0].real = jpp_got_find("getppid");
    jpp_functions[0].hook = (uintptr_t) jpp_hook;
    jpp_functions[1].real = jpp_got_find("jpp_no_such_function");
    jpp_functions[1].hook = (uintptr_t) jpp_hook;

    jpp_got.functions = jpp_functions;
    jpp_got.n_functions = 2;
    jpp_parent = getppid();

    jpp_is_u64(jpp_functions[1].real, 0, "a function that nobody has");
    jpp_ok(jpp_images_is_beside(jpp_functions[0].real, jpp_got_find("getpid")),
           "two functions of libc lie in one object");
    jpp_ok(!jpp_images_is_beside(jpp_functions[0].real, (uintptr_t) jpp_hook),
           "ours lies in another");

    jpp_tests_all();

    jpp_got.except = (uintptr_t) jpp_hook;
    (void) jpp_got_patch(&jpp_got, NULL);
    jpp_ok(getppid() != JPP_HOOKED, "an object that is excepted");
    (void) jpp_got_restore(&jpp_got, NULL);
    jpp_got.except = 0;

    jpp_is_i64(jpp_in_child(jpp_refused_on), 0x1e,
               "patching that is refused changes nothing");
    jpp_is_i64(jpp_in_child(jpp_refused_off), 0x1e,
               "restoring that is refused leaves all patched");

    return jpp_done();
}


#else


JPP_TEST_ONLY(true, "slots # SKIP not on this machine")


#endif
