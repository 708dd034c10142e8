
/*
 * A table of owners: each combination of server, location and upstream gets a
 * small number, which is never reused.
 *
 * One table per process.  One thread adds, any may read.  Memory outside
 * malloc, and bounded.
 */


#ifndef _JPP_OWNER_NAMES_H_INCLUDED_
#define _JPP_OWNER_NAMES_H_INCLUDED_


#include "jpp_owner_labels.h"


/* with those of jpp_owner_labels.h; more of them are JPP_OWNER_OTHERS */
#define JPP_OWNER_NAMES  2000

/* bytes of a name, with its NUL */
#define JPP_OWNER_NAME   256


/* a name as the configuration has it, any bytes */
typedef struct {
    const char      *data;
    size_t           len;
} jpp_owner_raw_t;


typedef struct {
    const char      *names[JPP_ROOTS];     /* "": it has none */
    jpp_owner_raw_t  file;                 /* where its block begins; len 0: */
    uint32_t         line;                 /*   several do; line 0: unknown */
} jpp_owner_t;


/*
 * [signal] The number of whom the server calls RAW, in the thread that serves;
 * JPP_OWNER_NONE: a handler has interrupted this very function.
 */
uint32_t jpp_owner_name(const jpp_owner_raw_t raw[JPP_ROOTS]);

/* [signal] The block of OWNER begins at LINE of FILE, which stays there. */
void jpp_owner_place(uint32_t owner, jpp_owner_raw_t file, uint32_t line);

/* How many there are, the fixed ones included; 0: nobody was ever named. */
uint32_t jpp_owner_names_count(void);

/* The names of OWNER. */
jpp_owner_t jpp_owner_names(uint32_t owner);

/* Write the names of OWNER to SINK, as jpp_owner_labels.h reads them. */
void jpp_owner_write(const jpp_owner_t *owner, jpp_sink_t *sink);

/* Write all, if there are any, behind the dump by jemalloc in FD. */
jpp_code_t jpp_owner_append(int fd, jpp_err_t *err);

/*
 * The LEN bytes of a name as TEXT, as jpp_utf8_escape() writes them; what is
 * too long is cut.  Returns its length.
 */
size_t jpp_owner_text(char text[JPP_OWNER_NAME], const char *name, size_t len);


#endif /* _JPP_OWNER_NAMES_H_INCLUDED_ */
