
/*
 * Diagnoses nginx's memory and profiling: problems, findings, the largest
 * owners, the directives that bound them, notes over time, and the verdict.
 */


#ifndef _JPP_DIAGNOSIS_H_INCLUDED_
#define _JPP_DIAGNOSIS_H_INCLUDED_


#include "jpp_fleet.h"
#include "jpp_owner_names.h"
#include "jpp_pools_table.h"


/*
 * Problems with the profiling of a process: cause, reason and fix.
 *
 * One table has every problem: the log, the error answers, the status resource
 * and the console all take their words from the same row.
 *
 * Pure functions of the caller's values; any thread.
 */

#define JPP_MAX_PROBLEMS  8


/*
 * Sentences, joined as "WHAT: WHY. FIX": NUL-terminated printable ASCII; a
 * fix may have newlines, and its indented lines are for copying.
 */
typedef struct {
    const char    *id;             /* "prof-off" */
    bool           is_fatal;       /* no profile without the fix */
    char           what[160];
    char           why[256];
    char           fix[768];
} jpp_problem_t;


/*
 * Fill PROBLEMS with what is wrong with the sampling of WORKER; a fatal one, at
 * most one, comes first.  Returns their number.
 */
size_t jpp_problems(const jpp_worker_t *worker,
    jpp_problem_t problems[JPP_MAX_PROBLEMS]);

/*
 * If ERR's code is JPP_ERR_STATE, append to its sentence what is wrong with
 * WORKER's jemalloc, and why.
 */
void jpp_problems_explain(const jpp_worker_t *worker, jpp_err_t *err);

/*
 * Why jemalloc walks stacks itself, by the hook: the second half of a sentence;
 * NULL: it does not.
 */
extern const char *const  jpp_problem_hooks[];


/*
 * The directives that bound the memory of requests and connections, by class of
 * memory.
 *
 * Pure functions; any thread.
 */

#define JPP_DIRECTIVE_TEXT  128


/* What is bounded. */
typedef struct {
    jpp_pools_kind_t    kind;          /* of who holds it */
    jpp_pools_class_t   class;
    jpp_str_t           module;        /* of JPP_POOLS_MODULE */
    jpp_str_t           prefix;        /* "proxy", "fastcgi"; "": not known */
} jpp_directive_of_t;


/*
 * Write the names to TEXT, which is the result; "": there is none.  Without a
 * prefix, what proxy and fastcgi have in common: "*_buffers".
 */
const char *jpp_directive(const jpp_directive_of_t *of,
    char text[JPP_DIRECTIVE_TEXT]);

/*
 * Write "16 64k" to TEXT, which is the result: NUMBER and SIZE as nginx has
 * them; without a size, "".
 */
const char *jpp_directive_value(uint64_t number, uint64_t size,
    char text[JPP_DIRECTIVE_TEXT]);


/*
 * The largest owners of nginx's memory: places of the configuration, by the
 * pools of all workers; zones of shared memory; other runtimes, such as LuaJIT.
 * Findings and the verdict name them.
 *
 *     jpp_holders_init()
 *     for each worker: jpp_holders_worker(), jpp_holders_pools()
 *     for each zone: jpp_holders_zone()
 *     jpp_holders_close()
 *
 * What workers have inherited from the master, they share: it counts once.
 *
 * One thread at a time; memory from the arena, and everything is copied.
 */

typedef struct {
    jpp_arena_t   *arena;
    jpp_vec_t     *items;          /* of jpp_holders.c */
    jpp_vec_t     *list;           /* jpp_holder_t, once closed */
    jpp_index_t    index;          /* of items, by name */
    bool           failed;         /* no memory */
} jpp_holders_t;


/* Initialize the caller's HOLDERS; without memory, none is found. */
void jpp_holders_init(jpp_holders_t *holders, jpp_arena_t *arena);

/* Add what WORKER holds in pools, by its TABLE, and beside them in malloc. */
void jpp_holders_pools(jpp_holders_t *holders, const jpp_worker_t *worker,
    const jpp_pools_t *table);

/* Add what WORKER has that is not malloc's. */
void jpp_holders_worker(jpp_holders_t *holders, const jpp_worker_t *worker);

/* Add the pages of ZONE that are in use, unless the profiler has them. */
void jpp_holders_zone(jpp_holders_t *holders, const jpp_zone_t *zone);

/*
 * Sort.  Returns their number, and *FIRST is the largest; 0: no memory, or
 * nothing is held.
 */
size_t jpp_holders_close(jpp_holders_t *holders, const jpp_holder_t **first);


/*
 * Findings about nginx's memory: a sentence, the numbers behind it, and the
 * fix.  A problem makes profiles wrong; a finding is about the memory itself.
 *
 * One table has every rule, the gravest first.  Each has a ratio and a floor in
 * bytes or counts, so that a small idle nginx has none; and each falls later
 * than it rises (jpp_finding_above()).
 *
 * Pure functions of the caller's values; any thread.
 */

/* the last ones need a profile */
#define JPP_FINDINGS_PROFILE  (JPP_FINDINGS - JPP_FINDING_FEW_SAMPLES)


/*
 * Fill FINDINGS with what holds of TELEMETRY, the gravest first; returns their
 * number.
 */
size_t jpp_findings(const jpp_telemetry_t *telemetry,
    jpp_finding_t findings[JPP_FINDINGS]);

/*
 * The same for the rules about PROFILE, a heap of FLEET's workers; IS_WHOLE: it
 * has what they inherited and what they allocated themselves.
 */
size_t jpp_findings_profile(const jpp_fleet_t *fleet,
    const jpp_profile_t *profile, bool is_whole,
    jpp_finding_t findings[JPP_FINDINGS_PROFILE]);

/*
 * The rules of memory that grows (jpp_findings_time.c): do they hold?  If so,
 * FINDING has the numbers.
 */
bool jpp_finding_grows(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_reload_leak(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);

/*
 * What all of nginx gained of late: bytes an hour of anonymous memory, by the
 * last *WINDOW seconds; 0: HELD is too short.
 */
int64_t jpp_finding_rate(const jpp_held_t *held, int64_t *window);

/* " 4294967295 days" and what is said around it */
#define JPP_GROWS_TEXT  96

/* ": the limit of 1.0 GiB is reached in 0 h 12 min", by then; returns TEXT. */
const char *jpp_finding_when(const jpp_cgroup_t *cgroup, uint64_t per_hour,
    char text[JPP_GROWS_TEXT]);

/*
 * SNAPSHOT, or NULL, shows whose memory FINDING is about: say so and link it;
 * true.
 */
bool jpp_finding_shown(jpp_finding_t *finding, const jpp_snapshot_t *snapshot);

/* The rules of profiles (jpp_findings_profile.c). */
bool jpp_finding_few_samples(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_explains(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);

/* The rule of event loops that stand still (jpp_findings_stalls.c). */
bool jpp_finding_stalls(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);

#define JPP_FINDING_STALL  512

/*
 * "location /x of a (a.conf:9) kept WORKER for 1.2 s, blocked in ..."; returns
 * TEXT.
 */
const char *jpp_finding_stall(const jpp_stall_t *stall, const char *worker,
    char text[JPP_FINDING_STALL]);

/* The owner that holds half of what FINDING is about; NULL: there is none. */
const jpp_holder_t *jpp_finding_holder(const jpp_telemetry_t *telemetry,
    const jpp_finding_t *finding);

/* What the kernel has killed in the cgroup since nginx started. */
uint64_t jpp_finding_kills(const jpp_telemetry_t *telemetry);

/* Fill FINDING for the rule ID, but its numbers; or with its name alone. */
void jpp_finding_of(jpp_finding_id_t id, jpp_finding_t *finding);
void jpp_finding_named(jpp_finding_id_t id, jpp_finding_t *finding);


/*
 * Shared notes of the workers: each worker regularly stores its own state and
 * history, and one worker stores the findings about all of them.  Readers need
 * not ask the workers.
 *
 * The memory is the caller's, and so is the lock: no function here waits.
 */

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


/*
 * The verdict: one sentence, on the first line of every response, that names
 * the most severe finding, its owner, and the directive that bounds it; without
 * a finding, the largest owner of memory.
 *
 * What keeps nginx from answering comes first: workers that do not answer, then
 * the findings in their order.  An owner that holds half of
 * what a finding is about explains it, and is named.
 *
 * Pure functions of the caller's values; any thread.
 */

/* owners that are shown beside it */
#define JPP_VERDICT_OWNERS  5


/* "Healthy", "Warning", "Critical" */
extern const char *const  jpp_severities[];


/* What the workers of TELEMETRY have for themselves, and all zones. */
uint64_t jpp_verdict_total(const jpp_telemetry_t *telemetry);

/* Fill VERDICT from TELEMETRY and its N FINDINGS. */
void jpp_verdict(const jpp_telemetry_t *telemetry,
    const jpp_finding_t *findings, size_t n, jpp_verdict_t *verdict);

/* Fill VERDICT with the sentence of FINDING alone. */
void jpp_verdict_finding(const jpp_telemetry_t *telemetry,
    const jpp_finding_t *finding, jpp_verdict_t *verdict);

/* Write VERDICT as a line, and an empty one. */
void jpp_verdict_line(jpp_sink_t *sink, const jpp_verdict_t *verdict);

/* Write VERDICT, or NULL, as a member of the object that is open. */
void jpp_verdict_json(jpp_json_t *json, const jpp_verdict_t *verdict);


/*
 * Finds the owner of most memory outside of nginx's pools: the location whose
 * heap samples exceed its pools by half of that memory or more.
 *
 * No state; any thread.
 */

typedef struct {
    uint64_t       bytes;              /* an estimate; 0: nobody has half */
    char           server[JPP_OWNER_NAME];
    char           location[JPP_OWNER_NAME];   /* "": of its connections */
} jpp_outside_t;


/*
 * Find who has half of the memory outside of the pools of TABLE, or more, by
 * the LEN bytes of a heap dump at DATA.  Samples without an owner are nobody's,
 * as are all if the dump cannot be read.  Works in ARENA.
 */
void jpp_outside_find(jpp_outside_t *outside, const jpp_pools_t *table,
    jpp_arena_t *arena, const char *data, size_t len);

/* Tell it in the facts of TABLE, which gets an owner that has nothing else. */
void jpp_outside_tell(const jpp_outside_t *outside, jpp_pools_t *table);


#endif /* _JPP_DIAGNOSIS_H_INCLUDED_ */
