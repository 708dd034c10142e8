
#include "jpp_test_arena.h"

#include <elf.h>

#include "jpp_elf.h"
#include "jpp_symbolize.h"
#include "jpp_test_elf.h"
#include "jpp_test_golden.h"


/* what a file of 16 kB may take, whatever it says */
#define JPP_TEST_SMALL       (1024 * 1024)
#define JPP_TEST_MUTATIONS   20000


static unsigned   jpp_pread_calls, jpp_pread_fails;
static int        jpp_pread_error;


static jpp_elf_t    elf;


static const char  strings[] = "\0a\0bb\0_c\0ddd\0__e\0ff\0g@V1\0hh\0_i\0j";


/*
 * The last start at or before ADDRESS among what reaches it; extents of one
 * start are one, with the lowest rank and of that the first name.
 */

static uint32_t
jpp_elf_test_owner(const jpp_extent_t *extents, uint32_t n, uint64_t address)
{
    uint32_t  i, k, best;

    best = n;

    for (i = 0; i < n; i++) {

        if (address < extents[i].start || address >= extents[i].end) {
            continue;
        }

        if (best == n || extents[i].start > extents[best].start) {
            best = i;
        }
    }

    for (k = 0; best != n && k < n; k++) {
        if (extents[k].start == extents[best].start
            && (extents[k].rank < extents[best].rank
                || (extents[k].rank == extents[best].rank
                    && strcmp(strings + extents[k].name,
                              strings + extents[best].name) < 0)))
        {
            best = k;
        }
    }

    return best;
}


/* Random extents against the plain definition of which one owns an address. */

JPP_TEST(jpp_elf_test_extents)
{
    size_t               n_table, j;
    uint32_t             i, n, round, wrong, owner;
    uint64_t             seed, address;
    jpp_vec_t           *all, *frames, *named, *nameless, *table;
    jpp_extent_t        *extent, *copy, copies[2][16];
    const jpp_extent_t  *piece;

    seed = 1;
    wrong = 0;

    for (round = 0; round < 4000; round++) {
        jpp_test_anew();

        all = jpp_vec_create(&arena);
        frames = jpp_vec_create(&arena);
        named = jpp_vec_create(&arena);
        nameless = jpp_vec_create(&arena);
        table = jpp_vec_create(&arena);

        n = jpp_test_random(&seed) % 8;
        memset(copies, 0, sizeof(copies));

        for (i = 0; i < 2 * n; i++) {
            extent = jpp_vec_push(i % 2 ? all : frames, sizeof(jpp_extent_t));
            extent->start = jpp_test_random(&seed) % 24;
            extent->end = extent->start + 1 + jpp_test_random(&seed) % 12;
            extent->entry = extent->start;

            if (i % 2) {
                extent->name = 1 + jpp_test_random(&seed) % 30;
                extent->rank = jpp_test_random(&seed) % 3;
            }

            copies[i % 2][i / 2] = *extent;
        }

        if (!jpp_extents_resolve(all, strings, named)
            || !jpp_extents_resolve(frames, "", nameless)
            || !jpp_extents_fill(named, nameless, table))
        {
            wrong++;
        }

        piece = jpp_vec_items(table, jpp_extent_t);
        n_table = jpp_vec_count(table, jpp_extent_t);

        for (j = 0; j < n_table; j++) {
            wrong += piece[j].start >= piece[j].end;
            wrong += j > 0 && piece[j - 1].end > piece[j].start;
        }

        for (address = 0; address < 40; address++) {

            copy = copies[1];
            owner = jpp_elf_test_owner(copy, n, address);

            if (owner == n) {
                copy = copies[0];
                owner = jpp_elf_test_owner(copy, n, address);
            }

            for (j = 0; j < n_table && (address < piece[j].start
                                        || address >= piece[j].end); j++)
            {
                /* void */
            }

            if (owner == n) {
                wrong += j != n_table;

            } else {
                wrong += j == n_table
                         || piece[j].entry != copy[owner].start
                         || (piece[j].name == 0) != (copy == copies[0])
                         || strcmp(strings + piece[j].name,
                                   strings + copy[owner].name) != 0
                         || piece[j].rank != copy[owner].rank;
            }
        }
    }

    jpp_is_u64(wrong, 0, "extents: addresses with the wrong owner");
}


static jpp_code_t
jpp_elf_test_read(const char *name, const char *debug)
{
    int         fd, debug_fd;
    jpp_code_t  rc;

    fd = jpp_test_open(name);
    debug_fd = debug != NULL ? jpp_test_open(debug) : -1;

    rc = jpp_elf_read(&elf, &arena, fd, debug_fd, JPP_ELF_ALL, &err);

    (void) close(fd);

    if (debug_fd != -1) {
        (void) close(debug_fd);
    }

    return rc;
}


static jpp_code_t
jpp_elf_test_fd(int fd)
{
    return jpp_elf_read(&elf, &arena, fd, -1, JPP_ELF_ALL, &err);
}


static const char *
jpp_elf_test_name(uint64_t vaddr)
{
    const jpp_elf_function_t  *function;

    function = jpp_elf_function(&elf, vaddr);

    return function == NULL || function->name == 0
           ? NULL : elf.names + function->name;
}


JPP_TEST(jpp_elf_test_names)
{
    size_t                     i;
    uint64_t                   at;
    const char                *name;
    const jpp_elf_function_t  *function;

    /* the inner one lies in the outer one, which has 80 bytes */

    static const struct {
        const char  *symbol;
        uint32_t     offset;
    } rows[] = {
        { "jt_static", 0 }, { "__jt_alias", 0 }, { "jt_versioned@V_1", 0 },
        { "jt_ifunc", 0 }, { "jt_outside", 0 }, { "jt_outside", 31 },
        { "jt_outside", 32 }, { "jt_outside", 47 }, { "jt_outside", 48 },
        { "jt_outside", 79 }, { "jt_outside", 80 }, { "jt_sizeless", 0 }
    };

    jpp_is_u64(jpp_elf_test_read("full.so", NULL), JPP_OK, "full.so");
    jpp_ok(elf.has_symtab, "has .symtab");
    jpp_is_u64(elf.build_id.len, 20, "build id");
    jpp_is_u64(elf.n_segments, 1, "executable segments");

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        at = jpp_test_nm("full.so", rows[i].symbol) + rows[i].offset;
        name = jpp_elf_test_name(at);
        jpp_note("%s + %u is %s", rows[i].symbol, rows[i].offset,
                 name != NULL ? name : "nothing");
    }

    jpp_shows_notes("names of functions");

    at = jpp_test_nm("full.so", "jt_outside");
    function = jpp_elf_function(&elf, at + 60);
    jpp_is_u64(function->entry, at, "the entry of what is behind");
    jpp_is_u64(function->start, at + 48, "and where that starts");

    jpp_is_str(jpp_elf_test_name(0), NULL, "the ELF header");
    jpp_is_str(jpp_elf_test_name(UINT64_MAX), NULL, "the last address");
}


/* Every function that nm knows is found, from its first to its last byte. */

static void
jpp_elf_test_nm(const char *name, const char *options, const char *debug)
{
    FILE                      *nm;
    char                       line[2 * PATH_MAX], type;
    uint32_t                   n, wrong, i;
    uint64_t                   start, size;
    const jpp_elf_function_t  *first, *last;

    if (access(jpp_test_path(name), R_OK) != 0) {
        jpp_diag("%s is not here", name);
        return;
    }

    jpp_test_anew();

    jpp_is_u64(jpp_elf_test_read(name, debug), JPP_OK, "%s", name);

    for (i = 1, wrong = 0; i < elf.n_functions; i++) {
        wrong += elf.functions[i - 1].start + elf.functions[i - 1].size
                 > elf.functions[i].start;
    }

    jpp_is_u64(wrong, 0, "%s: functions that overlap", name);

    jpp_print(line, "nm -S --defined-only %s %s", options,
              jpp_test_path(debug != NULL ? debug : name));

    nm = popen(line, "r");
    n = 0;
    wrong = 0;

    while (fgets(line, sizeof(line), nm) != NULL) {

        if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c", &start, &size, &type)
            != 3
            || strchr("TtWi", type) == NULL)
        {
            continue;
        }

        n++;
        first = jpp_elf_function(&elf, start);
        last = jpp_elf_function(&elf, start + size - 1);

        if (first == NULL || first->entry != start || first->name == 0
            || last == NULL || last->name == 0 || last->entry < start)
        {
            wrong++;
            jpp_diag("%s", line);
        }
    }

    (void) pclose(nm);

    jpp_ok(n > 0, "%s: %u functions", name, n);
    jpp_is_u64(wrong, 0, "%s: functions of nm that are not found", name);
}


/* Every FDE of readelf is the start of a function here, and no others are. */

static void
jpp_elf_test_frames(const char *name)
{
    FILE                      *readelf;
    char                      *pc, line[2 * PATH_MAX];
    uint32_t                   i, n, wrong, entries;
    uint64_t                   start, end;
    const jpp_elf_function_t  *function;

    if (access(jpp_test_path(name), R_OK) != 0) {
        jpp_diag("%s is not here", name);
        return;
    }

    jpp_test_anew();
    jpp_is_u64(jpp_elf_test_read(name, NULL), JPP_OK, "%s", name);

    jpp_print(line, "readelf --wide --debug-dump=frames %s 2>/dev/null",
              jpp_test_path(name));

    readelf = popen(line, "r");
    n = 0;
    wrong = 0;
    entries = 0;

    while (fgets(line, sizeof(line), readelf) != NULL) {
        pc = strstr(line, " pc=");

        if (pc == NULL
            || sscanf(pc, " pc=%" SCNx64 "..%" SCNx64, &start, &end) != 2)
        {
            continue;
        }

        n++;
        function = jpp_elf_function(&elf, start);

        if (function == NULL || jpp_elf_function(&elf, end - 1) == NULL
            || function->entry > start
            || (function->name == 0 && function->entry != start))
        {
            wrong++;
            jpp_diag("%s", line);

        } else {
            entries += function->name == 0;
        }
    }

    (void) pclose(readelf);

    jpp_ok(n > 0, "%s: %u FDEs, %u of them nameless", name, n, entries);
    jpp_is_u64(wrong, 0, "%s: FDEs that are not functions", name);

    for (i = 0; i < elf.n_functions; i++) {
        function = &elf.functions[i];
        entries -= function->name == 0 && function->start == function->entry;
    }

    jpp_is_i64((int32_t) entries, 0, "%s: functions that are no FDEs", name);
}


JPP_TEST(jpp_elf_test_debug)
{
    char      debug[PATH_MAX], id[JPP_BUILD_ID_TEXT];
    uint64_t  at;

    at = jpp_test_nm("full.so", "jt_static");

    jpp_is_u64(jpp_elf_test_read("stripped.so", NULL), JPP_OK,
               "stripped.so without its debug file");
    jpp_ok(!elf.has_symtab, "has no .symtab");
    jpp_ok(jpp_elf_function(&elf, at) != NULL
           && jpp_elf_function(&elf, at)->entry == at
           && jpp_elf_function(&elf, at)->name == 0, "a static is nameless");

    jpp_build_id_text(&elf.build_id, id);
    jpp_print(debug, "debug/.build-id/%.2s/%s.debug", id, id + 2);

    jpp_is_u64(jpp_elf_test_read("stripped.so", debug), JPP_OK,
               "stripped.so with %s", debug);
    jpp_ok(elf.has_symtab, "has the other .symtab");
    jpp_is_str(jpp_elf_test_name(at), "jt_static", "a static");

    jpp_is_u64(jpp_elf_test_read("cxx.so", debug), JPP_OK,
               "a debug file of another build");
    jpp_is_u64(jpp_elf_test_read("stripped.so", "full.so"),
               JPP_OK, "any file of the same build");
    jpp_ok(elf.has_symtab, "has the other .symtab");
    jpp_is_u64(jpp_elf_test_read("stripped.so", "a.c"), JPP_OK,
               "a debug file that is none");
    jpp_ok(!elf.has_symtab, "has no .symtab");

    jpp_elf_test_nm("stripped.so", "", debug);
}


/* The first and the last byte of a segment, and those beside them. */

JPP_TEST(jpp_elf_test_edges)
{
    size_t    i;
    uint64_t  got;

    static const jpp_elf_segment_t  segments[] = {
        { 0x401000, 0x1000, 0x100 }, { 0x802000, 0x2000, 0x80 }
    };

    static const struct {
        uint64_t  vaddr;
        uint64_t  offset;
        bool      is_inside;
    } rows[] = {
        { 0x400fff, 0x0fff, false },
        { 0x401000, 0x1000, true },
        { 0x4010ff, 0x10ff, true },
        { 0x401100, 0x1100, false },
        { 0x801fff, 0x1fff, false },
        { 0x802000, 0x2000, true },
        { 0x80207f, 0x207f, true },
        { 0x802080, 0x2080, false }
    };

    memset(&elf, 0, sizeof(jpp_elf_t));

    elf.segments = segments;
    elf.n_segments = 2;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        got = 0;
        jpp_ok(jpp_elf_vaddr(&elf, rows[i].offset, &got) == rows[i].is_inside
               && got == (rows[i].is_inside ? rows[i].vaddr : 0),
               "offset 0x%" PRIx64, rows[i].offset);

        got = 0;
        jpp_ok(jpp_elf_offset(&elf, rows[i].vaddr, &got) == rows[i].is_inside
               && got == (rows[i].is_inside ? rows[i].offset : 0),
               "address 0x%" PRIx64, rows[i].vaddr);
    }
}


/* In place of libc's: fails when it is called for the nth time. */

ssize_t
pread(int fd, void *data, size_t size, off_t offset)
{
    if (++jpp_pread_calls == jpp_pread_fails) {
        errno = jpp_pread_error;
        return -1;
    }

    return syscall(SYS_pread64, fd, data, size, offset);
}


/* Headers of the sections that symbols are read from.  A symbol table that is
   compressed is none: that of the linker is taken. */

JPP_TEST(jpp_elf_test_sections)
{
    int          fd;
    char        *file;
    size_t       size, i, n;
    Elf64_Ehdr  *ehdr;
    Elf64_Shdr  *shdr;

    static const struct {
        const char  *what;
        char         section;          /* symbols, their names, or sections' */
        size_t       at;
        uint32_t     bits;             /* are others; 0: its last byte is */
        const char  *sentence;         /* NULL: there are no symbols */
    } rows[] = {
#define JPP_AT(member)  offsetof(Elf64_Shdr, member)
        { "link", 's', JPP_AT(sh_link), 1 << 20, "symbol table is damaged" },
        { "entries", 's', JPP_AT(sh_entsize), 1, "symbol table is damaged" },
        { "place", 's', JPP_AT(sh_offset), 1, "symbol table is damaged" },
        { "size", 's', JPP_AT(sh_size), 1 << 30, "more than 4000000 symbols" },
        { "type", 'n', JPP_AT(sh_type), 2, "symbol table is damaged" },
        { "names", 'n', JPP_AT(sh_size), 1 << 30, "truncated" },
        { "end of names", 'n', 0, 0, "symbol table is damaged" },
        { "sections", 'h', JPP_AT(sh_size), 1 << 30, "truncated" },
        { "end of sections", 'h', 0, 0, "section names are damaged" },
        { "no sections", 'h', JPP_AT(sh_type), 2, NULL },
        { "compressed", 's', JPP_AT(sh_flags), SHF_COMPRESSED, NULL }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fd = jpp_test_copy("full.so", &size);
        file = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_SHARED, fd, 0);
        ehdr = (void *) file;
        shdr = (void *) (file + ehdr->e_shoff);

        for (n = 0; shdr[n].sh_type != SHT_SYMTAB; n++) { /* void */ }

        n = rows[i].section == 's' ? n
            : rows[i].section == 'n' ? shdr[n].sh_link : ehdr->e_shstrndx;

        if (rows[i].bits != 0) {
            *(uint32_t *) (void *) ((char *) &shdr[n] + rows[i].at)
                ^= rows[i].bits;
        } else {
            file[shdr[n].sh_offset + shdr[n].sh_size - 1] = 'x';
        }

        (void) munmap(file, size);

        jpp_ok((jpp_elf_test_fd(fd) == JPP_OK) == (rows[i].sentence == NULL)
               && (rows[i].sentence == NULL ? !elf.has_symtab
                   : strstr(err.text, rows[i].sentence) != NULL),
               "%s: %s", rows[i].what, err.text);
        (void) close(fd);
    }

    jpp_is_str(jpp_elf_test_name(jpp_test_nm("full.so", "jt_global")),
               "jt_global", "but names all the same");
}


JPP_TEST(jpp_elf_test_bad)
{
    int     fd;
    size_t  size, i;

    static const struct {
        const char  *what;
        off_t        at;
        const char  *byte;
        const char  *sentence;
    } bad[] = {
        { "no magic", 0, "X", "it is not an ELF file" },
        { "class 3", EI_CLASS, "\3", "it is not an ELF file" },
        { "other byte order", EI_DATA, "\2", "another machine" },
        { "version 2", EI_VERSION, "\2", "it is not an ELF file" },
        { "an object file", 16, "\1", "neither a program" },
        { "a core file", 16, "\4", "neither a program" },
        { "aarch64", 18, "\267", "another machine (ELF machine 183)" },
        { "i386 of 64 bits", 18, "\3", "another machine (ELF machine 3)" },
        { "e_phentsize", 54, "\67", "ELF header is damaged" },
        { "e_shentsize", 58, "\1", "ELF header is damaged" },
        { "e_phoff", 36, "\1", "it is truncated" },
        { "e_shoff", 44, "\1", "it is truncated" },
        { "e_phnum", 57, "\377", "ELF header is damaged" },
        { "e_shnum", 61, "\100", "it is truncated" },
        { "e_shnum of 0", 60, "", "ELF header is damaged" }
    };

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        fd = jpp_test_copy("full.so", &size);
        (void) pwrite(fd, bad[i].byte, 1, bad[i].at);

        jpp_ok(jpp_elf_test_fd(fd) != JPP_OK
               && strstr(err.text, bad[i].sentence) != NULL,
               "%s: %s", bad[i].what, err.text);

        (void) close(fd);
    }

    fd = jpp_test_copy("full.so", &size);
    (void) ftruncate(fd, (off_t) 1 << 40);

    jpp_is_u64(jpp_elf_test_fd(fd), JPP_ERR_LIMIT, "1 TB");

    (void) ftruncate(fd, (off_t) JPP_MAX_ELF_FILE);

    jpp_is_u64(jpp_elf_test_fd(fd), JPP_OK, "as large as allowed");

    (void) close(fd);

    fd = open(jpp_test_dir, O_RDONLY|O_DIRECTORY);
    jpp_ok(jpp_elf_test_fd(fd) != JPP_OK, "a directory: %s", err.text);
    (void) close(fd);

    jpp_ok(jpp_elf_read(&elf, &arena, -1, -1, JPP_ELF_ALL, &err) != JPP_OK,
           "no file: %s", err.text);
}


JPP_TEST(jpp_elf_test_cut)
{
    int       fd;
    off_t     len;
    size_t    size;
    uint32_t  failed;

    fd = jpp_test_copy("full.so", &size);
    failed = 0;

    for (len = (off_t) size - 1; len > 0; len = (len - 1) / 64 * 64) {
        (void) ftruncate(fd, len);

        jpp_arena_fresh(&arena, JPP_TEST_SMALL);
        failed += jpp_elf_test_fd(fd) == JPP_OK;
    }

    jpp_is_u64(failed, 0, "cut files that were taken for whole ones");

    (void) close(fd);
}


/* The headers, and what they lead to, are where damage matters most. */

JPP_TEST(jpp_elf_test_mutations)
{
    int       fd;
    double    ms;
    size_t    size;
    uint8_t   byte, old[4];
    off_t     at[4];
    uint32_t  i, k, n, good;
    uint64_t  seed;

    fd = jpp_test_copy("full.so", &size);
    seed = 20240601;
    good = 0;
    ms = jpp_test_ms();

    for (i = 0; i < JPP_TEST_MUTATIONS; i++) {
        n = 1 + jpp_test_random(&seed) % 4;

        for (k = 0; k < n; k++) {

            switch (jpp_test_random(&seed) % 4) {

            case 0:
                at[k] = jpp_test_random(&seed) % 1024;
                break;

            case 1:
                at[k] = (off_t) size - 1 - jpp_test_random(&seed) % 4096;
                break;

            default:
                at[k] = jpp_test_random(&seed) % (off_t) size;
                break;
            }

            byte = (uint8_t) jpp_test_random(&seed);

            (void) pread(fd, &old[k], 1, at[k]);
            (void) pwrite(fd, &byte, 1, at[k]);
        }

        jpp_arena_fresh(&arena, JPP_TEST_SMALL);

        if (jpp_elf_test_fd(fd) == JPP_OK) {
            good++;
            (void) jpp_elf_function(&elf, 0x1000 + i % 4096);
        }

        while (k-- != 0) {
            (void) pwrite(fd, &old[k], 1, at[k]);
        }
    }

    ms = jpp_test_ms() - ms;

    jpp_ok(good > 0 && good < JPP_TEST_MUTATIONS,
           "%d damaged files, of which %u could be read", JPP_TEST_MUTATIONS,
           good);
    jpp_ok(ms < 20000, "took %.0f ms", ms);

    jpp_arena_fresh(&arena, JPP_TEST_SMALL);
    jpp_is_u64(jpp_elf_test_fd(fd), JPP_OK, "restored");

    (void) close(fd);
}


JPP_TEST(jpp_elf_test_memory)
{
    int  fd;

    (void) jpp_elf_test_read("full.so", NULL);
    jpp_ok(arena.peak <= 2 * 1024 * 1024, "%zu bytes for full.so", arena.peak);

    fd = jpp_test_open("full.so");

    jpp_denies(&arena, jpp_test_anew(), 1,
               jpp_elf_test_fd(fd));

    jpp_arena_fresh(&arena, 128 * 1024);
    jpp_is_u64(jpp_elf_test_read("/usr/bin/gdb", NULL),
               access("/usr/bin/gdb", R_OK) == 0 ? JPP_ERR_MEMORY : JPP_ERR_SYS,
               "a large file and a small arena: %s", err.text);

    (void) close(fd);
}


/* The file may be on a disk that fails at any read, or be interrupted there. */

JPP_TEST(jpp_elf_test_errors)
{
    int         fd, errors[] = { EIO, EINTR };
    size_t      i;
    unsigned    n, calls, wrong;
    jpp_code_t  rc;

    fd = jpp_test_open("full.so");

    for (i = 0; i < 2; i++) {
        wrong = 0;
        calls = UINT32_MAX;

        for (n = 1; n <= calls; n++) {
            jpp_test_anew();

            jpp_pread_calls = 0;
            jpp_pread_fails = n;
            jpp_pread_error = errors[i];

            rc = jpp_elf_test_fd(fd);

            jpp_pread_fails = 0;

            if (jpp_pread_calls < n) {
                calls = jpp_pread_calls;
                wrong += rc != JPP_OK;

            } else if (errors[i] == EIO) {
                wrong += rc != JPP_ERR_SYS || err.sys_errno != EIO;

            } else {
                wrong += rc != JPP_OK;
            }
        }

        jpp_ok(calls > 5 && wrong == 0, "each of %u reads %s once", calls,
               errors[i] == EIO ? "failed" : "was interrupted");
    }

    (void) close(fd);
}


int
main(void)
{
    uint32_t  fds;

    if (!jpp_ok(jpp_test_make(), "files to read")) {
        return jpp_done();
    }

    fds = jpp_test_fds();

    jpp_tests_all();

    jpp_elf_test_nm("full.so", "", NULL);
    jpp_elf_test_nm("cxx.so", "", NULL);
    jpp_elf_test_nm("stripped.so", "-D", NULL);
    jpp_elf_test_nm("i386.so", "", NULL);
    jpp_elf_test_nm("/lib/x86_64-linux-gnu/libc.so.6", "-D", NULL);
    jpp_elf_test_nm("/usr/sbin/nginx", "-D", NULL);
    jpp_elf_test_frames("full.so");
    jpp_elf_test_frames("stripped.so");
    jpp_elf_test_frames("i386.so");
    jpp_elf_test_frames("/usr/sbin/nginx");
    jpp_elf_test_frames("/lib/x86_64-linux-gnu/libc.so.6");
    jpp_elf_test_frames("/usr/lib/x86_64-linux-gnu/libcrypto.so.3");
    jpp_is_u64(jpp_test_fds(), fds, "descriptors open at the end");

    return jpp_done();
}
