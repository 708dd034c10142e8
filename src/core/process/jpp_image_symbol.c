
#include <stddef.h>
#include <string.h>

#include "jpp_image_symbol.h"


typedef struct {
    const ElfW(Sym)   *symbols;
    const char        *strings;
    const uint32_t    *hashes;     /* DT_GNU_HASH */
} jpp_image_tables_t;


static uint32_t
jpp_image_hash(const char *name)
{
    uint32_t  hash;

    for (hash = 5381; *name != '\0'; name++) {
        hash = hash * 33 + (uint8_t) *name;
    }

    return hash;
}


/*
 * The table: numbers of buckets and of the first symbol, size of a filter in
 * addresses, its shift, the filter, the buckets, and the hashes of the symbols.
 * The last of a bucket has an odd hash.
 */

static bool
jpp_image_defines(const jpp_image_tables_t *tables, const char *name)
{
    uint32_t          i, hash, n_buckets, first;
    const uint32_t   *buckets, *hashes;
    const ElfW(Sym)  *found;

    n_buckets = tables->hashes[0];
    first = tables->hashes[1];

    if (n_buckets == 0) {
        return false;
    }

    buckets = tables->hashes + 4
              + tables->hashes[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    hashes = buckets + n_buckets;

    hash = jpp_image_hash(name);

    for (i = buckets[hash % n_buckets]; i >= first; i++) {

        found = &tables->symbols[i];

        if ((hashes[i - first] | 1) == (hash | 1)
            && found->st_shndx != SHN_UNDEF
            && strcmp(tables->strings + found->st_name, name) == 0)
        {
            return true;
        }

        if ((hashes[i - first] & 1) != 0) {
            break;
        }
    }

    return false;
}


/* The linker has added the base to addresses, but not for all objects. */

bool
jpp_image_symbol(uintptr_t base, const ElfW(Dyn) *dynamic, const char *name)
{
    uintptr_t           address;
    jpp_image_tables_t  tables = { NULL, NULL, NULL };

    for ( /* void */ ; dynamic->d_tag != DT_NULL; dynamic++) {

        address = dynamic->d_un.d_ptr;

        if (address < base) {
            address += base;
        }

        if (dynamic->d_tag == DT_SYMTAB) {
            tables.symbols = (const ElfW(Sym) *) address;

        } else if (dynamic->d_tag == DT_STRTAB) {
            tables.strings = (const char *) address;

        } else if (dynamic->d_tag == DT_GNU_HASH) {
            tables.hashes = (const uint32_t *) address;
        }
    }

    return tables.symbols != NULL && tables.strings != NULL
           && tables.hashes != NULL && jpp_image_defines(&tables, name);
}
