
/*
 * The fields of the messages between workers, in order: type, member, largest
 * value.  jpp_message.c makes its tables of them, and what a field's type means
 * is there.  A change here needs another JPP_MESSAGE_VERSION.
 */


#ifndef _JPP_MESSAGE_FIELDS_H_INCLUDED_
#define _JPP_MESSAGE_FIELDS_H_INCLUDED_


/* jemalloc takes larger ones for this */
#define JPP_MESSAGE_MAX_LG          63


#define JPP_MESSAGE_QUESTION_FIELDS(X)                                        \
    X(U32, kind, JPP_MESSAGE_KINDS - 1)                                       \
    X(INT, control.active, 1)                                                 \
    X(INT, control.lg_sample, JPP_JEMALLOC_LG_MAX)                            \
    X(INT, control.sampler, 1)                                                \
    X(U32, control.reset, 1)                                                  \
    X(U32, control.purge, 1)                                                  \
                                                                              \
    X(U32, pools.wants, JPP_POOLS_WANTS - 1)                                  \
    X(U32, pools.top, JPP_MAX_ROWS)                                           \
    X(BOOL, pools.has_clients, 1)                                             \
                                                                              \
    X(U32, times.mode, JPP_MODES - 1)                                         \
    X(U32, times.frequency, JPP_MAX_FREQUENCY)                                \
    X(U32, times.seconds, JPP_MAX_SECONDS)

#define JPP_MESSAGE_REPLY_FIELDS(X)                                           \
    X(U32, err.code, JPP_CODES - 1)                                           \
    X(INT, err.sys_errno, INT32_MAX)                                          \
    X(SIZE, err.capture, SIZE_MAX)                                            \
    X(U64, err.line, UINT64_MAX)                                              \
    X(TEXT, err.text, JPP_ERR_TEXT)                                           \
                                                                              \
    X(U32, worker.who.index, UINT32_MAX)                                      \
    X(U64, worker.who.pid, INT64_MAX)                                         \
    X(U64, worker.who.generation, UINT64_MAX)                                 \
    X(BOOL, worker.is_exiting, 1)                                             \
    X(U64, worker.started, INT64_MAX)                                         \
    X(U64, worker.inherited, UINT64_MAX)                                      \
                                                                              \
    X(U32, worker.jemalloc.state, JPP_JEMALLOC_READY)                         \
    X(TEXT, worker.jemalloc.allocator,                                        \
      sizeof(((jpp_jemalloc_t *) 0)->allocator))                              \
    X(TEXT, worker.jemalloc.version, sizeof(((jpp_jemalloc_t *) 0)->version)) \
    X(VARIABLE, worker.jemalloc.variable, 0)                                  \
    X(BOOL, worker.jemalloc.active, 1)                                        \
    X(U32, worker.jemalloc.lg_sample, JPP_MESSAGE_MAX_LG)                     \
    X(BOOL, worker.jemalloc.accum, 1)                                         \
    X(BOOL, worker.jemalloc.unsampled, 1)                                     \
    X(U32, worker.jemalloc.hook, JPP_HOOK_ON)                                 \
    X(NUMBERS, worker.jemalloc.stacks, sizeof(jpp_backtrace_counts_t))        \
    X(BOOL, worker.jemalloc.has_luajit, 1)                                    \
    X(U32, worker.jemalloc.mappers, UINT32_MAX)                               \
    X(BOOL, worker.jemalloc.interval, 1)                                      \
    X(BOOL, worker.jemalloc.gdump, 1)                                         \
    X(BOOL, worker.jemalloc.final, 1)                                         \
    X(BOOL, worker.jemalloc.leak_error, 1)                                    \
                                                                              \
    X(U64, worker.coverage.since, INT64_MAX)                                  \
    X(U64, worker.coverage.off, INT64_MAX)                                    \
    X(U64, worker.coverage.n_off, UINT64_MAX)                                 \
                                                                              \
    X(BOOL, worker.sampler.is_on, 1)                                          \
    X(BOOL, worker.sampler.is_hooked, 1)                                      \
    X(U32, worker.sampler.lg_sample, JPP_MESSAGE_MAX_LG)                      \
    X(U64, worker.sampler.since, INT64_MAX)                                   \
    X(U64, worker.sampler.samples, UINT64_MAX)                                \
    X(U64, worker.sampler.live, UINT64_MAX)                                   \
    X(U64, worker.sampler.live_max, UINT64_MAX)                               \
    X(U64, worker.sampler.sites, UINT64_MAX)                                  \
    X(U64, worker.sampler.bytes, UINT64_MAX)                                  \
    X(U64, worker.sampler.bytes_max, UINT64_MAX)                              \
    X(U64, worker.sampler.dropped_live, UINT64_MAX)                           \
    X(U64, worker.sampler.dropped_sites, UINT64_MAX)                          \
    X(U64, worker.sampler.cut, UINT64_MAX)                                    \
    X(U32, worker.sampler.slots, UINT32_MAX)                                  \
    X(U32, worker.sampler.objects, UINT32_MAX)                                \
    X(U32, worker.sampler.foreign, UINT32_MAX)                                \
    X(U32, worker.sampler.lost, UINT32_MAX)                                   \
    X(U32, worker.sampler.kept, UINT32_MAX)                                   \
                                                                              \
    X(BOOL, worker.has_stats, 1)                                              \
    X(NUMBERS, worker.stats, sizeof(jpp_stats_t))                             \
    X(NUMBERS, worker.activity, sizeof(jpp_activity_t))                       \
                                                                              \
    X(U64, worker.stalling.threshold, UINT64_MAX)                             \
    X(BOOL, worker.stalling.is_foreign, 1)                                    \
                                                                              \
    X(U64, worker.last_error.time, INT64_MAX)                                 \
    X(TEXT, worker.last_error.text, sizeof(((jpp_failure_t *) 0)->text))      \
                                                                              \
    X(BOOL, control.has_profiler, 1)                                          \
    X(BOOL, control.before.by_sampler, 1)                                     \
    X(BOOL, control.before.active, 1)                                         \
    X(U32, control.before.lg_sample, JPP_MESSAGE_MAX_LG)                      \
    X(BOOL, control.after.by_sampler, 1)                                      \
    X(BOOL, control.after.active, 1)                                          \
    X(U32, control.after.lg_sample, JPP_MESSAGE_MAX_LG)                       \
    X(BOOL, control.has_stats, 1)                                             \
    X(U64, control.resident_before, UINT64_MAX)                               \
    X(U64, control.resident_after, UINT64_MAX)                                \
                                                                              \
    X(U64, time_nanos, INT64_MAX)                                             \
    X(U64, n_resets, UINT64_MAX)                                              \
    X(BOOL, has_file, 1)                                                      \
    X(BOOL, has_baseline, 1)


#endif /* _JPP_MESSAGE_FIELDS_H_INCLUDED_ */
