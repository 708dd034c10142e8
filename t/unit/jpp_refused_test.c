
/*
 * Files that have too many functions, or are damaged: the memory they take, the
 * comments about them, and that no file is read twice.
 */


#include "jpp_symbolize.h"
#include "jpp_test_arena.h"
#include "jpp_test_elf.h"
#include "jpp_test_golden.h"

#include <elf.h>
#include <sys/sysmacros.h>


#define JPP_TEST_CAP    ((size_t) 1 << 30)
#define JPP_TEST_START  0x7f1200000000ULL
#define JPP_TEST_TEXT   4096
#define JPP_TEST_SIZE   16               /* bytes of one function */

/* the sections of what is made here */
enum { SYMTAB = 1, STRTAB, SHSTRTAB, SECTIONS };


static jpp_symbols_t    symbols;


/* What was loaded of the file counts as if it were in the arena. */

JPP_TEST(jpp_refused_test_budget)
{
    int         fd;
    size_t      cap, loaded, step;
    jpp_elf_t   elf;
    jpp_code_t  rc;

    fd = jpp_test_open("fits.so");
    loaded = 400000 * (24 + 9);
    step = 1 << 20;
    rc = JPP_ERR_MEMORY;

    for (cap = step; cap < JPP_TEST_CAP && rc != JPP_OK; cap += step) {
        jpp_arena_fresh(&arena, cap);
        rc = jpp_elf_read(&elf, &arena, fd, -1, JPP_ELF_ALL, NULL);

        if (rc != JPP_OK && rc != JPP_ERR_MEMORY) {
            break;
        }

        if (rc == JPP_OK) {
            jpp_is_u64(elf.n_functions, 400000, "functions");
            jpp_ok(arena.peak + loaded <= cap, "%zu bytes in the arena and %zu "
                   "beside it are not more than %zu", arena.peak, loaded, cap);
        }
    }

    jpp_is_u64(rc, JPP_OK, "it can be read with %zu MiB", cap >> 20);

    (void) close(fd);
}


void
jpp_before_each(void)
{
    jpp_symbols_destroy(&symbols);
    jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);
    symbols.debug_root = "/nonexistent";
}


/*
 * Notes what a report of CAP bytes with a location in the first function of
 * NAME reads, opens and says.
 */

static void
jpp_test_ask(const char *name, size_t cap, const char *what)
{
    uint64_t       misses, opened;
    const char    *comment;
    struct stat    st;
    jpp_mapping_t  mapping = { 0 };
    jpp_profile_t  profile;

    jpp_arena_fresh(&arena, cap);
    jpp_profile_of_space(&profile, &arena);
    (void) stat(jpp_test_path(name), &st);

    mapping.start = JPP_TEST_START;
    mapping.limit = JPP_TEST_START + 4096;
    mapping.inode = st.st_ino;
    mapping.device = (uint64_t) major(st.st_dev) << 32 | minor(st.st_dev);
    mapping.path = jpp_test_path(name);

    (void) jpp_profile_location(&profile,
                                jpp_profile_mapping(&profile, &mapping, name),
                                JPP_TEST_START + 3);

    misses = symbols.n_misses;
    opened = symbols.n_opened;

    jpp_is_u64(jpp_symbolize(&symbols, &profile, JPP_SYMBOLIZE_NAMES, NULL),
               JPP_OK, "%s: %s", name, what);

    comment = jpp_comments_of(&profile);
    jpp_note("%s, %s: %" PRIu64 " read, %" PRIu64 " opened%s", name, what,
             symbols.n_misses - misses, symbols.n_opened - opened,
             comment + strcspn(comment, ":"));

    jpp_ok((comment[0] == '\0')
           == (strcmp(jpp_profile_str(&profile,
                                      jpp_profile_function_at(&profile, 1)
                                      ->name).data, "f0000001") == 0),
           "a name, or a comment");
}


JPP_TEST(jpp_refused_test_many)
{
    jpp_test_ask("few.so", JPP_TEST_CAP, "a few");
    jpp_test_ask("fits.so", JPP_TEST_CAP, "400,000");
    jpp_test_ask("fits.so", JPP_TEST_CAP, "again");
    jpp_test_ask("many.so", JPP_TEST_CAP, "520,000");
    jpp_test_ask("many.so", JPP_TEST_CAP, "again");
    jpp_test_ask("most.so", JPP_TEST_CAP, "1,200,000");
    jpp_test_ask("most.so", JPP_TEST_CAP, "again");
    jpp_test_ask("few.so", JPP_TEST_CAP, "is still known");

    /* another file by that name */

    (void) jpp_test_sh("cp few.so new.so && mv new.so many.so");
    jpp_test_ask("many.so", JPP_TEST_CAP, "the new one");

    /* the tool has the memory of the machine */

    jpp_symbols_destroy(&symbols);
    jpp_symbols_init(&symbols, JPP_TEST_CAP);

    jpp_test_ask("most.so", JPP_TEST_CAP, "a larger cap");
    jpp_shows_notes("files of too many functions");
}


JPP_TEST(jpp_refused_test_damaged)
{
    jpp_test_ask("damaged.so", JPP_TEST_CAP, "damaged");
    jpp_test_ask("damaged.so", JPP_TEST_CAP, "again");

    /* the same name, inode and size, another time */

    (void) jpp_test_sh("touch -d 'now - 1 hour' damaged.so");

    jpp_test_ask("damaged.so", JPP_TEST_CAP, "changed");
    jpp_test_ask("damaged.so", JPP_TEST_CAP, "unchanged");
    jpp_shows_notes("a damaged file");
}


/* What one report has no room for, the next one may have. */

JPP_TEST(jpp_refused_test_room)
{
    jpp_test_ask("fits.so", 32 << 20, "little room");
    jpp_test_ask("fits.so", JPP_TEST_CAP, "room");
    jpp_shows_notes("what one report has no room for");
}


/*
 * A file of N functions: headers, symbols, their names "f0000001", sections;
 * the code is a hole.
 */

static bool
jpp_test_many(const char *name, uint32_t n)
{
    int           fd;
    bool          done;
    char         *strings;
    uint32_t      i;
    Elf64_Ehdr    ehdr = { 0 };
    Elf64_Phdr    phdr = { 0 };
    Elf64_Shdr    shdr[SECTIONS];
    Elf64_Sym    *symbol;
    const size_t  room = 24 + 24 + 16;

    symbol = calloc(n + 1, sizeof(Elf64_Sym));
    strings = calloc(n + room, 9);

    if (symbol == NULL || strings == NULL) {
        return false;
    }

    for (i = 1; i <= n; i++) {
        (void) snprintf(strings + 1 + (i - 1) * 9, 9, "f%07u", i);

        symbol[i].st_name = 1 + (i - 1) * 9;
        symbol[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
        symbol[i].st_shndx = 1;
        symbol[i].st_value = (i - 1) * JPP_TEST_SIZE;
        symbol[i].st_size = JPP_TEST_SIZE;
    }

    memset(shdr, 0, sizeof(shdr));

    shdr[SYMTAB].sh_type = SHT_SYMTAB;
    shdr[SYMTAB].sh_offset = JPP_TEST_TEXT;
    shdr[SYMTAB].sh_size = (n + 1) * sizeof(Elf64_Sym);
    shdr[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
    shdr[SYMTAB].sh_addralign = 8;
    shdr[SYMTAB].sh_link = STRTAB;

    shdr[STRTAB].sh_type = SHT_STRTAB;
    shdr[STRTAB].sh_offset = shdr[SYMTAB].sh_offset + shdr[SYMTAB].sh_size;
    shdr[STRTAB].sh_size = 1 + (uint64_t) n * 9;
    shdr[STRTAB].sh_addralign = 1;

    shdr[SHSTRTAB] = shdr[STRTAB];

    phdr.p_type = PT_LOAD;
    phdr.p_flags = PF_R|PF_X;
    phdr.p_filesz = (uint64_t) n * JPP_TEST_SIZE;
    phdr.p_memsz = phdr.p_filesz;

    memcpy(ehdr.e_ident, ELFMAG, SELFMAG);

    ehdr.e_ident[EI_CLASS] = ELFCLASS64;
    ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
    ehdr.e_ident[EI_VERSION] = EV_CURRENT;
    ehdr.e_type = ET_DYN;
    ehdr.e_machine = EM_X86_64;
    ehdr.e_version = EV_CURRENT;
    ehdr.e_ehsize = sizeof(Elf64_Ehdr);
    ehdr.e_phoff = sizeof(Elf64_Ehdr);
    ehdr.e_phentsize = sizeof(Elf64_Phdr);
    ehdr.e_phnum = 1;
    ehdr.e_shoff = (shdr[STRTAB].sh_offset + shdr[STRTAB].sh_size + 7)
                   & ~7ULL;
    ehdr.e_shentsize = sizeof(Elf64_Shdr);
    ehdr.e_shnum = SECTIONS;
    ehdr.e_shstrndx = SHSTRTAB;

    fd = open(jpp_test_path(name), O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0644);

    done = pwrite(fd, &ehdr, sizeof(ehdr), 0) == sizeof(ehdr)
           && pwrite(fd, &phdr, sizeof(phdr), sizeof(ehdr)) == sizeof(phdr)
           && pwrite(fd, symbol, shdr[SYMTAB].sh_size,
                     (off_t) shdr[SYMTAB].sh_offset)
              == (ssize_t) shdr[SYMTAB].sh_size
           && pwrite(fd, strings, shdr[STRTAB].sh_size,
                     (off_t) shdr[STRTAB].sh_offset)
              == (ssize_t) shdr[STRTAB].sh_size
           && pwrite(fd, shdr, sizeof(shdr), (off_t) ehdr.e_shoff)
              == sizeof(shdr)
           && ftruncate(fd, (off_t) (ehdr.e_shoff + sizeof(shdr)
                                     + (uint64_t) n * JPP_TEST_SIZE))
              == 0;

    (void) close(fd);
    free(strings);
    free(symbol);

    return done;
}


int
main(void)
{
    if (mkdtemp(jpp_test_dir) == NULL) {
        return 1;
    }

    (void) atexit(jpp_test_remove);

    if (!jpp_ok(jpp_test_many("few.so", 1000)
                && jpp_test_many("fits.so", 400000)
                && jpp_test_many("many.so", 520000)
                && jpp_test_many("most.so", 1200000)
                && jpp_test_many("damaged.so", 10)
                && jpp_test_sh("printf x | dd of=damaged.so bs=1 seek=%d"
                               " conv=notrunc 2>/dev/null",
                               JPP_TEST_TEXT + 10 * 24 + 24 + 10 * 9),
                "files to read"))
    {
        return jpp_done();
    }

    /* what has just changed is not remembered */

    (void) sleep(4);

    jpp_tests_all();

    return jpp_done();
}
