
/*
 * Where the files of this process's memory cgroup are: which version, which
 * mount, which path below it.
 *
 * No allocation; any thread.
 */


#ifndef _JPP_CGROUP_PLACE_H_INCLUDED_
#define _JPP_CGROUP_PLACE_H_INCLUDED_


#include "jpp_err.h"
#include "jpp_lines.h"


#define JPP_CGROUP_PATH  4096


typedef struct {
    uint32_t     version;                  /* 1, 2 */
    char         mount[JPP_CGROUP_PATH];
    char         path[JPP_CGROUP_PATH];    /* below it; "/" is its root */
} jpp_cgroup_place_t;


/*
 * Fill PLACE from /proc/self/cgroup and /proc/self/mountinfo.  Fails with
 * JPP_ERR_DENIED where they show no cgroup with a memory controller, and says
 * why.
 */
jpp_code_t jpp_cgroup_place_find(jpp_cgroup_place_t *place, jpp_lines_t *own,
    jpp_lines_t *mounts, jpp_err_t *err);


#endif /* _JPP_CGROUP_PLACE_H_INCLUDED_ */
