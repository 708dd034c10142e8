
/*
 * The dynamic section (ELF gABI, chapter 5, and the psABI of amd64) has pairs
 * of tag and value.  Two tables matter: RELA, with pointers in data and in the
 * table of addresses, and JMPREL, with slots for calls.  A relocation names its
 * symbol by number; musl leaves addresses as they are in the file, while glibc
 * adds the base in memory.
 */


/* link.h */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <link.h>
#include <string.h>

#include "jpp_got_read.h"


/* entries of a dynamic section that are looked at */
#define JPP_GOT_DYNAMIC  512

/* bytes of an entry that are looked at, and the instruction in it */
#define JPP_GOT_ENTRY    9
#define JPP_GOT_PUSH     0x68


/* the tables as places in memory, 0: absent or damaged */
typedef struct {
    const jpp_images_object_t  *object;
    uintptr_t                   symbols;
    uintptr_t                   strings;
    size_t                      strings_len;
    uintptr_t                   tables[2];
    size_t                      lens[2];
} jpp_got_dynamic_t;


static bool jpp_got_reloc(const jpp_got_dynamic_t *dynamic,
    const ElfW(Rela) *rela, jpp_got_reloc_t *reloc);


static bool
jpp_got_holds(const jpp_images_object_t *object, uintptr_t address, size_t len)
{
    const jpp_segment_t  *segment;

    segment = jpp_mapped_segment(&object->mapped, address);

    return len != 0
           && segment != NULL
           && segment->is_readable
           && len <= segment->end - address;
}


/* The LEN > 0 bytes at VALUE, an address or an offset from the base. */

static uintptr_t
jpp_got_place(const jpp_images_object_t *object, uintptr_t value, size_t len)
{
    if (jpp_got_holds(object, value, len)) {
        return value;
    }

    value += object->base;

    return jpp_got_holds(object, value, len) ? value : 0;
}


/* JMPREL may lie inside of RELA: a place that comes twice does no harm. */

static bool
jpp_got_dynamic(jpp_got_dynamic_t *dynamic, const jpp_images_object_t *object)
{
    size_t            i;
    uintptr_t         values[DT_JMPREL + 1];
    const ElfW(Dyn)  *entry;

    memset(values, 0, sizeof(values));
    dynamic->object = object;

    entry = (const ElfW(Dyn) *) object->dynamic;

    for (i = 0; i < JPP_GOT_DYNAMIC && object->dynamic != 0; i++, entry++) {

        if (!jpp_got_holds(object, (uintptr_t) entry, sizeof(ElfW(Dyn)))
            || entry->d_tag == DT_NULL)
        {
            break;
        }

        if (entry->d_tag > 0 && entry->d_tag <= DT_JMPREL) {
            values[entry->d_tag] = entry->d_un.d_val;
        }
    }

    dynamic->lens[0] = values[DT_RELASZ];
    dynamic->tables[0] = jpp_got_place(object, values[DT_RELA],
                                       dynamic->lens[0]);

    dynamic->lens[1] = values[DT_PLTREL] == DT_RELA ? values[DT_PLTRELSZ] : 0;
    dynamic->tables[1] = jpp_got_place(object, values[DT_JMPREL],
                                       dynamic->lens[1]);

    dynamic->symbols = jpp_got_place(object, values[DT_SYMTAB],
                                     sizeof(ElfW(Sym)));

    dynamic->strings_len = values[DT_STRSZ];
    dynamic->strings = jpp_got_place(object, values[DT_STRTAB],
                                     dynamic->strings_len);

    return dynamic->symbols != 0
           && dynamic->strings != 0
           && values[DT_SYMENT] == sizeof(ElfW(Sym))
           && ((const char *) dynamic->strings)[dynamic->strings_len - 1]
              == '\0';
}


/*
 * A slot that was not called by yet holds the address of code that pushes its
 * number for the linker (psABI of amd64, "Procedure Linkage Table"), behind a
 * landing pad where the processor demands one.
 */

static bool
jpp_got_is_unbound(const jpp_images_object_t *object, uintptr_t value,
    size_t number)
{
    uint32_t  pushed;

    static const uint8_t  landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };

    if (!jpp_got_holds(object, value, JPP_GOT_ENTRY)) {
        return false;
    }

    if (memcmp((const void *) value, landing, sizeof(landing)) == 0) {
        value += sizeof(landing);
    }

    memcpy(&pushed, (const uint8_t *) value + 1, sizeof(pushed));

    return *(const uint8_t *) value == JPP_GOT_PUSH && pushed == number;
}


void
jpp_got_read(const jpp_images_object_t *object, jpp_got_visit_pt visit,
    void *data)
{
    size_t               i, n;
    unsigned             table;
    jpp_got_reloc_t      reloc;
    jpp_got_dynamic_t    dynamic;
    const ElfW(Rela)    *rela;

    if (!jpp_got_dynamic(&dynamic, object)) {
        return;
    }

    for (table = 0; table < 2; table++) {
        rela = (const ElfW(Rela) *) dynamic.tables[table];
        n = rela != NULL ? dynamic.lens[table] / sizeof(ElfW(Rela)) : 0;

        for (i = 0; i < n; i++) {
            if (!jpp_got_reloc(&dynamic, &rela[i], &reloc)) {
                continue;
            }

            reloc.is_unbound = table == 1
                               && jpp_got_is_unbound(object, *reloc.at, i);

            if (!visit(&reloc, data)) {
                return;
            }
        }
    }
}


/* False: none of ours. */

static bool
jpp_got_reloc(const jpp_got_dynamic_t *dynamic, const ElfW(Rela) *rela,
    jpp_got_reloc_t *reloc)
{
#if defined(__x86_64__) && defined(__LP64__)

    uintptr_t         at, symbol;
    ElfW(Rela)        r;
    ElfW(Sym)         s;

    memcpy(&r, rela, sizeof(r));

    reloc->is_call = ELF64_R_TYPE(r.r_info) == R_X86_64_JUMP_SLOT;

    if (!reloc->is_call
        && ELF64_R_TYPE(r.r_info) != R_X86_64_GLOB_DAT
        && ELF64_R_TYPE(r.r_info) != R_X86_64_64)
    {
        return false;
    }

    at = dynamic->object->base + r.r_offset;
    symbol = dynamic->symbols + ELF64_R_SYM(r.r_info) * sizeof(s);

    if (r.r_addend != 0
        || at % sizeof(uintptr_t) != 0
        || !jpp_got_holds(dynamic->object, at, sizeof(uintptr_t))
        || !jpp_got_holds(dynamic->object, symbol, sizeof(s)))
    {
        return false;
    }

    memcpy(&s, (const void *) symbol, sizeof(s));

    reloc->at = (uintptr_t *) at;
    reloc->name = (const char *) dynamic->strings + s.st_name;
    reloc->is_own = s.st_shndx != SHN_UNDEF;

    return s.st_name < dynamic->strings_len;

#else

    (void) dynamic;
    (void) rela;
    (void) reloc;

    return false;

#endif
}
