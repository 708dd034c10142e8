
/*
 * From a mapping to its file: the one that was proven before, or the one that
 * is opened now; and to its build id.
 *
 * One thread at a time per cache and profile.
 */


#ifndef _JPP_IDENTIFY_H_INCLUDED_
#define _JPP_IDENTIFY_H_INCLUDED_


#include "jpp_object.h"


/*
 * Fill FILE for MAPPING of PROFILE, to be closed; with IS_IDENTITY for its
 * build id only.  A file that is known is not opened, unless its object is
 * needed and is not in the cache.
 */
jpp_code_t jpp_identify_open(jpp_symbols_t *symbols,
    const jpp_profile_t *profile, const jpp_mapping_t *mapping,
    bool is_identity, jpp_file_t *file, jpp_err_t *err);

/*
 * MAPPING of PROFILE gets build id ID, or NULL, where it has none yet; false:
 * no memory.
 */
bool jpp_identify(jpp_profile_t *profile, jpp_mapping_t *mapping,
    const jpp_build_id_t *id);


#endif /* _JPP_IDENTIFY_H_INCLUDED_ */
