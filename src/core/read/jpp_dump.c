
#include "jpp_dump.h"


bool
jpp_parser_init(const jpp_parser_t *parser, jpp_profile_t *profile,
    jpp_arena_t *arena)
{
    if (!jpp_profile_init(profile, arena, parser->values, parser->types->n)) {
        return false;
    }

    profile->default_type = parser->types->value;
    profile->period_type = parser->period_type;
    profile->period_unit = parser->period_unit;
    profile->period = parser->period;
    profile->facts = jpp_arena_alloc(arena, parser->facts_size);

    return profile->facts != NULL;
}


void
jpp_dump_init(jpp_dump_t *dump, const char *data, size_t len)
{
    memset(dump, 0, sizeof(jpp_dump_t));

    dump->data = data;
    dump->len = len;
    dump->period = 1;
}


jpp_code_t
jpp_dump_maps(jpp_dump_t *dump, jpp_profile_t *profile, const char *text,
    const char *end, const char *tail, jpp_err_t *err)
{
    jpp_code_t  rc;

    dump->maps = jpp_vec_create(profile->arena);

    if (dump->maps == NULL) {
        return jpp_err_memory(err);
    }

    rc = jpp_maps_read(profile, text, (size_t) (end - text), tail, dump->maps,
                       err);

    if (rc != JPP_OK && err != NULL && err->line != 0) {
        err->line += jpp_dump_line(dump, text) - 1;
    }

    return rc;
}


uint64_t
jpp_dump_line(const jpp_dump_t *dump, const char *p)
{
    uint64_t     n;
    const char  *from;

    n = 1;

    for (from = dump->data; from < p; from++, n++) {

        from = memchr(from, '\n', (size_t) (p - from));

        if (from == NULL) {
            break;
        }
    }

    return n;
}


bool
jpp_reading_init(jpp_reading_t *reading, jpp_profile_t *profile,
    const jpp_dump_t *dump, const jpp_read_options_t *options, jpp_err_t *err)
{
    reading->profile = profile;
    reading->dump = dump;
    reading->options = options;
    reading->err = err != NULL ? err : &reading->ignored;

    return jpp_addresses_init(&reading->addresses, profile, dump, options);
}


const char *
jpp_reading_error(jpp_reading_t *reading, const char *p, const char *sentence)
{
    (void) jpp_err_line(reading->err, JPP_ERR_INPUT,
                        jpp_dump_line(reading->dump, p), "%s", sentence);

    return NULL;
}


const char *
jpp_reading_memory(jpp_reading_t *reading)
{
    (void) jpp_err_memory(reading->err);

    return NULL;
}
