
/*
 * An entry has 64 bits: 63 is set if the page is in memory, 56 if it is mapped
 * once (Documentation/admin-guide/mm/pagemap.rst).
 */


#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "jpp_pagemap.h"


#define JPP_PAGEMAP_PRESENT    ((uint64_t) 1 << 63)
#define JPP_PAGEMAP_EXCLUSIVE  ((uint64_t) 1 << 56)

/* at once */
#define JPP_PAGEMAP_ENTRIES    2048


int
jpp_pagemap_open(jpp_err_t *err)
{
    int  fd;

    fd = open("/proc/self/pagemap", O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        (void) jpp_err_sys(err, errno, "/proc/self/pagemap cannot be opened");
    }

    return fd;
}


bool
jpp_pagemap_read(int fd, uint64_t start, uint8_t *pages, size_t n,
    jpp_err_t *err)
{
    size_t    i, got, want;
    ssize_t   len;
    uint64_t  first, entries[JPP_PAGEMAP_ENTRIES];

    first = start / (uint64_t) sysconf(_SC_PAGESIZE);

    while (n > 0) {
        want = n < JPP_PAGEMAP_ENTRIES ? n : JPP_PAGEMAP_ENTRIES;

        do {
            len = pread(fd, entries, want * sizeof(uint64_t),
                        (off_t) (first * sizeof(uint64_t)));
        } while (len == -1 && errno == EINTR);

        got = len > 0 ? (size_t) len / sizeof(uint64_t) : 0;

        if (got == 0) {
            (void) jpp_err_sys(err, len == 0 ? EIO : errno,
                               "/proc/self/pagemap cannot be read");
            return false;
        }

        for (i = 0; i < got; i++) {

            if (entries[i] & JPP_PAGEMAP_EXCLUSIVE
                && entries[i] & JPP_PAGEMAP_PRESENT)
            {
                pages[i] = JPP_PAGE_OWN;

            } else {
                pages[i] = entries[i] & JPP_PAGEMAP_PRESENT ? JPP_PAGE_SHARED
                                                            : JPP_PAGE_ABSENT;
            }
        }

        pages += got;
        first += got;
        n -= got;
    }

    return true;
}
