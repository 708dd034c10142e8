
/*
 * What stands in a dump: three stacks of functions that have names, very many,
 * noise, or what a file holds.
 */


/* RTLD_NEXT, AT_ENTRY */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "jpp_fake.h"


#define JPP_FAKE_FRAMES  20


void jpp_fake_root(void);
void jpp_fake_alpha(void);
void jpp_fake_beta(void);
void jpp_fake_gamma(void);

static void jpp_fake_printf(jpp_fake_out_t *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));


/*
 * Three stacks below jpp_fake_root() and the entry of the program.  Means of
 * 16 MiB and more are so far above the sampling period that, up to lg_sample
 * 19, scaling changes nothing (the factor is 1 + e^-32 at most).
 *
 *     leaf               objects       bytes
 *     jpp_fake_alpha           1    16777216
 *     jpp_fake_beta            2    67108864
 *     jpp_fake_gamma           3   150994944
 */

void
jpp_fake_three(jpp_fake_out_t *out, unsigned lg_sample)
{
    unsigned  i;
    uint64_t  objects, bytes;

    static void (*const leaves[])(void) = {
        jpp_fake_alpha, jpp_fake_beta, jpp_fake_gamma
    };

    jpp_fake_printf(out, "heap_v2/%" PRIu64 "\n", (uint64_t) 1 << lg_sample);
    jpp_fake_printf(out, "  t*: 6: 234881024 [0: 0]\n");
    jpp_fake_printf(out, "  t0: 6: 234881024 [0: 0] fake\n");

    for (i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {

        objects = i + 1;
        bytes = objects * objects * 16 * 1024 * 1024;

        /* return addresses: behind the first byte of each function */

        jpp_fake_printf(out, "@ 0x%" PRIxPTR " 0x%" PRIxPTR " 0x%lx\n",
                        (uintptr_t) leaves[i] + 1,
                        (uintptr_t) jpp_fake_root + 1, getauxval(AT_ENTRY) + 1);
        jpp_fake_printf(out, "  t*: %" PRIu64 ": %" PRIu64 " [0: 0]\n",
                        objects, bytes);
        jpp_fake_printf(out, "  t0: %" PRIu64 ": %" PRIu64 " [0: 0]\n",
                        objects, bytes);
    }
}


/* Distinct stacks over 65,536 places behind malloc() of the C library. */

void
jpp_fake_large(jpp_fake_out_t *out, long long bytes, unsigned lg_sample)
{
    char           text[64 + JPP_FAKE_FRAMES * 20 + 128];
    size_t         len;
    unsigned       i;
    uint32_t       noise;
    uint64_t       n;
    uintptr_t      base;
    long long      written;

    base = (uintptr_t) dlsym(RTLD_NEXT, "malloc");
    noise = 1;

    jpp_fake_printf(out, "heap_v2/%" PRIu64 "\n", (uint64_t) 1 << lg_sample);
    jpp_fake_printf(out, "  t*: 1: 1 [0: 0]\n");

    for (n = 0, written = 0; written < bytes; n++, written += (long long) len)
    {
        len = (size_t) sprintf(text, "@");

        /* the two frames next to the leaf make it distinct */

        for (i = 0; i < JPP_FAKE_FRAMES; i++) {
            noise = noise * 1664525 + 1013904223;

            len += (size_t) sprintf(text + len, " 0x%" PRIxPTR,
                                    base + 1
                                    + (i == 0 ? n & 0xffff
                                       : i == 1 ? n >> 16 & 0xffff
                                       : noise >> 16));
        }

        len += (size_t) sprintf(text + len,
                                "\n  t*: 1: 4096 [0: 0]\n"
                                "  t0: 1: 4096 [0: 0]\n");

        jpp_fake_bytes(out, text, len);
    }
}


void
jpp_fake_garbage(jpp_fake_out_t *out, long long bytes)
{
    char      byte;
    uint32_t  noise;

    for (noise = 1; bytes > 0; bytes--) {
        noise = noise * 1664525 + 1013904223;
        byte = (char) (noise >> 24);
        jpp_fake_bytes(out, &byte, 1);
    }
}


void
jpp_fake_copy(jpp_fake_out_t *out, const char *path)
{
    int      fd;
    char     buffer[8192];
    ssize_t  n;

    fd = open(path, O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        return;
    }

    while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
        jpp_fake_bytes(out, buffer, (size_t) n);
    }

    (void) close(fd);
}


static void
jpp_fake_printf(jpp_fake_out_t *out, const char *fmt, ...)
{
    int      len;
    char     text[512];
    va_list  args;

    va_start(args, fmt);
    len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    jpp_fake_bytes(out, text, (size_t) len);
}


void
jpp_fake_bytes(jpp_fake_out_t *out, const char *data, size_t len)
{
    if ((long long) len > out->left) {
        len = (size_t) out->left;
    }

    (void) fwrite(data, 1, len, out->file);
    out->left -= (long long) len;
}


/* Names for stacks; each long enough that an address in it is its own. */

void
jpp_fake_root(void)
{
    __asm__ volatile ("nop; nop; nop; nop; nop; nop; nop; nop");
}


void
jpp_fake_alpha(void)
{
    __asm__ volatile ("nop; nop; nop; nop; nop; nop; nop; nop");
}


void
jpp_fake_beta(void)
{
    __asm__ volatile ("nop; nop; nop; nop; nop; nop; nop; nop");
}


void
jpp_fake_gamma(void)
{
    __asm__ volatile ("nop; nop; nop; nop; nop; nop; nop; nop");
}
