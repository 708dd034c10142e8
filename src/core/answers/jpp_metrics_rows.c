
#include "jpp_metrics_rows.h"


/* the structures of the sources */

#define JPP_METRICS_OF_NGINX     jpp_metrics_nginx_t
#define JPP_METRICS_OF_WORKER    jpp_metrics_worker_t
#define JPP_METRICS_OF_CGROUP    jpp_cgroup_t
#define JPP_METRICS_OF_SYSTEM    jpp_system_t
#define JPP_METRICS_OF_ZONE      jpp_zone_t
#define JPP_METRICS_OF_REQUEST   jpp_requested_t

/* an info is always 1 */
#define JPP_METRICS_OF_BUILD     jpp_metrics_nginx_t
#define JPP_METRICS_OF_IDENTITY  jpp_metrics_nginx_t
#define JPP_METRICS_NO_NUMBER    running

#define JPP_METRICS_SUM          true
#define JPP_METRICS_EACH         false


#define JPP_METRICS_FAMILY(type, source, scale, sum, name, help, label,       \
    member)                                                                   \
                                                                              \
    { name, help, JPP_METRICS_##type, JPP_METRICS_##source,                   \
      JPP_METRICS_##scale, JPP_METRICS_##sum, label,                          \
      offsetof(JPP_METRICS_OF_##source, member) },

/* one more of the family before */

#define JPP_METRICS_SERIES(source, label, member)                             \
    { NULL, NULL, JPP_METRICS_GAUGE, JPP_METRICS_##source, JPP_METRICS_PLAIN, \
      false, label, offsetof(JPP_METRICS_OF_##source, member) },


const jpp_metrics_row_t  jpp_metrics_rows[] = {

    JPP_METRICS_FAMILY(INFO, BUILD, PLAIN, EACH,
        "nginx_jemalloc_pprof_build",
        "Versions of this module, of nginx and of jemalloc.",
        "", JPP_METRICS_NO_NUMBER)

    JPP_METRICS_FAMILY(GAUGE, NGINX, PLAIN, EACH,
        "nginx_workers",
        "Workers by state; missing ones did not answer.",
        "state=\"running\"", running)
    JPP_METRICS_SERIES(NGINX, "state=\"exiting\"", exiting)
    JPP_METRICS_SERIES(NGINX, "state=\"missing\"", missing)

    JPP_METRICS_FAMILY(INFO, IDENTITY, PLAIN, EACH,
        "nginx_worker",
        "The process that is a worker now.",
        "", JPP_METRICS_NO_NUMBER)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, EACH,
        "nginx_worker_start_time_seconds",
        "When the worker started, in seconds since the epoch.",
        "", started)

    JPP_METRICS_FAMILY(GAUGE, NGINX, PLAIN, EACH,
        "nginx_config_generation",
        "How many configurations were loaded so far.",
        "", generation)

    JPP_METRICS_FAMILY(GAUGE, NGINX, PLAIN, EACH,
        "nginx_config_load_time_seconds",
        "When the configuration was loaded, in seconds since the epoch.",
        "", loaded)

    JPP_METRICS_FAMILY(COUNTER, NGINX, PLAIN, EACH,
        "nginx_worker_unclean_exits",
        "Workers that ended without saying so: killed or crashed.",
        "", unclean_exits)

    /* this module */

    JPP_METRICS_FAMILY(COUNTER, REQUEST, PLAIN, EACH,
        "nginx_jemalloc_pprof_requests",
        "Requests for resources of this module, by the class of the answer.",
        "code=\"2xx\"", answers[0])
    JPP_METRICS_SERIES(REQUEST, "code=\"3xx\"", answers[1])
    JPP_METRICS_SERIES(REQUEST, "code=\"4xx\"", answers[2])
    JPP_METRICS_SERIES(REQUEST, "code=\"5xx\"", answers[3])

    JPP_METRICS_FAMILY(HISTOGRAM, WORKER, MILLI, EACH,
        "nginx_jemalloc_pprof_dump_seconds",
        "How long the worker took to dump its heap.",
        "", activity.dumps)

    JPP_METRICS_FAMILY(GAUGE, NGINX, PLAIN, EACH,
        "nginx_jemalloc_pprof_probe_errors",
        "What could not be read for this answer: of how many workers, or 1.",
        "probe=\"process\"", no_status)
    JPP_METRICS_SERIES(NGINX, "probe=\"jemalloc\"", no_stats)
    JPP_METRICS_SERIES(NGINX, "probe=\"cgroup\"", no_cgroup)
    JPP_METRICS_SERIES(NGINX, "probe=\"system\"", no_system)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, EACH,
        "nginx_jemalloc_pprof_sampler_active",
        "1 where the module's own sampler is on.",
        "", sampler)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, EACH,
        "nginx_jemalloc_pprof_sampler_interval_bytes",
        "Bytes from one of its samples to the next, on average.",
        "", sampler_interval)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_jemalloc_pprof_sampler_live_samples",
        "Its samples of memory that was not freed yet.",
        "", sampler_live)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_jemalloc_pprof_sampler_memory_bytes",
        "Memory that it takes for all that.",
        "", sampler_bytes)

    JPP_METRICS_FAMILY(COUNTER, WORKER, PLAIN, EACH,
        "nginx_jemalloc_pprof_sampler_samples",
        "Samples that it took since it was switched on.",
        "", sampler_samples)

    JPP_METRICS_FAMILY(COUNTER, WORKER, PLAIN, EACH,
        "nginx_jemalloc_pprof_sampler_dropped_samples",
        "Samples that it had no room for since then.",
        "", sampler_dropped)

    JPP_METRICS_FAMILY(COUNTER, WORKER, PLAIN, EACH,
        "nginx_jemalloc_pprof_sampler_cut_stacks",
        "Stacks that it did not walk to their end since then.",
        "", sampler_cut)

    /* what jemalloc counts */

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_jemalloc_allocated_bytes",
        "Bytes that the program holds.",
        "", stats.allocated)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_jemalloc_active_bytes",
        "Bytes in pages that hold allocations.",
        "", stats.active)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_jemalloc_metadata_bytes",
        "Bytes of the allocator itself.",
        "", stats.metadata)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_jemalloc_resident_bytes",
        "Bytes in physical pages, at most.",
        "", stats.resident)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_jemalloc_mapped_bytes",
        "Bytes in active extents.",
        "", stats.mapped)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_jemalloc_retained_bytes",
        "Bytes of addresses kept without memory.",
        "", stats.retained)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_jemalloc_dirty_bytes",
        "Bytes in pages freed by the program and kept by the allocator.",
        "", stats.dirty)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_jemalloc_muzzy_bytes",
        "Bytes in pages that the kernel may take back.",
        "", stats.muzzy)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, EACH,
        "nginx_jemalloc_arenas",
        "Arenas.",
        "", stats.arenas)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, EACH,
        "nginx_jemalloc_background_threads",
        "Background threads that run.",
        "", stats.threads)

    JPP_METRICS_FAMILY(COUNTER, WORKER, PLAIN, EACH,
        "nginx_jemalloc_mallocs",
        "Allocations.",
        "", mallocs)

    JPP_METRICS_FAMILY(COUNTER, WORKER, PLAIN, EACH,
        "nginx_jemalloc_frees",
        "Deallocations.",
        "", frees)

    JPP_METRICS_FAMILY(COUNTER, WORKER, PLAIN, EACH,
        "nginx_jemalloc_purged_bytes",
        "Bytes given back to the kernel.",
        "", purged)

    JPP_METRICS_FAMILY(COUNTER, WORKER, PLAIN, EACH,
        "nginx_jemalloc_background_thread_runs",
        "Runs of background threads.",
        "", stats.thread_runs)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, EACH,
        "nginx_jemalloc_prof_active",
        "1: the heap is sampled.",
        "", prof_active)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, EACH,
        "nginx_jemalloc_prof_sample_interval_bytes",
        "Bytes allocated from one sample to the next, on average.",
        "", interval)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, EACH,
        "nginx_jemalloc_prof_in_step",
        "1: the settings are those that all workers should have.",
        "", in_step)

    /* what the kernel counts of a process */

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_worker_resident_memory_bytes",
        "Physical memory; file and shmem are shared among workers.",
        "kind=\"anon\"", activity.usage.rss_anon)
    JPP_METRICS_SERIES(WORKER, "kind=\"file\"", activity.usage.rss_file)
    JPP_METRICS_SERIES(WORKER, "kind=\"shmem\"", activity.usage.rss_shmem)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_worker_virtual_memory_bytes",
        "Addresses in use.",
        "", activity.usage.size)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, EACH,
        "nginx_worker_peak_resident_memory_bytes",
        "The most physical memory so far.",
        "", activity.usage.peak)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_worker_swap_bytes",
        "Anonymous memory that was swapped out.",
        "", activity.usage.swap)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_worker_page_table_bytes",
        "Memory of the page tables.",
        "", activity.usage.page_tables)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_worker_locked_memory_bytes",
        "Memory that cannot be swapped out.",
        "", activity.usage.locked)

    JPP_METRICS_FAMILY(COUNTER, WORKER, PLAIN, EACH,
        "nginx_worker_page_faults",
        "Page faults; major ones waited for a disk.",
        "kind=\"minor\"", activity.usage.minor_faults)
    JPP_METRICS_SERIES(WORKER, "kind=\"major\"", activity.usage.major_faults)

    JPP_METRICS_FAMILY(COUNTER, WORKER, MICRO, EACH,
        "nginx_worker_cpu_seconds",
        "CPU time.",
        "mode=\"user\"", activity.usage.user_us)
    JPP_METRICS_SERIES(WORKER, "mode=\"system\"", activity.usage.system_us)

    JPP_METRICS_FAMILY(COUNTER, WORKER, PLAIN, EACH,
        "nginx_worker_context_switches",
        "Context switches.",
        "kind=\"voluntary\"", activity.usage.voluntary_switches)
    JPP_METRICS_SERIES(WORKER, "kind=\"involuntary\"",
                       activity.usage.involuntary_switches)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_worker_open_fds",
        "Open file descriptors.",
        "", activity.usage.fds)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, EACH,
        "nginx_worker_max_fds",
        "How many it may open.",
        "", activity.usage.max_fds)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_worker_threads",
        "Threads.",
        "", activity.usage.threads)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, EACH,
        "nginx_worker_oom_score",
        "The kernel kills the process with the highest one first.",
        "", activity.usage.oom_score)

    JPP_METRICS_FAMILY(GAUGE, WORKER, SIGNED, EACH,
        "nginx_worker_oom_score_adj",
        "What was added to that score.",
        "", activity.usage.oom_score_adj)

    /* what nginx does */

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_worker_connections",
        "Connections that there may be: worker_connections.",
        "", activity.connections)

    JPP_METRICS_FAMILY(GAUGE, WORKER, PLAIN, SUM,
        "nginx_worker_connections_free",
        "Connections that are free.",
        "", activity.connections_free)

    JPP_METRICS_FAMILY(HISTOGRAM, WORKER, MILLI, EACH,
        "nginx_worker_event_loop_busy_seconds",
        "How long iterations of the event loop kept everybody waiting.",
        "", activity.loop)

    /* the cgroup */

    JPP_METRICS_FAMILY(INFO, BUILD, PLAIN, EACH,
        "nginx_cgroup",
        "The version of cgroups that limits memory.",
        "cgroup", JPP_METRICS_NO_NUMBER)

    JPP_METRICS_FAMILY(GAUGE, CGROUP, PLAIN, EACH,
        "nginx_cgroup_memory_usage_bytes",
        "Memory that the cgroup uses.",
        "", usage)

    JPP_METRICS_FAMILY(GAUGE, CGROUP, PLAIN, EACH,
        "nginx_cgroup_memory_working_set_bytes",
        "The same without inactive pages of files.",
        "", working_set)

    JPP_METRICS_FAMILY(GAUGE, NGINX, PLAIN, EACH,
        "nginx_cgroup_memory_limit_bytes",
        "The limit of the cgroup itself.",
        "", limit)

    JPP_METRICS_FAMILY(GAUGE, CGROUP, PLAIN, EACH,
        "nginx_cgroup_memory_headroom_bytes",
        "The least that a limit leaves, here or above.",
        "", headroom)

    JPP_METRICS_FAMILY(GAUGE, NGINX, PLAIN, EACH,
        "nginx_cgroup_memory_high_bytes",
        "Usage from which the kernel reclaims memory.",
        "", high)

    JPP_METRICS_FAMILY(GAUGE, CGROUP, PLAIN, EACH,
        "nginx_cgroup_memory_low_bytes",
        "Usage up to which the kernel leaves memory alone.",
        "", low)

    JPP_METRICS_FAMILY(GAUGE, CGROUP, PLAIN, EACH,
        "nginx_cgroup_memory_peak_bytes",
        "The highest usage so far.",
        "", peak)

    JPP_METRICS_FAMILY(GAUGE, CGROUP, PLAIN, EACH,
        "nginx_cgroup_memory_swap_usage_bytes",
        "Swap that the cgroup uses.",
        "", swap_usage)

    JPP_METRICS_FAMILY(GAUGE, CGROUP, PLAIN, EACH,
        "nginx_cgroup_memory_swap_limit_bytes",
        "Swap that it may use.",
        "", swap_limit)

    JPP_METRICS_FAMILY(GAUGE, CGROUP, PLAIN, EACH,
        "nginx_cgroup_memory_stat_bytes",
        "What the memory of the cgroup is used for.",
        "kind=\"anon\"", stat.anon)
    JPP_METRICS_SERIES(CGROUP, "kind=\"file\"", stat.file)
    JPP_METRICS_SERIES(CGROUP, "kind=\"kernel\"", stat.kernel)
    JPP_METRICS_SERIES(CGROUP, "kind=\"kernel_stack\"", stat.kernel_stack)
    JPP_METRICS_SERIES(CGROUP, "kind=\"pagetables\"", stat.pagetables)
    JPP_METRICS_SERIES(CGROUP, "kind=\"percpu\"", stat.percpu)
    JPP_METRICS_SERIES(CGROUP, "kind=\"sock\"", stat.sock)
    JPP_METRICS_SERIES(CGROUP, "kind=\"shmem\"", stat.shmem)
    JPP_METRICS_SERIES(CGROUP, "kind=\"slab_reclaimable\"",
                       stat.slab_reclaimable)
    JPP_METRICS_SERIES(CGROUP, "kind=\"slab_unreclaimable\"",
                       stat.slab_unreclaimable)
    JPP_METRICS_SERIES(CGROUP, "kind=\"inactive_file\"", stat.inactive_file)
    JPP_METRICS_SERIES(CGROUP, "kind=\"file_dirty\"", stat.file_dirty)
    JPP_METRICS_SERIES(CGROUP, "kind=\"anon_thp\"", stat.anon_thp)

    JPP_METRICS_FAMILY(COUNTER, CGROUP, PLAIN, EACH,
        "nginx_cgroup_memory_events",
        "How often usage met a bound, and what came of it.",
        "event=\"low\"", events.low)
    JPP_METRICS_SERIES(CGROUP, "event=\"high\"", events.high)
    JPP_METRICS_SERIES(CGROUP, "event=\"max\"", events.max)
    JPP_METRICS_SERIES(CGROUP, "event=\"oom\"", events.oom)
    JPP_METRICS_SERIES(CGROUP, "event=\"oom_kill\"", events.oom_kill)
    JPP_METRICS_SERIES(CGROUP, "event=\"oom_group_kill\"",
                       events.oom_group_kill)

    JPP_METRICS_FAMILY(COUNTER, CGROUP, MICRO, EACH,
        "nginx_cgroup_memory_pressure_seconds",
        "Time in which some, or all, tasks of the cgroup waited for memory.",
        "kind=\"some\"", pressure.some.total)
    JPP_METRICS_SERIES(CGROUP, "kind=\"full\"", pressure.full.total)

    /* the machine */

    JPP_METRICS_FAMILY(COUNTER, SYSTEM, MICRO, EACH,
        "nginx_memory_pressure_seconds",
        "Time in which some, or all, tasks of the machine waited for memory.",
        "kind=\"some\"", pressure.some.total)
    JPP_METRICS_SERIES(SYSTEM, "kind=\"full\"", pressure.full.total)

    JPP_METRICS_FAMILY(GAUGE, SYSTEM, PLAIN, EACH,
        "nginx_memory_total_bytes",
        "Memory of the machine.",
        "", total)

    JPP_METRICS_FAMILY(GAUGE, SYSTEM, PLAIN, EACH,
        "nginx_memory_available_bytes",
        "Memory that programs can have without swapping.",
        "", available)

    JPP_METRICS_FAMILY(GAUGE, SYSTEM, PLAIN, EACH,
        "nginx_memory_swap_free_bytes",
        "Swap that is free.",
        "", swap_free)

    /* shared memory */

    JPP_METRICS_FAMILY(GAUGE, ZONE, PLAIN, EACH,
        "nginx_zone_size_bytes",
        "Size of a zone of shared memory.",
        "", size)

    JPP_METRICS_FAMILY(GAUGE, ZONE, PLAIN, EACH,
        "nginx_zone_free_bytes",
        "Bytes in pages of it that are free.",
        "", free)

    JPP_METRICS_FAMILY(COUNTER, ZONE, PLAIN, EACH,
        "nginx_zone_allocations",
        "Allocations in it, successful or not.",
        "", allocations)

    JPP_METRICS_FAMILY(COUNTER, ZONE, PLAIN, EACH,
        "nginx_zone_allocation_failures",
        "Allocations that found no room.",
        "", failures)

    { NULL, NULL, JPP_METRICS_GAUGE, JPP_METRICS_NGINX, JPP_METRICS_PLAIN,
      false, NULL, 0 }
};
