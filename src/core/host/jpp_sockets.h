
/*
 * What the kernel holds for the sockets of this process: it counts for the
 * cgroup, and in no process.
 *
 * No allocation; any thread: a descriptor that is closed meanwhile is left out.
 */


#ifndef _JPP_SOCKETS_H_INCLUDED_
#define _JPP_SOCKETS_H_INCLUDED_


#include <stdint.h>


/* The bytes of the sockets among N_FDS open descriptors; *N: how many. */
uint64_t jpp_sockets_bytes(uint64_t n_fds, uint64_t *n);


#endif /* _JPP_SOCKETS_H_INCLUDED_ */
