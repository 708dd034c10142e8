
/*
 * The table of metric families: name, type, unit, source of the values, and
 * help.
 */


#include "jpp_metrics.h"


/* the structures of the sources */

#define JPP_METRICS_OF_NGINX     jpp_metrics_nginx_t
#define JPP_METRICS_OF_TELEMETRY jpp_telemetry_t
#define JPP_METRICS_OF_WORKER    jpp_metrics_worker_t
#define JPP_METRICS_OF_WORKERS   jpp_metrics_worker_t
#define JPP_METRICS_OF_CGROUP    jpp_cgroup_t
#define JPP_METRICS_OF_SYSTEM    jpp_system_t
#define JPP_METRICS_OF_ZONE      jpp_zone_t
#define JPP_METRICS_OF_REQUEST   jpp_requested_t

/* an info is always 1 */
#define JPP_METRICS_OF_BUILD     jpp_metrics_nginx_t
#define JPP_METRICS_OF_CGROUPS   jpp_metrics_nginx_t
#define JPP_METRICS_OF_IDENTITY  jpp_metrics_nginx_t
#define JPP_METRICS_NO_NUMBER    running


#define JPP_METRICS_BY(type, source, label, member, name, help)               \
    { name, help, JPP_METRICS_##type, JPP_METRICS_##source, label,            \
      offsetof(JPP_METRICS_OF_##source, member) },

#define JPP_METRICS_ONE(type, source, member, name, help)                     \
    JPP_METRICS_BY(type, source, "", member, name, help)

/* one more of the family before */

#define JPP_METRICS_MORE(source, label, member)                               \
    JPP_METRICS_BY(GAUGE, source, label, member, NULL, NULL)


const jpp_metrics_row_t  jpp_metrics_rows[] = {

    JPP_METRICS_ONE(INFO, BUILD, JPP_METRICS_NO_NUMBER,
        "nginx_jemalloc_pprof_build",
        "Versions of this module, of nginx and of jemalloc.")

    JPP_METRICS_BY(GAUGE, NGINX, "state=\"running\"", running,
        "nginx_workers",
        "Workers by state; missing workers did not answer.")
    JPP_METRICS_MORE(NGINX, "state=\"exiting\"", exiting)
    JPP_METRICS_MORE(NGINX, "state=\"missing\"", missing)

    JPP_METRICS_ONE(INFO, IDENTITY, JPP_METRICS_NO_NUMBER,
        "nginx_worker",
        "The process that is a worker now.")

    JPP_METRICS_ONE(GAUGE, WORKER, started,
        "nginx_worker_start_time_seconds",
        "When the worker started, in seconds since the epoch.")

    JPP_METRICS_ONE(GAUGE, TELEMETRY, generation,
        "nginx_config_generation",
        "Configurations loaded so far.")

    JPP_METRICS_ONE(GAUGE, TELEMETRY, loaded,
        "nginx_config_load_time_seconds",
        "When the configuration was loaded, in seconds since the epoch.")

    JPP_METRICS_ONE(COUNTER, TELEMETRY, noted.unclean_exits,
        "nginx_worker_unclean_exits",
        "Workers that crashed or were killed.")

    JPP_METRICS_BY(COUNTER, TELEMETRY, "event=\"start\"",
        events[JPP_EVENT_START],
        "nginx_events",
        "Events by type, as the resource events lists them.")
    JPP_METRICS_MORE(TELEMETRY, "event=\"reload\"", events[JPP_EVENT_RELOAD])
    JPP_METRICS_MORE(TELEMETRY, "event=\"ended\"", events[JPP_EVENT_ENDED])
    JPP_METRICS_MORE(TELEMETRY, "event=\"crash\"", events[JPP_EVENT_CRASH])
    JPP_METRICS_MORE(TELEMETRY, "event=\"kill\"", events[JPP_EVENT_KILL])
    JPP_METRICS_MORE(TELEMETRY, "event=\"finding\"", events[JPP_EVENT_FINDING])
    JPP_METRICS_MORE(TELEMETRY, "event=\"over\"", events[JPP_EVENT_OVER])
    JPP_METRICS_MORE(TELEMETRY, "event=\"limit\"", events[JPP_EVENT_LIMIT])
    JPP_METRICS_MORE(TELEMETRY, "event=\"control\"", events[JPP_EVENT_CONTROL])
    JPP_METRICS_MORE(TELEMETRY, "event=\"snapshot\"",
                     events[JPP_EVENT_SNAPSHOT])

    JPP_METRICS_BY(COUNTER, TELEMETRY, "reason=\"start\"",
        snapshots_taken[JPP_SNAPSHOT_START],
        "nginx_snapshots",
        "Snapshots stored, by reason.")
    JPP_METRICS_MORE(TELEMETRY, "reason=\"growth\"",
                     snapshots_taken[JPP_SNAPSHOT_GROWTH])
    JPP_METRICS_MORE(TELEMETRY, "reason=\"soon\"",
                     snapshots_taken[JPP_SNAPSHOT_SOON])
    JPP_METRICS_MORE(TELEMETRY, "reason=\"limit\"",
                     snapshots_taken[JPP_SNAPSHOT_LIMIT])
    JPP_METRICS_MORE(TELEMETRY, "reason=\"kill\"",
                     snapshots_taken[JPP_SNAPSHOT_KILL])
    JPP_METRICS_MORE(TELEMETRY, "reason=\"manual\"",
                     snapshots_taken[JPP_SNAPSHOT_MANUAL])

    JPP_METRICS_ONE(COUNTER, TELEMETRY, snapshots_failed,
        "nginx_snapshots_failed",
        "Snapshots that could not be stored.")

    JPP_METRICS_ONE(GAUGE, TELEMETRY, n_snapshots,
        "nginx_snapshots_kept",
        "Snapshots that can be read.")

    /* this module */

    JPP_METRICS_BY(COUNTER, REQUEST, "code=\"2xx\"", answers[0],
        "nginx_jemalloc_pprof_requests",
        "Requests for resources of this module, by status class.")
    JPP_METRICS_MORE(REQUEST, "code=\"3xx\"", answers[1])
    JPP_METRICS_MORE(REQUEST, "code=\"4xx\"", answers[2])
    JPP_METRICS_MORE(REQUEST, "code=\"5xx\"", answers[3])

    JPP_METRICS_ONE(HISTOGRAM, WORKER, activity.dumps,
        "nginx_jemalloc_pprof_dump_seconds",
        "Duration of heap dumps.")

    JPP_METRICS_BY(GAUGE, NGINX, "probe=\"process\"", no_status,
        "nginx_jemalloc_pprof_probe_errors",
        "Sources that could not be read: the number of workers, or 1.")
    JPP_METRICS_MORE(NGINX, "probe=\"jemalloc\"", no_stats)
    JPP_METRICS_MORE(NGINX, "probe=\"cgroup\"", no_cgroup)
    JPP_METRICS_MORE(NGINX, "probe=\"system\"", no_system)

    JPP_METRICS_ONE(GAUGE, WORKER, sampler,
        "nginx_jemalloc_pprof_sampler_active",
        "1 if the module's sampler is on.")

    JPP_METRICS_ONE(GAUGE, WORKER, sampler_interval,
        "nginx_jemalloc_pprof_sampler_interval_bytes",
        "Mean bytes between two samples of the sampler.")

    JPP_METRICS_ONE(GAUGE, WORKERS, sampler_live,
        "nginx_jemalloc_pprof_sampler_live_samples",
        "Samples of memory that is not freed yet.")

    JPP_METRICS_ONE(GAUGE, WORKERS, sampler_bytes,
        "nginx_jemalloc_pprof_sampler_memory_bytes",
        "Memory of the sampler.")

    JPP_METRICS_ONE(COUNTER, WORKER, sampler_samples,
        "nginx_jemalloc_pprof_sampler_samples",
        "Samples taken since the sampler was switched on.")

    JPP_METRICS_ONE(COUNTER, WORKER, sampler_dropped,
        "nginx_jemalloc_pprof_sampler_dropped_samples",
        "Samples dropped since the sampler was switched on.")

    JPP_METRICS_ONE(COUNTER, WORKER, sampler_cut,
        "nginx_jemalloc_pprof_sampler_cut_stacks",
        "Truncated stacks since the sampler was switched on.")

    /* what jemalloc counts */

    JPP_METRICS_ONE(GAUGE, WORKERS, stats.allocated,
        "nginx_jemalloc_allocated_bytes",
        "Bytes allocated by the program.")

    JPP_METRICS_ONE(GAUGE, WORKERS, stats.active,
        "nginx_jemalloc_active_bytes",
        "Bytes in pages that hold allocations.")

    JPP_METRICS_ONE(GAUGE, WORKERS, stats.metadata,
        "nginx_jemalloc_metadata_bytes",
        "Bytes of the allocator's metadata.")

    JPP_METRICS_ONE(GAUGE, WORKERS, stats.resident,
        "nginx_jemalloc_resident_bytes",
        "Bytes in physical pages; an upper bound.")

    JPP_METRICS_ONE(GAUGE, WORKERS, stats.mapped,
        "nginx_jemalloc_mapped_bytes",
        "Bytes in active extents.")

    JPP_METRICS_ONE(GAUGE, WORKERS, stats.retained,
        "nginx_jemalloc_retained_bytes",
        "Bytes of address space kept without memory.")

    JPP_METRICS_ONE(GAUGE, WORKERS, stats.dirty,
        "nginx_jemalloc_dirty_bytes",
        "Bytes in pages freed by the program and kept by the allocator.")

    JPP_METRICS_ONE(GAUGE, WORKERS, stats.muzzy,
        "nginx_jemalloc_muzzy_bytes",
        "Bytes in pages that the kernel may take back.")

    JPP_METRICS_ONE(GAUGE, WORKER, stats.arenas,
        "nginx_jemalloc_arenas",
        "Arenas.")

    JPP_METRICS_ONE(GAUGE, WORKER, stats.threads,
        "nginx_jemalloc_background_threads",
        "Running background threads.")

    JPP_METRICS_ONE(COUNTER, WORKER, mallocs,
        "nginx_jemalloc_mallocs",
        "Allocations.")

    JPP_METRICS_ONE(COUNTER, WORKER, frees,
        "nginx_jemalloc_frees",
        "Deallocations.")

    JPP_METRICS_ONE(COUNTER, WORKER, purged,
        "nginx_jemalloc_purged_bytes",
        "Bytes given back to the kernel.")

    JPP_METRICS_ONE(COUNTER, WORKER, stats.thread_runs,
        "nginx_jemalloc_background_thread_runs",
        "Runs of background threads.")

    JPP_METRICS_ONE(GAUGE, WORKER, prof_active,
        "nginx_jemalloc_prof_active",
        "1 if the heap is sampled.")

    JPP_METRICS_ONE(GAUGE, WORKER, interval,
        "nginx_jemalloc_prof_sample_interval_bytes",
        "Mean bytes allocated between two samples.")

    JPP_METRICS_ONE(GAUGE, WORKER, in_step,
        "nginx_jemalloc_prof_in_step",
        "1 if the worker has the settings made for all workers.")

    /* what the kernel counts of a process */

    JPP_METRICS_BY(GAUGE, WORKERS, "kind=\"anon\"", activity.usage.rss_anon,
        "nginx_worker_resident_memory_bytes",
        "Physical memory; file and shmem are shared among workers.")
    JPP_METRICS_MORE(WORKER, "kind=\"file\"", activity.usage.rss_file)
    JPP_METRICS_MORE(WORKER, "kind=\"shmem\"", activity.usage.rss_shmem)

    JPP_METRICS_BY(GAUGE, WORKERS, "vm=\"http\"", lua[0],
        "nginx_worker_lua_bytes",
        "Bytes allocated by LuaJIT's VMs.")
    JPP_METRICS_MORE(WORKERS, "vm=\"stream\"", lua[1])

    JPP_METRICS_ONE(GAUGE, WORKERS, activity.usage.size,
        "nginx_worker_virtual_memory_bytes",
        "Address space in use.")

    JPP_METRICS_ONE(GAUGE, WORKER, activity.usage.peak,
        "nginx_worker_peak_resident_memory_bytes",
        "Peak physical memory.")

    JPP_METRICS_ONE(GAUGE, WORKERS, activity.usage.swap,
        "nginx_worker_swap_bytes",
        "Private memory that was swapped out.")

    JPP_METRICS_ONE(GAUGE, WORKERS, activity.usage.page_tables,
        "nginx_worker_page_table_bytes",
        "Memory of the page tables.")

    JPP_METRICS_ONE(GAUGE, WORKERS, activity.usage.locked,
        "nginx_worker_locked_memory_bytes",
        "Memory that cannot be swapped out.")

    JPP_METRICS_BY(COUNTER, WORKER, "kind=\"minor\"",
        activity.usage.minor_faults,
        "nginx_worker_page_faults",
        "Page faults; major faults waited for a disk.")
    JPP_METRICS_MORE(WORKER, "kind=\"major\"", activity.usage.major_faults)

    JPP_METRICS_BY(MICRO, WORKER, "mode=\"user\"", activity.usage.user_us,
        "nginx_worker_cpu_seconds",
        "CPU time.")
    JPP_METRICS_MORE(WORKER, "mode=\"system\"", activity.usage.system_us)

    JPP_METRICS_BY(COUNTER, WORKER, "kind=\"voluntary\"",
        activity.usage.voluntary_switches,
        "nginx_worker_context_switches",
        "Context switches.")
    JPP_METRICS_MORE(WORKER, "kind=\"involuntary\"",
                       activity.usage.involuntary_switches)

    JPP_METRICS_ONE(GAUGE, WORKERS, activity.usage.fds,
        "nginx_worker_open_fds",
        "Open file descriptors.")

    JPP_METRICS_ONE(GAUGE, WORKER, activity.usage.max_fds,
        "nginx_worker_max_fds",
        "The limit of open file descriptors.")

    JPP_METRICS_ONE(GAUGE, WORKERS, activity.usage.threads,
        "nginx_worker_threads",
        "Threads.")

    JPP_METRICS_ONE(GAUGE, WORKER, activity.usage.oom_score,
        "nginx_worker_oom_score",
        "OOM score; the kernel kills the highest score first.")

    JPP_METRICS_ONE(SIGNED, WORKER, activity.usage.oom_score_adj,
        "nginx_worker_oom_score_adj",
        "The adjustment of the OOM score.")

    /* what nginx does */

    JPP_METRICS_ONE(GAUGE, WORKERS, activity.connections,
        "nginx_worker_connections",
        "Size of the connection table: worker_connections.")

    JPP_METRICS_ONE(GAUGE, WORKERS, activity.connections_free,
        "nginx_worker_connections_free",
        "Free connections.")

    JPP_METRICS_ONE(HISTOGRAM, WORKER, activity.loop,
        "nginx_worker_event_loop_busy_seconds",
        "Busy time of iterations of the event loop.")

    /* the cgroup */

    JPP_METRICS_ONE(INFO, CGROUPS, JPP_METRICS_NO_NUMBER,
        "nginx_cgroup",
        "The cgroup version that limits memory.")

    JPP_METRICS_ONE(GAUGE, CGROUP, usage,
        "nginx_cgroup_memory_usage_bytes",
        "Memory used by the cgroup.")

    JPP_METRICS_ONE(GAUGE, CGROUP, working_set,
        "nginx_cgroup_memory_working_set_bytes",
        "Memory used by the cgroup, without inactive file pages.")

    JPP_METRICS_ONE(GAUGE, CGROUP, levels[0].limit,
        "nginx_cgroup_memory_limit_bytes",
        "The limit of the cgroup itself.")

    JPP_METRICS_ONE(GAUGE, CGROUP, headroom,
        "nginx_cgroup_memory_headroom_bytes",
        "Smallest headroom below a limit, here or above.")

    JPP_METRICS_ONE(GAUGE, CGROUP, levels[0].high,
        "nginx_cgroup_memory_high_bytes",
        "Usage above which the kernel reclaims memory.")

    JPP_METRICS_ONE(GAUGE, CGROUP, low,
        "nginx_cgroup_memory_low_bytes",
        "Usage below which the kernel does not reclaim memory.")

    JPP_METRICS_ONE(GAUGE, CGROUP, peak,
        "nginx_cgroup_memory_peak_bytes",
        "Peak usage of the cgroup.")

    JPP_METRICS_ONE(GAUGE, CGROUP, swap_usage,
        "nginx_cgroup_memory_swap_usage_bytes",
        "Swap used by the cgroup.")

    JPP_METRICS_ONE(GAUGE, CGROUP, swap_limit,
        "nginx_cgroup_memory_swap_limit_bytes",
        "Swap limit of the cgroup.")

    JPP_METRICS_BY(GAUGE, CGROUP, "kind=\"anon\"", stat.anon,
        "nginx_cgroup_memory_stat_bytes",
        "Memory of the cgroup by use.")
    JPP_METRICS_MORE(CGROUP, "kind=\"file\"", stat.file)
    JPP_METRICS_MORE(CGROUP, "kind=\"kernel\"", stat.kernel)
    JPP_METRICS_MORE(CGROUP, "kind=\"kernel_stack\"", stat.kernel_stack)
    JPP_METRICS_MORE(CGROUP, "kind=\"pagetables\"", stat.pagetables)
    JPP_METRICS_MORE(CGROUP, "kind=\"percpu\"", stat.percpu)
    JPP_METRICS_MORE(CGROUP, "kind=\"sock\"", stat.sock)
    JPP_METRICS_MORE(CGROUP, "kind=\"shmem\"", stat.shmem)
    JPP_METRICS_MORE(CGROUP, "kind=\"slab_reclaimable\"",
                       stat.slab_reclaimable)
    JPP_METRICS_MORE(CGROUP, "kind=\"slab_unreclaimable\"",
                       stat.slab_unreclaimable)
    JPP_METRICS_MORE(CGROUP, "kind=\"inactive_file\"", stat.inactive_file)
    JPP_METRICS_MORE(CGROUP, "kind=\"file_dirty\"", stat.file_dirty)
    JPP_METRICS_MORE(CGROUP, "kind=\"anon_thp\"", stat.anon_thp)

    JPP_METRICS_BY(COUNTER, CGROUP, "event=\"low\"", events.low,
        "nginx_cgroup_memory_events",
        "Events at a limit, and their consequences.")
    JPP_METRICS_MORE(CGROUP, "event=\"high\"", events.high)
    JPP_METRICS_MORE(CGROUP, "event=\"max\"", events.max)
    JPP_METRICS_MORE(CGROUP, "event=\"oom\"", events.oom)
    JPP_METRICS_MORE(CGROUP, "event=\"oom_kill\"", events.oom_kill)
    JPP_METRICS_MORE(CGROUP, "event=\"oom_group_kill\"",
                       events.oom_group_kill)

    JPP_METRICS_BY(MICRO, CGROUP, "kind=\"some\"", pressure.some.total,
        "nginx_cgroup_memory_pressure_seconds",
        "Time in which some or all tasks of the cgroup waited for memory.")
    JPP_METRICS_MORE(CGROUP, "kind=\"full\"", pressure.full.total)

    /* the machine */

    JPP_METRICS_BY(MICRO, SYSTEM, "kind=\"some\"", pressure.some.total,
        "nginx_memory_pressure_seconds",
        "Time in which some or all tasks of the machine waited for memory.")
    JPP_METRICS_MORE(SYSTEM, "kind=\"full\"", pressure.full.total)

    JPP_METRICS_ONE(GAUGE, SYSTEM, total,
        "nginx_memory_total_bytes",
        "Physical memory of the machine.")

    JPP_METRICS_ONE(GAUGE, SYSTEM, available,
        "nginx_memory_available_bytes",
        "Memory available without swapping.")

    JPP_METRICS_ONE(GAUGE, SYSTEM, swap_free,
        "nginx_memory_swap_free_bytes",
        "Free swap.")

    /* shared memory */

    JPP_METRICS_ONE(GAUGE, ZONE, size,
        "nginx_zone_size_bytes",
        "Size of a zone of shared memory.")

    JPP_METRICS_ONE(GAUGE, ZONE, free,
        "nginx_zone_free_bytes",
        "Bytes in free pages of a zone.")

    JPP_METRICS_ONE(COUNTER, ZONE, allocations,
        "nginx_zone_allocations",
        "Allocations in a zone, successful or failed.")

    JPP_METRICS_ONE(COUNTER, ZONE, failures,
        "nginx_zone_allocation_failures",
        "Failed allocations in a zone.")

    { NULL, NULL, JPP_METRICS_GAUGE, JPP_METRICS_NGINX, NULL, 0 }
};
