
/*
 * The one checker of the profile contract: everything of it that can be seen in
 * the bytes of a profile.
 *
 * It has a wire decoder and tables of fields of its own and shares nothing
 * with the core, not even protobuf-c or the schema: it is the second witness.
 *
 * Memory comes from malloc and is freed before the return; the process ends
 * where there is none.  Any thread.
 */


#ifndef _JPP_CONTRACT_H_INCLUDED_
#define _JPP_CONTRACT_H_INCLUDED_


#include <stddef.h>
#include <stdint.h>
#include <stdio.h>


/* what the profile claims to be; 0: only what holds for all */
#define JPP_CONTRACT_HEAP   1
#define JPP_CONTRACT_CPU    2
#define JPP_CONTRACT_POOLS  4


/*
 * Check the LEN bytes of profile at DATA, gzip or raw protobuf.  Every
 * violation is a sentence on COMPLAINTS and their number the result.  PRINT
 * receives the profile as text without its time, for golden files, unless it
 * cannot be decoded.  Both may be NULL.
 */
unsigned jpp_contract_check(const uint8_t *data, size_t len, unsigned flags,
    FILE *complaints, FILE *print);


#endif /* _JPP_CONTRACT_H_INCLUDED_ */
