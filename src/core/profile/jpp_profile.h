
/*
 * The profile: the one model that every parser fills, and every writer reads.
 *
 * A profile is a list of samples.  A sample is a stack (location ids, leaf
 * first), a label set and one value per type.  Adding a stack that is already
 * there under the same labels adds the values: that is how captures merge and,
 * with negative values, how one is subtracted from another.
 *
 *     mappings   <- locations <- stacks
 *                -> functions -> strings
 *
 * Ids of mappings, locations and functions are 1..n in order of appearance;
 * 0 means none.  String 0 is "".  These are the ids of the pprof format.
 *
 * Memory: a stack is stored as the varints of its label set and location ids,
 * about two bytes a frame, because a million stacks must fit into 128 MiB;
 * values are columns, and a column of zeros takes no memory.
 *
 * The values of a sample may be estimates from things that were seen.  The
 * profile counts how many were seen.  After jpp_profile_count() each sample
 * has two more columns for each count: the things seen, and their doubt.  A
 * thing that is seen with probability p has the doubt 1 - p; doubts are added
 * up, in units of 1 / JPP_DOUBT_ONE.
 *
 * What is not here: reading captures (read/), names (jpp_symbolize.h), formats
 * (output/).  One thread at a time; everything lives in the arena.
 *
 * Without memory, functions that return an id return 0, and the others false;
 * the profile can then only be destroyed, with its arena.
 */


#ifndef _JPP_PROFILE_H_INCLUDED_
#define _JPP_PROFILE_H_INCLUDED_


#include "jpp_args.h"


#define JPP_MAX_TYPES    4
#define JPP_MAX_COUNTS   2

/* those of the values, and two for each count */
#define JPP_MAX_COLUMNS  (JPP_MAX_TYPES + 2 * JPP_MAX_COUNTS)

#define JPP_DOUBT_ONE    (1 << 20)

/* a varint of 32 bits */
#define JPP_VARINT_MAX   5


typedef struct {
    const char       *data;        /* NUL-terminated all the same */
    size_t            len;
} jpp_str_t;


static inline bool
jpp_str_equal(jpp_str_t a, jpp_str_t b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}


typedef struct {
    const char       *type;        /* "inuse_space" */
    const char       *unit;        /* "bytes" */
    bool              optional;    /* left out if all values are 0 */
    uint32_t          count;       /* which count of samples it rests on */
    uint32_t          objects;     /* the type that says how many things */
                                   /*   were there, seen or not */
} jpp_value_type_t;


typedef struct {
    uint64_t          start;
    uint64_t          limit;
    uint64_t          offset;
    uint64_t          device;      /* major << 32 | minor */
    uint64_t          inode;
    const char       *path;        /* to open: raw bytes, unescaped */
    uint32_t          file;        /* to show: string id */
    uint32_t          build_id;    /* string id, lower-case hex; 0 unknown */
    bool              deleted;     /* the path named another file by then */
    bool              has_functions;
} jpp_mapping_t;


typedef struct {
    uint64_t          address;     /* of the call: return address - 1 */
    uint32_t          mapping;     /* id */
    uint32_t          function;    /* id, 0 until symbolized */
} jpp_location_t;


typedef struct {
    uint32_t          name;        /* string id */
    uint32_t          mapping;     /* id: same names in two objects differ */
    uint32_t          system_name; /* string id */
    uint32_t          file;        /* string id: what the name is from */
} jpp_function_t;


/* str is the value, or NULL and num is */
typedef struct {
    const char       *key;
    const char       *str;
    int64_t           num;
    const char       *unit;        /* of num, or NULL */
} jpp_label_t;


typedef struct {
    uint32_t          key;         /* string ids */
    uint32_t          str;
    uint32_t          unit;
    int64_t           num;
} jpp_profile_label_t;


typedef struct {
    uint32_t              n;
    uint64_t              part;        /* see jpp_profile_labels() */
    jpp_profile_label_t   labels[JPP_MAX_LABELS];
} jpp_label_set_t;


typedef struct {
    jpp_arena_t              *arena;

    const jpp_value_type_t   *types;
    uint32_t                  n_types;
    uint32_t                  default_type;
    const char               *period_type;
    const char               *period_unit;
    int64_t                   period;
    int64_t                   time_nanos;
    int64_t                   duration_nanos;
    bool                      is_difference;
    bool                      has_periods;   /* captures of other rates too */
    void                     *facts;         /* the parser's, for comments */
    uint64_t                  n_seen[JPP_MAX_COUNTS];   /* samples that the */
                                             /*   values are estimated from */

    jpp_vec_t                *mappings;      /* jpp_mapping_t */
    jpp_vec_t                *locations;     /* jpp_location_t */
    jpp_vec_t                *functions;     /* jpp_function_t */
    jpp_vec_t                *label_sets;    /* jpp_label_set_t, 0 is empty */
    jpp_vec_t                *comments;      /* uint32_t, string ids */
    bool                      is_mute;       /* a comment found no memory */
    jpp_vec_t                *strings;       /* jpp_str_t */

    jpp_vec_t                *stacks;        /* varints */
    jpp_vec_t                *offsets;       /* uint32_t, n_samples + 1 */
    jpp_vec_t                *columns[JPP_MAX_COLUMNS];   /* int64_t */
    uint32_t                  n_counts;
    uint32_t                  n_columns;     /* with the counts, or without */
    uint32_t                  n_samples;
    size_t                    n_expected;    /* a guess */

    size_t                    stack_len;     /* of the one between end and */
    uint32_t                  stack_hash;    /*   commit */

    jpp_index_t               mapping_index;
    jpp_index_t               location_index;
    jpp_index_t               function_index;
    jpp_index_t               string_index;
    jpp_index_t               label_index;
    jpp_index_t               stack_index;
} jpp_profile_t;


/* One sample as a writer sees it. */
typedef struct {
    const jpp_label_set_t    *labels;
    const uint8_t            *stack;         /* packed location ids */
    size_t                    stack_len;
    int64_t                   values[JPP_MAX_TYPES];
} jpp_sample_t;


/* Initialize the caller's PROFILE of N_TYPES value TYPES (static memory). */
bool jpp_profile_init(jpp_profile_t *profile, jpp_arena_t *arena,
    const jpp_value_type_t *types, uint32_t n_types);

/*
 * Give PROFILE, which has no sample yet, the columns of things seen and of
 * their doubt.
 */
bool jpp_profile_count(jpp_profile_t *profile);

/* Empty columns for PROFILE's, from the one with the index FROM on. */
bool jpp_profile_columns(const jpp_profile_t *profile, jpp_vec_t **columns,
    uint32_t from);

/* The column of things seen for COUNT; that of their doubt is the next. */
static inline uint32_t
jpp_profile_seen(const jpp_profile_t *profile, uint32_t count)
{
    return profile->n_types + 2 * count;
}

/*
 * Make room for N_SAMPLES more samples whose stacks take BYTES: a guess, to
 * avoid growing step by step.
 */
bool jpp_profile_expect(jpp_profile_t *profile, size_t n_samples, size_t bytes);

/*
 * A sample is added in four steps without a copy: begin with a label set (an
 * index) and room for DEPTH frames, push location ids leaf first, end the
 * stack, commit the values.  Begin returns where the first id goes, or NULL
 * without memory.  Work between end and commit hides the latency of the
 * look-up of the stack.
 */
uint8_t *jpp_profile_begin(jpp_profile_t *profile, uint32_t set,
    uint32_t depth);

static inline uint8_t *
jpp_profile_push(uint8_t *pos, uint32_t id)
{
    uint32_t  is_long, bytes;

    for ( /* void */ ; id >= 1 << 14; id >>= 7) {
        *pos++ = (uint8_t) (id | 0x80);
    }

    /* one byte or two is hard to predict: both are stored, without a branch */

    is_long = id >= 1 << 7;
    bytes = id + (id & ~0x7fu) + (is_long << 7);

    pos[0] = (uint8_t) bytes;
    pos[1] = (uint8_t) (bytes >> 8);

    return pos + 1 + is_long;
}

void jpp_profile_end(jpp_profile_t *profile, const uint8_t *pos);

/* All up to the end at once, for the N IDS; false: no memory, or an id of 0. */
bool jpp_profile_stack(jpp_profile_t *profile, uint32_t set,
    const uint32_t *ids, uint32_t n);

/* Between end and commit: the sample with this stack, from 1; 0: it is new. */
uint32_t jpp_profile_find(const jpp_profile_t *profile);

/*
 * Commit the VALUES of all columns to the profile's or, if it is not NULL, to
 * the caller's COLUMNS, which must have the profile's form; those of a known
 * stack are added up.
 */
bool jpp_profile_commit(jpp_profile_t *profile, jpp_vec_t *const *columns,
    const int64_t *values);

/* The same to the profile's, as a new sample even if the stack is known. */
bool jpp_profile_append(jpp_profile_t *profile, const int64_t *values);


/* Sample I, 0 <= I < n_samples. */
void jpp_profile_sample(const jpp_profile_t *profile, uint32_t i,
    jpp_sample_t *sample);

/* A loop over the numbers of all samples of PROFILE: I has each in turn. */
#define jpp_profile_each(i, profile)                                          \
    for (i = 0; i < (profile)->n_samples; i++)

/* Is every value of SAMPLE zero?  Writers leave such a sample out. */
bool jpp_sample_is_zero(const jpp_sample_t *sample);

/*
 * Fill SHOWN with the indices of the types to write; returns their number.
 * Optional ones that hold only zeros are left out.
 */
uint32_t jpp_profile_types(const jpp_profile_t *profile,
    uint32_t shown[JPP_MAX_TYPES]);


/* The value of sample I in COLUMN. */
static inline int64_t
jpp_profile_value(const jpp_vec_t *column, uint32_t i)
{
    return i < jpp_vec_count(column, int64_t)
           ? jpp_vec_items(column, int64_t)[i] : 0;
}


static inline const uint8_t *
jpp_stack_next(const uint8_t *pos, uint32_t *id)
{
    uint32_t  shift, value;

    value = *pos & 0x7f;

    for (shift = 7; (*pos++ & 0x80) != 0; shift += 7) {
        value |= (uint32_t) (*pos & 0x7f) << shift;
    }

    *id = value;

    return pos;
}


/* The ids of the LEN packed bytes at STACK, leaf first; returns how many. */
static inline uint32_t
jpp_stack_ids(const uint8_t *stack, size_t len, uint32_t ids[JPP_MAX_FRAMES])
{
    uint32_t        n;
    const uint8_t  *end;

    for (n = 0, end = stack + len; stack < end; n++) {
        stack = jpp_stack_next(stack, &ids[n]);
    }

    return n;
}


static inline jpp_mapping_t *
jpp_profile_mapping_at(const jpp_profile_t *profile, uint32_t id)
{
    return &jpp_vec_items(profile->mappings, jpp_mapping_t)[id - 1];
}


static inline jpp_location_t *
jpp_profile_location_at(const jpp_profile_t *profile, uint32_t id)
{
    return &jpp_vec_items(profile->locations, jpp_location_t)[id - 1];
}


static inline jpp_function_t *
jpp_profile_function_at(const jpp_profile_t *profile, uint32_t id)
{
    return &jpp_vec_items(profile->functions, jpp_function_t)[id - 1];
}


/* a + b, held at the ends of the range */
static inline int64_t
jpp_add_i64(int64_t a, int64_t b)
{
    int64_t  sum;

    if (__builtin_add_overflow(a, b, &sum)) {
        return b > 0 ? INT64_MAX : -INT64_MAX;
    }

    return sum;
}


/*
 * What the samples of a profile refer to, each kept once: strings, comments,
 * mappings, locations, functions and label sets.
 */

/*
 * The id of the string of LEN bytes at DATA; bytes that are not UTF-8 and
 * control bytes are stored as question marks.  0 is the empty string and, for
 * any other string, no memory.
 */
uint32_t jpp_profile_string(jpp_profile_t *profile, const char *data,
    size_t len);

/* The string with ID. */
jpp_str_t jpp_profile_str(const jpp_profile_t *profile, uint32_t id);

/*
 * Append a comment, unless it is there.  Without memory it is lost, and
 * profile->is_mute is true from then on: whoever has appended all of them looks
 * there once.
 */
void jpp_profile_comment(jpp_profile_t *profile, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Comment I, from 0 on; NULL: there are no more. */
const char *jpp_profile_comment_at(const jpp_profile_t *profile, size_t i);

/*
 * The id of the mapping like MAPPING: same object, same part of it (device,
 * inode, path, offset and size; where it was loaded does not matter, nor
 * whether the file was deleted, which is noted).  SHOWN is the path to show,
 * which becomes mapping->file.
 */
uint32_t jpp_profile_mapping(jpp_profile_t *profile,
    const jpp_mapping_t *mapping, const char *shown);

/*
 * The id of the mapping NAME, from START on, that nobody has loaded: for
 * jpp_profile_frame().
 */
uint32_t jpp_profile_frames(jpp_profile_t *profile, uint64_t start,
    const char *name);

/*
 * The id of the location at ADDRESS in mapping MAPPING (an id, or 0).  ADDRESS
 * must lie inside it.
 */
uint32_t jpp_profile_location(jpp_profile_t *profile, uint32_t mapping,
    uint64_t address);

/*
 * The id of the location that is nothing but its name, the LEN bytes at NAME:
 * a frame of a capture that has names and no addresses.  It has its function,
 * which the symbolizer leaves as it is.  MAPPING is 0, or one of
 * jpp_profile_frames().
 */
uint32_t jpp_profile_frame(jpp_profile_t *profile, uint32_t mapping,
    const char *name, size_t len);

/* The name of the function with ID, and of that of the location with ID. */
jpp_str_t jpp_profile_function_name(const jpp_profile_t *profile, uint32_t id);
jpp_str_t jpp_profile_location_name(const jpp_profile_t *profile, uint32_t id);

/* The id of the function NAME of MAPPING; names are string ids. */
uint32_t jpp_profile_function(jpp_profile_t *profile, uint32_t mapping,
    uint32_t name, uint32_t system_name);

/*
 * The label set of the labels of the set FROM, where 0 has none, and behind
 * them N LABELS, JPP_MAX_LABELS at most, in *SET.  It is of FROM's part, or of
 * PART, of which one is 0: sets of different parts differ even if their labels
 * are equal.
 */
bool jpp_profile_labels(jpp_profile_t *profile, uint32_t from, uint64_t part,
    const jpp_label_t *labels, size_t n, uint32_t *set);

/* The id of the string that SET has under KEY; 0: none. */
uint32_t jpp_profile_labelled(const jpp_profile_t *profile,
    const jpp_label_set_t *set, const char *key);


/*
 * Whom samples belong to, by the labels that parsers give them: server,
 * location and upstream, as text for tables, and as the root frames of by=.
 *
 * One thread at a time; memory from the profile's arena.
 */

/* the keys of these labels */
typedef enum {
    JPP_ROOT_SERVER = 0,
    JPP_ROOT_LOCATION,
    JPP_ROOT_UPSTREAM,
    JPP_ROOTS
} jpp_root_t;


extern const char *const  jpp_root_keys[JPP_ROOTS];


/* Which names each BY has a row for, */
extern const bool          jpp_roots_by[JPP_BY_UPSTREAM + 1][JPP_ROOTS];

/* and the words for those that a sample does not have. */
extern const jpp_str_t     jpp_roots_none[JPP_ROOTS];

/* Does by=BY name what samples belong to? */
bool jpp_roots_allow(jpp_by_t by);

/*
 * The name that the label set SET, an index, has as ROOT: its label, or the
 * word for none; another one where the set says origin=master.
 */
jpp_str_t jpp_roots_name(const jpp_profile_t *profile, uint32_t set,
    jpp_root_t root);

/*
 * Put the names that BY has a row for at the roots of all stacks of PROFILE,
 * which is closed.  False: no memory.
 */
bool jpp_roots_add(jpp_profile_t *profile, jpp_by_t by);


#endif /* _JPP_PROFILE_H_INCLUDED_ */
