
/*
 * Names for the locations of a profile.
 *
 * For each mapping that has locations: find its file, prove as far as possible
 * that it is the one that was loaded (jpp_file.h), read it (jpp_elf.h) or take
 * it from the cache (jpp_object.h), and give every location a function:
 *
 *     name                 the extent of a symbol covers the address
 *     directive http       else what the process knows about the function
 *                          that starts here by .eh_frame (jpp_hints.h), and
 *                          where it knows it from as the function's file
 *     nginx+0x3f2a0        else the start of that function, so that one
 *                          function is one frame (virtual address); its file
 *                          is "between a and b", the functions next to it
 *     nginx+0x3f2c4        else the address itself (file offset where the
 *                          file could not be read)
 *     0x7f1200001000       no mapping
 *
 * A debug file under /usr/lib/debug/.build-id with the same build id is used:
 * it has the .symtab that a stripped file lost.  No network and no DWARF.
 *
 * One thread at a time per cache and profile.  Memory from the profile's
 * arena; working memory is given back.
 */


#ifndef _JPP_SYMBOLIZE_H_INCLUDED_
#define _JPP_SYMBOLIZE_H_INCLUDED_


#include "jpp_maps.h"
#include "jpp_object.h"


/* Should the function with the symbol NAME, as the file has it, be kept? */
typedef bool (*jpp_symbol_filter_pt)(const char *name);


/*
 * Give every location of PROFILE that has none a function, every mapping
 * has_functions and its build id: its own, else the one that SYMBOLS knows was
 * loaded, else the file's.  A file with another build id than was known before
 * is not used.  If a mapping's file cannot be used, its locations become
 * module+0xoffset and a comment in the profile says why.  The only error is
 * JPP_ERR_MEMORY.
 */
jpp_code_t jpp_symbolize(jpp_symbols_t *symbols, jpp_profile_t *profile,
    jpp_err_t *err);

/*
 * Set the build ids of PROFILE's mappings and nothing else: for profiles that
 * their readers symbolize.
 */
jpp_code_t jpp_symbolize_build_ids(jpp_symbols_t *symbols,
    jpp_profile_t *profile, jpp_err_t *err);

/*
 * Give every location a function without looking at any file: module+0xoffset,
 * the offset in the file.  For formats that need names.
 */
jpp_code_t jpp_symbolize_addresses(jpp_profile_t *profile, jpp_err_t *err);

/*
 * Append the run-time addresses of the functions that FILTER keeps, in mapping
 * MAPPING (an id) of PROFILE, to RANGES (jpp_range_t), by address and without
 * gaps between neighbours.  For the code of an allocator that is linked into
 * the program.  A file that cannot be used has no functions.  The only error
 * is JPP_ERR_MEMORY.
 */
jpp_code_t jpp_symbolize_ranges(jpp_symbols_t *symbols,
    const jpp_profile_t *profile, uint32_t mapping,
    jpp_symbol_filter_pt filter, jpp_vec_t *ranges, jpp_err_t *err);


#endif /* _JPP_SYMBOLIZE_H_INCLUDED_ */
