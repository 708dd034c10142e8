
/*
 * The compact and cached rule against the complete row, for every instruction
 * of every function of libc, libcrypto, an nginx and this program.  Files are
 * mapped as the kernel does it, and nothing of them is run.
 */


#include "jpp_test.h"

#include <elf.h>

#include "jpp_unwind.h"


#if defined(__x86_64__)


typedef struct {
    const char   *names[3];      /* the first that is there */
    uint64_t      rows;          /* at least so many functions */
    uint64_t      plain;         /* fewer than 1 in so many need more */
} jpp_rules_file_t;


static const jpp_rules_file_t  jpp_rules_files[] = {

    /* the least where the linker optimizes */

    { { "/proc/self/exe", NULL, NULL }, 10, 20 },
    { { "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6",
        "/usr/lib/libc.so.6" }, 2000, 20 },
    { { "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
        "/usr/lib64/libcrypto.so.3", "/usr/lib/libcrypto.so.3" }, 5000, 5 },
    { { "/usr/sbin/nginx", "/usr/local/nginx/sbin/nginx", NULL }, 900, 20 },
};


static jpp_rules_t  jpp_rules;


static size_t
jpp_page_down(size_t n)
{
    return n & ~(size_t) 4095;
}


/* OBJECT becomes the file NAME, whose segments are mapped somewhere. */

static bool
jpp_map_segments(int fd, uint8_t *base, size_t size, const Elf64_Ehdr *header,
    jpp_mapped_object_t *object)
{
    size_t          i, at, len;
    Elf64_Phdr      phdr;
    jpp_segment_t  *segment;

    for (i = 0; i < header->e_phnum; i++) {

        if (pread(fd, &phdr, sizeof(phdr),
                  (off_t) (header->e_phoff + i * sizeof(phdr)))
            != sizeof(phdr))
        {
            return false;
        }

        if (phdr.p_type == PT_GNU_EH_FRAME) {
            object->frames = (uintptr_t) base + phdr.p_vaddr;
        }

        if (phdr.p_type != PT_LOAD) {
            continue;
        }

        at = jpp_page_down(phdr.p_vaddr);
        len = phdr.p_filesz + (phdr.p_vaddr - at);

        if (at + len > size
            || mmap(base + at, len, PROT_READ, MAP_PRIVATE|MAP_FIXED, fd,
                    (off_t) jpp_page_down(phdr.p_offset)) == MAP_FAILED)
        {
            return false;
        }

        segment = &object->segments[object->n++];
        segment->start = (uintptr_t) base + phdr.p_vaddr;
        segment->end = segment->start + phdr.p_filesz;
        segment->is_readable = true;
        segment->is_executable = (phdr.p_flags & PF_X) != 0;
    }

    return true;
}


static bool
jpp_map(const char *name, jpp_mapped_object_t *object)
{
    int          fd;
    bool         is_mapped;
    uint8_t     *base;
    Elf64_Ehdr   header;
    size_t       size;

    memset(object, 0, sizeof(*object));

    fd = open(name, O_RDONLY|O_CLOEXEC);
    if (fd == -1) {
        return false;
    }

    size = (size_t) 64 << 20;
    base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);

    is_mapped = base != MAP_FAILED
                && pread(fd, &header, sizeof(header), 0) == sizeof(header)
                && jpp_map_segments(fd, base, size, &header, object);
    close(fd);

    return is_mapped;
}


/* Does RULE say what ROW says? */

static bool
jpp_is_rule_of(uint32_t rule, const jpp_cfi_entry_t *entry,
    const jpp_cfi_row_t *row)
{
    bool     is_frame;
    int64_t  rbp;

    is_frame = rule == jpp_rule_special(JPP_RULE_FRAME);

    if (jpp_rule_is_special(rule) && !is_frame) {
        return jpp_rule_kind(rule)
               == (row->how[JPP_CFI_RETURN] == JPP_CFI_UNDEFINED
                   ? JPP_RULE_OUTERMOST : JPP_RULE_COMPLETE);
    }

    /* what lies below rsp is popped */

    rbp = row->how[JPP_CFI_RBP] == JPP_CFI_AT ? -row->values[JPP_CFI_RBP] : 0;

    if (!is_frame && rbp > row->cfa_value) {
        rbp = 0;
    }

    return !entry->is_signal
           && !row->is_cfa_expression
           && row->cfa_register == (is_frame ? JPP_CFI_RBP : JPP_CFI_RSP)
           && row->cfa_value == (is_frame ? 16 : (int64_t) jpp_rule_cfa(rule))
           && row->how[JPP_CFI_RETURN] == JPP_CFI_AT
           && row->values[JPP_CFI_RETURN] == -8
           && row->how[JPP_CFI_RSP] == JPP_CFI_IS
           && row->how[JPP_CFI_RBP] <= JPP_CFI_AT
           && row->how[JPP_CFI_RBP] != JPP_CFI_UNDEFINED
           && rbp == (is_frame ? 16 : !jpp_rule_has_rbp(rule) ? 0
                      : (int64_t) (JPP_RULE_RBP_LOW - jpp_rule_rbp(rule)));
}


/* counts: addresses, those that need all registers, wrong ones, and functions
   not found */

static void
jpp_compare(const jpp_mapped_code_t *code, uint64_t counts[4])
{
    bool             is_right;
    uint32_t         rule;
    uint64_t         i, address;
    jpp_cfi_row_t    row;
    jpp_cfi_entry_t  entry, found;

    for (i = 0; i < code->count; i++) {

        if (!jpp_cfi_entry_row(code, i, &entry)) {
            counts[3]++;
            continue;
        }

        for (address = entry.start; address < entry.end; address++) {
            jpp_rules_put(&jpp_rules, address + 1,
                          jpp_rule_make(code, address));
            rule = jpp_rules_get(&jpp_rules, address + 1);

            is_right = rule >> JPP_RULE_BITS == 0
                       && jpp_cfi_entry_find(code, address, &found)
                       && found.start == entry.start
                       && jpp_cfi_row_at(&entry, address, &row)
                       && jpp_is_rule_of(rule, &entry, &row);

            counts[0]++;
            counts[1] += rule == jpp_rule_special(JPP_RULE_COMPLETE);
            counts[2] += !is_right;

            if (!is_right && counts[2] < 10) {
                jpp_diag("%#" PRIx64 " of %#" PRIxPTR ": rule %#" PRIx32,
                         address, code->start, rule);
            }
        }
    }
}


static void
jpp_compare_file(const jpp_rules_file_t *file)
{
    size_t               i;
    uint64_t             counts[4];
    jpp_mapped_object_t  object;

    static jpp_mapped_t  mapped;

    for (i = 0; i < 3 && file->names[i] != NULL; i++) {

        if (!jpp_map(file->names[i], &object)) {
            continue;
        }

        memset(&mapped, 0, sizeof(mapped));
        memset(counts, 0, sizeof(counts));

        jpp_ok(jpp_mapped_add(&mapped, &object), "%s is added", file->names[i]);
        jpp_ok(mapped.n >= 1 && mapped.objects[0].count >= file->rows,
               "and has %" PRIu64 " functions", mapped.objects[0].count);

        jpp_compare(&mapped.objects[0], counts);

        jpp_is_u64(counts[3], 0, "all of which can be read");
        jpp_is_u64(counts[2], 0, "%" PRIu64 " addresses: wrong rules",
                   counts[0]);
        jpp_ok(counts[1] * file->plain < counts[0],
               "%" PRIu64 " rules need all registers", counts[1]);
        return;
    }

    jpp_diag("%s is not here", file->names[0]);
}


/* Two addresses share two places; a third pushes the first of them out.
   Nothing is known of an address whose word nobody has written. */

static void
jpp_cache(void)
{
    uint32_t   i;
    uintptr_t  same[3];

    static jpp_rules_t  rules;

    for (i = 0; i < 3; i++) {
        same[i] = 0x7f0000000007 + i * JPP_RULES_WORDS;
        jpp_is_u64(jpp_rules_get(&rules, same[i]), 0, "no rule at first");
    }

    jpp_is_u64(jpp_rules_get(&rules, 0), 0, "nor for an address of 0");

    for (i = 0; i < 3; i++) {
        jpp_rules_put(&rules, same[i], 4711 + i);
    }

    jpp_is_u64(jpp_rules_get(&rules, same[0]), 0,
               "of three addresses of a place the first is gone");

    for (i = 1; i < 3; i++) {
        jpp_is_u64(jpp_rules_get(&rules, same[i]), 4711 + i,
                   "and %u is there", i);
        jpp_ok(jpp_rules_is_for(jpp_rules_word(&rules, same[i]), same[i])
               == (i == 2), "the last one at once");
        jpp_is_u64(jpp_rules_get(&rules, same[i] ^ 1), 0,
                   "and nothing of the address beside it");
    }
}


int
main(void)
{
    size_t  i;

    jpp_cache();

    for (i = 0; i < sizeof(jpp_rules_files) / sizeof(jpp_rules_files[0]); i++)
    {
        jpp_compare_file(&jpp_rules_files[i]);
    }

    return jpp_done();
}


#else


JPP_TEST_ONLY(!JPP_UNWIND_IS_HERE, "there is no unwinder for this machine")


#endif
