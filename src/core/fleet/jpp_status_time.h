
/*
 * Times for people, and for those who parse what people read.
 *
 * A pure function; any thread.
 */


#ifndef _JPP_STATUS_TIME_H_INCLUDED_
#define _JPP_STATUS_TIME_H_INCLUDED_


#include <stdint.h>


#define JPP_STATUS_TIME  32


/* SECONDS since the epoch as "2026-11-21T04:02:00Z"; returns TEXT. */
const char *jpp_status_time(int64_t seconds, char text[JPP_STATUS_TIME]);


#endif /* _JPP_STATUS_TIME_H_INCLUDED_ */
