
#include <pthread.h>
#include <string.h>

#include "jpp_backtrace_code.h"
#include "jpp_cfi_entry.h"
#include "jpp_images.h"
#include "jpp_renew.h"


static void jpp_backtrace_learn(void);


jpp_unwinder_t          jpp_backtrace_unwinder;

static uint32_t         jpp_backtrace_users;
static uint64_t         jpp_backtrace_loads;
static pthread_mutex_t  jpp_backtrace_lock = PTHREAD_MUTEX_INITIALIZER;


/* What comes while there is a user may go while there is one, too. */

bool
jpp_backtrace_use(void)
{
    bool           is_first;
    uint32_t       i;
    jpp_mapped_t  *mapped;

    static bool  was_used;

    mapped = &jpp_backtrace_unwinder.mapped;

    (void) pthread_mutex_lock(&jpp_backtrace_lock);

    jpp_backtrace_learn();

    for (i = 0; jpp_backtrace_users == 0 && i < mapped->n; i++) {
        mapped->objects[i].stays = true;
    }

    is_first = !was_used;
    was_used = true;

    jpp_backtrace_users++;

    (void) pthread_mutex_unlock(&jpp_backtrace_lock);

    return is_first;
}


void
jpp_backtrace_stop(void)
{
    (void) pthread_mutex_lock(&jpp_backtrace_lock);
    jpp_backtrace_users--;
    (void) pthread_mutex_unlock(&jpp_backtrace_lock);
}


static void
jpp_backtrace_learn(void)
{
    uint64_t  loads;

    loads = jpp_images_loads();

    if (loads != jpp_backtrace_loads) {
        (void) jpp_images_unwind(&jpp_backtrace_unwinder.mapped);

        jpp_backtrace_loads = loads;
    }
}


void
jpp_backtrace_refresh(void)
{
    jpp_unwinder_t  *unwinder;

    unwinder = &jpp_backtrace_unwinder;

    if (pthread_mutex_trylock(&jpp_backtrace_lock) != 0) {
        return;
    }

    if (jpp_renew(&unwinder->mapped, jpp_backtrace_users != 0)) {
        jpp_rules_forget(&unwinder->rules);
        jpp_backtrace_loads = 0;
    }

    if (jpp_backtrace_users != 0) {
        jpp_backtrace_learn();
    }

    (void) pthread_mutex_unlock(&jpp_backtrace_lock);
}


bool
jpp_backtrace_is_used(void)
{
    bool  is_used;

    (void) pthread_mutex_lock(&jpp_backtrace_lock);

    is_used = jpp_backtrace_users != 0
              || jpp_mapped_has(&jpp_backtrace_unwinder.mapped, NULL);

    (void) pthread_mutex_unlock(&jpp_backtrace_lock);

    return is_used;
}


uintptr_t
jpp_backtrace_function(uintptr_t address)
{
    uintptr_t                 start;
    jpp_mapped_t             *mapped;
    jpp_cfi_entry_t           entry;
    const jpp_mapped_code_t  *code;

    mapped = &jpp_backtrace_unwinder.mapped;

    jpp_mapped_enter(mapped);

    code = jpp_mapped_find(mapped, address);
    start = code != NULL && jpp_cfi_entry_find(code, address, &entry)
            ? entry.start : 0;

    jpp_mapped_leave(mapped);

    return start;
}


bool
jpp_backtrace_code(uintptr_t address, uint8_t *bytes, size_t n)
{
    bool                      is_code;
    jpp_mapped_t             *mapped;
    const jpp_mapped_code_t  *code;

    mapped = &jpp_backtrace_unwinder.mapped;

    jpp_mapped_enter(mapped);

    code = jpp_mapped_find(mapped, address);
    is_code = code != NULL && code->is_readable && n <= code->end - address;

    if (is_code) {
        memcpy(bytes, (const void *) address, n);
    }

    jpp_mapped_leave(mapped);

    return is_code;
}
