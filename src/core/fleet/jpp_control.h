
/*
 * The resource control: parses the requested changes of the workers' profilers,
 * and writes the response.  jpp_source.h and the adapter make the change
 * itself.
 *
 *     active=on|off       let jemalloc take samples, or not
 *     sampler=on|off      let the module take samples, in its place
 *     lg_sample=10..24    one sample every 2^N bytes, by who takes them
 *     stall=TIME|off      record iterations of the event loop that take longer
 *     owners=on|off       attribute samples to servers and locations
 *     reset=1             forget all samples
 *     purge=1             give unused memory back to the kernel
 *     acknowledge=ID      know of a finding, until it is over
 *     snapshot=1          take a snapshot
 *
 * Beside these it takes worker and strict of jpp_args.h.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_CONTROL_H_INCLUDED_
#define _JPP_CONTROL_H_INCLUDED_


#include "jpp_worker.h"


/* The outcome in one worker. */
typedef struct {
    jpp_identity_t         who;
    const char            *error;          /* one sentence; NULL: none */
    jpp_control_result_t   result;
    uint64_t               stall;          /* afterwards; see jpp_worker_t */
    bool                   has_owners;
} jpp_controlled_t;


/* of stall, ms: the clock that it is measured by advances every 4 ms */
#define JPP_CONTROL_MIN_STALL  10
#define JPP_CONTROL_MAX_STALL  60000


/* Initialize the caller's CONTROL: no change. */
void jpp_control_init(jpp_control_t *control);

/* The keys that control takes, for a sentence. */
extern const char  jpp_control_keys[];

/*
 * Set CONTROL, and worker and strict of ARGS, from the LEN bytes of a query
 * string or of a form's body at TEXT.  A key that an earlier call, or the
 * caller, has set is kept, and the new value is ignored: so the query is read
 * before the form.  An unknown or repeated key is refused, since a change must
 * not be a guess.  The sentence of JPP_ERR_ARG says what is allowed, and never
 * quotes TEXT.
 */
jpp_code_t jpp_control_query(jpp_control_t *control, jpp_args_t *args,
    const char *text, size_t len, jpp_err_t *err);

/*
 * JPP_ERR_ARG if CONTROL has no change, or acknowledges or takes a snapshot
 * beside one; the sentence lists the changes.
 */
jpp_code_t jpp_control_check(const jpp_control_t *control, jpp_err_t *err);

#define JPP_CONTROL_TEXT  128


/* CONTROL as a query: "active=off&lg_sample=14". */
const char *jpp_control_text(const jpp_control_t *control,
    char text[JPP_CONTROL_TEXT]);

/* Change WORKER to what it will be if CONTROL is applied successfully. */
void jpp_control_preview(const jpp_control_t *control, jpp_worker_t *worker);

/*
 * Write the outcome in the N WORKERS that were asked as JSON to SINK, which the
 * caller flushes; those without an error count as answered.  The JSON is ASCII:
 * other bytes become question marks.
 */
void jpp_control_json(const jpp_controlled_t *workers, size_t n,
    jpp_sink_t *sink);


/*
 * The settings that every worker should have, in memory that all of them share.
 *
 * Each is one word, which is changed at once: there is no lock that a killed
 * worker could hold, and the master may read them.  A change touches only the
 * settings that it names, and so does taking it back.
 *
 * Any thread of any process.
 */


/* all but reset and purge of jpp_control_t */
#define JPP_SETTINGS  6


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


#endif /* _JPP_CONTROL_H_INCLUDED_ */
