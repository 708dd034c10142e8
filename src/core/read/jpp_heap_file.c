
/* Splits a heap dump into its first line, its header, and its mappings. */


#include "jpp_heap.h"


/* bytes of a file to examine */
#define JPP_UNREADABLE_LINE  256


const char *
jpp_heap_totals(const char *p, const char *end, uint64_t counts[4])
{
    p = jpp_scan_text(p, end, JPP_HEAP_TOTALS);

    return p != NULL ? jpp_heap_counts(p, counts) : NULL;
}


const char *
jpp_heap_threads(const char *p, const char *end, const char *totals,
    const char **bad)
{
    size_t       len;
    uint64_t     uid, counts[4];
    const char  *line;

    totals += sizeof(JPP_HEAP_TOTALS) - 1;
    len = (size_t) (p - totals);

    for (line = p; *line == ' '; line = p) {

        p = jpp_heap_thread(line, end, &uid);

        /* usually one thread has all of it */

        if (p != NULL && (size_t) (end - p) >= len
            && memcmp(p, totals, len) == 0)
        {
            p += len;
            continue;
        }

        p = p != NULL ? jpp_heap_counts(p, counts) : NULL;

        if (p == NULL || *p++ != '\n') {
            *bad = line;
            return NULL;
        }
    }

    return line;
}


const char *
jpp_heap_thread(const char *p, const char *end, uint64_t *uid)
{
    p = jpp_scan_text(p, end, "  t");
    p = p != NULL ? jpp_scan_dec(p, uid) : NULL;

    return p != NULL && *p++ == ':' && *p++ == ' ' ? p : NULL;
}


const char *
jpp_heap_counts(const char *p, uint64_t counts[4])
{
    p = jpp_scan_dec(p, &counts[0]);

    if (p == NULL || *p++ != ':' || *p++ != ' ') {
        return NULL;
    }

    p = jpp_scan_dec(p, &counts[1]);

    if (p == NULL || *p++ != ' ' || *p++ != '[') {
        return NULL;
    }

    p = jpp_scan_dec(p, &counts[2]);

    if (p == NULL || *p++ != ':' || *p++ != ' ') {
        return NULL;
    }

    p = jpp_scan_dec(p, &counts[3]);

    return p != NULL && *p++ == ']' ? p : NULL;
}


/* The names of the owner that the line at P is about, or NULL. */

static const char *
jpp_heap_owner_line(const char *p, const char *end, uint64_t *uid)
{
    uint64_t     counts[4];
    const char  *last;

    last = memchr(p, '\n', (size_t) (end - p));
    p = last != NULL ? jpp_heap_thread(p, end, uid) : NULL;
    p = p != NULL ? jpp_heap_counts(p, counts) : NULL;

    return p != NULL ? jpp_scan_text(p, last, " owner\t") : NULL;
}


jpp_code_t
jpp_heap_owners(jpp_owner_labels_t **owners, jpp_arena_t *arena, const char *p,
    const char *end)
{
    uint64_t     uid;
    const char  *line, *names;

    *owners = NULL;

    for (line = memchr(p, '\n', (size_t) (end - p));
         line != NULL && ++line < end && *line == ' ';
         line = memchr(line, '\n', (size_t) (end - line)))
    {
        names = jpp_heap_owner_line(line, end, &uid);

        if (names == NULL || uid != jpp_owner_labels_count(*owners)) {
            continue;
        }

        if (!jpp_owner_labels_add(owners, arena, names,
                                  memchr(names, '\n', (size_t) (end - names))))
        {
            return JPP_ERR_MEMORY;
        }
    }

    return JPP_OK;
}


const char *
jpp_heap_owners_find(const char *p, const char *end)
{
    const char  *owners;

    /* a line ends in front of the mappings */

    p--;
    owners = memmem(p, (size_t) (end - p), "\n" JPP_HEAP_OWNERS,
                    sizeof(JPP_HEAP_OWNERS));

    return owners != NULL ? owners + 1 : end;
}


jpp_code_t
jpp_heap_owners_read(jpp_owner_labels_t **owners, jpp_arena_t *arena,
    const char *p, const char *end)
{
    const char  *last;

    p = jpp_scan_text(p, end, JPP_HEAP_OWNERS);

    while (p != NULL && p < end) {
        last = memchr(p, '\n', (size_t) (end - p));

        if (last == NULL) {
            break;
        }

        if (!jpp_owner_labels_add(owners, arena, p, last)) {
            return JPP_ERR_MEMORY;
        }

        p = last + 1;
    }

    jpp_owner_labels_as_frames(*owners);

    return JPP_OK;
}


/*
 * The last frame says it; or, in a dump of the sampler, the line behind that of
 * the totals, which is the next.
 */

uint32_t
jpp_heap_owner(const jpp_owner_labels_t *owners, const char *p,
    const char *end)
{
    uint32_t     owner;
    uint64_t     uid;
    const char  *line;

    if (owners == NULL) {
        return JPP_OWNER_NONE;
    }

    line = memchr(p, '\n', (size_t) (end - p));

    if (line != NULL && line - p > JPP_HEAP_OWNER_LEN
        && jpp_heap_owner_is(line - JPP_HEAP_OWNER_LEN, &owner))
    {
        return owner < jpp_owner_labels_count(owners)
               ? owner : (uint32_t) JPP_OWNER_NONE;
    }

    /* there the next lines are threads of jemalloc's */

    if (jpp_owner_labels_are_frames(owners)) {
        return JPP_OWNER_NONE;
    }

    line = line != NULL && ++line != end
           ? memchr(line, '\n', (size_t) (end - line)) : NULL;

    line = line != NULL && ++line != end ? jpp_scan_text(line, end, "  t")
                                         : NULL;

    return line != NULL && jpp_scan_dec(line, &uid) != NULL
           && uid < jpp_owner_labels_count(owners)
           ? (uint32_t) uid : (uint32_t) JPP_OWNER_NONE;
}


/*
 * What a file is if it is not a heap_v2 dump: a sentence for its owner.
 */


typedef struct {
    const char  *start;
    const char  *inside;       /* of the first line too, where not NULL */
    const char  *sentence;
} jpp_unreadable_t;


/* the first row that fits counts */

static const jpp_unreadable_t  jpp_unreadables[] = {

    { "heap_v2/", NULL,
      "the dump was cut in its first line" },

    { "heap_v1/", NULL,
      "a heap_v1 dump of jemalloc 3, whose counts cannot be scaled correctly" },

    { "heap profile: ", "@ heap/",
      "a heap profile of Go or of gperftools, not jemalloc's heap_v2: go tool "
      "pprof reads it as it is" },

    { "heap profile: ", "@ heap_v2/",
      "a heap profile in the legacy text form, not jemalloc's own dump: go "
      "tool pprof and jeprof read it as it is" },

    { "heap profile: ", NULL,
      "a heap profile of gperftools, not jemalloc's heap_v2: go tool pprof "
      "reads it as it is" },

    { "--- symbol", NULL,
      "a profile with symbols made by jeprof, not jemalloc's own dump" },

    { "\177ELF", NULL,
      "an ELF file, not a heap dump" },

    /* the first ValueType of a Profile, without and with its length */

    { "\n\004\010", NULL,
      "a pprof profile already, not a heap dump" },

    { "\n\002\010", NULL,
      "a pprof profile already, not a heap dump" }
};


/* A sentence about the LEN bytes at DATA; static memory, never NULL. */

static const char *
jpp_unreadable_sentence(const char *data, size_t len)
{
    char                     line[JPP_UNREADABLE_LINE], *end;
    size_t                   i;
    const jpp_unreadable_t  *row;

    if (len == 0) {
        return "the dump is empty";
    }

    len = len < JPP_UNREADABLE_LINE - 1 ? len : JPP_UNREADABLE_LINE - 1;

    memcpy(line, data, len);
    line[len] = '\0';

    if (strncmp("heap_v2/", line, len) == 0) {
        return jpp_unreadables[0].sentence;
    }

    for (i = 0; i < sizeof(jpp_unreadables) / sizeof(jpp_unreadables[0]); i++) {
        row = &jpp_unreadables[i];

        if (strncmp(line, row->start, strlen(row->start)) != 0) {
            continue;
        }

        end = strchr(line + 1, '\n');

        if (end != NULL) {
            *end = '\0';
        }

        if (row->inside == NULL || strstr(line, row->inside) != NULL) {
            return row->sentence;
        }
    }

    return "not a heap dump of jemalloc: it does not start with heap_v2/";
}


/*
 * The grammar (jemalloc's prof_data.c and prof_sys.c):
 *
 *     dump   := "heap_v2/" period NL total thread* stack*
 *               [ NL "MAPPED_LIBRARIES:" NL maps ]
 *     total  := "  t*: " counts NL
 *     thread := "  t" uid ": " counts [ " " name ] NL
 *     counts := objects ": " bytes " [" objects ": " bytes "]"
 *
 * The first pair counts what is live; the second what was ever allocated, all
 * zeros without prof_accum.  The header's totals are not the sum of the
 * stacks: their form alone is checked.
 */


/* The sampling period; if there is none, what kind of file this is. */

static jpp_code_t
jpp_heap_first_line(jpp_dump_t *dump, jpp_err_t *err)
{
    const char  *p, *end;

    end = dump->data + dump->len;

    p = jpp_scan_text(dump->data, end, "heap_v2/");
    if (p == NULL) {
        return jpp_err_line(err, dump->len < 8 ? JPP_ERR_CUT : JPP_ERR_INPUT,
                            1, "%s",
                            jpp_unreadable_sentence(dump->data, dump->len));
    }

    if (end[-1] != '\n') {
        return jpp_err_line(err, JPP_ERR_CUT, jpp_dump_line(dump, end),
                            "the dump was cut: its last line has no newline");
    }

    p = jpp_scan_dec(p, &dump->period);

    if (p != NULL && *p == '\r') {
        return jpp_err_line(err, JPP_ERR_INPUT, 1,
                            "the lines end in CR LF: the dump was copied in "
                            "text mode, copy it in binary mode");
    }

    /* 1 << lg_prof_sample, in every jemalloc */

    if (p == NULL || *p != '\n' || dump->period == 0
        || dump->period > INT64_MAX
        || (dump->period & (dump->period - 1)) != 0)
    {
        return jpp_err_line(err, JPP_ERR_INPUT, 1,
                            "heap_v2/ is not followed by a sampling period, "
                            "which is a power of two");
    }

    return JPP_OK;
}


static const char *
jpp_heap_maps(const char *data, size_t len)
{
    const char  *p, *maps;

    /* search from the end: it is there */

    for (p = data + len; p > data; /* void */ ) {

        p = memrchr(data, '\n', (size_t) (p - data));

        if (p == NULL) {
            return NULL;
        }

        maps = jpp_scan_text(p + 1, data + len, JPP_HEAP_MAPS);

        if (maps != NULL) {
            return maps;
        }
    }

    return NULL;
}


/*
 * Without a libjemalloc among the mappings the allocator is in the main
 * program, which has the lowest addresses.
 */

static uint32_t
jpp_heap_program(const jpp_profile_t *profile, const jpp_vec_t *maps)
{
    size_t            i, n;
    uint32_t          program;
    const jpp_map_t  *map;

    map = jpp_vec_items(maps, jpp_map_t);
    n = jpp_vec_count(maps, jpp_map_t);
    program = 0;

    for (i = 0; i < n; i++) {

        if (map[i].is_allocator) {
            return 0;
        }

        if (program == 0
            && jpp_profile_mapping_at(profile, map[i].mapping)->path[0] == '/')
        {
            program = map[i].mapping;
        }
    }

    return program;
}


static jpp_code_t
jpp_heap_header(jpp_dump_t *dump, jpp_arena_t *arena, const char *names,
    jpp_err_t *err)
{
    uint64_t             uid, counts[4];
    const char          *p, *first, *totals;
    jpp_owner_labels_t  *owners;

    p = memchr(dump->data, '\n', (size_t) (dump->end - dump->data));

    first = ++p;
    totals = jpp_heap_totals(p, dump->end, counts);

    if (totals == NULL || *totals != '\n') {
        return jpp_err_line(err, JPP_ERR_INPUT, jpp_dump_line(dump, p),
                            "the header has no totals");
    }

    for (p = totals + 1; *p == ' '; p++) {

        totals = jpp_heap_thread(p, dump->end, &uid);
        totals = totals != NULL ? jpp_heap_counts(totals, counts) : NULL;

        if (totals == NULL || (*totals != '\n' && *totals != ' ')) {
            return jpp_err_line(err, JPP_ERR_INPUT, jpp_dump_line(dump, p),
                                "not the totals of a thread");
        }

        /* a thread's name may hold anything but a newline */

        p = memchr(totals, '\n', (size_t) (dump->end - totals));
    }

    dump->samples = p;

    if (jpp_heap_owners(&owners, arena, first, dump->samples) != JPP_OK
        || (owners == NULL
            && jpp_heap_owners_read(&owners, arena, names,
                                    dump->data + dump->len)
               != JPP_OK))
    {
        return jpp_err_memory(err);
    }

    dump->opened = owners;

    return JPP_OK;
}


jpp_code_t
jpp_heap_open(jpp_dump_t *dump, jpp_profile_t *profile, const char *data,
    size_t len, const char *tail, jpp_err_t *err)
{
    jpp_err_t    ignored;
    jpp_code_t   rc;
    const char  *maps, *owners;

    if (err == NULL) {
        err = &ignored;
    }

    memset(err, 0, sizeof(jpp_err_t));
    jpp_dump_init(dump, data, len);

    rc = jpp_heap_first_line(dump, err);
    if (rc != JPP_OK) {
        return rc;
    }

    maps = jpp_heap_maps(data, len);
    if (maps == NULL) {
        return jpp_err_line(err, JPP_ERR_CUT,
                            jpp_dump_line(dump, data + len - 1),
                            "the dump was cut: it has no MAPPED_LIBRARIES "
                            "section at its end");
    }

    dump->end = maps - (sizeof(JPP_HEAP_MAPS) - 1);

    dump->maps = jpp_vec_create(profile->arena);
    if (dump->maps == NULL) {
        return jpp_err_memory(err);
    }

    owners = jpp_heap_owners_find(maps, data + len);

    rc = jpp_maps_read(profile, maps, (size_t) (owners - maps), tail,
                       dump->maps, err);

    if (rc != JPP_OK) {
        err->line += err->line != 0 ? jpp_dump_line(dump, maps) - 1 : 0;
        return rc;
    }

    dump->program = jpp_heap_program(profile, dump->maps);

    return jpp_heap_header(dump, profile->arena, owners, err);
}


bool
jpp_heap_is_whole(const char *data, size_t len)
{
    return len != 0 && data[len - 1] == '\n'
           && jpp_scan_text(data, data + len, "heap_v2/") != NULL
           && jpp_heap_maps(data, len) != NULL;
}
