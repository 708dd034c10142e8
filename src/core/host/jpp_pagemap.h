
/*
 * /proc/self/pagemap: which pages of this process are in memory, and which of
 * them no other process has.  The owner of that file.
 *
 * No allocation; any thread.
 */


#ifndef _JPP_PAGEMAP_H_INCLUDED_
#define _JPP_PAGEMAP_H_INCLUDED_


#include <stdbool.h>
#include <stdint.h>

#include "jpp_err.h"


/* what a byte of the result says of a page */
#define JPP_PAGE_ABSENT  0
#define JPP_PAGE_SHARED  1         /* in memory, another process may have it */
#define JPP_PAGE_OWN     2         /* in memory, and of this process alone */


/* The descriptor to read it with, to be closed; -1: ERR says why not. */
int jpp_pagemap_open(jpp_err_t *err);

/*
 * Set the N bytes at PAGES to the states of the pages from START on; false: ERR
 * says why that cannot be read.
 */
bool jpp_pagemap_read(int fd, uint64_t start, uint8_t *pages, size_t n,
    jpp_err_t *err);


#endif /* _JPP_PAGEMAP_H_INCLUDED_ */
