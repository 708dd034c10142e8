
/*
 * The forms of the resource memory.
 */


#ifndef _JPP_MEMORY_WRITE_H_INCLUDED_
#define _JPP_MEMORY_WRITE_H_INCLUDED_


#include "jpp_memory_input.h"


/* the words of the parameter "format": json and top */
extern const jpp_words_t  jpp_memory_words;


/* Content-Type by ARGS. */
const char *jpp_memory_type(const jpp_args_t *args);

/*
 * What ARGS ask for besides what memory always has: a table has the ledger,
 * unless they say otherwise.
 */
jpp_detail_t jpp_memory_detail(const jpp_args_t *args);

/* Can that be written in the form that ARGS ask for?  ERR says why not. */
jpp_code_t jpp_memory_check(const jpp_args_t *args, jpp_err_t *err);

/* Append MEMORY to SINK, which the caller flushes.  False: no memory. */
bool jpp_memory_write(const jpp_memory_t *memory, jpp_sink_t *sink);


#endif /* _JPP_MEMORY_WRITE_H_INCLUDED_ */
