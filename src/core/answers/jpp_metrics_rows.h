
/*
 * The families of metrics: what each is called, its type and unit, where its
 * values come from, and what they mean.  jpp_metrics.c writes them.
 */


#ifndef _JPP_METRICS_ROWS_H_INCLUDED_
#define _JPP_METRICS_ROWS_H_INCLUDED_


#include "jpp_metrics_values.h"


typedef enum {
    JPP_METRICS_GAUGE = 0,
    JPP_METRICS_COUNTER,
    JPP_METRICS_INFO,
    JPP_METRICS_HISTOGRAM,
    JPP_METRICS_TYPES
} jpp_metrics_type_t;


/* what a family has values of: its structure, and its labels */
typedef enum {
    JPP_METRICS_NGINX = 0,         /* jpp_metrics_nginx_t: no label */
    JPP_METRICS_WORKER,            /* jpp_metrics_worker_t: worker */
    JPP_METRICS_CGROUP,            /* jpp_cgroup_t: none */
    JPP_METRICS_SYSTEM,            /* jpp_system_t: none */
    JPP_METRICS_ZONE,              /* jpp_zone_t: zone */
    JPP_METRICS_REQUEST,           /* jpp_requested_t: resource */
    JPP_METRICS_BUILD,             /* an info of constants */
    JPP_METRICS_IDENTITY           /* an info of each worker */
} jpp_metrics_source_t;


/* how a number is written */
typedef enum {
    JPP_METRICS_PLAIN = 0,
    JPP_METRICS_SIGNED,            /* in spite of its type */
    JPP_METRICS_MICRO,             /* microseconds, as seconds */
    JPP_METRICS_MILLI              /* milliseconds, as seconds */
} jpp_metrics_scale_t;


/*
 * A row is a series; the rows of a family follow each other, and only the first
 * has its NAME and what belongs to it.  The name of a counter is that without
 * "_total", that of an info without "_info"; units are its suffix.
 */
typedef struct {
    const char            *name;
    const char            *help;
    jpp_metrics_type_t     type;
    jpp_metrics_source_t   source;
    jpp_metrics_scale_t    scale;
    bool                   is_sum;     /* exiting workers add up to a series */

    const char            *label;      /* besides that of the source; "" */
    size_t                 offset;     /* of a uint64_t; JPP_NONE: unknown */
} jpp_metrics_row_t;


/* the last row's NAME and LABEL are NULL */
extern const jpp_metrics_row_t  jpp_metrics_rows[];


#endif /* _JPP_METRICS_ROWS_H_INCLUDED_ */
