
#include <stddef.h>
#include <string.h>

#include "jpp_settings.h"


/* of a word: the value and one, 0 for none; above it the change's number */
#define JPP_SETTINGS_BITS  8
#define JPP_SETTINGS_MASK  ((1ul << JPP_SETTINGS_BITS) - 1)


static const size_t  jpp_settings_offsets[JPP_SETTINGS] = {
    offsetof(jpp_control_t, active),
    offsetof(jpp_control_t, lg_sample),
    offsetof(jpp_control_t, sampler),
    offsetof(jpp_control_t, sampler_lg)
};


static int *
jpp_settings_value(jpp_control_t *control, size_t i)
{
    return (int *) (void *) ((char *) control + jpp_settings_offsets[i]);
}


void
jpp_settings_get(const jpp_settings_t *settings, jpp_control_t *control)
{
    size_t         i;
    unsigned long  word;

    for (i = 0; i < JPP_SETTINGS; i++) {
        word = __atomic_load_n(&settings->words[i], __ATOMIC_RELAXED);

        *jpp_settings_value(control, i) = (int) (word & JPP_SETTINGS_MASK) - 1;
    }
}


void
jpp_settings_set(jpp_settings_t *settings, const jpp_control_t *control,
    jpp_settings_change_t *change)
{
    int             value;
    size_t          i;
    unsigned long   number;
    jpp_control_t   copy;

    copy = *control;
    number = __atomic_add_fetch(&settings->n_changes, 1, __ATOMIC_RELAXED);

    memset(change, 0, sizeof(jpp_settings_change_t));

    for (i = 0; i < JPP_SETTINGS; i++) {
        value = *jpp_settings_value(&copy, i);

        if (value != -1) {
            change->is[i] = number << JPP_SETTINGS_BITS
                            | (unsigned long) (value + 1);
            change->was[i] = __atomic_exchange_n(&settings->words[i],
                                                 change->is[i],
                                                 __ATOMIC_ACQ_REL);
        }
    }
}


/* A word that CHANGE has not set may be 0, and then stays so. */

void
jpp_settings_take_back(jpp_settings_t *settings,
    const jpp_settings_change_t *change)
{
    size_t         i;
    unsigned long  is;

    for (i = 0; i < JPP_SETTINGS; i++) {
        is = change->is[i];

        (void) __atomic_compare_exchange_n(&settings->words[i], &is,
                                           change->was[i], false,
                                           __ATOMIC_ACQ_REL,
                                           __ATOMIC_RELAXED);
    }
}
