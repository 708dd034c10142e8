
/*
 * What was sampled, as a dump that the reader of jemalloc's can read.
 *
 * A line of counts is for a stack and a class of sizes (jpp_samples_sites.h):
 * what was sampled, as it was sampled.  So a stack comes once for each class,
 * and its mean, which jpp_scale.h scales by, is that of objects alike.  And it
 * comes once for each owner (jpp_owners.h), who takes the place of a thread
 * (jpp_heap_owners.h).
 *
 * One thread at a time; samples may be taken meanwhile.
 */


#ifndef _JPP_SAMPLES_DUMP_H_INCLUDED_
#define _JPP_SAMPLES_DUMP_H_INCLUDED_


#include "jpp_err.h"
#include "jpp_samples.h"


/* Write SAMPLES, and the mappings of this process, to FD. */
jpp_code_t jpp_samples_dump(jpp_samples_t *samples, int fd, jpp_err_t *err);


#endif /* _JPP_SAMPLES_DUMP_H_INCLUDED_ */
