
/*
 * The rows of a ledger as bytes, which travel from the worker that they are of
 * to whoever asked.  Both are of one module: another layout is refused.
 */


#ifndef _JPP_LEDGER_FILE_H_INCLUDED_
#define _JPP_LEDGER_FILE_H_INCLUDED_


#include "jpp_err.h"
#include "jpp_ledger.h"


#define JPP_LEDGER_WHY  256


/* What there is besides the rows; JPP_NONE: nobody knows. */
typedef struct {
    jpp_ledger_sums_t        sums;
    uint64_t                 has_luajit;   /* 0, 1 */
    uint64_t                 sockets;      /* the kernel's memory for them, */
    uint64_t                 n_sockets;    /*   and of how many sockets */
    uint64_t                 nanos;        /* that reading took the kernel */
    char                     why[JPP_LEDGER_WHY];  /* pages are unknown; "" */
} jpp_ledger_facts_t;


/* A ledger that was read: points into its bytes. */
typedef struct {
    jpp_ledger_facts_t       facts;
    const jpp_ledger_row_t  *rows;
    size_t                   n;
} jpp_ledger_read_t;


/* Write FACTS and the rows of LEDGER to FD, an empty file. */
jpp_code_t jpp_ledger_save(const jpp_ledger_t *ledger,
    const jpp_ledger_facts_t *facts, int fd, jpp_err_t *err);

/*
 * Fill LEDGER from the LEN bytes at DATA, aligned to 8, which stay; ERR says
 * what is wrong with them.
 */
jpp_code_t jpp_ledger_load(jpp_ledger_read_t *ledger, const char *data,
    size_t len, jpp_err_t *err);


#endif /* _JPP_LEDGER_FILE_H_INCLUDED_ */
