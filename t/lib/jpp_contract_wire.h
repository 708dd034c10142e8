
/*
 * The contract checker's parser: gzip and wire format in, messages out, with
 * every reference looked up.  Private to t/lib; the rules are in
 * jpp_contract.c, what a checker is in jpp_contract.h.
 *
 * A message is an array of values indexed by field number.  No field has the
 * number 0, so the value there is ours: num is the message's place in its
 * list, from 1; seen, items and str are for the rules to use.
 */


#ifndef _JPP_CONTRACT_WIRE_H_INCLUDED_
#define _JPP_CONTRACT_WIRE_H_INCLUDED_


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>


#define jpp_nelts(a)  (sizeof(a) / sizeof((a)[0]))


/* the numbers of the fields */

enum { JPP_VALUE_TYPE_TYPE = 1, JPP_VALUE_TYPE_UNIT };

enum { JPP_LABEL_KEY = 1, JPP_LABEL_STR, JPP_LABEL_NUM, JPP_LABEL_UNIT };

enum { JPP_SAMPLE_LOCATION = 1, JPP_SAMPLE_VALUE, JPP_SAMPLE_LABEL };

enum { JPP_ID = 1 };    /* of a mapping, location or function */

enum {
    JPP_MAPPING_START = 2, JPP_MAPPING_LIMIT, JPP_MAPPING_OFFSET,
    JPP_MAPPING_FILENAME, JPP_MAPPING_BUILD_ID, JPP_MAPPING_HAS_FUNCTIONS
};

enum { JPP_LOCATION_MAPPING = 2, JPP_LOCATION_ADDRESS, JPP_LOCATION_LINE };

enum { JPP_LINE_FUNCTION = 1 };

enum {
    JPP_FUNCTION_NAME = 2, JPP_FUNCTION_SYSTEM_NAME, JPP_FUNCTION_FILENAME
};

enum {
    JPP_PROFILE_TYPE = 1, JPP_PROFILE_SAMPLE, JPP_PROFILE_MAPPING,
    JPP_PROFILE_LOCATION, JPP_PROFILE_FUNCTION, JPP_PROFILE_STRING,
    JPP_PROFILE_TIME = 9, JPP_PROFILE_DURATION, JPP_PROFILE_PERIOD_TYPE,
    JPP_PROFILE_PERIOD, JPP_PROFILE_COMMENT, JPP_PROFILE_DEFAULT,
    JPP_PROFILE_FIELDS
};


typedef unsigned long long    jpp_num_t;
typedef struct jpp_value_s    jpp_value_t;
typedef struct jpp_chunk_s    jpp_chunk_t;

/*
 * A single number: num, and what it refers to, if anything: str for a string,
 * items for a message (NULL for id 0).  A list: num is how many, items their
 * array, of jpp_num_t, jpp_text_t or jpp_value_t *.
 */
struct jpp_value_s {
    jpp_num_t       num;
    bool            seen;
    void           *items;
    const char     *str;
};

typedef struct {
    const char     *data;          /* NUL-terminated */
    size_t          len;
} jpp_text_t;

typedef struct {
    FILE           *complaints;    /* or NULL */
    unsigned        n;             /* so far */
    unsigned        flags;
    const char     *what;          /* put before a complaint, or NULL */
    jpp_num_t       ordinal;
    jpp_value_t    *profile;
    jpp_chunk_t    *chunks;
} jpp_contract_t;


/* Decode DATA into c->profile; C has no complaint where all went well. */
void jpp_contract_read(jpp_contract_t *c, const uint8_t *data, size_t len);

/* Complain.  Always false, so that a refusal is one return. */
bool jpp_contract_no(jpp_contract_t *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* SIZE zeroed bytes, until jpp_contract_free(). */
void *jpp_contract_alloc(jpp_contract_t *c, size_t size);
void jpp_contract_free(jpp_contract_t *c);


/* The message I, from 0, of the list FIELD of MESSAGE. */
static inline jpp_value_t *
jpp_contract_item(const jpp_value_t *message, unsigned field, jpp_num_t i)
{
    return ((jpp_value_t **) message[field].items)[i];
}


/* The number I, from 0, of the list FIELD of MESSAGE. */
static inline jpp_num_t
jpp_contract_num(const jpp_value_t *message, unsigned field, jpp_num_t i)
{
    return ((jpp_num_t *) message[field].items)[i];
}


#endif /* _JPP_CONTRACT_WIRE_H_INCLUDED_ */
