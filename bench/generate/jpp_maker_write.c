
#include <stdio.h>
#include <string.h>

#include "jpp_maker.h"


static void jpp_write_header(jpp_maker_t *maker);
static void jpp_write_stack(jpp_maker_t *maker, const jpp_made_t *made);
static void jpp_write_counts(jpp_maker_t *maker, uint64_t objects,
    uint64_t bytes, uint64_t accum, uint64_t accum_bytes);
static void jpp_write_maps(jpp_maker_t *maker);
static void jpp_write_lib(jpp_maker_t *maker, const jpp_lib_t *lib);
static void jpp_write_map(jpp_maker_t *maker, uint64_t start, uint64_t size,
    const char *perms, uint64_t offset, uint32_t inode, const char *path);


void
jpp_make_text(jpp_maker_t *maker)
{
    size_t       i;
    jpp_made_t  *made;

    jpp_write_header(maker);

    made = jpp_vec_items(maker->made, jpp_made_t);

    for (i = 0; i < maker->options.stacks; i++) {
        jpp_write_stack(maker, &made[i]);
    }

    jpp_sink_str(maker->sink, "\nMAPPED_LIBRARIES:\n");
    jpp_write_maps(maker);
}


/* The totals of the header need not be right, and are not in real dumps. */

static void
jpp_write_header(jpp_maker_t *maker)
{
    uint32_t           i, n;
    uint64_t           objects, bytes, accum, accum_bytes;
    const jpp_made_t  *made;

    made = jpp_vec_items(maker->made, jpp_made_t);
    objects = bytes = accum = accum_bytes = 0;

    for (i = 0; i < maker->options.stacks; i++) {
        objects += made[i].objects;
        bytes += (uint64_t) made[i].objects * made[i].size;
        accum += made[i].accum;
        accum_bytes += (uint64_t) made[i].accum * made[i].size;
    }

    jpp_sink_printf(maker->sink, "heap_v2/%u\n  t*: ",
                    maker->options.period);
    jpp_write_counts(maker, objects, bytes, accum, accum_bytes);

    n = maker->options.threads;

    for (i = 0; i < n; i++) {
        jpp_sink_printf(maker->sink, "  t%u: ", i);
        jpp_write_counts(maker, objects / n, bytes / n, accum / n,
                         accum_bytes / n);
    }
}


static void
jpp_write_stack(jpp_maker_t *maker, const jpp_made_t *made)
{
    uint8_t         *p;
    uint32_t         i, n, objects, accum, one, accum_one, uid;
    jpp_site_t      *sites, *site;
    const uint32_t  *frames;

    sites = jpp_vec_items(maker->sites, jpp_site_t);
    frames = &jpp_vec_items(maker->frames, uint32_t)[made->frames];

    p = jpp_sink_reserve(maker->sink, 2 + made->n * (JPP_ADDRESS_TEXT + 1));
    if (p == NULL) {
        return;
    }

    *p++ = '@';

    for (i = 0; i < made->n; i++) {
        site = &sites[frames[i]];
        memcpy(p, site->text, sizeof(site->text));
        p += site->len;
    }

    *p++ = '\n';
    maker->sink->pos = p;

    objects = made->objects;
    accum = made->accum;

    jpp_sink_str(maker->sink, "  t*: ");
    jpp_write_counts(maker, objects, (uint64_t) objects * made->size,
                     accum, (uint64_t) accum * made->size);

    uid = jpp_make_random(maker, maker->options.threads);
    n = 1 + jpp_make_random(maker, maker->options.threads);

    /* every thread has something of it */

    for (i = 0; i < n && (objects | accum) != 0; i++, uid++) {

        one = i == n - 1 ? objects : (objects + 1) / 2;
        accum_one = i == n - 1 ? accum : (accum + 1) / 2;

        objects -= one;
        accum -= accum_one;

        jpp_sink_write(maker->sink, "  t", 3);
        jpp_sink_u64(maker->sink, uid % maker->options.threads);
        jpp_sink_write(maker->sink, ": ", 2);
        jpp_write_counts(maker, one, (uint64_t) one * made->size,
                         accum_one, (uint64_t) accum_one * made->size);
    }
}


static void
jpp_write_counts(jpp_maker_t *maker, uint64_t objects, uint64_t bytes,
    uint64_t accum, uint64_t accum_bytes)
{
    jpp_sink_u64(maker->sink, objects);
    jpp_sink_write(maker->sink, ": ", 2);
    jpp_sink_u64(maker->sink, bytes);
    jpp_sink_write(maker->sink, " [", 2);
    jpp_sink_u64(maker->sink, accum);
    jpp_sink_write(maker->sink, ": ", 2);
    jpp_sink_u64(maker->sink, accum_bytes);
    jpp_sink_write(maker->sink, "]\n", 2);
}


static void
jpp_write_maps(jpp_maker_t *maker)
{
    size_t            i, n, n_lines;
    uint64_t          address;
    const jpp_lib_t  *libs;

    libs = jpp_vec_items(maker->libs, jpp_lib_t);
    n = jpp_vec_count(maker->libs, jpp_lib_t);

    jpp_write_lib(maker, &libs[0]);

    /* the allocator's regions, and the stacks of threads with a guard page */

    address = 0x7d0000000000;

    for (n_lines = 5 * n + 7; n_lines < maker->options.mappings;
         n_lines += 2)
    {
        jpp_write_map(maker, address, JPP_PAGE_SIZE, "---p", 0, 0, "");
        jpp_write_map(maker, address + JPP_PAGE_SIZE, 8 * JPP_MEGABYTE, "rw-p",
                      0, 0, "");
        address += 8 * JPP_MEGABYTE + JPP_PAGE_SIZE
                   * (1 + jpp_make_random(maker, 512));
    }

    address = 0x7f33d7600000;

    jpp_write_map(maker, address, 6 * JPP_MEGABYTE, "rw-p", 0, 0, "");
    jpp_write_map(maker, address + 7 * JPP_MEGABYTE, 5 * JPP_MEGABYTE, "rw-p",
                  0, 0, "");

    for (i = 1; i < n; i++) {
        jpp_write_lib(maker, &libs[i]);
    }

    address = 0x7ffd0d559000;

    jpp_write_map(maker, address, 132 * 1024, "rw-p", 0, 0, "[stack]");
    address += JPP_MEGABYTE;
    jpp_write_map(maker, address, 4 * JPP_PAGE_SIZE, "r--p", 0, 0, "[vvar]");
    address += 4 * JPP_PAGE_SIZE;
    jpp_write_map(maker, address, 2 * JPP_PAGE_SIZE, "r-xp", 0, 0, "[vdso]");

    jpp_write_map(maker, 0xffffffffff600000, JPP_PAGE_SIZE, "--xp", 0, 0,
                  "[vsyscall]");
}


/* headers, code, constants, relocated constants, data */

static void
jpp_write_lib(jpp_maker_t *maker, const jpp_lib_t *lib)
{
    uint64_t  at, code;

    code = lib->text / 4 / JPP_PAGE_SIZE * JPP_PAGE_SIZE;
    at = lib->start;

    if (code != 0) {
        jpp_write_map(maker, at, code, "r--p", 0, lib->inode, lib->path);
    }

    at += code;
    jpp_write_map(maker, at, lib->text, "r-xp", code, lib->inode, lib->path);

    at += lib->text;
    jpp_write_map(maker, at, 4 * JPP_PAGE_SIZE, "r--p", at - lib->start,
                  lib->inode, lib->path);

    at += 4 * JPP_PAGE_SIZE;
    jpp_write_map(maker, at, 2 * JPP_PAGE_SIZE, "r--p", at - lib->start,
                  lib->inode, lib->path);

    at += 2 * JPP_PAGE_SIZE;
    jpp_write_map(maker, at, JPP_PAGE_SIZE, "rw-p", at - lib->start,
                  lib->inode, lib->path);
}


static void
jpp_write_map(jpp_maker_t *maker, uint64_t start, uint64_t size,
    const char *perms, uint64_t offset, uint32_t inode, const char *path)
{
    int   len;
    char  line[256];

    /* the kernel pads the path to column 73 */

    len = snprintf(line, sizeof(line), "%08llx-%08llx %s %08llx %s %u ",
                   (unsigned long long) start,
                   (unsigned long long) (start + size), perms,
                   (unsigned long long) offset, inode ? "fe:00" : "00:00",
                   inode);

    if (path[0] != '\0') {
        len += snprintf(line + len, sizeof(line) - (size_t) len, "%*s%s",
                        len < 73 ? 73 - len : 0, "", path);
    }

    line[len++] = '\n';

    jpp_sink_write(maker->sink, line, (size_t) len);
}
