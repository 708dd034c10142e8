
/*
 * The pairs of a query string, or of a form's body:
 *
 *     query := [ pair *( "&" pair ) ]
 *     pair  := key [ "=" value ]
 *
 * Keys and values are percent-encoded, and a plus sign is a blank.
 *
 *     rc = jpp_query_init(&query, text, len, err);
 *
 *     while (rc == JPP_OK && jpp_query_next(&query)) {
 *         rc = use(query.key, query.key_len, query.value, query.value_len);
 *     }
 *
 * No allocation; any thread.
 */


#ifndef _JPP_QUERY_H_INCLUDED_
#define _JPP_QUERY_H_INCLUDED_


#include "jpp_core.h"


/* The last pair read, decoded, without a NUL at the end. */
typedef struct {
    char           key[JPP_MAX_VALUE];
    size_t         key_len;
    char           value[JPP_MAX_VALUE];
    size_t         value_len;

    bool           has_unread;     /* pairs were skipped */

    const char    *pos;
    const char    *end;
} jpp_query_t;


/*
 * Initialize the caller's QUERY with the LEN bytes at TEXT, which must stay;
 * TEXT may be NULL if LEN is 0.  More than JPP_MAX_QUERY bytes are
 * JPP_ERR_ARG.
 */
jpp_code_t jpp_query_init(jpp_query_t *query, const char *text, size_t len,
    jpp_err_t *err);

/*
 * Read the next pair; false at the end.  A pair whose key cannot be decoded or
 * is too long is skipped (has_unread); such a value becomes empty.  So no
 * caller may use an empty key, or allow an empty value.
 */
bool jpp_query_next(jpp_query_t *query);

/* Set *NUMBER to the LEN bytes at VALUE: one to ten digits, nothing else. */
bool jpp_query_number(const char *value, size_t len, uint32_t *number);


/*
 * The Accept header of a request (RFC 9110, 12.5.1): which types a client
 * takes, and how much it likes them.
 *
 * How much the LEN bytes at ACCEPT like TYPE, such as "text/html": 0 (not at
 * all) to 1000.  The entry that fits best counts: the type itself, "text/" and
 * an asterisk, or two asterisks; of equal ones, the highest.  An entry whose
 * quality is not a number counts as 0.
 */
unsigned jpp_accept(const char *accept, size_t len, const char *type);


#endif /* _JPP_QUERY_H_INCLUDED_ */
