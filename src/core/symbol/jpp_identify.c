
#include <string.h>

#include "jpp_identify.h"
#include "jpp_intern.h"


jpp_code_t
jpp_identify_open(jpp_symbols_t *symbols, const jpp_profile_t *profile,
    const jpp_mapping_t *mapping, bool is_identity, jpp_file_t *file,
    jpp_err_t *err)
{
    jpp_code_t   rc;
    const char  *build_id;

    build_id = jpp_profile_str(profile, mapping->build_id).data;

    if (jpp_known_find(&symbols->known, mapping, build_id, file)
        && (is_identity || jpp_object_has(symbols, file)))
    {
        return JPP_OK;
    }

    symbols->n_opened++;

    rc = jpp_file_open(file, mapping, build_id, err);

    if (rc == JPP_OK) {
        jpp_known_add(&symbols->known, file);
    }

    return rc;
}


bool
jpp_identify(jpp_profile_t *profile, jpp_mapping_t *mapping,
    const jpp_build_id_t *id)
{
    char  text[JPP_BUILD_ID_TEXT];

    if (mapping->build_id != 0 || id == NULL || id->len == 0) {
        return true;
    }

    jpp_build_id_text(id, text);

    mapping->build_id = jpp_profile_string(profile, text, strlen(text));

    return mapping->build_id != 0;
}
