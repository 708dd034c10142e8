
/*
 * pprof's symbol protocol: receives addresses of this process, returns names.
 *
 * jeprof sends "0x" and 16 digits, and takes the zeros away on both sides
 * before it compares (FetchSymbols, ReadSymbols); google/pprof sends "%#x" and
 * compares numbers (internal/symbolz).  Both read the name to the end of its
 * line.
 */


#include "jpp_report.h"

#include <ctype.h>


#define JPP_LOOKUP_DIGITS  16


typedef struct {
    uint64_t              address;      /* as it was asked for */
    uint32_t              location;     /* id */
} jpp_asked_t;


typedef struct {
    jpp_profile_t         profile;
    jpp_vec_t            *maps;         /* jpp_map_t */
    jpp_vec_t            *asked;        /* jpp_asked_t, each address once */
    jpp_index_t           index;        /* of asked, ids from 1 */
} jpp_lookup_t;


static jpp_code_t
jpp_lookup_open(jpp_lookup_t *lookup, jpp_arena_t *arena, const char *maps,
    size_t maps_len, jpp_err_t *err)
{
    memset(lookup, 0, sizeof(jpp_lookup_t));

    /* the parser of maps counts on the newline */

    if (maps_len == 0 || maps[maps_len - 1] != '\n') {
        return jpp_err_set(err, JPP_ERR_CUT, "the list of this process's "
                           "mappings is cut: its last line has no newline");
    }

    jpp_index_init(&lookup->index, arena);

    lookup->maps = jpp_vec_create(arena);
    lookup->asked = jpp_vec_create(arena);

    if (lookup->maps == NULL || lookup->asked == NULL
        || !jpp_profile_init(&lookup->profile, arena, NULL, 0))
    {
        return jpp_err_memory(err);
    }

    return jpp_maps_read(&lookup->profile, maps, maps_len, NULL, lookup->maps,
                         err);
}


/* The length of the word at TEXT if it is an address, else 0. */

static size_t
jpp_lookup_address(const char *text, size_t len, uint64_t *address)
{
    size_t    i, prefix;
    uint64_t  value;

    prefix = len >= 2 && text[0] == '0' && (text[1] | 0x20) == 'x' ? 2 : 0;
    value = 0;

    for (i = prefix; i < len && jpp_scan_digit(text[i]) >= 0; i++) {

        if (i - prefix == JPP_LOOKUP_DIGITS) {
            return 0;
        }

        value = value << 4 | (uint64_t) jpp_scan_digit(text[i]);
    }

    if (i == prefix || (i < len && isalnum((unsigned char) text[i]))) {
        return 0;
    }

    *address = value;

    return i;
}


static bool
jpp_lookup_add(jpp_lookup_t *lookup, uint64_t address)
{
    jpp_asked_t       asked;
    const jpp_map_t  *map;

    map = jpp_maps_find(lookup->maps, address);
    if (map == NULL) {
        return true;
    }

    asked.address = address;
    asked.location = jpp_profile_location(&lookup->profile, map->mapping,
                                          address + map->shift);

    return asked.location != 0
           && jpp_index_intern(&lookup->index, lookup->asked, &asked,
                               sizeof(jpp_asked_t),
                               offsetof(jpp_asked_t, location))
              != 0;
}


static bool
jpp_lookup_ask(jpp_lookup_t *lookup, const char *text, size_t len)
{
    size_t    n;
    uint64_t  address;

    while (len != 0) {

        if (*text == '%' && len >= 3
            && jpp_scan_digit(text[1]) >= 0
            && jpp_scan_digit(text[2]) >= 0)
        {
            text += 3;
            len -= 3;
            continue;
        }

        n = jpp_lookup_address(text, len, &address);

        if (n != 0 && !jpp_lookup_add(lookup, address)) {
            return false;
        }

        /* the rest of a word that is not an address, or separators */

        while (n < len && isalnum((unsigned char) text[n])) {
            n++;
        }

        n += (n == 0);

        text += n;
        len -= n;
    }

    return true;
}


static void
jpp_lookup_answer(const jpp_lookup_t *lookup, jpp_sink_t *sink)
{
    jpp_str_t           name;
    const jpp_asked_t  *asked;

    /* any number above 0 says that symbols follow */

    jpp_sink_str(sink, "num_symbols: 1\n");

    jpp_vec_each(asked, lookup->asked) {
        name = jpp_profile_location_name(&lookup->profile, asked->location);

        jpp_sink_str(sink, "0x");
        jpp_sink_hex(sink, asked->address);
        jpp_sink_char(sink, ' ');
        jpp_sink_write(sink, name.data, name.len);
        jpp_sink_char(sink, '\n');
    }
}


jpp_code_t
jpp_lookup(jpp_arena_t *arena, jpp_symbols_t *symbols, const char *maps,
    size_t maps_len, const char *text, size_t len, jpp_sink_t *sink,
    jpp_err_t *err)
{
    jpp_code_t    rc;
    jpp_lookup_t  lookup;

    rc = jpp_lookup_open(&lookup, arena, maps, maps_len, err);
    if (rc != JPP_OK) {
        return rc;
    }

    if (!jpp_lookup_ask(&lookup, text, len)) {
        return jpp_err_memory(err);
    }

    rc = jpp_symbolize(symbols, &lookup.profile, JPP_SYMBOLIZE_NAMES, err);
    if (rc != JPP_OK) {
        return rc;
    }

    jpp_lookup_answer(&lookup, sink);

    if (jpp_sink_flush(sink) != 0) {
        (void) jpp_err_sys(err, sink->error, "the answer cannot be written");
        err->code = JPP_ERR_WRITE;
        return JPP_ERR_WRITE;
    }

    return JPP_OK;
}
