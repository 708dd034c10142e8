
/*
 * The profiling state of each worker, as a log line, as JSON, and as comments
 * of a profile.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_STATUS_H_INCLUDED_
#define _JPP_STATUS_H_INCLUDED_


#include "jpp_diagnosis.h"


/*
 * Of the N WORKERS, those of former generations are exiting, whether they have
 * heard of it or not: an index is of one that is not.
 */
void jpp_status_former(jpp_worker_t *workers, size_t n);

/* By jpp_jemalloc_state_t: no-jemalloc no-prof off refused inactive ready. */
extern const char *const  jpp_status_words[];

/* Fill FAILURE with the time SECONDS and TEXT, which is cut if too long. */
void jpp_status_failed(jpp_failure_t *failure, int64_t seconds,
    const char *text);

/*
 * Write one line for a log, without a newline, to the SIZE > 0 bytes at TEXT,
 * cut if they are too few: the state and, unless ready, the reason and the fix;
 * or the harm that options do.
 */
void jpp_status_notice(const jpp_worker_t *worker, char *text, size_t size);

/*
 * Are the settings of WORKER those WANTED for all workers?  1, 0; -1: none
 * are.
 */
int jpp_status_in_step(const jpp_worker_t *worker, const jpp_control_t *wanted);

/*
 * Write the status resource to SINK, which the caller flushes.  It is ASCII:
 * other bytes become question marks.
 */
void jpp_status_json(const jpp_fleet_t *fleet, jpp_sink_t *sink);

/*
 * Append the comments of a profile of FLEET's workers, one fact each: versions,
 * which workers, and, of memory, how much jemalloc has given them.  What is
 * allocated is a sum; what is resident is that of the largest worker, since
 * they share pages.
 */
void jpp_status_comments(const jpp_fleet_t *fleet, jpp_profile_t *profile);


#endif /* _JPP_STATUS_H_INCLUDED_ */
