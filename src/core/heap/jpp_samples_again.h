
/*
 * Sites that samples come from again, found without a walk.
 *
 * Where a call returns to says how far above rsp its caller's return address
 * lies, in nearly all code.  So if the addresses of a stack that was walked
 * before all lie where they lay, seen from rsp, the stack is the same: by
 * induction from the first, each address is where its frame has it.  Comparing
 * takes a quarter of what a walk does.
 *
 * [signal] No lock, no memory; any thread.
 */


#ifndef _JPP_SAMPLES_AGAIN_H_INCLUDED_
#define _JPP_SAMPLES_AGAIN_H_INCLUDED_


#include "jpp_backtrace.h"
#include "jpp_samples_sites.h"


#define JPP_AGAIN_LG  10


/* sites by what their stacks begin with; zeroed, it knows none */
typedef struct {
    uint32_t    sites[1 << JPP_AGAIN_LG];
} jpp_again_t;


/* The site of KEY whose stack begins with FRAME; 0: it has to be walked. */
uint32_t jpp_again_find(const jpp_again_t *again, const jpp_sites_t *sites,
    const jpp_backtrace_frame_t *frame, const jpp_site_key_t *key);

/* SITE is what a walk from FRAME has led to. */
void jpp_again_learn(jpp_again_t *again, const jpp_sites_t *sites,
    const jpp_backtrace_frame_t *frame, uint32_t site);


#endif /* _JPP_SAMPLES_AGAIN_H_INCLUDED_ */
