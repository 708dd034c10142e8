
/*
 * An nginx for the tests of findings: three workers that have nothing to say,
 * in a cgroup without limits; and what is found of it.
 */


#ifndef _JPP_TEST_FINDINGS_H_INCLUDED_
#define _JPP_TEST_FINDINGS_H_INCLUDED_


#include "jpp_diagnosis.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"


#define JPP_TEST_MIB      ((uint64_t) 1024 * 1024)
#define JPP_TEST_WORKERS  3


typedef struct {
    jpp_worker_t      workers[JPP_TEST_WORKERS + 1];   /* one to add */
    jpp_history_t     histories[JPP_TEST_WORKERS];     /* if they are used */
    jpp_fleet_t       fleet;
    jpp_system_t      system;
    jpp_cgroup_t      cgroup;
    jpp_zone_t        zones[2];
    jpp_telemetry_t   telemetry;
} jpp_test_nginx_t;


static inline void
jpp_test_nginx_init(jpp_test_nginx_t *nginx)
{
    uint32_t  i;

    memset(nginx, 0, sizeof(jpp_test_nginx_t));
    memset(&nginx->system, 0xff, sizeof(jpp_system_t));
    memset(&nginx->cgroup, 0xff, sizeof(jpp_cgroup_t));
    nginx->system.thp[0] = '\0';
    nginx->cgroup.n_levels = nginx->cgroup.binding = 1;

    for (i = 0; i <= JPP_TEST_WORKERS; i++) {
        nginx->workers[i] = jpp_fleet_worker(i, JPP_JEMALLOC_READY);
    }

    nginx->fleet = jpp_fleet_of(JPP_TEST_WORKERS, nginx->workers,
                                JPP_TEST_WORKERS);

    nginx->telemetry.fleet = &nginx->fleet;
    nginx->telemetry.system = &nginx->system;
    nginx->telemetry.cgroup = &nginx->cgroup;
    nginx->telemetry.oom_kills = JPP_NONE;
    nginx->telemetry.noted.inherited = JPP_NONE;
    nginx->telemetry.noted.inherited_before = JPP_NONE;
}


/* ID among N FINDINGS; NULL: it is not. */
static inline const jpp_finding_t *
jpp_test_pick(const jpp_finding_t *findings, size_t n, const char *id)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        if (strcmp(findings[i].id, id) == 0) {
            return &findings[i];
        }
    }

    return NULL;
}


/* The finding ID of TELEMETRY, until the next call; NULL: there is none. */
static inline const jpp_finding_t *
jpp_test_find(const jpp_telemetry_t *telemetry, const char *id)
{
    static jpp_finding_t  findings[JPP_FINDINGS];

    return jpp_test_pick(findings, jpp_findings(telemetry, findings), id);
}


/* Notes what FINDING says, which is ID: "-" is no such finding. */
static inline void
jpp_test_says(const jpp_finding_t *finding, const char *id, const char *what)
{
    jpp_note("%s, %s: %s", id, what, finding != NULL ? finding->because : "-");
}


/* The same of the finding ID of a unit's own jpp_test. */
#define jpp_says(id, what)                                                    \
    jpp_test_says(jpp_test_find(&jpp_test.telemetry, (id)), (id), (what))


#endif /* _JPP_TEST_FINDINGS_H_INCLUDED_ */
