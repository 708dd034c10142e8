
/* /proc/PID/smaps: of a real nginx, garbled, cut, and of any length. */


#include "jpp_test_main.h"

#include <sys/socket.h>

#include "jpp_host.h"
#include "jpp_proc.h"
#include "jpp_test_golden.h"
#include "jpp_test_lines.h"


#define JPP_SMAPS_MANY   100000

/* stats.mapped and stats.retained of that jemalloc at that moment */
#define JPP_TEST_MAPPED  (11608064 + 1499136)


static jpp_smaps_parser_t  parser;
static jpp_smaps_t         mapping;


#define JPP_TEST_ONE                                                          \
    "7f0000000000-7f0000200000 rw-p 00000000 00:00 0 \n"                      \
    "Size:               2048 kB\n"                                           \
    "Rss:                 100 kB\n"                                           \
    "Pss:                  70 kB\n"                                           \
    "Private_Clean:         8 kB\n"                                           \
    "Private_Dirty:        32 kB\n"                                           \
    "Anonymous:           100 kB\n"                                           \
    "VmFlags: rd wr mr mw me nr \n"

#define JPP_TEST_TWO                                                          \
    "7f0000200000-7f0000300000 r--s 00000000 00:01 17     /dev/zero (deleted)" \
    "\nRss:                  12 kB\n"                                         \
    "Pss:                   4 kB\nZero: 0 kB\n"                               \
    "VmFlags: rd mr \n"


/* awk adds up the same: see the sums below */

JPP_TEST(jpp_smaps_test_real)
{
    unsigned  n, unreserved;
    uint64_t  pss, rss, anonymous, size;

    jpp_ok(jpp_smaps_open(&parser, "t/data/nginx-lua.smaps"), "a file");

    n = unreserved = 0;
    pss = rss = anonymous = size = 0;

    while (jpp_smaps_next(&parser, &mapping)) {
        n++;
        pss += mapping.pss;
        rss += mapping.rss;
        anonymous += mapping.anonymous;

        if (mapping.is_unreserved) {
            unreserved++;
            size += mapping.end - mapping.start;
        }
    }

    jpp_lines_close(&parser.lines);

    jpp_note("%u mappings: Pss %" PRIu64 ", Rss %" PRIu64 ", anonymous %"
             PRIu64, n, pss, rss, anonymous);
    jpp_shows_notes("a real nginx");
    jpp_is_u64(parser.n_bad, 0, "all of them");
    jpp_ok(unreserved > 1 && size == JPP_TEST_MAPPED,
           "jemalloc's mappings are those without a reservation: %" PRIu64,
           size);
}


JPP_TEST(jpp_smaps_test_lines)
{
    jpp_smaps_text(&parser, JPP_TEST_ONE JPP_TEST_TWO,
                   strlen(JPP_TEST_ONE JPP_TEST_TWO));

    while (jpp_smaps_next(&parser, &mapping)) {
        jpp_note("%" PRIx64 "-%" PRIx64 "%s%s%s%s, inode %" PRIu64 ", \"%s\": "
                 "Rss %" PRId64 ", Pss %" PRId64 ", its own %" PRId64
                 " clean and %" PRId64 " dirty, anonymous %" PRId64
                 ", SwapPss %" PRId64, mapping.start, mapping.end,
                 mapping.is_readable ? " readable" : "",
                 mapping.is_executable ? " executable" : "",
                 mapping.is_shared ? " shared" : "",
                 mapping.is_unreserved ? " unreserved" : "", mapping.inode,
                 mapping.name, mapping.rss, mapping.pss,
                 mapping.private_clean, mapping.private_dirty,
                 mapping.anonymous, mapping.swap_pss);
    }

    jpp_shows_notes("two mappings: what one does not say is -1");
    jpp_is_u64(parser.n_bad, 0, "nothing was left out");
    jpp_lines_close(&parser.lines);
}


/* what cannot be read is left out, and what comes behind it is read */

JPP_TEST(jpp_smaps_test_bad)
{
    char    text[2048];
    size_t  i;

    static const char *const  bad[] = {
        "nonsense\n", "\n",
        "7f0000000000 rw-p 00000000 00:00 0 \nRss: 1 kB\nPss: 1 kB\n",
        "7f0000000000-7f0000000000 rw-p 00000000 00:00 0 \nRss: 1 kB\n"
            "Pss: 1 kB\n",
        "7f0000001000-7f0000000000 rw-p 00000000 00:00 0 \nRss: 1 kB\n"
            "Pss: 1 kB\n",
        "1-2 rwxq 00000000 00:00 0 \nRss: 1 kB\nPss: 1 kB\n", "1-2 rw\n",
        "1-2 rw-p\n", "1-2 rw-p \n", "1-2 rw-p 0\n", "1-2 rw-p 0 00\n",
        "1-2 rw-p 0 00:00\n", "1-2 rw-p 0 00:00 x\n",
        "1-2 rw-p 0x00:00 0 \nRss: 1 kB\nPss: 1 kB\n",
        "1-2 rw-p 0 x:00 0 \nRss: 1 kB\nPss: 1 kB\n",
        "1-2 rw-p 0 00x00 0 \nRss: 1 kB\nPss: 1 kB\n",
        "1-2 rw-p 0 00:x 0 \nRss: 1 kB\nPss: 1 kB\n",
        "1-2 rw-p 0 00:00x0 \nRss: 1 kB\nPss: 1 kB\n",
        "1-2 rw-p 0 00:00 x \nRss: 1 kB\nPss: 1 kB\n",
        "1-99999999999999999 rw-p 0 00:00 0\nRss: 1 kB\nPss: 1 kB\n",
        "1-2 rw-p 0 00:00 0 \nRss: 1 kB\n",
        "1-2 rw-p 0 00:00 0 \nRss: x kB\nPss: 1 kB\n",
        "1-2 rw-p 0 00:00 0 \nPss: 99999999999999999999 kB\nRss: 1 kB\n",
        "1-2 rw-p 0 00:00 0 \n"
    };

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        jpp_print(text, "%s" JPP_TEST_TWO, bad[i]);

        jpp_smaps_text(&parser, text, strlen(text));

        jpp_ok(jpp_smaps_next(&parser, &mapping)
               && mapping.start == 0x7f0000200000
               && !jpp_smaps_next(&parser, &mapping)
               && parser.n_bad == 1, "bad mapping %zu", i);
        jpp_lines_close(&parser.lines);
    }
}


/* a mapping whose last line has no end is whole without it, or it is none */

JPP_TEST(jpp_smaps_test_cut)
{
    size_t  i, n, wrong;

    for (i = 0, wrong = 0; i <= strlen(JPP_TEST_ONE); i++) {
        jpp_smaps_text(&parser, JPP_TEST_ONE, i);

        for (n = 0; jpp_smaps_next(&parser, &mapping); n++) {
            wrong += mapping.rss != 100 * 1024 || mapping.pss != 70 * 1024;
        }

        wrong += n > 1 || n + parser.n_bad > 1;
        jpp_lines_close(&parser.lines);
    }

    jpp_is_u64(wrong, 0, "cut at every byte");
}


JPP_TEST(jpp_smaps_test_many)
{
    char     *text, name[300];
    size_t    i, len, size;
    uint64_t  n, pss;

    size = (size_t) JPP_SMAPS_MANY * 512;
    text = malloc(size + 1024 * 1024);

    /* a name that fills the buffer is left out with its line */

    memcpy(text, "1-2 rw-p 0 00:00 1 ", 19);
    memset(text + 19, 'x', 64 * 1024);
    memset(name, 'n', sizeof(name));
    len = 19 + 64 * 1024;
    text[len++] = '\n';

    for (i = 0; i < JPP_SMAPS_MANY; i++) {
        len += (size_t) snprintf(text + len, 512,
                                 "%zx000-%zx000 rw-p 00000000 fe:00 %zu  "
                                 "/name/%.*s%zu\nRss: 8 kB\nPss: 4 kB\n",
                                 2 * i + 1, 2 * i + 2, i + 1,
                                 (int) (i % 300), name, i);
    }

    jpp_smaps_text(&parser, text, len);

    for (n = 0, pss = 0; jpp_smaps_next(&parser, &mapping); n++) {
        pss += mapping.pss;
    }

    jpp_is_u64(n, JPP_SMAPS_MANY, "so many mappings");
    jpp_is_u64(pss, (uint64_t) JPP_SMAPS_MANY * 4096, "all of them");
    jpp_is_u64(mapping.name_len, strlen(mapping.name), "the last name");
    jpp_is_u64(parser.lines.n_skipped, 1, "a line that has no room");
    jpp_lines_close(&parser.lines);

    free(text);
}


JPP_TEST(jpp_smaps_test_self)
{
    uint64_t  n;

    jpp_ok(jpp_smaps_open(&parser, "/proc/self/smaps"), "this process");

    for (n = 0; jpp_smaps_next(&parser, &mapping); n++) {
        /* void */
    }

    jpp_ok(n > 5 && parser.n_bad == 0 && parser.lines.error == 0,
           "its mappings: %" PRIu64, n);

    jpp_lines_close(&parser.lines);

    jpp_ok(!jpp_smaps_open(&parser, "/proc/self/none")
           && parser.lines.error == 2, "no such file");
    jpp_ok(!jpp_smaps_next(&parser, &mapping), "has no mapping");

    jpp_ok(jpp_smaps_open(&parser, "/proc/self/mem")
           && !jpp_smaps_next(&parser, &mapping)
           && parser.lines.error != 0, "one that cannot be read");

    jpp_lines_close(&parser.lines);
}


JPP_TEST(jpp_smaps_test_pages)
{
    int        fd;
    char      *p;
    size_t     page;
    rlim_t     limit;
    uint8_t    pages[8];
    jpp_err_t  err = { 0 };

    page = (size_t) sysconf(_SC_PAGESIZE);
    p = mmap(NULL, 8 * page, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS,
             -1, 0);

    (void) madvise(p, 8 * page, MADV_NOHUGEPAGE);

    p[page] = 1;
    p[7 * page] = 1;

    fd = jpp_pagemap_open(&err);

    jpp_ok(fd != -1 && jpp_pagemap_read(fd, (uintptr_t) p, pages, 8, &err),
           "pages");
    jpp_is_mem(pages, "\0\2\0\0\0\0\0\2", 8, "those that were touched");

    (void) close(fd);

    limit = jpp_test_rlimit(RLIMIT_NOFILE, 0);
    fd = jpp_pagemap_open(&err);
    (void) jpp_test_rlimit(RLIMIT_NOFILE, limit);
    jpp_ok(fd == -1, "no descriptor");
    jpp_is_i64(err.sys_errno, EMFILE, "%s", err.text);
    jpp_has(err.text, "/proc/self/pagemap cannot be opened", "its file");

    jpp_ok(!jpp_pagemap_read(-1, 0, pages, 1, &err), "no file");
    jpp_shows(err.text, "why pages cannot be read");

    (void) munmap(p, 8 * page);
}


/* More pages than are read at once, from a file that ends. */

JPP_TEST(jpp_smaps_test_entries)
{
    size_t       i, k, page, wrong;
    uint8_t      pages[5001];
    jpp_err_t    err;
    jpp_memfd_t  file;

    static uint64_t       entries[5000];
    static const uint8_t  states[] = { JPP_PAGE_ABSENT, JPP_PAGE_ABSENT,
                                       JPP_PAGE_SHARED, JPP_PAGE_OWN };
    static const size_t   starts[] = { 0, 3, 2048, 4999 };

    for (i = 0; i < 5000; i++) {
        entries[i] = i * i % 7 % 4 << 62;
        entries[i] = (entries[i] >> 63) << 63 | (entries[i] >> 62 & 1) << 56;
    }

    page = (size_t) sysconf(_SC_PAGESIZE);

    jpp_memfd_init(&file);

    if (!jpp_ok(jpp_memfd_open(&file, NULL, &err) == JPP_OK
                && write(file.fd, entries, sizeof(entries))
                   == (ssize_t) sizeof(entries), "a file"))
    {
        return;
    }

    for (k = 0; k < sizeof(starts) / sizeof(starts[0]); k++) {
        memset(pages, 9, sizeof(pages));

        jpp_ok(jpp_pagemap_read(file.fd, starts[k] * page, pages,
                                5000 - starts[k], &err),
               "from page %zu on", starts[k]);

        for (i = starts[k], wrong = 0; i < 5000; i++) {
            wrong += pages[i - starts[k]] != states[i * i % 7 % 4];
        }

        jpp_is_u64(wrong, 0, "those that are not as they are there");
        jpp_is_u64(pages[5000 - starts[k]], 9, "and no more");
    }

    jpp_ok(!jpp_pagemap_read(file.fd, 2 * page, pages, 4999, &err),
           "behind the end");
    jpp_shows(err.text, "a file that ends");

    jpp_memfd_close(&file);
}


/* a page amid pages of somebody else, which would be one mapping otherwise */

JPP_TEST(jpp_smaps_test_own)
{
    size_t   page, own, size;
    uint8_t  *around, *pages;

    page = (size_t) sysconf(_SC_PAGESIZE);

    around = mmap(NULL, 3 * page, PROT_READ|PROT_WRITE,
                  MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0);
    pages = jpp_own_pages(page);

    jpp_ok(around != MAP_FAILED && pages != NULL
           && mremap(pages, page, page, MREMAP_MAYMOVE|MREMAP_FIXED,
                     around + page)
              == around + page, "a page between two");

    memset(around, 1, 3 * page);

    jpp_ok(jpp_smaps_open(&parser, "/proc/self/smaps"), "smaps");

    own = size = 0;

    while (jpp_smaps_next(&parser, &mapping)) {
        if (mapping.start < (uintptr_t) around + 3 * page
            && mapping.end > (uintptr_t) around)
        {
            own += mapping.is_own
                   && mapping.start == (uintptr_t) around + page;
            size += mapping.is_own ? mapping.rss : 0;
        }
    }

    jpp_lines_close(&parser.lines);
    (void) munmap(around, 3 * page);

    jpp_ok(own == 1 && size == page, "it is known for what it is, they are "
           "not: %zu of %zu bytes", own, size);
}


JPP_TEST(jpp_smaps_test_sockets)
{
    int       pair[2];
    char      data[1000] = { 0 };
    uint64_t  n, before, bytes;

    before = jpp_sockets_bytes(1000, &n);

    jpp_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0
           && write(pair[0], data, sizeof(data)) == sizeof(data),
           "a pair of sockets");

    bytes = jpp_sockets_bytes(1000, &n);

    jpp_ok(n >= 2, "sockets: %" PRIu64, n);
    jpp_ok(bytes >= before + sizeof(data), "what waits in them: %" PRIu64,
           bytes - before);
    jpp_is_u64(jpp_sockets_bytes(0, &n), 0, "no descriptors");

    (void) close(pair[0]);
    (void) close(pair[1]);
}
