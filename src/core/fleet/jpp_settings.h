
/*
 * The settings that every worker should have, in memory that all of them share.
 *
 * Each is one word, which is changed at once: there is no lock that a killed
 * worker could hold, and the master may read them.  A change touches only the
 * settings that it names, and so does taking it back.
 *
 * Any thread of any process.
 */


#ifndef _JPP_SETTINGS_H_INCLUDED_
#define _JPP_SETTINGS_H_INCLUDED_


#include "jpp_jemalloc.h"


/* active, lg_sample, sampler and sampler_lg of jpp_control_t */
#define JPP_SETTINGS  4


/* zeroed, none was ever set */
typedef struct {
    unsigned long   n_changes;
    unsigned long   words[JPP_SETTINGS];   /* which change, and its value */
} jpp_settings_t;


/* The words that a change has replaced, and its own. */
typedef struct {
    unsigned long   was[JPP_SETTINGS];
    unsigned long   is[JPP_SETTINGS];
} jpp_settings_change_t;


/* Fill the settings of CONTROL; -1: one that was never set. */
void jpp_settings_get(const jpp_settings_t *settings, jpp_control_t *control);

/* Set those that CONTROL does not have as -1; CHANGE is for taking it back. */
void jpp_settings_set(jpp_settings_t *settings, const jpp_control_t *control,
    jpp_settings_change_t *change);

/* Take CHANGE back, where nobody has set the same setting since. */
void jpp_settings_take_back(jpp_settings_t *settings,
    const jpp_settings_change_t *change);


#endif /* _JPP_SETTINGS_H_INCLUDED_ */
