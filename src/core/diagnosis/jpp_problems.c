
/* Problems with the profiling of a process: cause, reason and fix. */


#include "jpp_diagnosis.h"


/*
 * Against prof:false, a worker with 1,000 idle TLS connections takes 2 % more
 * memory at 19, 12 % at 16, 26 % at 15 and 48 % at 14; a small static request
 * takes 5 %, 39 %, 75 % and 143 % more instructions (./dev bench sampling).
 * Above 20 there is next to nothing left to save, and little is sampled.
 */

/* of what is filled in: the longest */
#define JPP_PROBLEMS_VALUE  JPP_COVERAGE_TEXT

#define JPP_COARSE   20
#define JPP_FINE     15

/* a quarter as many samples */
#define JPP_COARSER  2

/* with the address that the documents have */

#define JPP_SAVE                                                              \
    "Save the evidence, which is lost when the workers exit:\n"               \
    "    curl -o memory.txt "                                                 \
    "'http://127.0.0.1:8081/debug/pprof/memory?format=top'\n"

#define JPP_RESTART                                                           \
    JPP_SAVE                                                                  \
    "Then run systemctl restart nginx: a reload is not enough."

#define JPP_OPTIONS                                                           \
    "    Environment=%m=prof:true,prof_active:true,lg_prof_sample:19\n"

#define JPP_PRELOAD                                                           \
    "systemctl edit nginx, and add:\n"                                        \
    "    [Service]\n"                                                         \
    "    Environment=LD_PRELOAD=libjemalloc.so.2\n"                           \
    JPP_OPTIONS                                                               \
    JPP_RESTART "\n"                                                          \
    JPP_UPGRADE

#define JPP_UPGRADE                                                           \
    "For binary upgrades, add to nginx.conf, outside of all blocks:\n"        \
    "    env LD_PRELOAD; env %m;"

/* the last value of an option counts, and the environment is read last */

#define JPP_APPEND(option)                                                    \
    "Run systemctl edit nginx, and append to the line Environment=%m=\n"     \
    "    ," option "\n"                                                       \
    JPP_RESTART

/* works with any malloc(), and at once */

#define JPP_SAMPLER                                                           \
    "Without a restart: POST sampler=on to control, or set in the http "      \
    "block, and reload:\n"                                                    \
    "    jemalloc_pprof_source sampler;\n"

/* a rate may come from control, from the directive or from the environment */

#define JPP_RESAMPLE                                                          \
    "Without a restart: POST lg_sample=19 to control, or set in the http "    \
    "block, and reload:\n"                                                    \
    "    jemalloc_pprof_sample 512k;\n"                                       \
    "From the start: "                                                        \
    JPP_APPEND("lg_prof_sample:19")


typedef enum {

    /* jemalloc's state is the problem */

    JPP_PROBLEM_NO_JEMALLOC = JPP_JEMALLOC_ABSENT,
    JPP_PROBLEM_NO_PROF = JPP_JEMALLOC_NO_PROF,
    JPP_PROBLEM_PROF_OFF = JPP_JEMALLOC_OFF,
    JPP_PROBLEM_THREAD_NAME = JPP_JEMALLOC_REFUSED,
    JPP_PROBLEM_INACTIVE = JPP_JEMALLOC_INACTIVE,

    JPP_PROBLEM_LUA_ABORT,
    JPP_PROBLEM_GAP,
    JPP_PROBLEM_UNSAMPLED,
    JPP_PROBLEM_INTERVAL,
    JPP_PROBLEM_GDUMP,
    JPP_PROBLEM_FINAL,
    JPP_PROBLEM_LEAK_ERROR,
    JPP_PROBLEM_ACCUM,
    JPP_PROBLEM_COARSE,
    JPP_PROBLEM_FINE,
    JPP_PROBLEM_BOTH,
    JPP_PROBLEM_DROPS,
    JPP_PROBLEM_KEPT,
    JPP_PROBLEM_SIGPROF,
    JPP_PROBLEMS
} jpp_problem_id_t;


/*
 * In the texts: %a the file that has malloc, %v the version of jemalloc, %m
 * the variable of its options, %l lg_sample, %r the same in bytes, %h why
 * jemalloc walks stacks itself, %u how to change that, %d the samples that were
 * dropped, %c a coarser lg of the sampler, %o when sampling was off.
 */

typedef struct {
    const char    *id;
    bool           is_fatal;
    const char    *what;
    const char    *why;
    const char    *fix;
} jpp_problem_row_t;


static const jpp_problem_row_t  jpp_problem_rows[JPP_PROBLEMS] = {

    [JPP_PROBLEM_NO_JEMALLOC] = {
        "no-jemalloc", true,
        "the malloc of this nginx is not jemalloc's",
        "it comes from %a, which does not record where memory was allocated",
        JPP_SAMPLER
        "Or run apt-get install libjemalloc2 and " JPP_PRELOAD },

    [JPP_PROBLEM_NO_PROF] = {
        "no-prof", true,
        "jemalloc %v was built without profiling",
        "profiling needs a build with --enable-prof: Debian's libjemalloc2 is "
        "built so on amd64 and i386, packages of other distributions may not "
        "be",
        JPP_SAMPLER
        "Or install such a build, or build jemalloc with ./configure "
        "--enable-prof.\n"
        "Run " JPP_PRELOAD },

    [JPP_PROBLEM_PROF_OFF] = {
        "prof-off", true,
        "the profiling of jemalloc %v is off",
        "opt.prof is false, and jemalloc reads its options once, before "
        "main()",
        JPP_SAMPLER
        "Or run systemctl edit nginx, and add:\n"
        "    [Service]\n"
        JPP_OPTIONS
        JPP_RESTART "\n"
        JPP_UPGRADE },

    [JPP_PROBLEM_THREAD_NAME] = {
        "thread-name", true,
        "jemalloc %v cannot be dumped safely with prof_sys_thread_name:true",
        "before 5.3.1 that option races with a dump and can crash the process",
        "Upgrade to jemalloc 5.3.1 or later, or switch the option off.\n"
        JPP_APPEND("prof_sys_thread_name:false") },

    [JPP_PROBLEM_INACTIVE] = {
        "inactive", true,
        "profiling is not active",
        "prof.active is false, so jemalloc takes no samples",
        "Without a restart: POST active=on to control, or add to the http "
        "block, and reload:\n"
        "    jemalloc_pprof_active on;\n"
        "From the start: "
        JPP_APPEND("prof_active:true") },

    [JPP_PROBLEM_LUA_ABORT] = {
        "lua-abort", false,
        "sampling can abort workers running LuaJIT",
        "jemalloc unwinds with libgcc, which aborts or deadlocks under code "
        "that LuaJIT has compiled. The module's unwinder does neither, but is "
        "not in use: %h",
        "Immediately: POST active=off to control; this stops jemalloc's "
        "sampling.\n"
        JPP_SAVE
        "Then set in the http block, and reload:\n%u"
        "    jemalloc_pprof_active off;" },

    [JPP_PROBLEM_GAP] = {
        "gap", false,
        "profiles lack memory that was allocated while sampling was off",
        "jemalloc's sampling was off %o, and it samples memory only "
        "when it is allocated",
        "POST reset=1 to control: profiles then show allocations from then "
        "on. Or run nginx -s reload: new workers sample from their "
        "start." },

    [JPP_PROBLEM_UNSAMPLED] = {
        "unsampled", false,
        "profiles stay empty with prof_thread_active_init:false",
        "that option keeps every thread from being sampled, and nginx does "
        "not enable its threads",
        JPP_APPEND("prof_thread_active_init:true") },

    [JPP_PROBLEM_INTERVAL] = {
        "interval", false,
        "lg_prof_interval makes workers write dump files as they serve",
        "malloc itself writes the files, into the working directory, so "
        "requests wait and the disk fills",
        JPP_APPEND("lg_prof_interval:-1") },

    [JPP_PROBLEM_GDUMP] = {
        "gdump", false,
        "prof_gdump makes workers write dump files as they grow",
        "malloc itself writes the files, into the working directory, so "
        "requests wait and the disk fills",
        JPP_APPEND("prof_gdump:false") },

    [JPP_PROBLEM_FINAL] = {
        "final", false,
        "prof_final makes every worker write a dump file when it exits",
        "each reload and restart leaves files in the working directory",
        JPP_APPEND("prof_final:false") },

    [JPP_PROBLEM_LEAK_ERROR] = {
        "leak-error", false,
        "prof_leak_error can make a worker exit with status 1",
        "nginx does not free all memory when it exits, and jemalloc reports "
        "that as a leak and an error",
        JPP_APPEND("prof_leak_error:false") },

    [JPP_PROBLEM_ACCUM] = {
        "accum", false,
        "prof_accum keeps every stack forever",
        "the memory of the profiler and the time of a dump only grow; only "
        "alloc_objects and alloc_space need the option",
        JPP_APPEND("prof_accum:false") },

    [JPP_PROBLEM_COARSE] = {
        "coarse", false,
        "one sample every %r is too coarse for nginx",
        "a worker often holds no more than a few MB, of which lg_prof_sample:"
        "%l sees next to nothing",
        JPP_RESAMPLE },

    [JPP_PROBLEM_FINE] = {
        "fine", false,
        "one sample every %r makes workers larger and slower",
        "every sampled small object takes 16 KiB and the time to unwind a "
        "stack; use lg_prof_sample:%l for an hour at a time",
        JPP_RESAMPLE },

    [JPP_PROBLEM_BOTH] = {
        "both", false,
        "jemalloc samples in addition to the module's sampler",
        "profiles use the sampler's samples only, so jemalloc's samples only "
        "waste time and memory",
        "Without a restart: POST active=off to control, or set in the http "
        "block, and reload:\n"
        "    jemalloc_pprof_active off;" },

    [JPP_PROBLEM_DROPS] = {
        "sampler-drops", false,
        "the sampler has dropped samples",
        "its memory is bounded and full: %d samples are missing, so profiles "
        "show too little",
        "Sample coarser: POST sampler=on&lg_sample=%c to control." },

    [JPP_PROBLEM_KEPT] = {
        "sampler-kept", false,
        "calls of malloc still pass through the sampler, which is off",
        "the kernel refused to restore the tables of addresses (GOT), so each "
        "call costs one jump more",
        JPP_SAVE
        "Then run nginx -s reload: new workers are not affected." },

    [JPP_PROBLEM_SIGPROF] = {
        "sigprof", false,
        "stalls in which this worker computes have no stack",
        "a thread records its stack on SIGPROF, which another profiler uses in "
        "this process; the error log names its file",
        "Switch that profiler off (google_perftools_profiles, for one).\n"
        JPP_RESTART },
};


const char *const  jpp_problem_hooks[] = {
    [JPP_HOOK_NONE] = "nothing is sampled",
    [JPP_HOOK_OFF] = "the configuration has jemalloc_pprof_unwind off",
    [JPP_HOOK_ABSENT] = "only jemalloc 5.3.0 and 5.3.1 have the hook for it",
    [JPP_HOOK_MACHINE] = "it is written for amd64 only",
    [JPP_HOOK_ON] = NULL
};


static uint64_t
jpp_problems_dropped(const jpp_sampler_state_t *sampler)
{
    return sampler->dropped_live + sampler->dropped_sites;
}


static void
jpp_problems_hold(const jpp_worker_t *worker, bool holds[JPP_PROBLEMS])
{
    bool                        on, other;
    unsigned                    i;
    const jpp_jemalloc_t       *jemalloc;
    const jpp_sampler_state_t  *sampler;

    jemalloc = &worker->jemalloc;
    sampler = &worker->sampler;

    /* with opt.prof false the other options do nothing */

    on = jemalloc->state > JPP_JEMALLOC_OFF;
    other = sampler->is_on;

    for (i = 0; i < JPP_JEMALLOC_READY; i++) {
        holds[i] = !other && jemalloc->state == i;
    }

    holds[JPP_PROBLEM_LUA_ABORT] = jpp_jemalloc_will_abort(jemalloc);
    holds[JPP_PROBLEM_GAP] = jemalloc->state == JPP_JEMALLOC_READY
                             && jpp_worker_has_gap(worker);
    holds[JPP_PROBLEM_UNSAMPLED] = on && jemalloc->unsampled;
    holds[JPP_PROBLEM_INTERVAL] = on && jemalloc->interval;
    holds[JPP_PROBLEM_GDUMP] = on && jemalloc->gdump;
    holds[JPP_PROBLEM_FINAL] = on && jemalloc->final;
    holds[JPP_PROBLEM_LEAK_ERROR] = on && jemalloc->leak_error;
    holds[JPP_PROBLEM_ACCUM] = on && jemalloc->accum;
    holds[JPP_PROBLEM_COARSE] = on && !other
                                && jemalloc->lg_sample > JPP_COARSE;
    holds[JPP_PROBLEM_FINE] = on && !other && jemalloc->lg_sample < JPP_FINE;
    holds[JPP_PROBLEM_BOTH] = other && jemalloc->active;
    holds[JPP_PROBLEM_DROPS] = other && jpp_problems_dropped(sampler) != 0;
    holds[JPP_PROBLEM_KEPT] = !other && sampler->slots != 0;
    holds[JPP_PROBLEM_SIGPROF] = worker->stalling.is_foreign;
}


static const char *
jpp_problems_value(const jpp_worker_t *worker, char name,
    char text[JPP_PROBLEMS_VALUE])
{
    uint64_t               number;
    const jpp_jemalloc_t  *jemalloc;

    jemalloc = &worker->jemalloc;

    switch (name) {

    case 'a':
        return jemalloc->allocator[0] != '\0' ? jemalloc->allocator
                                              : "another library";

    case 'v':
        return jemalloc->version;

    case 'm':
        return jemalloc->variable != NULL ? jemalloc->variable
                                          : "MALLOC_CONF";

    case 'd':
        number = jpp_problems_dropped(&worker->sampler);
        break;

    case 'c':
        number = jpp_smaller(worker->sampler.lg_sample + JPP_COARSER,
                             JPP_SAMPLER_LG_MAX);
        break;

    case 'h':
        return jpp_problem_hooks[jemalloc->hook];

    case 'u':
        return jemalloc->hook == JPP_HOOK_OFF
               ? "    jemalloc_pprof_unwind on;\n"
                 "Or, without samples:\n" : "";

    case 'l':
        number = jemalloc->lg_sample;
        break;

    case 'o':
        return jpp_coverage_gap(&worker->coverage, text);

    default: /* 'r' */
        return jpp_units_bytes((uint64_t) 1 << jpp_smaller(jemalloc->lg_sample,
                                                           63), text);
    }

    (void) snprintf(text, JPP_PROBLEMS_VALUE, "%" PRIu64, number);

    return text;
}


static void
jpp_problems_expand(const jpp_worker_t *worker, const char *template,
    char *text, size_t size)
{
    char         buffer[JPP_PROBLEMS_VALUE], *last;
    const char  *value;

    for (last = text + size - 1; *template != '\0'; template++) {

        if (*template != '%') {
            if (text < last) {
                *text++ = *template;
            }

            continue;
        }

        value = jpp_problems_value(worker, *++template, buffer);

        for ( /* void */ ; *value != '\0' && text < last; value++) {
            *text++ = *template == 'u' ? *value : jpp_ascii(*value);
        }
    }

    *text = '\0';
}


size_t
jpp_problems(const jpp_worker_t *worker,
    jpp_problem_t problems[JPP_MAX_PROBLEMS])
{
    bool                      holds[JPP_PROBLEMS];
    size_t                    i, n;
    jpp_problem_t            *problem;
    const jpp_problem_row_t  *row;

    jpp_problems_hold(worker, holds);

    n = 0;

    for (i = 0; i < JPP_PROBLEMS && n < JPP_MAX_PROBLEMS; i++) {

        if (!holds[i]) {
            continue;
        }

        row = &jpp_problem_rows[i];
        problem = &problems[n++];

        problem->id = row->id;
        problem->is_fatal = row->is_fatal;

        jpp_problems_expand(worker, row->what, problem->what,
                            sizeof(problem->what));
        jpp_problems_expand(worker, row->why, problem->why,
                            sizeof(problem->why));
        jpp_problems_expand(worker, row->fix, problem->fix,
                            sizeof(problem->fix));
    }

    return n;
}


void
jpp_problems_explain(const jpp_worker_t *worker, jpp_err_t *err)
{
    char            failed[JPP_ERR_TEXT];
    jpp_problem_t   problems[JPP_MAX_PROBLEMS];

    if (err->code != JPP_ERR_STATE
        || jpp_problems(worker, problems) == 0
        || !problems[0].is_fatal)
    {
        return;
    }

    jpp_print(failed, "%s", err->text);

    (void) jpp_err_set(err, JPP_ERR_STATE, "%s: %s: %s; status has the fix",
                       failed, problems[0].what, problems[0].why);
}
