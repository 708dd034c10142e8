
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


#include <stdbool.h>

#include "jpp_err.h"
#include "jpp_limits.h"


/* The pair that is the last one read, decoded; no NUL ends them. */
typedef struct {
    char           key[JPP_MAX_VALUE];
    size_t         key_len;
    char           value[JPP_MAX_VALUE];
    size_t         value_len;

    bool           has_unread;     /* pairs were passed over */

    const char    *pos;
    const char    *end;
} jpp_query_t;


/*
 * Initialize the caller's QUERY with the LEN bytes at TEXT, which are to stay;
 * of no bytes TEXT may be NULL.  More than JPP_MAX_QUERY are JPP_ERR_ARG.
 */
jpp_code_t jpp_query_init(jpp_query_t *query, const char *text, size_t len,
    jpp_err_t *err);

/*
 * Read the next pair; false where there is none.  A pair whose key cannot be
 * decoded or is too long is passed over (has_unread), and such a value is an
 * empty one: nobody may have a key, or allow a value, that is empty.
 */
bool jpp_query_next(jpp_query_t *query);

/* Set *NUMBER to the LEN bytes at VALUE: one to ten digits, nothing else. */
bool jpp_query_number(const char *value, size_t len, uint32_t *number);


#endif /* _JPP_QUERY_H_INCLUDED_ */
