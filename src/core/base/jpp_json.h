
/*
 * Writes JSON, one value a line and indented, so that people can read it too.
 *
 * The caller opens and closes objects and arrays as they nest; commas, lines
 * and quoting come by themselves.  In an array KEY is NULL.  The output is
 * ASCII: other bytes of a string become question marks.
 *
 * One thread at a time; the only memory is the sink's.
 */


#ifndef _JPP_JSON_H_INCLUDED_
#define _JPP_JSON_H_INCLUDED_


#include "jpp_sink.h"


typedef struct {
    jpp_sink_t    *sink;
    unsigned       depth;
    bool           is_first;       /* of the members of what is open */
} jpp_json_t;


typedef struct {
    const char    *key;            /* NULL ends a list */
    uint64_t       value;
} jpp_json_number_t;


/* Initialize the caller's JSON, which is written to SINK. */
void jpp_json_init(jpp_json_t *json, jpp_sink_t *sink);

/* Open an object or array by its BRACKET, '{' or '['; the matching '}', ']'. */
void jpp_json_open(jpp_json_t *json, const char *key, char bracket);
void jpp_json_close(jpp_json_t *json, char bracket);

/* A NUL-terminated string; NULL becomes null. */
void jpp_json_str(jpp_json_t *json, const char *key, const char *value);

/* The same of the LEN bytes of DATA, whatever they are. */
void jpp_json_bytes(jpp_json_t *json, const char *key, const char *data,
    size_t len);

/*
 * The LEN bytes of a name that anybody may have given, the first 4096 of them,
 * as jpp_utf8_escape() writes them.
 */
void jpp_json_name(jpp_json_t *json, const char *key, const char *data,
    size_t len);

/* LEN bytes of UTF-8, of which nothing is to be escaped any more. */
void jpp_json_utf8(jpp_json_t *json, const char *key, const char *data,
    size_t len);

void jpp_json_i64(jpp_json_t *json, const char *key, int64_t value);
void jpp_json_u64(jpp_json_t *json, const char *key, uint64_t value);
void jpp_json_bool(jpp_json_t *json, const char *key, bool value);

/*
 * Several numbers, of which JPP_NONE become null:
 *
 *     jpp_json_numbers(json, { "size", slot->size }, { "used", slot->used });
 *
 * jpp_json_object() opens an object before that, and closes it.
 */
#define jpp_json_numbers(json, ...)                                           \
    jpp_json_list(json, (const jpp_json_number_t[]) {                         \
        __VA_ARGS__, { NULL, 0 } })

#define jpp_json_object(json, key, ...)                                       \
    (jpp_json_open(json, key, '{'), jpp_json_numbers(json, __VA_ARGS__),      \
     jpp_json_close(json, '}'))

void jpp_json_list(jpp_json_t *json, const jpp_json_number_t *numbers);

/* A number; JPP_NONE becomes null. */
void jpp_json_known(jpp_json_t *json, const char *key, uint64_t value);
#define jpp_json_null(json, key)  jpp_json_known(json, key, JPP_NONE)

/* An array of two numbers on a line, in an array; JPP_NONE becomes null. */
void jpp_json_pair(jpp_json_t *json, uint64_t one, uint64_t other);


#endif /* _JPP_JSON_H_INCLUDED_ */
