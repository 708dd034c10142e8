
#include <string.h>

#include "jpp_findings.h"
#include "jpp_findings_kernel.h"
#include "jpp_findings_profile.h"
#include "jpp_findings_time.h"
#include "jpp_findings_workers.h"


typedef bool (*jpp_finding_check_pt)(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);


typedef struct {
    const char             *id;
    bool                    is_critical;
    jpp_finding_check_pt    check;
    const char             *what;
    const char             *cure;
} jpp_finding_row_t;


static const jpp_finding_row_t  jpp_finding_rows[JPP_FINDINGS] = {

    [JPP_FINDING_LIMIT_NEAR] = {
        "limit-near", true, jpp_finding_limit_near,
        "nginx is close to its memory limit",
        "Raise the limit (MemoryMax= of the systemd unit, or the container's), "
        "or find what holds the memory: pools and heap have it by location and "
        "by function." },

    [JPP_FINDING_OOM_KILL] = {
        "oom-kill", true, jpp_finding_oom_kill,
        "processes were killed, or crashed",
        "The error log says \"exited on signal 9\" for workers that were "
        "killed, and the kernel's log (dmesg) why." },

    [JPP_FINDING_GROWS] = {
        "grows", false, jpp_finding_grows,
        "memory grows all the time",
        "Two profiles show who holds the difference: "
        "go tool pprof 'http://.../heap?seconds=300'. What does not show up "
        "there is not malloc's: see outside." },

    [JPP_FINDING_RELOAD_LEAK] = {
        "reload-leak", false, jpp_finding_reload_leak,
        "workers start with more memory than before the reload",
        "Either the configuration has grown, or the master keeps memory of "
        "former ones. heap?origin=master shows what workers inherit, by "
        "function; a restart frees it." },

    [JPP_FINDING_PRESSURE] = {
        "pressure", false, jpp_finding_pressure,
        "processes wait for memory",
        "Something on this machine, or in this container, needs more memory "
        "than there is: find the largest (ps aux --sort=-rss), or add "
        "some." },

    [JPP_FINDING_SWAP] = {
        "swap", false, jpp_finding_swap,
        "memory of workers was swapped out",
        "Requests that touch it wait for the disk. Add memory, or keep nginx "
        "from being swapped out (MemorySwapMax=0 of the systemd unit)." },

    [JPP_FINDING_ZONE_FULL] = {
        "zone-full", false, jpp_finding_zone_full,
        "a zone of shared memory is full",
        "Make it larger where it is defined: the size stands behind its "
        "name." },

    [JPP_FINDING_OLD_WORKERS] = {
        "old-workers", false, jpp_finding_old_workers,
        "workers of former configurations hold much of the memory",
        "They live until their last connection ends. To bound that, add "
        "outside of all blocks: worker_shutdown_timeout 10m;" },

    [JPP_FINDING_ODD_WORKER] = {
        "odd-worker", false, jpp_finding_odd_worker,
        "one worker holds much more than the others",
        "See what it holds, and another does not: heap?format=top&worker=N of "
        "both, and requests?worker=N." },

    [JPP_FINDING_OUTSIDE] = {
        "outside", false, jpp_finding_outside,
        "much of the memory does not come from malloc",
        "jemalloc has not handed it out: LuaJIT, Python, Go and Java map their "
        "own, and count it (collectgarbage(\"count\") in Lua). What else does "
        "so has a row in memory?format=top, with its name if it gave one." },

    [JPP_FINDING_RETAINED] = {
        "retained", false, jpp_finding_retained,
        "jemalloc keeps much memory that was freed",
        "POST purge=1 to control returns it to the kernel. For good: add "
        "background_thread:true,dirty_decay_ms:5000 to MALLOC_CONF." },

    [JPP_FINDING_FRAGMENTED] = {
        "fragmented", false, jpp_finding_fragmented,
        "allocations use only a part of their pages",
        "A burst that has ended leaves pages with few allocations; a fine "
        "sampling rate does the same, as jemalloc gives each sampled one a "
        "page. A reload starts afresh." },

    [JPP_FINDING_THP] = {
        "thp", false, jpp_finding_thp,
        "huge pages take memory that was not asked for",
        "The kernel backs 2 MiB where a few KiB are in use. For jemalloc alone "
        "add thp:never to MALLOC_CONF; for all processes: "
        "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled" },

    [JPP_FINDING_PEAK] = {
        "peak", false, jpp_finding_peak,
        "the memory was much larger before: a peak has passed",
        "What a monitor saw then is not there any more. metrics keeps the "
        "peak as nginx_worker_peak_resident_memory_bytes." },

    [JPP_FINDING_STALLS] = {
        "stalls", false, jpp_finding_stalls,
        "something keeps an event loop from serving",
        "While a handler computes or waits for a disk, no other client of its "
        "worker is served. With jemalloc_pprof_stall 100ms, the error log and "
        "the resource stalls say where." },

    [JPP_FINDING_FEW_SAMPLES] = {
        "few-samples", false, jpp_finding_few_samples,
        "the profile rests on few samples",
        "Its figures may be far off. For an hour, sample finer: POST "
        "lg_sample=16 to control, or set jemalloc_pprof_sample 64k." },

    [JPP_FINDING_EXPLAINS] = {
        "explains", false, jpp_finding_explains,
        "the profile has only a part of what is allocated",
        "What was allocated while nobody sampled, or before a reset, is not in "
        "it: sample from the start (prof_active:true). A fine rate adds to "
        "what is allocated: pools has it without." }
};


static size_t
jpp_findings_check(const jpp_telemetry_t *telemetry, unsigned i, unsigned end,
    jpp_finding_t *findings)
{
    size_t  n;

    for (n = 0; i < end; i++) {
        jpp_finding_of(i, &findings[n]);
        findings[n].stands = telemetry->standing >> i & 1;

        n += jpp_finding_rows[i].check(telemetry, &findings[n]);
    }

    return n;
}


size_t
jpp_findings(const jpp_telemetry_t *telemetry,
    jpp_finding_t findings[JPP_FINDINGS])
{
    return jpp_findings_check(telemetry, 0, JPP_FINDING_FEW_SAMPLES, findings);
}


size_t
jpp_findings_profile(const jpp_fleet_t *fleet, const jpp_profile_t *profile,
    bool is_whole, jpp_finding_t findings[JPP_FINDINGS_PROFILE])
{
    jpp_profiled_t   profiled;
    jpp_telemetry_t  telemetry;

    memset(&telemetry, 0, sizeof(jpp_telemetry_t));

    jpp_findings_profiled(&profiled, profile, is_whole);

    telemetry.fleet = fleet;
    telemetry.profile = &profiled;

    return jpp_findings_check(&telemetry, JPP_FINDING_FEW_SAMPLES,
                              JPP_FINDINGS, findings);
}


void
jpp_finding_of(jpp_finding_id_t id, jpp_finding_t *finding)
{
    const jpp_finding_row_t  *row;

    row = &jpp_finding_rows[id];

    finding->number = id;
    finding->id = row->id;
    finding->is_critical = row->is_critical;
    finding->what = row->what;
    finding->because[0] = '\0';
    finding->cure = row->cure;
    finding->stands = false;
}
