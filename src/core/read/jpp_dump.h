
/*
 * The state of a capture while it is parsed, common to all grammars.
 *
 * Opening it finds its parts and reads its mappings; reading it adds its
 * samples.  In between the caller finds out which addresses belong to the
 * allocator.
 */


#ifndef _JPP_DUMP_H_INCLUDED_
#define _JPP_DUMP_H_INCLUDED_


#include "jpp_profile.h"


/*
 * The maps section of a dump: /proc/<pid>/maps as it was when the dump was
 * taken.  Its executable mappings become mappings of the profile, the main
 * program's first.  A table by address tells the parser of the stacks which
 * mapping an address belongs to.
 *
 * Captures that loaded one object at different places share its mapping:
 * addresses are moved to where the first capture had it.
 *
 * A pure function of the text; memory from the profile's arena.
 */

/* [start, end) of run-time addresses */
typedef struct {
    uint64_t    start;
    uint64_t    end;
} jpp_range_t;


typedef struct {
    uint64_t    start;
    uint64_t    limit;
    uint64_t    shift;             /* add it for the profile's address */
    uint32_t    mapping;           /* id in the profile */
    bool        is_allocator;      /* this is a libjemalloc */
} jpp_map_t;


/*
 * Read the LEN bytes at TEXT, which end in a newline.  Executable mappings go
 * to PROFILE and, by address, to MAPS (jpp_map_t).  The line of an error is
 * counted from TEXT.
 *
 * A section that was cut between two lines still parses.  TAIL, if the caller
 * knows it, is the name of the last mapping that the kernel lists
 * ("[vsyscall]"): a listing that ends otherwise is JPP_ERR_CUT.  A list with
 * only executable mappings was not written by a kernel and needs no tail.
 * TAIL may be NULL.
 */
jpp_code_t jpp_maps_read(jpp_profile_t *profile, const char *text, size_t len,
    const char *tail, jpp_vec_t *maps, jpp_err_t *err);

/* The element of MAPS that holds ADDRESS, or NULL. */
const jpp_map_t *jpp_maps_find(const jpp_vec_t *maps, uint64_t address);


typedef struct {
    const char           *data;         /* all of it */
    size_t                len;
    const char           *samples;      /* the part with the samples */
    const char           *end;          /*   and its end */
    uint64_t              period;
    jpp_vec_t            *maps;         /* jpp_map_t */
    void                 *opened;       /* the parser's: what it made of it */
    bool                  has_frames;   /* its owners are frames of stacks */
    bool                  has_ages;     /* of what is live */
    uint32_t              program;      /* the mapping whose functions say */
                                        /*   where the allocator lies, or 0 */
} jpp_dump_t;


typedef struct {
    uint32_t              labels;       /* label set of the samples */
    bool                  is_base;      /* to be subtracted */
    bool                  is_raw;       /* counts stay as they were sampled, */
                                        /*   and no two stacks are added up */
    const jpp_dump_t     *baseline_of;  /* what was inherited, to columns, */
                                        /*   by this dump: its samples meet */
                                        /*   those, and have their owners */
    bool                  has_owners;   /* as labels: jpp_roots.c, */
    bool                  says_owners;  /*   and how many in a comment */
    bool                  has_ages;     /* as labels, where a dump has them; */
                                        /*   a comment says where not */
    jpp_vec_t *const     *columns;      /* NULL: the profile's */
    const jpp_range_t    *allocator;    /* see jpp_addresses_t */
    size_t                n_allocator;
} jpp_read_options_t;


/* How captures of one grammar are read: a report knows no other way. */
typedef struct {
    const char              *name;
    const jpp_value_type_t  *values;
    const jpp_words_t       *types;    /* their names, and the default one */
    const char              *absent;   /* why an optional type is missing */
    const char              *period_type;
    const char              *period_unit;
    int64_t                  period;       /* 0: a capture says it */
    size_t                   facts_size;   /* of profile->facts */

    /*
     * Names of frames, NULL at the end: those above the first of them in a
     * stack are a place that holds something, not functions that call each
     * other, and the leaf is what it holds.  NULL: there are none.
     */
    const char *const       *parts;

    bool                     has_origins;      /* what was inherited counts */
    bool                     is_own_baseline;  /* a capture says what its */
                                               /*   process inherited: it is */
                                               /*   its own baseline */

    /*
     * Open the LEN bytes at DATA as the caller's DUMP; the mappings go to
     * PROFILE.  TAIL is that of jpp_maps_read().
     */
    jpp_code_t             (*open)(jpp_dump_t *dump, jpp_profile_t *profile,
                                   const char *data, size_t len,
                                   const char *tail, jpp_err_t *err);

    /* Add the samples of DUMP to PROFILE. */
    jpp_code_t             (*read)(jpp_profile_t *profile,
                                   const jpp_dump_t *dump,
                                   const jpp_read_options_t *options,
                                   jpp_err_t *err);

    /* Append comments on how the samples were taken. */
    void                   (*describe)(jpp_profile_t *profile);
} jpp_parser_t;


/* The names of the N types at VALUES, as the words of the parameter "type". */
#define JPP_PARSER_WORDS(values, n, value)                                    \
    &(const jpp_words_t) {                                                    \
        &(values)[0].type, sizeof(jpp_value_type_t), n, value }

/* Initialize the caller's PROFILE for PARSER; false: no memory. */
bool jpp_parser_init(const jpp_parser_t *parser, jpp_profile_t *profile,
    jpp_arena_t *arena);


/* Initialize the caller's DUMP of the LEN bytes at DATA. */
void jpp_dump_init(jpp_dump_t *dump, const char *data, size_t len);

/* Read the mappings of DUMP, from TEXT in it up to END: see jpp_maps_read(). */
jpp_code_t jpp_dump_maps(jpp_dump_t *dump, jpp_profile_t *profile,
    const char *text, const char *end, const char *tail, jpp_err_t *err);

/* The number of the line that P in DUMP is in.  Slow: for errors. */
uint64_t jpp_dump_line(const jpp_dump_t *dump, const char *p);


/*
 * What belongs to jemalloc: its library by the file's name, and where it is
 * linked into a program, its functions by theirs.
 *
 * The names only decide which addresses are left out at the leaf of a stack,
 * up to the first of another function.  Pure functions.
 */

/* Is the file at PATH a libjemalloc? */
bool jpp_allocator_is_library(const char *path);

/* Is NAME, as the linker knows it, a function of jemalloc? */
bool jpp_allocator_is_function(const char *name);


/*
 * The distinct return addresses of one capture, and the location of each in the
 * profile.
 *
 * A dump names an address once for each stack that passes through it; with
 * this table all but the first mention cost one probe.  The key is the text of
 * an address, its twelve digits, so that a known address is never converted;
 * the few addresses that do not have twelve have their value as key.  The
 * result is the varint of the location's id, ready to be stored in a stack.
 *
 * This also finds the mapping of an address, and separates the allocator's own
 * code from the program's.
 *
 * One thread at a time; memory from the profile's arena.
 */

#define JPP_ADDRESS_DIGITS     12

/* flags of a slot, above its varint, and the ids that leave room for them */
#define JPP_ADDRESS_ALLOCATOR  0x80000000u
#define JPP_ADDRESS_VALUE      0x40000000u

#define JPP_ADDRESS_FLAGS      (JPP_ADDRESS_ALLOCATOR|JPP_ADDRESS_VALUE)
#define JPP_ADDRESS_MAX_ID     ((1u << 27) - 1)


typedef struct {
    uint64_t             high;          /* eight digits, or the value */
    uint32_t             low;           /* four digits, or no digits */
    uint32_t             flag;          /* JPP_ADDRESS_VALUE, or 0 */
} jpp_address_key_t;


typedef struct {
    uint64_t             high;          /* the key */
    uint32_t             low;
    uint32_t             varint;        /* of the location's id, the first */
} jpp_address_t;                        /*   byte lowest; 0: a free slot */


typedef struct {
    jpp_profile_t       *profile;
    const jpp_vec_t     *maps;          /* jpp_map_t */
    const jpp_range_t   *allocator;     /* code of an allocator that is not a */
    size_t               n_allocator;   /*   library, at profile addresses */

    jpp_vec_t           *table;
    jpp_address_t       *slots;         /* of the table, and one more */
    uint32_t             shift;         /* 64 - log2 of the slots */
    uint32_t             n;
} jpp_addresses_t;


/*
 * Initialize the caller's ADDRESSES, an empty table for PROFILE, with the
 * mappings of DUMP and the allocator of OPTIONS, all of which outlive it.
 * False: no memory.
 */
bool jpp_addresses_init(jpp_addresses_t *addresses, jpp_profile_t *profile,
    const jpp_dump_t *dump, const jpp_read_options_t *options);

/* Give the table's memory back. */
void jpp_addresses_destroy(jpp_addresses_t *addresses);

/*
 * Set *VARINT to the varint of ADDRESS's location, with JPP_ADDRESS_ALLOCATOR
 * for the allocator's.  A new address is added under KEY, whose slot is SLOT.
 * Those have no location (0) until it IS_WANTED: few are ever part of a stack.
 * False: no memory.
 */
bool jpp_addresses_add(jpp_addresses_t *addresses, jpp_address_t *slot,
    const jpp_address_key_t *key, uint64_t address, bool is_wanted,
    uint32_t *varint);


/* Write the varint of a slot to POS, where four bytes are free. */
static inline uint8_t *
jpp_address_push(uint8_t *pos, uint32_t varint)
{
    varint &= ~JPP_ADDRESS_FLAGS;

    pos[0] = (uint8_t) varint;
    pos[1] = (uint8_t) (varint >> 8);
    pos[2] = (uint8_t) (varint >> 16);
    pos[3] = (uint8_t) (varint >> 24);

    /* the last byte of a varint is the one whose upper bit is clear */

    return pos + 1 + __builtin_ctz(~varint & 0x80808080) / 8;
}


/* The key of the JPP_ADDRESS_DIGITS digits at P. */
static inline jpp_address_key_t
jpp_address_key(const char *p)
{
    jpp_address_key_t  key;

    memcpy(&key.high, p, 8);
    memcpy(&key.low, p + 8, 4);
    key.flag = 0;

    return key;
}


/*
 * The key of an address by its value: its lower half, which tells neighbours
 * apart, where a text has its last digits, with a bit that no digit has.
 * Garbage may look like one: if a search by text ends at a slot with
 * JPP_ADDRESS_VALUE, the text has to be read.
 */
static inline jpp_address_key_t
jpp_address_value(uint64_t address)
{
    jpp_address_key_t  key = {
        address, (uint32_t) address | 0x80000000u, JPP_ADDRESS_VALUE
    };

    return key;
}


/*
 * The slot where the search for KEY starts.  It mostly ends here or at the
 * next slot, which always exists.
 */
static inline const jpp_address_t *
jpp_addresses_first(const jpp_addresses_t *addresses,
    const jpp_address_key_t *key)
{
    uint64_t  last;

    /* nearly all addresses differ in their last digits */

    last = key->high >> 32 ^ (uint64_t) key->low << 32;

    return addresses->slots
           + (last * 0x9e3779b97f4a7c15ULL >> addresses->shift);
}


/* The slot of KEY, or the free one for it. */
jpp_address_t *jpp_addresses_slot(const jpp_addresses_t *addresses,
    const jpp_address_key_t *key);


/* A capture whose samples are read. */
typedef struct {
    jpp_profile_t             *profile;
    const jpp_dump_t          *dump;
    const jpp_read_options_t  *options;
    jpp_err_t                 *err;
    jpp_err_t                  ignored;        /* the error of a caller who */
                                               /*   does not want one */
    jpp_addresses_t            addresses;
} jpp_reading_t;


#define JPP_READING_NO_ADDRESS                                                \
    "a stack contains something that is not an address"


/* Initialize the caller's READING; ERR may be NULL.  False: no memory. */
bool jpp_reading_init(jpp_reading_t *reading, jpp_profile_t *profile,
    const jpp_dump_t *dump, const jpp_read_options_t *options, jpp_err_t *err);

/* P is somewhere in a line that SENTENCE is about; NULL. */
const char *jpp_reading_error(jpp_reading_t *reading, const char *p,
    const char *sentence);

/* There is no memory; NULL. */
const char *jpp_reading_memory(jpp_reading_t *reading);


#endif /* _JPP_DUMP_H_INCLUDED_ */
