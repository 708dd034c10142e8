
/*
 * One ELF file's build id, its executable segments, and its table of functions
 * by address.
 *
 * Addresses here are the file's own virtual addresses, as nm and addr2line use
 * them.  jpp_symbolize.h decides which file belongs to a mapping, and
 * jpp_symbolize.h how a name is shown.
 *
 * The file is read (never mapped: a file truncated in place would be a SIGBUS)
 * into pages outside malloc, and only the parts needed: headers, notes, symbol
 * table, its strings, .eh_frame.  Names come from .symtab or, where there is
 * none, from .dynsym, with the extents the table gives; the code that no
 * symbol covers gets nameless functions from .eh_frame.
 *
 * The file is hostile input: every offset, count and string is checked.  One
 * thread at a time per arena; a table does not change, and any thread may
 * search it.
 */


#ifndef _JPP_ELF_H_INCLUDED_
#define _JPP_ELF_H_INCLUDED_


#include "jpp_core.h"


#define JPP_BUILD_ID_MAX  64            /* bytes; 20 are usual */


typedef struct {
    uint8_t            data[JPP_BUILD_ID_MAX];
    uint32_t           len;             /* 0: the file has none */
} jpp_build_id_t;


/* A loaded segment that is executable. */
typedef struct {
    uint64_t           vaddr;
    uint64_t           offset;
    uint64_t           size;            /* in the file */
} jpp_elf_segment_t;


/*
 * A piece of a function's code.  A function with another inside it has several
 * pieces, and so has one that only .eh_frame knows and symbols cover in part.
 */
typedef struct {
    uint64_t           start;
    uint64_t           entry;           /* where the function starts */
    uint32_t           size;            /* from start */
    uint32_t           name;            /* offset into names; 0: nameless */
} jpp_elf_function_t;


typedef struct {
    jpp_build_id_t              build_id;
    const jpp_elf_segment_t    *segments;
    uint32_t                    n_segments;
    bool                        has_symtab;   /* names are from .symtab */
    const jpp_elf_function_t   *functions;    /* by start, not overlapping */
    uint32_t                    n_functions;
    const char                 *names;        /* NUL-terminated, names[0] 0 */
    size_t                      names_len;
    size_t                      hinted;       /* names from here on are not */
                                              /*   from a symbol table */
} jpp_elf_t;


/* Which parts of a file to read. */
typedef enum {
    JPP_ELF_IDENTITY,       /* build id and segments */
    JPP_ELF_ALL             /* functions too */
} jpp_elf_parts_t;


/*
 * The build id among the LEN bytes of notes at DATA, aligned to ALIGNMENT (4
 * or 8); false: they have none.
 */
bool jpp_build_id_note(const uint8_t *data, size_t len, size_t alignment,
    jpp_build_id_t *id);

/* The function that covers virtual address VADDR, or NULL. */
const jpp_elf_function_t *jpp_elf_function(const jpp_elf_t *elf,
    uint64_t vaddr);

/*
 * The virtual address of file offset OFFSET, through the executable segments;
 * false if none holds it.
 */
bool jpp_elf_vaddr(const jpp_elf_t *elf, uint64_t offset, uint64_t *vaddr);

/* The other way: the file offset of VADDR. */
bool jpp_elf_offset(const jpp_elf_t *elf, uint64_t vaddr, uint64_t *offset);

/*
 * Read PARTS of the file at FD (any position) into the caller's ELF.  What ELF
 * points to is in ARENA, together with working memory.  The parts loaded from
 * files count towards ARENA's cap, although they lie outside it.  If the file
 * has no .symtab, that of the debug file at DEBUG_FD (-1: none) is used,
 * provided that file is sound and has the same build id.
 *
 * A file with neither symbol table nor .eh_frame is not an error: it has no
 * functions.  JPP_ERR_MEMORY: ARENA cannot hold it, or the kernel has no
 * memory.  JPP_ERR_INPUT: not an ELF file of this machine, or damaged;
 * JPP_ERR_CUT: it is truncated.  The sentences call the file "it".
 */
jpp_code_t jpp_elf_read(jpp_elf_t *elf, jpp_arena_t *arena, int fd,
    int debug_fd, jpp_elf_parts_t parts, jpp_err_t *err);


/*
 * Bounded reading of call-frame information, of a file or of this process:
 * numbers, LEB128 and encoded pointers.
 *
 * Reading past the end sets is_damaged and gives zeros, so one look at the end
 * of an entry is enough.
 *
 * [signal] No state, no lock, no memory; any thread.
 */

/* how a pointer is stored: the format, and what is added to it */
#define JPP_CFI_ABSPTR   0x00
#define JPP_CFI_UDATA4   0x03
#define JPP_CFI_SDATA4   0x0b
#define JPP_CFI_FORMAT   0x0f
#define JPP_CFI_SIGNED   0x08
#define JPP_CFI_PCREL    0x10
#define JPP_CFI_DATAREL  0x30

/* a length that announces one of 64 bits; nobody writes that here */
#define JPP_CFI_EXTENDED      0xffffffffu

/* "zPLRSBG" and then some */
#define JPP_CFI_AUGMENTATION  16


typedef struct {
    const uint8_t   *pos;
    const uint8_t   *end;
    bool             is_damaged;
    bool             is_short;        /* of a file with addresses of 4 bytes */
} jpp_cfi_bytes_t;


/* [signal] The next SIZE bytes: 1, 2, 4 or 8. */
uint64_t jpp_cfi_uint(jpp_cfi_bytes_t *b, uint32_t size);
int64_t jpp_cfi_sint(jpp_cfi_bytes_t *b, uint32_t size);

/* [signal] The next LEB128; bits above 64 damage the parser. */
uint64_t jpp_cfi_leb(jpp_cfi_bytes_t *b, bool is_signed);

#define jpp_cfi_uleb(b)  jpp_cfi_leb(b, false)
#define jpp_cfi_sleb(b)  ((int64_t) jpp_cfi_leb(b, true))

/* [signal] Pass over N bytes; returns where they start, NULL where they end
   past the end. */
const uint8_t *jpp_cfi_skip(jpp_cfi_bytes_t *b, uint64_t n);

/*
 * [signal] The next pointer in ENCODING, absolute or relative to its own
 * place in memory; any other encoding damages the parser.
 */
uintptr_t jpp_cfi_pointer(jpp_cfi_bytes_t *b, uint8_t encoding);


/*
 * Entries of .eh_frame: of functions (FDEs), and what those share (CIEs).
 *
 * [signal] No state, no lock, no memory; any thread.
 */

typedef struct {
    uintptr_t         start;          /* of the function */
    uintptr_t         end;
    uint64_t          code_align;
    int64_t           data_align;
    uint64_t          return_column;
    uint8_t           encoding;       /* of addresses */
    bool              is_augmented;   /* the FDE has a length of items */
    bool              is_signal;      /* a frame that a signal interrupted */
    jpp_cfi_bytes_t   initial;        /* instructions of the CIE */
    jpp_cfi_bytes_t   own;            /* and of the FDE */
} jpp_cfi_entry_t;


/*
 * [signal] Take the next entry from SECTION: BODY becomes what follows its
 * length.  False: there is none, or it is damaged.
 */
bool jpp_cfi_read_body(jpp_cfi_bytes_t *section, jpp_cfi_bytes_t *body);

/* [signal] ENTRY becomes what the CIE says that SECTION begins with; false: it
   is none, or in another form than compilers write. */
bool jpp_cfi_read_cie(jpp_cfi_bytes_t *section, jpp_cfi_entry_t *entry);

/* [signal] The rest of ENTRY, after its CIE, from the BODY of a function's
   entry behind the way back. */
bool jpp_cfi_read_fde(jpp_cfi_bytes_t *body, jpp_cfi_entry_t *entry);


/*
 * For jpp_elf_read.c: from overlapping extents of code to a table in which
 * every address has one owner.
 *
 * Symbol tables name one address many times (malloc and __libc_malloc) and
 * nest functions into each other; .eh_frame knows more functions than the
 * symbol table, but no names.  Who wins is decided here: the best of the names
 * at one start, the inner of nested extents, and a symbol over .eh_frame.
 *
 * Memory from the arena of the vectors; false: no memory.
 */

typedef struct {
    uint64_t           start;
    uint64_t           end;
    uint64_t           entry;           /* where its function starts */
    uint32_t           name;            /* offset into strings; 0: nameless */
    uint32_t           rank;            /* of the name; the lowest wins */
} jpp_extent_t;


/* What the table is made from: loaded, or empty where a file has none. */
typedef struct {
    jpp_vec_t         *symbols;         /* jpp_extent_t */
    const char        *strings;
    const uint8_t     *eh_frame;
    size_t             eh_frame_len;
    uint64_t           eh_frame_address;
    uint32_t           address_size;
} jpp_elf_source_t;


/*
 * Append the extent of a symbol, SIZE bytes at START, whose name is at NAME of
 * STRINGS, to EXTENTS, within the segments of ELF.
 */
bool jpp_extents_symbol(jpp_vec_t *extents, const jpp_elf_t *elf,
    uint64_t start, uint64_t size, uint32_t name, const char *strings,
    bool is_local, bool is_weak);

/*
 * Sort EXTENTS and append pieces that do not overlap to PIECES.  The names are
 * in STRINGS and NUL-terminated.
 */
bool jpp_extents_resolve(jpp_vec_t *extents, const char *strings,
    jpp_vec_t *pieces);

/* Append NAMED and what of NAMELESS they leave free, by start, to TABLE. */
bool jpp_extents_fill(const jpp_vec_t *named, const jpp_vec_t *nameless,
    jpp_vec_t *table);

/*
 * Make ELF's functions from SOURCE, within the segments of ELF.  Memory from
 * ARENA; SOURCE is not needed afterwards.
 */
bool jpp_elf_table(jpp_elf_t *elf, jpp_arena_t *arena,
    const jpp_elf_source_t *source);


#endif /* _JPP_ELF_H_INCLUDED_ */
