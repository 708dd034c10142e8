
/*
 * The names of those whom samples belong to: a small number for a pair of a
 * server and a location, given once and never taken back.
 *
 * One table per process.  One thread adds, any may read.  Memory outside
 * malloc, and bounded.
 */


#ifndef _JPP_OWNER_NAMES_H_INCLUDED_
#define _JPP_OWNER_NAMES_H_INCLUDED_


#include "jpp_heap_owners.h"


/* with those of jpp_heap_owners.h; more of them are JPP_OWNER_OTHERS */
#define JPP_OWNER_NAMES  2000

/* bytes of a name, with its NUL */
#define JPP_OWNER_NAME   256


typedef struct {
    const char      *server;
    const char      *location;
} jpp_owner_t;


/*
 * The number of the pair of names of these lengths.  Control bytes become
 * question marks, and what is too long is cut.
 */
uint32_t jpp_owner_name(const char *server, size_t server_len,
    const char *location, size_t location_len);

/* How many there are, the fixed ones included; 0: no pair was ever named. */
uint32_t jpp_owner_names_count(void);

/* The names of OWNER. */
jpp_owner_t jpp_owner_names(uint32_t owner);


#endif /* _JPP_OWNER_NAMES_H_INCLUDED_ */
