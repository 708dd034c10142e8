
/*
 * Reads saved heap profiles (profile.proto), such as "curl -o heap.pb.gz"
 * leaves.  A profile has names, labels and comments of its own, which it keeps.
 *
 * Nothing in a file is trusted: ids and numbers of strings are checked before
 * use, and each fault has a sentence.  Memory from the profile's arena.
 */


#ifndef _JPP_SAVED_H_INCLUDED_
#define _JPP_SAVED_H_INCLUDED_


#include "jpp_heap.h"


/* bytes of an unpacked profile */
#define JPP_SAVED_MAX  ((size_t) 256 << 20)


/*
 * Do the LEN bytes at DATA, gzip-ed or not, begin as a profile does?  Memory
 * from ARENA, which is given back.
 */
bool jpp_saved_is(const char *data, size_t len, jpp_arena_t *arena);

/* The parser of profiles; static memory. */
const jpp_parser_t *jpp_saved_parser(void);


#endif /* _JPP_SAVED_H_INCLUDED_ */
