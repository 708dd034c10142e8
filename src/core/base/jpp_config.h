
/*
 * The headers of libc that nearly every file of the core needs, with the
 * extensions of Linux: the counterpart of ngx_config.h.
 *
 * For the headers of this room; all others include jpp_core.h.
 */


#ifndef _JPP_CONFIG_H_INCLUDED_
#define _JPP_CONFIG_H_INCLUDED_


#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>


#endif /* _JPP_CONFIG_H_INCLUDED_ */
