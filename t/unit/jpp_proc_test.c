
#include "jpp_test_arena.h"
#include "jpp_test_golden.h"

#include <sys/syscall.h>
#include <sys/time.h>

#include "jpp_dump.h"
#include "jpp_proc.h"


/* mappings of a file, and the directories that its path is long by */
#define JPP_PROC_MANY    12000
#define JPP_PROC_DEPTH   14
#define JPP_PROC_NAME    200


static int jpp_proc_deep(char *top, char *name);
static void jpp_proc_undo(char *name);


/* what the kernel lists each time; NULL: what there is */
static const char  *jpp_proc_listed;
static unsigned     jpp_proc_tries;


/* In place of libc's. */

ssize_t
pread(int fd, void *data, size_t size, off_t offset)
{
    size_t  len;

    if (jpp_proc_listed == NULL) {
        return syscall(SYS_pread64, fd, data, size, offset);
    }

    len = strlen(jpp_proc_listed);

    if (len == 0) {
        errno = EIO;
        return -1;
    }

    jpp_proc_tries += offset == 0;
    memcpy(data, jpp_proc_listed, len);

    return offset == 0 ? (ssize_t) len : 0;
}


/* A listing that is out of order, as others map and unmap, is read again. */

JPP_TEST(jpp_proc_test_order)
{
    size_t      i;
    jpp_vec_t  *text;

    static const struct {
        const char  *listed;
        unsigned     tries;
        jpp_code_t   code;
    } rows[] = {
        { "1-2 r-xp 0 0:0 0 /a\n2-3 r-xp 0 0:0 0 /b\n", 1, JPP_OK },
        { "1-3 r-xp 0 0:0 0 /a\n2-4 r-xp 0 0:0 0 /b\n", 10, JPP_OK },
        { "1-2 r-xp 0 0:0 0 /a\n2-3 r-xp 0 0:0", 10, JPP_OK },
        { "", 0, JPP_ERR_SYS }
    };

    text = jpp_vec_create(&arena);

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_proc_listed = rows[i].listed;
        jpp_proc_tries = 0;

        jpp_is_u64(jpp_proc_maps(text, &err), rows[i].code, "listing %zu", i);
        jpp_is_u64(jpp_proc_tries, rows[i].tries, "read so many times");
    }

    jpp_has(err.text, "/proc/self/maps cannot be read: ", "the sentence");
    jpp_proc_listed = NULL;
}


JPP_TEST(jpp_proc_test_tail)
{
    size_t       i;
    const char  *tail;

    static const char  *cases[] = {
        "1-2 r-xp 0 0:0 0 /bin/a\nff-fff --xp 0 0:0 0      [vsyscall]\n",
        "1-2 r-xp 0 0:0 0   [stack]\n", "1-2 r-xp 0 0:0 0 /bin/a\n",
        "1-2 r-xp 0 0:0 0 /tmp/a [b]\n", "1-2 r-xp 0 0:0 0 [anon: a heap]\n",
        "1-2 r-xp 0 0:0 0 [stack\n", "1-2 r-xp 0 0:0 0 stack]\n",
        "1-2 r-xp 0 0:0 0 \n", "1-2 r-xp 0 0:0 0 [stack]", "[stack]\n",
        "1-2 r-xp 0 0:0 [stack]\n", "1-2 r-xp 0 0:0 0\n", "\n", ""
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tail = jpp_proc_tail(cases[i], strlen(cases[i]), &arena);
        jpp_note("%s: %s", cases[i], tail != NULL ? tail : "none");
    }

    jpp_shows_notes("the last name of mappings");
}


/* The parser of dumps takes the listing, and its end with it. */

JPP_TEST(jpp_proc_test_maps)
{
    size_t          before;
    jpp_vec_t      *text, *maps;
    const char     *tail;
    jpp_profile_t   profile;

    static const jpp_value_type_t  type = {
        "inuse_space", "bytes", false, 0, 0
    };

    text = jpp_vec_create(&arena);
    maps = jpp_vec_create(&arena);

    jpp_is_u64(jpp_proc_maps(text, &err), JPP_OK, "the mappings");
    jpp_ok(text->len > 0 && text->data[text->len - 1] == '\n',
           "are whole lines");
    jpp_ok(memmem(text->data, text->len, "jpp_proc_test\n", 14) != NULL,
           "one of them is this program's");

    tail = jpp_proc_tail((char *) text->data, text->len, &arena);
    jpp_ok(tail != NULL && tail[0] == '[', "the last is %s",
           tail != NULL ? tail : "(null)");

    jpp_ok(jpp_profile_init(&profile, &arena, &type, 1), "a profile");
    jpp_is_u64(jpp_maps_read(&profile, (char *) text->data, text->len, tail,
                             maps, &err),
               JPP_OK, "they can be read");
    jpp_ok(jpp_maps_find(maps, (uintptr_t) jpp_tests_all) != NULL,
           "its code is in one");

    before = text->len - 1;

    while (text->data[before - 1] != '\n') {
        before--;
    }

    jpp_is_u64(jpp_maps_read(&profile, (char *) text->data, before, tail, maps,
                             &err),
               JPP_ERR_TAIL, "without the last line they are cut");
}


/*
 * A listing of more than one read, up to the bound and beyond it: mappings of
 * one page of one file whose path is long.
 */

JPP_TEST(jpp_proc_test_many)
{
    int         fd;
    char        top[] = "/tmp/jpp_proc_XXXXXX", name[JPP_PROC_NAME + 1];
    size_t      i, n, line;
    jpp_vec_t  *text;

    static void  *maps[JPP_PROC_MANY];

    fd = jpp_proc_deep(top, name);
    jpp_ok(fd != -1, "a file with a long path");

    /* by turns, or neighbours would become one mapping */

    for (n = 0; n < JPP_PROC_MANY; n++) {
        maps[n] = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

        if (maps[n] == MAP_FAILED) {
            break;
        }
    }

    close(fd);
    jpp_is_u64(n, JPP_PROC_MANY, "and many mappings of it");

    text = jpp_vec_create(&arena);

    jpp_is_u64(jpp_proc_maps(text, &err), JPP_ERR_LIMIT, "are too many");
    jpp_has(err.text, "/proc/self/maps has more than 33554432 bytes", "%s",
            err.text);

    /* the longest listing that is allowed, to a line */

    line = JPP_PROC_DEPTH * JPP_PROC_NAME;

    for (i = 0; i < n - (size_t) JPP_MAX_MAPS * 256 / line * 9 / 10; i++) {
        munmap(maps[i], 4096);
    }

    jpp_vec_release(text);
    jpp_is_u64(jpp_proc_maps(text, &err), JPP_OK, "fewer are read");
    jpp_ok(text->len > (size_t) JPP_MAX_MAPS * 256 * 8 / 10
           && text->len <= (size_t) JPP_MAX_MAPS * 256,
           "to the end, %zu bytes", text->len);
    jpp_ok(jpp_proc_tail((char *) text->data, text->len, &arena) != NULL,
           "with what the kernel lists last");

    for ( /* void */ ; i < n; i++) {
        munmap(maps[i], 4096);
    }

    jpp_proc_undo(name);
    jpp_is_i64(rmdir(top), 0, "tidied up");
}


/* Directory below directory, each entered: no path here is too long. */

static int
jpp_proc_deep(char *top, char *name)
{
    int       fd;
    unsigned  i;

    memset(name, 'd', JPP_PROC_NAME);
    name[JPP_PROC_NAME] = '\0';

    if (mkdtemp(top) == NULL || chdir(top) == -1) {
        return -1;
    }

    for (i = 0; i < JPP_PROC_DEPTH; i++) {
        if (mkdir(name, 0700) == -1 || chdir(name) == -1) {
            return -1;
        }
    }

    fd = open("file", O_RDWR|O_CREAT, 0600);

    return fd != -1 && ftruncate(fd, 4096) == 0 ? fd : -1;
}


static void
jpp_proc_undo(char *name)
{
    unsigned  i;

    unlink("file");

    for (i = 0; i < JPP_PROC_DEPTH; i++) {
        if (chdir("..") == -1) {
            return;
        }

        rmdir(name);
    }
}


/* Every request for memory fails once. */

JPP_TEST(jpp_proc_test_memory)
{
    jpp_vec_t  *text;

    jpp_denies(&arena,
               jpp_test_anew();
               text = jpp_vec_create(&arena), 1, jpp_proc_maps(text, &err));

    jpp_test_anew();
    arena.fail_at = 1;
    jpp_ok(jpp_proc_tail("0-1 r 0 0 0 [vsyscall]\n", 23, &arena) == NULL,
           "and no name");
}


JPP_TEST(jpp_proc_test_descriptors)
{
    rlim_t      limit;
    jpp_vec_t  *text;
    jpp_code_t  rc;

    text = jpp_vec_create(&arena);

    limit = jpp_test_rlimit(RLIMIT_NOFILE, 0);
    rc = jpp_proc_maps(text, &err);
    (void) jpp_test_rlimit(RLIMIT_NOFILE, limit);

    jpp_is_u64(rc, JPP_ERR_SYS, "without a free descriptor");
    jpp_is_i64(err.sys_errno, EMFILE, "%s", err.text);
    jpp_has(err.text, "RLIMIT_NOFILE", "the fix");
    jpp_is_u64(text->len, 0, "nothing is read");
}


JPP_TEST(jpp_proc_test_protection)
{
    void       *page;
    jpp_vec_t  *maps;

    static const char  text[] =
        "1000-3000 r--p 00000000 00:00 0\n"
        "3000-4000 rw-s 00000000 00:00 0    /tmp/a file\n"
        "7f0000000000-7f0000001000 --xp 00000000 00:00 0\n"
        "not a line\n"
        "80000000-80001000 rw\n"
        "8f0000000000-8f0000001000 rwxp";

    static const struct {
        uintptr_t     address;
        int           protection;
        const char   *name;
    } cases[] = {
        { 0xfff, 0, "below all" },
        { 0x1000, PROT_READ, "the first byte" },
        { 0x2fff, PROT_READ, "the last byte" },
        { 0x3000, PROT_READ|PROT_WRITE, "the next mapping" },
        { 0x4000, 0, "a hole" },
        { 0x7f0000000800, PROT_EXEC, "code that cannot be read" },
        { 0x80000000, 0, "a line with less than four letters" },
        { 0x8f0000000000, 0, "a line that is cut" }
    };

    size_t  i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        jpp_is_i64(jpp_proc_protection(text, sizeof(text) - 1,
                                       cases[i].address),
                   cases[i].protection, "protection: %s", cases[i].name);
    }

    maps = jpp_vec_create(&arena);
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
    (void) jpp_proc_maps(maps, NULL);

    jpp_is_i64(jpp_proc_protection((char *) maps->data, maps->len,
                                   (uintptr_t) page), PROT_READ,
               "protection: a page of this process");

    (void) munmap(page, 4096);
}


int
main(void)
{
    int  before, after;

    before = dup(0);
    close(before);

    jpp_tests_all();

    after = dup(0);
    close(after);
    jpp_is_i64(after, before, "no descriptor is left");

    return jpp_done();
}
