
/*
 * Any bytes as what a parser reads: a copy of them, aligned as a file that is
 * mapped, and the profile of that.
 */


#ifndef _JPP_FUZZ_PARSER_H_INCLUDED_
#define _JPP_FUZZ_PARSER_H_INCLUDED_


#include "jpp_fuzz.h"
#include "jpp_view.h"


typedef struct {
    jpp_arena_t     arena;         /* of the caller, to destroy */
    jpp_dump_t      dump;
    jpp_profile_t   profile;
    char           *data;
} jpp_fuzz_parsed_t;


/* False: PARSER refuses DATA.  Else the profile was packed, too. */

static inline bool
jpp_fuzz_parse(jpp_fuzz_parsed_t *parsed, const jpp_parser_t *parser,
    const uint8_t *data, size_t size, jpp_read_options_t options)
{
    jpp_arena_init(&parsed->arena, JPP_FUZZ_MEMORY);

    parsed->data = jpp_arena_alloc(&parsed->arena, size + 1);
    memcpy(parsed->data, data, size);

    if (!jpp_parser_init(parser, &parsed->profile, &parsed->arena)
        || parser->open(&parsed->dump, &parsed->profile, parsed->data, size,
                        NULL, NULL)
           != JPP_OK
        || parser->read(&parsed->profile, &parsed->dump, &options, NULL)
           != JPP_OK)
    {
        return false;
    }

    parser->describe(&parsed->profile);
    (void) jpp_pprof_pack(&parsed->profile, jpp_fuzz_sink());

    return true;
}


#endif /* _JPP_FUZZ_PARSER_H_INCLUDED_ */
