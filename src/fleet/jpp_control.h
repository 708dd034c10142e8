
/*
 * The control resource: what is asked of the profilers of the workers, and the
 * answer.  The change itself is made by jpp_jemalloc.h.
 *
 *     active=on|off       take samples or not
 *     lg_sample=10..24    one sample every 2^N bytes
 *     reset=1             forget the samples there are
 *     purge=1             give unused memory back to the kernel
 *
 * Beside these it takes worker and strict of jpp_args.h.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_CONTROL_H_INCLUDED_
#define _JPP_CONTROL_H_INCLUDED_


#include "jpp_args.h"
#include "jpp_identity.h"
#include "jpp_jemalloc.h"
#include "jpp_sink.h"


/* What came of it in one worker. */
typedef struct {
    jpp_identity_t         who;
    const char            *error;          /* one sentence; NULL: none */
    jpp_control_result_t   result;
} jpp_controlled_t;


/* Initialize the caller's CONTROL: nothing is asked for. */
void jpp_control_init(jpp_control_t *control);

/* The keys that control takes, for a sentence. */
extern const char  jpp_control_keys[];

/*
 * Set CONTROL, and worker and strict of ARGS, from the LEN bytes of a query
 * string or of a form's body at TEXT.  What an earlier call, or the caller, has
 * set stays, and the other value is not looked at: so the query is read first
 * and the form then.  An unknown key, and one that TEXT repeats, is refused:
 * what was meant must not be guessed where something is changed.  The sentence
 * of JPP_ERR_ARG says what is allowed and never quotes TEXT.
 */
jpp_code_t jpp_control_query(jpp_control_t *control, jpp_args_t *args,
    const char *text, size_t len, jpp_err_t *err);

/* JPP_ERR_ARG where nothing is asked for; the sentence says what could be. */
jpp_code_t jpp_control_check(const jpp_control_t *control, jpp_err_t *err);

/* Make JEMALLOC what it will be once CONTROL is done, if that goes well. */
void jpp_control_preview(const jpp_control_t *control,
    jpp_jemalloc_t *jemalloc);

/*
 * What came of it in the N WORKERS that were asked, as JSON to SINK, which the
 * caller flushes; those without an error count as answered.  It is ASCII:
 * other bytes become question marks.
 */
void jpp_control_json(const jpp_controlled_t *workers, size_t n,
    jpp_sink_t *sink);


#endif /* _JPP_CONTROL_H_INCLUDED_ */
