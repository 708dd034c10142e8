
/*
 * From a mapping to its file, proven before or opened now, and to its build
 * id.
 *
 * One thread at a time per cache and profile.
 */


#ifndef _JPP_IDENTIFY_H_INCLUDED_
#define _JPP_IDENTIFY_H_INCLUDED_


#include "jpp_object.h"


/*
 * Fill FILE for MAPPING of PROFILE; with IS_IDENTITY only its build id.  The
 * caller closes it.  A file that is known is not opened, unless its object is
 * needed and is not in the cache.
 */
jpp_code_t jpp_identify_open(jpp_symbols_t *symbols,
    const jpp_profile_t *profile, const jpp_mapping_t *mapping,
    bool is_identity, jpp_file_t *file, jpp_err_t *err);

/*
 * Set the build id of MAPPING of PROFILE to ID, unless it has one, or ID is
 * NULL; false: no memory.
 */
bool jpp_identify(jpp_profile_t *profile, jpp_mapping_t *mapping,
    const jpp_build_id_t *id);


#endif /* _JPP_IDENTIFY_H_INCLUDED_ */
