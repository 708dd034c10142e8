
/*
 * Shared notes of the workers: each worker regularly stores its own state and
 * history, and one worker stores the findings about all of them.  Readers need
 * not ask the workers.
 *
 * The memory is the caller's, and so is the lock: no function here waits.
 */


#ifndef _JPP_NOTES_H_INCLUDED_
#define _JPP_NOTES_H_INCLUDED_


#include "jpp_findings.h"


/*
 * Findings over time: which hold, since when, and which are to be said in a
 * log.  A finding is said as it rises.  It is over when it has not held for a
 * minute, so that one that comes and goes at its bound is said once; and one
 * that rises again soon after it was said is not repeated.
 *
 * Values of the caller, without pointers, so that they may lie in shared
 * memory; any thread.
 */

/* seconds */
#define JPP_ACTIVE_OVER    60
#define JPP_ACTIVE_REPEAT  600


/* of a finding, besides jpp_standing_t */
typedef struct {
    int64_t          seen;         /* when it held for the last time */
    int64_t          said;
    jpp_finding_t    finding;      /* as it was then, without pointers */
} jpp_active_t;


/* workers at a time */
#define JPP_NOTES  1024


/* of a worker */
typedef struct {
    jpp_worker_t           worker;         /* started is 0: nothing yet; no */
                                           /*   pointers */
    jpp_history_t          history;
} jpp_note_t;


typedef struct {
    jpp_noted_t            noted;
    jpp_active_t           active[JPP_FINDINGS];
    uint64_t               heir;           /* generation of noted.inherited */
    uint64_t               newest;         /* the one whose start is an event */
    uint64_t               counted;        /* requests, by nginx, the last */
    uint64_t               counted_at;     /*   time; in ms, 0: never */
    uint64_t               limit;          /* of memory; 0: not known yet */
    jpp_events_t           events;
    jpp_held_t             held;

    /* a page of them takes memory once a worker has written it */
    jpp_note_t             notes[JPP_NOTES];
} jpp_notes_t;


/* Initialize NOTES, but its notes, which are cleared as they are taken. */
void jpp_notes_init(jpp_notes_t *notes);

/*
 * At the time NOW, N FINDINGS hold: keep that in NOTES, and add to their events
 * the findings that begin and end.  Leaves in FINDINGS those that are to be
 * said; their number.
 */
size_t jpp_active_update(jpp_notes_t *notes,
    jpp_finding_t findings[JPP_FINDINGS], size_t n, int64_t now);

/*
 * Acknowledge the finding ID at the time NOW, until it is over, and fill
 * FINDING with it; one that is acknowledged stays so since then.  False: it
 * does not stand.
 */
bool jpp_active_acknowledge(jpp_notes_t *notes, jpp_finding_id_t id,
    int64_t now, jpp_finding_t *finding);

/* Fill FINDINGS with those that stand, the gravest first; their number. */
size_t jpp_active_findings(const jpp_notes_t *notes,
    jpp_finding_t findings[JPP_FINDINGS]);

/* Clear NOTE, for another worker. */
void jpp_note_clear(jpp_note_t *note);

/*
 * Write down WORKER as it is SECONDS after its start, and add that to its
 * history.
 */
void jpp_note_write(jpp_note_t *note, const jpp_worker_t *worker,
    uint64_t seconds);

/*
 * The worker WHO has started: the first one of a generation is the event of a
 * start or a reload.
 */
void jpp_notes_started(jpp_notes_t *notes, const jpp_identity_t *who,
    int64_t now);

/* The last worker WHO of an old generation has ended. */
void jpp_notes_ended(jpp_notes_t *notes, const jpp_identity_t *who,
    int64_t now);

/* The memory is limited by CGROUP; NULL: that is not known. */
void jpp_notes_limit(jpp_notes_t *notes, const jpp_cgroup_t *cgroup,
    int64_t now);

/* Worker WHO, whose note is NOTE, has crashed or was killed before NOW. */
void jpp_notes_vanished(jpp_notes_t *notes, const jpp_identity_t *who,
    const jpp_note_t *note, int64_t now);

/* The kernel has killed KILLS processes of the cgroup until NOW. */
void jpp_notes_killed(jpp_notes_t *notes, uint64_t kills, int64_t now);

/*
 * A worker of GENERATION has started with BYTES from the master.  The least of
 * a generation counts: one that takes the place of another may find more.
 */
void jpp_notes_inherited(jpp_notes_t *notes, uint64_t generation,
    uint64_t bytes);

/* The resource NAME was requested, and answered with STATUS. */
void jpp_notes_requested(jpp_notes_t *notes, const char *name, unsigned status);

/* At the time NOW, in ms, nginx had served TOTAL requests. */
void jpp_notes_counted(jpp_notes_t *notes, uint64_t total, uint64_t now);

/*
 * At the time NOW, in ms: what all of nginx has, and its owners where TELEMETRY
 * has them.  Returns the sum.
 */
uint64_t jpp_notes_held(jpp_notes_t *notes, const jpp_telemetry_t *telemetry,
    uint64_t now);

/* Fill in what TELEMETRY has of all this. */
void jpp_notes_facts(const jpp_notes_t *notes, jpp_telemetry_t *telemetry);


#endif /* _JPP_NOTES_H_INCLUDED_ */
