
/*
 * One thing there is to say about the memory of an nginx.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_FINDING_H_INCLUDED_
#define _JPP_FINDING_H_INCLUDED_


#include "jpp_telemetry.h"


#define JPP_FINDING_MIB    ((uint64_t) 1024 * 1024)

/* less is not worth a sentence */
#define JPP_FINDING_FLOOR  (64 * JPP_FINDING_MIB)


/* NUL-terminated printable ASCII */
typedef struct {
    const char   *id;              /* "limit-near" */
    bool          is_critical;     /* nginx is about to be killed, or was */
    const char   *what;
    char          because[320];    /* the numbers */
    const char   *cure;
} jpp_finding_t;


/* Write the numbers; true, so that it can be a rule's result. */
bool jpp_finding_because(jpp_finding_t *finding, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));


#endif /* _JPP_FINDING_H_INCLUDED_ */
