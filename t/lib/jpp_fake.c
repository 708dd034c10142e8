
/*
 * A jemalloc that misbehaves as a test wants it to: a library to be preloaded
 * (into nginx, or into a unit test) that exports mallctl(), and a
 * memfd_create(), connect() and accept4() that can be made to fail.
 *
 *     LD_PRELOAD=build/t/jpp_fake.so JPP_FAKE=FILE nginx ...
 *
 * FILE is read at every call, so that a running process can be told something
 * new; replace it by rename(), or half of it may be read.  While it cannot be
 * read (no free descriptor, say) what was last read holds.  A file that is
 * empty, or none, is a jemalloc 5.3.0 with a profiler that is active, and a
 * dump of three stacks.
 *
 * FILE has lines `key value`; lines that begin with # are passed over.  Of two
 * lines with one key the first counts.
 *
 * What is read; a value of `-` makes it ENOENT, as where a version lacks it:
 *
 *     config.prof 0|1             opt.prof 0|1            prof.active 0|1
 *     prof.lg_sample 19           prof.gdump 0|1          version 5.3.0-0-g0
 *     opt.prof_accum 0|1          opt.prof_final 0|1
 *     opt.prof_leak_error 0|1     opt.prof_sys_thread_name 0|1
 *     opt.lg_prof_interval -1     stats.allocated 1000000 (and the others)
 *     thread.allocated rising|-
 *
 * With config.prof 0, opt.* and prof.* are ENOENT; with opt.prof 0, prof.* are
 * 0 and a dump is ENOENT; as in the real one.  thread.prof.active is per
 * thread, for reading and writing.  A value of another width than jemalloc's
 * is EINVAL; `narrow NAME` is a version whose NAME is a byte less.
 *
 * What can be written: prof.active, and through prof.reset prof.lg_sample; what
 * was last written is read from then on, whatever FILE says.  Each write of
 * arena.4096.purge takes 1000000 from stats.resident.
 *
 *     refuse NAME     a write of NAME fails with EFAULT
 *
 * thread.allocated rises with every call, so that this mallctl is believed to
 * be malloc()'s.  `-` is a build without statistics: then only the object of
 * malloc() can tell, which is this library too.
 *
 *     symbol mallctl|je_mallctl|_rjem_mallctl|none
 *
 * is whose thread.allocated rises; through the others it stands still, as that
 * of an allocator does that is not malloc()'s.
 *
 * The dump.  The first of these keys that is there says what is written:
 *
 *     dump FILE       the bytes of FILE
 *     garbage N       N bytes of noise
 *     empty 1         nothing
 *     large N         a well-formed dump of N MB
 *                     and without any, three stacks: see jpp_fake_three()
 *
 * and these change it:
 *
 *     maps 1|0        append "\nMAPPED_LIBRARIES:\n" and the maps of this
 *                     process; 1 for three stacks and for large, else 0
 *     cut N           only the first N bytes
 *     hang SECONDS    sleep before anything is written (fractions are allowed)
 *     fail ERRNO      write nothing; errno is ERRNO, mallctl() says EFAULT
 *
 * And what fails with a number:
 *
 *     memfd ERRNO     memfd_create()
 *     connect ERRNO   connect() to an abstract unix socket
 *     accept ERRNO    accept4() from a unix socket
 */


/* RTLD_NEXT, AT_ENTRY, memfd_create(), accept4() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>


#define JPP_FAKE_SIZE    4096
#define JPP_FAKE_FRAMES  20

#define JPP_FAKE_MAPS    "\nMAPPED_LIBRARIES:\n"

/* what a purge gives back */
#define JPP_FAKE_PURGED  1000000


typedef struct {
    char             text[JPP_FAKE_SIZE + 128];
} jpp_fake_t;


/* What was written; -1: nothing. */
typedef struct {
    int              active;
    int              lg_sample;
    int              n_purges;
} jpp_fake_written_t;


typedef enum {
    JPP_FAKE_BOOL = 0,
    JPP_FAKE_SIZE_T,
    JPP_FAKE_SSIZE_T,
    JPP_FAKE_U64,
    JPP_FAKE_STRING
} jpp_fake_width_t;


typedef struct {
    const char        *name;
    jpp_fake_width_t   width;
    const char        *value;
} jpp_fake_control_t;


/* What a dump is built from: bytes out, and how many are still allowed. */
typedef struct {
    FILE              *file;
    long long          left;
} jpp_fake_out_t;


void jpp_fake_root(void);
void jpp_fake_alpha(void);
void jpp_fake_beta(void);
void jpp_fake_gamma(void);
int mallctl(const char *name, void *old, size_t *old_size, void *new,
    size_t new_size);
int je_mallctl(const char *name, void *old, size_t *old_size, void *new,
    size_t new_size);
int _rjem_mallctl(const char *name, void *old, size_t *old_size, void *new,
    size_t new_size);

static int jpp_fake_ctl(const char *symbol, const char *name, void *old,
    size_t *old_size, void *new, size_t new_size);
static bool jpp_fake_fails(const char *key);
static void jpp_fake_read(jpp_fake_t *fake);
static const char *jpp_fake_get(jpp_fake_t *fake, const char *key,
    char value[JPP_FAKE_SIZE]);
static long long jpp_fake_number(jpp_fake_t *fake, const char *key,
    long long otherwise);
static bool jpp_fake_is(jpp_fake_t *fake, const char *key);
static int jpp_fake_value(jpp_fake_t *fake,
    const jpp_fake_control_t *control, void *old, size_t *old_size);
static int jpp_fake_answer(const void *value, size_t size, void *old,
    size_t *old_size);
static int jpp_fake_set(jpp_fake_t *fake, const char *name,
    const void *new, size_t new_size);
static int jpp_fake_set_profiler(jpp_fake_t *fake, const char *name,
    const void *new, size_t new_size);
static int jpp_fake_allocated(jpp_fake_t *fake, const char *symbol, void *old,
    size_t *old_size);
static int jpp_fake_thread(jpp_fake_t *fake, void *old, size_t *old_size,
    const void *new, size_t new_size);
static int jpp_fake_dump(jpp_fake_t *fake, const char *path);
static void jpp_fake_write(jpp_fake_t *fake, jpp_fake_out_t *out);
static void jpp_fake_hang(const char *seconds);
static void jpp_fake_three(jpp_fake_out_t *out, unsigned lg_sample);
static void jpp_fake_large(jpp_fake_out_t *out, long long bytes,
    unsigned lg_sample);
static void jpp_fake_garbage(jpp_fake_out_t *out, long long bytes);
static void jpp_fake_copy(jpp_fake_out_t *out, const char *path);
static void jpp_fake_printf(jpp_fake_out_t *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void jpp_fake_bytes(jpp_fake_out_t *out, const char *data, size_t len);


/*
 * opt.prof_unbias, say, is not among them: nobody asks, and what is not here
 * cannot be read.
 */

static const jpp_fake_control_t  jpp_fake_controls[] = {
    { "version",                   JPP_FAKE_STRING,   "5.3.0-0-g54eaed1d" },
    { "config.prof",               JPP_FAKE_BOOL,     "1" },
    { "opt.prof",                  JPP_FAKE_BOOL,     "1" },
    { "opt.prof_accum",            JPP_FAKE_BOOL,     "0" },
    { "opt.prof_final",            JPP_FAKE_BOOL,     "0" },
    { "opt.prof_leak_error",       JPP_FAKE_BOOL,     "0" },
    { "opt.prof_sys_thread_name",  JPP_FAKE_BOOL,     "0" },
    { "opt.lg_prof_interval",      JPP_FAKE_SSIZE_T,  "-1" },
    { "prof.active",               JPP_FAKE_BOOL,     "1" },
    { "prof.gdump",                JPP_FAKE_BOOL,     "0" },
    { "prof.lg_sample",            JPP_FAKE_SIZE_T,   "19" },
    { "epoch",                     JPP_FAKE_U64,      "1" },
    { "stats.allocated",           JPP_FAKE_SIZE_T,   "1000000" },
    { "stats.active",              JPP_FAKE_SIZE_T,   "2000000" },
    { "stats.metadata",            JPP_FAKE_SIZE_T,   "3000000" },
    { "stats.resident",            JPP_FAKE_SIZE_T,   "4000000" },
    { "stats.mapped",              JPP_FAKE_SIZE_T,   "5000000" },
    { "stats.retained",            JPP_FAKE_SIZE_T,   "6000000" },
    { NULL,                        JPP_FAKE_BOOL,     NULL }
};


static pthread_mutex_t  jpp_fake_mutex = PTHREAD_MUTEX_INITIALIZER;
static char             jpp_fake_last[JPP_FAKE_SIZE];
static __thread bool    jpp_fake_is_unsampled;

static jpp_fake_written_t  jpp_fake_written = { -1, -1, 0 };


int
mallctl(const char *name, void *old, size_t *old_size, void *new,
    size_t new_size)
{
    return jpp_fake_ctl("mallctl", name, old, old_size, new, new_size);
}


int
je_mallctl(const char *name, void *old, size_t *old_size, void *new,
    size_t new_size)
{
    return jpp_fake_ctl("je_mallctl", name, old, old_size, new, new_size);
}


int
_rjem_mallctl(const char *name, void *old, size_t *old_size, void *new,
    size_t new_size)
{
    return jpp_fake_ctl("_rjem_mallctl", name, old, old_size, new, new_size);
}


static int
jpp_fake_ctl(const char *symbol, const char *name, void *old,
    size_t *old_size, void *new, size_t new_size)
{
    int                        rc;
    char                       buffer[JPP_FAKE_SIZE];
    const char                *narrow;
    jpp_fake_t                 fake;
    const jpp_fake_control_t  *control;

    jpp_fake_read(&fake);

    if (strcmp(name, "thread.allocated") == 0) {
        return jpp_fake_allocated(&fake, symbol, old, old_size);
    }

    if (strcmp(name, "thread.prof.active") == 0) {
        return jpp_fake_thread(&fake, old, old_size, new, new_size);
    }

    if (strcmp(name, "prof.dump") == 0) {

        if (!jpp_fake_is(&fake, "config.prof")
            || !jpp_fake_is(&fake, "opt.prof"))
        {
            return ENOENT;
        }

        return new_size == sizeof(char *)
               ? jpp_fake_dump(&fake, *(const char **) new) : EINVAL;
    }

    for (control = jpp_fake_controls; control->name != NULL; control++) {
        if (strcmp(name, control->name) == 0) {
            break;
        }
    }

    if (control->name == NULL) {
        return old == NULL ? jpp_fake_set(&fake, name, new, new_size) : ENOENT;
    }

    rc = jpp_fake_value(&fake, control, old, old_size);
    narrow = jpp_fake_get(&fake, "narrow", buffer);

    if (old_size != NULL && narrow != NULL && strcmp(narrow, name) == 0) {
        (*old_size)--;
    }

    if (new == NULL || rc != 0) {
        return rc;
    }

    return strcmp(name, "epoch") == 0 || strcmp(name, "prof.active") == 0
           ? jpp_fake_set(&fake, name, new, new_size) : EPERM;
}


/*
 * malloc() lies in this library, as it does in a jemalloc; with a program that
 * brings its own (one under a sanitizer) that one is used.
 */

void *
malloc(size_t size)
{
    void  *symbol;

    static void *(*next)(size_t size);

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "malloc");
        memcpy(&next, &symbol, sizeof(next));
    }

    return next(size);
}


int
memfd_create(const char *name, unsigned flags)
{
    void  *symbol;

    static int (*next)(const char *name, unsigned flags);

    if (jpp_fake_fails("memfd")) {
        return -1;
    }

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "memfd_create");
        memcpy(&next, &symbol, sizeof(next));
    }

    return next(name, flags);
}


int
connect(int fd, const struct sockaddr *addr, socklen_t len)
{
    void  *symbol;

    static int (*next)(int fd, const struct sockaddr *addr, socklen_t len);

    if (addr->sa_family == AF_UNIX && len > sizeof(sa_family_t)
        && addr->sa_data[0] == '\0' && jpp_fake_fails("connect"))
    {
        return -1;
    }

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "connect");
        memcpy(&next, &symbol, sizeof(next));
    }

    return next(fd, addr, len);
}


int
accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    int         domain;
    void       *symbol;
    socklen_t   size;

    static int (*next)(int fd, struct sockaddr *addr, socklen_t *len,
        int flags);

    size = sizeof(int);

    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0
        && domain == AF_UNIX && jpp_fake_fails("accept"))
    {
        return -1;
    }

    if (next == NULL) {
        symbol = dlsym(RTLD_NEXT, "accept4");
        memcpy(&next, &symbol, sizeof(next));
    }

    return next(fd, addr, len, flags);
}


/* Is what KEY stands for to fail?  With the number in errno. */

static bool
jpp_fake_fails(const char *key)
{
    int         number;
    jpp_fake_t  fake;

    jpp_fake_read(&fake);

    number = (int) jpp_fake_number(&fake, key, 0);

    if (number == 0) {
        return false;
    }

    errno = number;

    return true;
}


static void
jpp_fake_read(jpp_fake_t *fake)
{
    int          fd, saved;
    size_t       len;
    ssize_t      n;
    const char  *path;

    len = 0;
    saved = errno;
    path = getenv("JPP_FAKE");

    (void) pthread_mutex_lock(&jpp_fake_mutex);

    fd = path != NULL ? open(path, O_RDONLY|O_CLOEXEC) : -1;

    if (fd != -1) {
        n = read(fd, jpp_fake_last, sizeof(jpp_fake_last) - 1);
        jpp_fake_last[n > 0 ? n : 0] = '\0';
        (void) close(fd);
    }

    /* the first of two lines counts */

    if (jpp_fake_written.active != -1) {
        len += (size_t) sprintf(fake->text, "prof.active %d\n",
                                jpp_fake_written.active);
    }

    if (jpp_fake_written.lg_sample != -1) {
        len += (size_t) sprintf(fake->text + len, "prof.lg_sample %d\n",
                                jpp_fake_written.lg_sample);
    }

    strcpy(fake->text + len, jpp_fake_last);

    (void) pthread_mutex_unlock(&jpp_fake_mutex);

    errno = saved;
}


/* The value of KEY: the rest of its line; NULL where there is none. */

static const char *
jpp_fake_get(jpp_fake_t *fake, const char *key, char value[JPP_FAKE_SIZE])
{
    size_t                     len, rest;
    const char                *line;
    const jpp_fake_control_t  *control;

    len = strlen(key);

    for (line = fake->text; *line != '\0'; line += rest + (line[rest] != '\0'))
    {
        rest = strcspn(line, "\n");

        if (rest > len && memcmp(line, key, len) == 0 && line[len] == ' ') {
            memcpy(value, line + len + 1, rest - len - 1);
            value[rest - len - 1] = '\0';
            return value;
        }
    }

    for (control = jpp_fake_controls; control->name != NULL; control++) {
        if (strcmp(key, control->name) == 0) {
            return control->value;
        }
    }

    return NULL;
}


static long long
jpp_fake_number(jpp_fake_t *fake, const char *key, long long otherwise)
{
    char         buffer[JPP_FAKE_SIZE];
    const char  *value;

    value = jpp_fake_get(fake, key, buffer);

    return value != NULL ? strtoll(value, NULL, 10) : otherwise;
}


static bool
jpp_fake_is(jpp_fake_t *fake, const char *key)
{
    return jpp_fake_number(fake, key, 0) != 0;
}


static int
jpp_fake_value(jpp_fake_t *fake, const jpp_fake_control_t *control, void *old,
    size_t *old_size)
{
    bool         is_true;
    char         buffer[JPP_FAKE_SIZE];
    size_t       size;
    ssize_t      ssize;
    uint64_t     u64;
    const char  *value;

    /* a caller keeps the pointer: it has to point to something that stays */

    static char  strings[JPP_FAKE_SIZE];

    value = jpp_fake_get(fake, control->name, buffer);

    if (strcmp(value, "-") == 0) {
        return ENOENT;
    }

    if (strcmp(control->name, "config.prof") != 0
        && !jpp_fake_is(fake, "config.prof")
        && (strncmp(control->name, "opt.", 4) == 0
            || strncmp(control->name, "prof.", 5) == 0))
    {
        return ENOENT;
    }

    if (strncmp(control->name, "prof.", 5) == 0
        && !jpp_fake_is(fake, "opt.prof"))
    {
        value = "0";
    }

    switch (control->width) {

    case JPP_FAKE_BOOL:
        is_true = strtoll(value, NULL, 10) != 0;
        return jpp_fake_answer(&is_true, sizeof(is_true), old, old_size);

    case JPP_FAKE_SIZE_T:
        size = (size_t) strtoull(value, NULL, 10);

        if (strcmp(control->name, "stats.resident") == 0) {
            size -= (size_t) jpp_fake_written.n_purges * JPP_FAKE_PURGED;
        }

        return jpp_fake_answer(&size, sizeof(size), old, old_size);

    case JPP_FAKE_SSIZE_T:
        ssize = (ssize_t) strtoll(value, NULL, 10);
        return jpp_fake_answer(&ssize, sizeof(ssize), old, old_size);

    case JPP_FAKE_U64:
        u64 = (uint64_t) strtoull(value, NULL, 10);
        return jpp_fake_answer(&u64, sizeof(u64), old, old_size);

    case JPP_FAKE_STRING:
        break;
    }

    (void) snprintf(strings, sizeof(strings), "%s", value);
    value = strings;

    return jpp_fake_answer(&value, sizeof(value), old, old_size);
}


static int
jpp_fake_answer(const void *value, size_t size, void *old, size_t *old_size)
{
    if (old == NULL || old_size == NULL) {
        return 0;
    }

    if (*old_size != size) {
        return EINVAL;
    }

    memcpy(old, value, size);

    return 0;
}


static int
jpp_fake_set(jpp_fake_t *fake, const char *name, const void *new,
    size_t new_size)
{
    int          rc;
    char         buffer[JPP_FAKE_SIZE];
    const char  *refused;

    refused = jpp_fake_get(fake, "refuse", buffer);

    if (refused != NULL && strcmp(refused, name) == 0) {
        return EFAULT;
    }

    if (strcmp(name, "epoch") == 0) {
        return new_size == sizeof(uint64_t) ? 0 : EINVAL;
    }

    (void) pthread_mutex_lock(&jpp_fake_mutex);

    if (strcmp(name, "arena.4096.purge") == 0) {
        jpp_fake_written.n_purges++;
        rc = 0;

    } else {
        rc = jpp_fake_set_profiler(fake, name, new, new_size);
    }

    (void) pthread_mutex_unlock(&jpp_fake_mutex);

    return rc;
}


static int
jpp_fake_set_profiler(jpp_fake_t *fake, const char *name, const void *new,
    size_t new_size)
{
    bool  is_reset;

    is_reset = strcmp(name, "prof.reset") == 0;

    if (!is_reset && strcmp(name, "prof.active") != 0) {
        return ENOENT;
    }

    if (!jpp_fake_is(fake, "opt.prof") || !jpp_fake_is(fake, "config.prof")) {
        return ENOENT;
    }

    if (new == NULL) {
        return is_reset ? 0 : EINVAL;
    }

    if (new_size != (is_reset ? sizeof(size_t) : sizeof(bool))) {
        return EINVAL;
    }

    if (is_reset) {
        jpp_fake_written.lg_sample = (int) *(const size_t *) new;

    } else {
        jpp_fake_written.active = *(const bool *) new;
    }

    return 0;
}


static int
jpp_fake_allocated(jpp_fake_t *fake, const char *symbol, void *old,
    size_t *old_size)
{
    char         buffer[JPP_FAKE_SIZE];
    uint64_t     value;
    const char  *how;

    static _Atomic uint64_t  allocated;

    how = jpp_fake_get(fake, "thread.allocated", buffer);

    if (how != NULL && strcmp(how, "-") == 0) {
        return ENOENT;
    }

    how = jpp_fake_get(fake, "symbol", buffer);

    if (strcmp(symbol, how != NULL ? how : "mallctl") == 0) {
        allocated += 4096;
    }

    value = allocated;

    return jpp_fake_answer(&value, sizeof(value), old, old_size);
}


static int
jpp_fake_thread(jpp_fake_t *fake, void *old, size_t *old_size,
    const void *new, size_t new_size)
{
    bool  was;

    if (!jpp_fake_is(fake, "config.prof")) {
        return ENOENT;
    }

    if (new != NULL && !jpp_fake_is(fake, "opt.prof")) {
        return ENOENT;
    }

    was = jpp_fake_is(fake, "opt.prof") && !jpp_fake_is_unsampled;

    if (new != NULL) {
        if (new_size != sizeof(bool)) {
            return EINVAL;
        }

        jpp_fake_is_unsampled = !*(const bool *) new;
    }

    return jpp_fake_answer(&was, sizeof(was), old, old_size);
}


static int
jpp_fake_dump(jpp_fake_t *fake, const char *path)
{
    int              fd, number;
    char             buffer[JPP_FAKE_SIZE];
    const char      *seconds;
    jpp_fake_out_t   out;

    seconds = jpp_fake_get(fake, "hang", buffer);

    if (seconds != NULL) {
        jpp_fake_hang(seconds);
    }

    number = (int) jpp_fake_number(fake, "fail", 0);

    if (number != 0) {
        errno = number;
        return EFAULT;
    }

    fd = creat(path, 0644);

    if (fd == -1) {
        return EFAULT;
    }

    out.file = fdopen(fd, "w");

    if (out.file == NULL) {
        (void) close(fd);
        return EFAULT;
    }

    out.left = jpp_fake_number(fake, "cut", INT64_MAX);

    jpp_fake_write(fake, &out);

    /* a disk that is full is overlooked, as jemalloc 5.3.0 does */

    (void) fclose(out.file);

    return 0;
}


static void
jpp_fake_hang(const char *seconds)
{
    double           time;
    struct timespec  rest;

    time = strtod(seconds, NULL);

    rest.tv_sec = (time_t) time;
    rest.tv_nsec = (long) ((time - (double) rest.tv_sec) * 1e9);

    /* a signal, which a worker gets many of, does not end it */

    while (nanosleep(&rest, &rest) == -1 && errno == EINTR) { /* void */ }
}


static void
jpp_fake_write(jpp_fake_t *fake, jpp_fake_out_t *out)
{
    bool         has_maps;
    char         buffer[JPP_FAKE_SIZE];
    unsigned     lg_sample;
    const char  *path;

    lg_sample = (unsigned) jpp_fake_number(fake, "prof.lg_sample", 19) & 63;
    path = jpp_fake_get(fake, "dump", buffer);
    has_maps = false;

    if (path != NULL) {
        jpp_fake_copy(out, path);

    } else if (jpp_fake_is(fake, "garbage")) {
        jpp_fake_garbage(out, jpp_fake_number(fake, "garbage", 0));

    } else if (jpp_fake_is(fake, "empty")) {
        return;

    } else if (jpp_fake_is(fake, "large")) {
        jpp_fake_large(out, jpp_fake_number(fake, "large", 0) * 1000000,
                       lg_sample);
        has_maps = true;

    } else {
        jpp_fake_three(out, lg_sample);
        has_maps = true;
    }

    if (jpp_fake_number(fake, "maps", has_maps) != 0) {
        jpp_fake_bytes(out, JPP_FAKE_MAPS, sizeof(JPP_FAKE_MAPS) - 1);
        jpp_fake_copy(out, "/proc/self/maps");
    }
}


/*
 * Three stacks below jpp_fake_root() and the entry of the program.  Means of
 * 16 MiB and more are so far above the sampling period that, up to lg_sample
 * 19, scaling changes nothing (the factor is 1 + e^-32 at most).
 *
 *     leaf               objects       bytes
 *     jpp_fake_alpha           1    16777216
 *     jpp_fake_beta            2    67108864
 *     jpp_fake_gamma           3   150994944
 */

static void
jpp_fake_three(jpp_fake_out_t *out, unsigned lg_sample)
{
    unsigned  i;
    uint64_t  objects, bytes;

    static void (*const leaves[])(void) = {
        jpp_fake_alpha, jpp_fake_beta, jpp_fake_gamma
    };

    jpp_fake_printf(out, "heap_v2/%" PRIu64 "\n", (uint64_t) 1 << lg_sample);
    jpp_fake_printf(out, "  t*: 6: 234881024 [0: 0]\n");
    jpp_fake_printf(out, "  t0: 6: 234881024 [0: 0] fake\n");

    for (i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {

        objects = i + 1;
        bytes = objects * objects * 16 * 1024 * 1024;

        /* return addresses: behind the first byte of each function */

        jpp_fake_printf(out, "@ 0x%" PRIxPTR " 0x%" PRIxPTR " 0x%lx\n",
                        (uintptr_t) leaves[i] + 1,
                        (uintptr_t) jpp_fake_root + 1,
                        getauxval(AT_ENTRY) + 1);
        jpp_fake_printf(out, "  t*: %" PRIu64 ": %" PRIu64 " [0: 0]\n",
                        objects, bytes);
        jpp_fake_printf(out, "  t0: %" PRIu64 ": %" PRIu64 " [0: 0]\n",
                        objects, bytes);
    }
}


/* Distinct stacks over 65,536 places behind malloc() of the C library. */

static void
jpp_fake_large(jpp_fake_out_t *out, long long bytes, unsigned lg_sample)
{
    char           text[64 + JPP_FAKE_FRAMES * 20 + 128];
    size_t         len;
    unsigned       i;
    uint32_t       noise;
    uint64_t       n;
    uintptr_t      base;
    long long      written;

    base = (uintptr_t) dlsym(RTLD_NEXT, "malloc");
    noise = 1;

    jpp_fake_printf(out, "heap_v2/%" PRIu64 "\n", (uint64_t) 1 << lg_sample);
    jpp_fake_printf(out, "  t*: 1: 1 [0: 0]\n");

    for (n = 0, written = 0; written < bytes; n++, written += (long long) len)
    {
        len = (size_t) sprintf(text, "@");

        /* the two frames next to the leaf make it distinct */

        for (i = 0; i < JPP_FAKE_FRAMES; i++) {
            noise = noise * 1664525 + 1013904223;

            len += (size_t) sprintf(text + len, " 0x%" PRIxPTR,
                                    base + 1
                                    + (i == 0 ? n & 0xffff
                                       : i == 1 ? n >> 16 & 0xffff
                                       : noise >> 16));
        }

        len += (size_t) sprintf(text + len,
                                "\n  t*: 1: 4096 [0: 0]\n"
                                "  t0: 1: 4096 [0: 0]\n");

        jpp_fake_bytes(out, text, len);
    }
}


static void
jpp_fake_garbage(jpp_fake_out_t *out, long long bytes)
{
    char      byte;
    uint32_t  noise;

    for (noise = 1; bytes > 0; bytes--) {
        noise = noise * 1664525 + 1013904223;
        byte = (char) (noise >> 24);
        jpp_fake_bytes(out, &byte, 1);
    }
}


static void
jpp_fake_copy(jpp_fake_out_t *out, const char *path)
{
    int      fd;
    char     buffer[8192];
    ssize_t  n;

    fd = open(path, O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        return;
    }

    while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
        jpp_fake_bytes(out, buffer, (size_t) n);
    }

    (void) close(fd);
}


static void
jpp_fake_printf(jpp_fake_out_t *out, const char *fmt, ...)
{
    int      len;
    char     text[512];
    va_list  args;

    va_start(args, fmt);
    len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    jpp_fake_bytes(out, text, (size_t) len);
}


static void
jpp_fake_bytes(jpp_fake_out_t *out, const char *data, size_t len)
{
    if ((long long) len > out->left) {
        len = (size_t) out->left;
    }

    (void) fwrite(data, 1, len, out->file);
    out->left -= (long long) len;
}


/* Names for stacks; each long enough that an address in it is its own. */

void
jpp_fake_root(void)
{
    __asm__ volatile ("nop; nop; nop; nop; nop; nop; nop; nop");
}


void
jpp_fake_alpha(void)
{
    __asm__ volatile ("nop; nop; nop; nop; nop; nop; nop; nop");
}


void
jpp_fake_beta(void)
{
    __asm__ volatile ("nop; nop; nop; nop; nop; nop; nop; nop");
}


void
jpp_fake_gamma(void)
{
    __asm__ volatile ("nop; nop; nop; nop; nop; nop; nop; nop");
}
