
/*
 * A table of pools (jpp_pools_table.h) into bytes, for another process to load.
 *
 * For it they are foreign, a file in memory that another has filled: everything
 * in them is checked, and a file that was cut, by a writer that was killed for
 * example, is refused as that (JPP_ERR_CUT).
 *
 * No state; any thread.
 */


#ifndef _JPP_POOLS_FILE_H_INCLUDED_
#define _JPP_POOLS_FILE_H_INCLUDED_


#include "jpp_err.h"
#include "jpp_pools_table.h"
#include "jpp_sink.h"


/*
 * Write TABLE, which has no open unit, to SINK.  Its errors stay in the sink;
 * the opener of the sink flushes it.
 */
void jpp_pools_write(const jpp_pools_t *table, jpp_sink_t *sink);

/* Write TABLE to the file FD, from where it stands. */
jpp_code_t jpp_pools_save(const jpp_pools_t *table, int fd, jpp_err_t *err);

/*
 * Initialize the caller's TABLE from the LEN bytes at DATA, which it refers to:
 * nothing can be added to it.  All ids and enumerations in it are valid, and
 * all amounts fit into an int64_t; names may have any bytes.
 */
jpp_code_t jpp_pools_load(jpp_pools_t *table, jpp_arena_t *arena,
    const char *data, size_t len, jpp_err_t *err);


#endif /* _JPP_POOLS_FILE_H_INCLUDED_ */
