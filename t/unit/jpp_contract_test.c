
/*
 * Does the checker refuse what it is there for?  A right profile, in pieces
 * written by hand; each case replaces one or two of them and names the
 * complaint that it must cause, and no other.
 */

#include "jpp_test_main.h"
#include "jpp_contract.h"
#include "jpp_test_arena.h"
#include "jpp_test_golden.h"


#define HEAP             JPP_CONTRACT_HEAP
#define CPU              JPP_CONTRACT_CPU
#define POOLS            JPP_CONTRACT_POOLS

#define JPP_MAX_PROFILE  4096

/* the bytes of a literal, and their number */
#define B(s)             s, sizeof(s) - 1

#define MINUS_ONE        "\377\377\377\377\377\377\377\377\377\001"


/* tag, and what follows it: where the wire type is 2, behind its length */

typedef struct {
    uint8_t          tag;
    const char      *data;
    size_t           len;
} jpp_piece_t;

/* what is behind the tag of a piece, NULL: it is left out; END: to append */

typedef struct {
    int              index;
    const char      *data;
    size_t           len;
} jpp_edit_t;

typedef struct {
    const char      *name;
    unsigned         flags;
    jpp_edit_t       edits[20];
} jpp_case_t;


enum {
    NONE = 0, S0, S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S12, S13, S14,
    S15, S16, S17, T0, T1, T2, T3, M1, M2, L1, L2, L3, L4, F1, F2, F3, P1,
    P2, P3, TIME, PERIOD_TYPE, PERIOD, COMMENT, DEFAULT, END
};


static const jpp_piece_t  jpp_right[END] = {
    [S0]  = { 0x32, B("") },
    [S1]  = { 0x32, B("inuse_objects") },
    [S2]  = { 0x32, B("count") },
    [S3]  = { 0x32, B("inuse_space") },
    [S4]  = { 0x32, B("bytes") },
    [S5]  = { 0x32, B("space") },
    [S6]  = { 0x32, B("/bin/x") },
    [S7]  = { 0x32, B("00ab12cd") },
    [S8]  = { 0x32, B("main") },
    [S9]  = { 0x32, B("x+0x10") },
    [S10] = { 0x32, B("worker") },
    [S11] = { 0x32, B("0") },
    [S12] = { 0x32, B("pid") },
    [S13] = { 0x32, B("a note") },
    [S14] = { 0x32, B("alloc_objects") },
    [S15] = { 0x32, B("alloc_space") },
    [S16] = { 0x32, B("cpu") },
    [S17] = { 0x32, B("nanoseconds") },

    [T0]  = { 0x0a, B("\010\001\020\002") },
    [T1]  = { 0x0a, B("\010\003\020\004") },
    [T2]  = { 0x0a, NULL, 0 },
    [T3]  = { 0x0a, NULL, 0 },

    /* 0x1000..0x3000 with names; 0x4000..0x5000 at 0x1000 of its file */

    [M1]  = { 0x1a, B("\010\001\020\200\040\030\200\140\050\006\060\007"
                      "\070\001") },
    [M2]  = { 0x1a, B("\010\002\020\200\200\001\030\200\240\001\040\200\040"
                      "\050\006") },

    /* 0x1010 main, 0x2010 x+0x10, 0x4010 another main, 9 in no mapping */

    [L1]  = { 0x22, B("\010\001\020\001\030\220\040\042\002\010\001") },
    [L2]  = { 0x22, B("\010\002\020\001\030\220\100\042\002\010\002") },
    [L3]  = { 0x22, B("\010\003\020\002\030\220\200\001\042\002\010\003") },
    [L4]  = { 0x22, B("\010\004\030\011") },

    [F1]  = { 0x2a, B("\010\001\020\010") },
    [F2]  = { 0x2a, B("\010\002\020\011\030\011") },
    [F3]  = { 0x2a, B("\010\003\020\010") },

    /* 1 64: 1 2 {worker="0" pid=7}; 2 5: 3 1 {}; 1 64: 1 2 {worker="0"} */

    [P1]  = { 0x12, B("\012\002\001\002\022\002\001\100\032\004\010\012\020"
                      "\013\032\004\010\014\030\007") },
    [P2]  = { 0x12, B("\010\003\010\001\022\002\002\005") },
    [P3]  = { 0x12, B("\012\002\001\002\022\002\001\100\032\004\010\012\020"
                      "\013") },

    [TIME]        = { 0x48, B("\001") },
    [PERIOD_TYPE] = { 0x5a, B("\010\005\020\004") },
    [PERIOD]      = { 0x60, B("\200\200\040") },
    [COMMENT]     = { 0x6a, B("\015") },
    [DEFAULT]     = { 0x70, B("\003") }
};


/* what makes pools of the right one; of two edits of a piece the last counts */

#define JPP_POOLS_EDITS                                                       \
    { S6, B("[nginx]") }, { S14, B("unused_space") },                         \
    { T2, B("\010\016\020\004") },                                            \
    { M1, B("\010\001\020\200\040\030\200\140\050\006\070\001") },            \
    { M2, NULL, 0 },                                                          \
    { L3, B("\010\003\020\001\030\221\040\042\002\010\003") },                \
    { L4, B("\010\004\020\001\030\222\040\042\002\010\002") },                \
    { F3, B("\010\003\020\015") },                                            \
    { P1, B("\012\002\001\002\022\003\001\100\040") },                        \
    { P2, B("\010\003\022\003\002\005\000") }, { P3, NULL, 0 },               \
    { PERIOD, B("\001") }


static const jpp_case_t  jpp_cases[] = {
    { "nothing changed", HEAP, {} },
    { "no flags", 0, {} },
    { "no samples", HEAP,
      { { P1, NULL, 0 }, { P2, NULL, 0 }, { P3, NULL, 0 } } },
    { "negative values in a difference", HEAP,
      { { END, B("\120\001") },
        { P2, B("\010\003\022\013\002" MINUS_ONE) } } },
    { "a stack without frames", HEAP, { { P2, B("\022\002\002\005") } } },
    { "the alloc pair", HEAP,
      { { T0, B("\010\016\020\002") }, { T1, B("\010\017\020\004") },
        { T2, B("\010\001\020\002") }, { T3, B("\010\003\020\004") },
        { P1, B("\010\001\022\004\000\001\000\000") },
        { P2, B("\010\002\022\004\001\001\001\001") }, { P3, NULL, 0 } } },
    { "a CPU profile", CPU,
      { { S1, B("samples") }, { T1, B("\010\020\020\021") },
        { PERIOD_TYPE, B("\010\020\020\021") }, { PERIOD, B("\003") },
        { DEFAULT, B("\020") }, { END, B("\120\001") } } },
    { "pools", POOLS, { JPP_POOLS_EDITS } },
    { "no mapping is no violation for a location", HEAP,
      { { L2, B("\010\002\030\220\100") } } },
    { "period 1", HEAP, { { PERIOD, B("\001") } } },

    /* the wire */

    { "an unknown field", HEAP, { { END, B("\170\001") } } },
    { "a field below the first", HEAP,
      { { F1, B("\010\001\020\010\000\001") } } },
    { "an unknown field of a line", HEAP,
      { { L1, B("\010\001\020\001\030\220\040\042\004\010\001\020\001") } } },
    { "an unknown field of a mapping", HEAP,
      { { M2, B("\010\002\020\200\200\001\030\200\240\001\100\001") } } },
    { "a scalar twice", HEAP, { { END, B("\140\200\200\040") } } },
    { "an id twice", HEAP, { { F1, B("\010\001\010\001\020\010") } } },
    { "period_type twice", HEAP, { { END, B("\132\004\010\005\020\004") } } },
    { "a number for a message", HEAP, { { END, B("\030\001") } } },
    { "bytes for a number", HEAP,
      { { TIME, NULL, 0 }, { END, B("\112\001\001") } } },
    { "a fixed number", HEAP, { { END, B("\11112345678") } } },
    { "a group", HEAP, { { END, B("\113\000") } } },
    { "a length past the end", HEAP, { { L1, B("\010\001\042\001") } } },
    { "a cut packed list", HEAP, { { P2, B("\010\003\022\002\002\205") } } },
    { "a varint of 65 bits", HEAP,
      { { PERIOD, B("\200\200\200\200\200\200\200\200\200\002") } } },
    { "a varint of 11 bytes", HEAP,
      { { PERIOD, B("\200\200\200\200\200\200\200\200\200\200\001") } } },

    /* strings, ids and references */

    { "string 0 is not empty", HEAP, { { S0, B("x") } } },
    { "no string 0", HEAP, { { S0, NULL, 0 } } },
    { "a mapping's id", HEAP,
      { { M2, B("\010\003\020\200\200\001\030\200\240\001") } } },
    { "a location's id", HEAP, { { L1, B("\010\005") } } },
    { "a function's id", HEAP, { { F3, B("\020\010") } } },
    { "a type's string", HEAP, { { T0, B("\010\001\020\143") } } },
    { "a comment", HEAP, { { COMMENT, B("\022") } } },
    { "a negative string", HEAP, { { COMMENT, B(MINUS_ONE) } } },
    { "the default type's string", HEAP, { { DEFAULT, B("\022") } } },
    { "a label's key", HEAP,
      { { P3, B("\010\002\022\002\001\100\032\004\010\022\020\013") } } },
    { "a label's string", HEAP,
      { { P3, B("\010\002\022\002\001\100\032\004\010\012\020\022") } } },
    { "a label's unit", HEAP,
      { { P3, B("\010\002\022\002\001\100\032\006\010\014\030\001\040"
             "\022") } } },
    { "a mapping's file", HEAP,
      { { M2, B("\010\002\020\200\200\001\030\200\240\001\050\022") } } },
    { "a build id's string", HEAP,
      { { M2, B("\010\002\020\200\200\001\030\200\240\001\060\022") } } },
    { "a function's name", HEAP, { { F1, B("\010\001\020\022") } } },
    { "a function's system name", HEAP,
      { { F1, B("\010\001\020\010\030\022") } } },
    { "a function's file", HEAP, { { F1, B("\010\001\020\010\040\022") } } },
    { "a location's mapping", HEAP, { { L4, B("\010\004\020\003") } } },
    { "a sample's location", HEAP, { { P2, B("\010\005\022\002\002\005") } } },
    { "a sample's location 0", HEAP,
      { { P2, B("\010\000\022\002\002\005") } } },
    { "a line's function", HEAP,
      { { L1, B("\010\001\020\001\030\220\040\042\002\010\004") } } },
    { "a line's function 0", HEAP, { { L4, B("\010\004\030\011\042\000") } } },

    /* types, period, times */

    { "no types", 0,
      { { T0, NULL, 0 }, { T1, NULL, 0 }, { P1, NULL, 0 }, { P2, NULL, 0 },
        { P3, NULL, 0 } } },
    { "five types", 0,
      { { T2, B("\010\001\020\002") }, { T3, B("\010\001\020\002") },
        { END, B("\012\004\010\001\020\002") }, { P1, NULL, 0 },
        { P2, NULL, 0 }, { P3, NULL, 0 } } },
    { "a CPU profile of no time", CPU,
      { { S1, B("samples") }, { T1, B("\010\020\020\021") },
        { PERIOD_TYPE, B("\010\020\020\021") }, { DEFAULT, B("\020") } } },
    { "a CPU profile by bytes", CPU,
      { { S1, B("samples") }, { T1, B("\010\020\020\021") },
        { DEFAULT, B("\020") }, { END, B("\120\001") } } },
    { "no default type", HEAP, { { DEFAULT, NULL, 0 } } },
    { "a default that is no type", HEAP, { { DEFAULT, B("\017") } } },
    { "types in another order", HEAP,
      { { T0, B("\010\003\020\004") }, { T1, B("\010\001\020\002") } } },
    { "a wrong unit", HEAP, { { T0, B("\010\001\020\004") } } },
    { "a heap as a CPU profile", CPU,
      { { PERIOD_TYPE, B("\010\020\020\021") }, { END, B("\120\001") } } },
    { "period 3", HEAP, { { PERIOD, B("\003") } } },
    { "period 0", 0, { { PERIOD, NULL, 0 } } },
    { "period -1", 0, { { PERIOD, B(MINUS_ONE) } } },
    { "no period_type", HEAP, { { PERIOD_TYPE, NULL, 0 } } },
    { "another period_type", HEAP,
      { { PERIOD_TYPE, B("\010\004\020\004") } } },
    { "an empty period_type", 0, { { PERIOD_TYPE, B("") } } },
    { "no time", HEAP, { { TIME, NULL, 0 } } },
    { "a negative duration", HEAP, { { END, B("\120" MINUS_ONE) } } },

    { "pools by 2 bytes", POOLS, { JPP_POOLS_EDITS, { PERIOD, B("\002") } } },
    { "pools by objects", POOLS,
      { JPP_POOLS_EDITS, { PERIOD_TYPE, B("\010\001\020\004") } } },
    { "a heap as pools", POOLS,
      { JPP_POOLS_EDITS, { T2, B("\010\017\020\004") } } },

    /* mappings, locations, functions */

    { "a frame of pools in no mapping", POOLS,
      { JPP_POOLS_EDITS, { L4, B("\010\004\030\011") } } },
    { "a frame of pools without a name", POOLS,
      { JPP_POOLS_EDITS, { L4, B("\010\004\020\001\030\222\040") } } },
    { "another mapping of pools", POOLS,
      { JPP_POOLS_EDITS, { S6, B("/bin/x") } } },
    { "two mappings of pools", POOLS,
      { JPP_POOLS_EDITS,
        { M2, B("\010\002\020\200\200\001\030\200\240\001\050\006") } } },
    { "a stack of pools without a frame", POOLS,
      { JPP_POOLS_EDITS, { P2, B("\022\003\002\005\000") } } },

    { "a mapping without length", HEAP,
      { { M2, B("\010\002\020\200\240\001\030\200\240\001") },
        { L3, B("\010\003\030\220\200\001\042\002\010\003") } } },
    { "a start inside of a page", HEAP,
      { { M2, B("\010\002\020\220\200\001\030\200\240\001") } } },
    { "a limit inside of a page", HEAP,
      { { M2, B("\010\002\020\200\200\001\030\220\240\001") } } },
    { "an offset inside of a page", HEAP,
      { { M2, B("\010\002\020\200\200\001\030\200\240\001\040\020") } } },
    { "a build id in capitals", HEAP, { { S7, B("00AB") } } },
    { "half a byte of build id", HEAP, { { S7, B("abc") } } },
    { "has_functions without names", HEAP,
      { { L1, B("\010\001\020\001\030\220\040") } } },
    { "an address below the mapping", HEAP,
      { { L3, B("\010\003\020\002\030\377\177") } } },
    { "an address at the limit", HEAP,
      { { L3, B("\010\003\020\002\030\200\240\001") } } },
    { "an address twice", HEAP,
      { { L2, B("\010\002\020\001\030\220\040") } } },
    { "an address twice, in no mapping", HEAP,
      { { L3, B("\010\003\030\011") } } },
    { "a function twice", HEAP, { { F2, B("\010\002\020\010") } } },
    { "a function of two mappings", HEAP,
      { { L3, B("\010\003\020\002\030\220\200\001\042\002\010\002") } } },
    { "a function without a name", HEAP, { { F3, B("\010\003") } } },

    /* samples */

    { "a value too few", HEAP, { { P2, B("\010\003\020\005") } } },
    { "a value too many", HEAP,
      { { P2, B("\010\003\022\003\001\002\003") } } },
    { "only zeros", HEAP, { { P2, B("\010\003\022\002\000\000") } } },
    { "a negative value in a snapshot", HEAP,
      { { P2, B("\010\003\022\013\002" MINUS_ONE) } } },
    { "a sample twice", HEAP,
      { { P2, B("\010\001\010\002\022\002\001\100\032\004\010\012\020"
             "\013") } } },
    { "a sample twice, labels in another order", HEAP,
      { { P2, B("\012\002\001\002\022\002\001\001\032\004\010\014\030\007"
             "\032\004\010\012\020\013") } } },
    { "a label twice", HEAP,
      { { P2, B("\010\003\022\002\001\001\032\004\010\014\030\007\032\004"
             "\010\014\030\010") } } },
    { "a label with a string and a number", HEAP,
      { { P2, B("\010\003\022\002\001\001\032\006\010\012\020\013\030"
             "\001") } } },
    { "a label without a key", HEAP,
      { { P2, B("\010\003\022\002\001\001\032\002\020\013") } } },
    { "a number as the worker", HEAP,
      { { P2, B("\010\003\022\002\001\001\032\004\010\012\030\001") } } },
    { "a string as the pid", HEAP,
      { { P2, B("\010\003\022\002\001\001\032\004\010\014\020\013") } } }
};


static size_t
jpp_build(uint8_t *out, const jpp_edit_t *edits, size_t n)
{
    int           i;
    size_t        k;
    uint8_t      *p;
    jpp_piece_t   piece;

    p = out;

    for (i = S0; i <= END; i++) {
        piece = i < END ? jpp_right[i] : (jpp_piece_t) { 0, NULL, 0 };

        for (k = 0; k < n; k++) {
            if (edits[k].index == i) {
                piece.data = edits[k].data;
                piece.len = edits[k].len;
            }
        }

        if (piece.data == NULL) {
            continue;
        }

        if (i < END) {
            *p++ = piece.tag;
        }

        if ((piece.tag & 7) == 2) {
            *p++ = (uint8_t) piece.len;
        }

        memcpy(p, piece.data, piece.len);
        p += piece.len;
    }

    return (size_t) (p - out);
}


static unsigned
jpp_check(const uint8_t *data, size_t len, unsigned flags, char **text)
{
    FILE      *complaints;
    size_t     n;
    unsigned   violations;

    complaints = open_memstream(text, &n);
    violations = jpp_contract_check(data, len, flags, complaints, NULL);
    fclose(complaints);

    return violations;
}


JPP_TEST(jpp_test_cases)
{
    char              *text;
    size_t             i, len;
    unsigned           n;
    uint8_t            data[JPP_MAX_PROFILE];
    const jpp_case_t  *t;

    for (i = 0; i < jpp_nelts(jpp_cases); i++) {
        t = &jpp_cases[i];
        len = jpp_build(data, t->edits, jpp_nelts(t->edits));
        n = jpp_check(data, len, t->flags, &text);

        jpp_note("%s: %u%s%.*s", t->name, n, n != 0 ? ", " : "",
                 (int) strcspn(text, "\n"), text);
        free(text);
    }

    jpp_shows_notes("how many complaints, and the first");
    jpp_ok(jpp_contract_check(data, 0, 0, NULL, NULL) != 0, "no bytes");
}


JPP_TEST(jpp_test_strings)
{
    char        *text;
    size_t       i, len;
    unsigned     n;
    uint8_t      data[JPP_MAX_PROFILE];
    jpp_edit_t   edit;

    static const struct {
        const char  *data;
        size_t       len;
    } strings[] = {
        { B("plain ~") }, { B("\303\251 \342\202\254 \360\237\230\200") },
        { B("\302\200 \337\277 \340\240\200 \357\277\277 \364\217\277\277") },
        { B("\000") }, { B("a\nb") }, { B("\177") }, { B("\200") },
        { B("\377") }, { B("\303") }, { B("\342\202") }, { B("\303(") },
        { B("\342(\254") }, { B("\300\200") }, { B("\301\277") },
        { B("\340\237\277") }, { B("\355\240\200") }, { B("\355\277\277") },
        { B("\360\217\277\277") }, { B("\364\220\200\200") },
        { B("\370\210\200\200\200") }
    };

    for (i = 0; i < jpp_nelts(strings); i++) {
        edit.index = S13;
        edit.data = strings[i].data;
        edit.len = strings[i].len;

        len = jpp_build(data, &edit, 1);
        n = jpp_check(data, len, HEAP, &text);

        jpp_note("string %zu of %zu bytes: %u", i, strings[i].len, n);
        free(text);
    }

    jpp_shows_notes("complaints about UTF-8");
}


/* Which names make a mapping one that has functions? */

JPP_TEST(jpp_test_names)
{
    size_t       i, len;
    uint8_t      data[JPP_MAX_PROFILE];
    jpp_edit_t   edit;

    static const char  *names[] = {
        "ngx_palloc", "operator+", "operator+0x", "a+0xfg", "a+0xf b",
        "a+b+0x1f", "nginx+0x3f2a0", "+0x0"
    };

    for (i = 0; i < jpp_nelts(names); i++) {
        edit.index = S8;
        edit.data = names[i];
        edit.len = strlen(names[i]);

        len = jpp_build(data, &edit, 1);

        jpp_note("%s: %u", names[i],
                 jpp_contract_check(data, len, HEAP, NULL, NULL));
    }

    jpp_shows_notes("complaints about has_functions with a name");
}


JPP_TEST(jpp_test_gzip)
{
    size_t      i, n, len, refused;
    uint8_t     data[JPP_MAX_PROFILE], gz[2 * JPP_MAX_PROFILE];
    jpp_vec_t  *vec;

    len = jpp_build(data, NULL, 0);
    vec = jpp_test_packed(&arena, data, len, 6);
    n = vec->len;
    memcpy(gz, vec->data, n);

    jpp_is_u64(jpp_contract_check(gz, n, HEAP, NULL, NULL), 0, "one member");

    memcpy(gz + n, gz, n);
    jpp_ok(jpp_contract_check(gz, 2 * n, HEAP, NULL, NULL) != 0,
           "two members are refused");

    jpp_ok(jpp_contract_check(gz, n + 1, HEAP, NULL, NULL) != 0,
           "a byte behind the member is refused");

    for (i = 0, refused = 0; i < n; i++) {
        refused += jpp_contract_check(gz, i, HEAP, NULL, NULL) != 0;
    }

    jpp_is_u64(refused, n, "a member cut anywhere is refused");

    gz[n - 8] ^= 1;
    jpp_ok(jpp_contract_check(gz, n, HEAP, NULL, NULL) != 0,
           "a wrong checksum is refused");
}


/* Cut at any byte: between two fields that may be right, but it never reads
 * beyond the end, which the address sanitizer watches. */

JPP_TEST(jpp_test_cut)
{
    size_t    i, len, refused;
    uint8_t   data[JPP_MAX_PROFILE], *copy;

    len = jpp_build(data, NULL, 0);
    refused = 0;

    for (i = 0; i < len; i++) {
        copy = malloc(i + 1);
        memcpy(copy, data, i);

        refused += jpp_contract_check(copy, i, HEAP, NULL, NULL) != 0;
        free(copy);
    }

    jpp_is_u64(refused, len, "a profile cut anywhere is refused");
}


JPP_TEST(jpp_test_print)
{
    char     *text;
    FILE     *out;
    size_t    n, len;
    uint8_t   data[JPP_MAX_PROFILE];

    len = jpp_build(data, NULL, 0);

    out = open_memstream(&text, &n);
    jpp_contract_check(data, len, HEAP, NULL, out);
    fclose(out);

    jpp_shows(text, "the printed profile");
    free(text);
}
