
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


#ifndef _JPP_HOLDERS_H_INCLUDED_
#define _JPP_HOLDERS_H_INCLUDED_


#include "jpp_fleet.h"
#include "jpp_pools_table.h"


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


#endif /* _JPP_HOLDERS_H_INCLUDED_ */
