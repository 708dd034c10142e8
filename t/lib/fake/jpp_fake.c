
/*
 * mallctl() of the fake jemalloc, under each of its names: what is read, and
 * what can be written.
 */


#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "jpp_fake.h"


int mallctl(const char *name, void *old, size_t *old_size, void *new,
    size_t new_size);
int je_mallctl(const char *name, void *old, size_t *old_size, void *new,
    size_t new_size);
int _rjem_mallctl(const char *name, void *old, size_t *old_size, void *new,
    size_t new_size);


static __thread bool  jpp_fake_is_unsampled;


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
