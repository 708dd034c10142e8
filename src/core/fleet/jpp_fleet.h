
/*
 * The workers of an nginx: those that answered, those that did not, and what
 * was found about all of them.
 */


#ifndef _JPP_FLEET_H_INCLUDED_
#define _JPP_FLEET_H_INCLUDED_


#include "jpp_finding.h"
#include "jpp_worker.h"


/* A worker that did not answer, and one sentence that says why. */
typedef struct {
    jpp_identity_t         who;
    const char            *why;
} jpp_missing_t;


typedef struct {
    const char            *nginx;          /* "1.22.1" */
    const char            *host;           /* name of the machine */
    uint32_t               n_asked;        /* workers that were asked */
    const jpp_worker_t    *workers;        /* those that answered */
    size_t                 n;
    const jpp_missing_t   *missing;        /* the others */
    size_t                 n_missing;
    const jpp_finding_t   *findings;       /* about all, as they were last */
    size_t                 n_findings;     /*   found */
    const jpp_control_t   *wanted;         /* settings for all; or NULL */
    const char            *unnamed;        /* of the last profile: which */
                                           /*   code lacks names; or NULL */
    bool                   is_of_time;     /* the profile is not of memory */
    bool                   is_sampled;     /* it is of samples of memory */
} jpp_fleet_t;


#endif /* _JPP_FLEET_H_INCLUDED_ */
