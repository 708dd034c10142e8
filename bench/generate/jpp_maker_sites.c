
#include <stdio.h>
#include <string.h>

#include "jpp_maker.h"


static void jpp_make_libs(jpp_maker_t *maker);
static void jpp_make_lib(jpp_maker_t *maker, const char *path,
    uint64_t *address, uint64_t text);
static void jpp_make_site(jpp_maker_t *maker, uint64_t address);


/* the program and its libraries, in the order of their addresses */

static const struct {
    const char  *path;
    uint32_t     text;          /* KiB */
} jpp_lib_names[] = {
    { "/srv/bench/bin/server",               4096 },
    { "/srv/bench/lib/libstdc++.so.6.0.30",  1028 },
    { "/srv/bench/lib/libm.so.6",            464 },
    { "/srv/bench/lib/libc.so.6",            1368 },
    { "/srv/bench/lib/libcrypto.so.3",       2548 },
    { "/srv/bench/lib/libssl.so.3",          372 },
    { "/srv/bench/lib/libjemalloc.so.2",     664 },
    { "/srv/bench/lib/libgcc_s.so.1",        92 },
    { "/srv/bench/lib/libz.so.1.2.13",       76 },
    { "/srv/bench/lib/libpcre2-8.so.0.11.2", 428 },
    { "/srv/bench/lib/ld-linux-x86-64.so.2", 152 },
};

#define JPP_N_LIBS  (sizeof(jpp_lib_names) / sizeof(jpp_lib_names[0]))


/*
 * First JPP_JEMALLOC_SITES of jemalloc, then the program's, spread over all
 * code; the roots of the stacks are the first of these.
 */

void
jpp_make_sites(jpp_maker_t *maker)
{
    size_t      i, k, n, n_libs;
    uint64_t    all, step, text;
    jpp_lib_t  *libs;

    jpp_make_libs(maker);

    libs = jpp_vec_items(maker->libs, jpp_lib_t);
    n_libs = jpp_vec_count(maker->libs, jpp_lib_t);
    all = 0;

    for (i = 0; i < n_libs; i++) {

        if (!libs[i].is_jemalloc) {
            all += libs[i].text;
            continue;
        }

        for (k = 0; k < JPP_JEMALLOC_SITES; k++) {
            jpp_make_site(maker, libs[i].start + libs[i].text / 4 + k * 2741);
        }
    }

    for (i = 0; i < n_libs; i++) {

        if (libs[i].is_jemalloc) {
            continue;
        }

        text = libs[i].text;
        n = (size_t) (text * maker->options.addresses / all) + 1;
        step = text / n;

        for (k = 0; k < n; k++) {
            jpp_make_site(maker, libs[i].start + text / 4 / JPP_PAGE_SIZE
                                                 * JPP_PAGE_SIZE
                                 + k * step + 1
                                 + jpp_make_random(maker,
                                                   (uint32_t) step - 1));
        }
    }

    maker->n_sites = (uint32_t) jpp_vec_count(maker->sites, jpp_site_t)
                     - JPP_JEMALLOC_SITES;
}


/*
 * Half of the lines that are asked for beyond the usual ones are libraries,
 * five lines each; the others are anonymous, see jpp_write_maps().
 */

static void
jpp_make_libs(jpp_maker_t *maker)
{
    char      path[64];
    size_t    i;
    uint64_t  address, text;
    uint32_t  n, n_plugins;

    address = maker->options.is_non_pie ? 0x400000 : 0x55d5c0a00000;

    /* the program grows with the number of its call sites */

    text = (uint64_t) jpp_lib_names[0].text * 1024;
    text += (uint64_t) maker->options.addresses * 32;

    jpp_make_lib(maker, jpp_lib_names[0].path, &address, text);

    address = 0x7f33d9800000;

    n = 10 + 5 * JPP_N_LIBS;
    n_plugins = maker->options.mappings > n
                ? (maker->options.mappings - n) / 10 : 0;

    for (n = 0; n < n_plugins; n++) {
        (void) snprintf(path, sizeof(path), "/srv/bench/plugins/mod_%05u.so",
                        n);
        jpp_make_lib(maker, path, &address, 64 * 1024);
    }

    for (i = 1; i < JPP_N_LIBS; i++) {
        jpp_make_lib(maker, jpp_lib_names[i].path, &address,
                     (uint64_t) jpp_lib_names[i].text * 1024);
    }
}


static void
jpp_make_lib(jpp_maker_t *maker, const char *path, uint64_t *address,
    uint64_t text)
{
    jpp_lib_t  *lib;

    lib = jpp_make_push(maker, maker->libs, sizeof(jpp_lib_t));
    if (lib == NULL) {
        return;
    }

    (void) snprintf(lib->path, sizeof(lib->path), "%s", path);

    lib->start = *address;
    lib->text = (text + JPP_PAGE_SIZE - 1) / JPP_PAGE_SIZE * JPP_PAGE_SIZE;
    lib->inode = 332383 + jpp_make_random(maker, 1000);
    lib->is_jemalloc = strstr(path, "libjemalloc") != NULL;

    /* what is not executable takes less than the code and ten pages */

    *address += 2 * lib->text + JPP_PAGE_SIZE * (16 + jpp_make_random(maker,
                                                                      64));
}


static void
jpp_make_site(jpp_maker_t *maker, uint64_t address)
{
    jpp_site_t  *site;

    site = jpp_make_push(maker, maker->sites, sizeof(jpp_site_t));
    if (site == NULL) {
        return;
    }

    site->address = address;
    site->len = (uint32_t) snprintf(site->text, sizeof(site->text),
                                    " 0x%llx", (unsigned long long) address);
}
