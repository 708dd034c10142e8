
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jpp_intern.h"
#include "jpp_names.h"


/* a file's name is at most 255 bytes, shown as up to four times as many */
#define JPP_MODULE_NAME   1024
#define JPP_DEMANGLED     4096


static uint32_t jpp_names_named(jpp_names_t *names, const char *symbol);
static uint32_t jpp_names_nameless(jpp_names_t *names, uint64_t address);


bool
jpp_names_init(jpp_names_t *names, jpp_profile_t *profile)
{
    memset(names, 0, sizeof(jpp_names_t));

    names->profile = profile;
    names->demangle = jpp_demangle_find();
    names->functions = jpp_vec_create(profile->arena);

    return names->functions != NULL;
}


void
jpp_names_destroy(jpp_names_t *names)
{
    jpp_vec_release(names->functions);
}


bool
jpp_names_enter(jpp_names_t *names, uint32_t id, const jpp_elf_t *elf)
{
    size_t       size;
    const char  *file, *slash;

    names->id = id;
    names->mapping = NULL;
    names->module = "";
    names->elf = elf;

    if (id == 0) {
        return true;
    }

    names->mapping = jpp_profile_mapping_at(names->profile, id);

    file = jpp_profile_str(names->profile, names->mapping->file).data;
    slash = strrchr(file, '/');

    names->module = slash != NULL && slash[1] != '\0' ? slash + 1 : file;

    if (names->module[0] == '\0') {
        names->module = "[anon]";
    }

    if (elf == NULL || elf->n_functions == 0) {
        return true;
    }

    size = elf->n_functions * sizeof(uint32_t);
    names->functions->len = 0;

    if (jpp_vec_reserve(names->functions, size) == NULL) {
        return false;
    }

    memset(names->functions->data, 0, size);

    return true;
}


uint32_t
jpp_names_function(jpp_names_t *names, uint64_t address)
{
    uint32_t                  *id;
    uint64_t                   vaddr;
    const jpp_elf_function_t  *function;

    if (names->mapping == NULL) {
        return jpp_names_nameless(names, address);
    }

    address += names->mapping->offset - names->mapping->start;

    if (names->elf == NULL || !jpp_elf_vaddr(names->elf, address, &vaddr)) {
        return jpp_names_nameless(names, address);
    }

    function = jpp_elf_function(names->elf, vaddr);

    if (function == NULL) {
        return jpp_names_nameless(names, vaddr);
    }

    id = jpp_vec_items(names->functions, uint32_t);
    id += function - names->elf->functions;

    if (*id != 0) {
        return *id;
    }

    if (function->name == 0) {
        *id = jpp_names_nameless(names, function->entry);

    } else {
        *id = jpp_names_named(names, names->elf->names + function->name);
        names->mapping->has_functions = true;
    }

    return *id;
}


static uint32_t
jpp_names_named(jpp_names_t *names, const char *symbol)
{
    char      text[JPP_DEMANGLED];
    uint32_t  name, system_name;

    system_name = jpp_profile_string(names->profile, symbol, strlen(symbol));
    name = system_name;

    if (jpp_demangle(names->demangle, symbol, text, sizeof(text))) {
        name = jpp_profile_string(names->profile, text, strlen(text));
    }

    if (name == 0 || system_name == 0) {
        return 0;
    }

    return jpp_profile_function(names->profile, names->id, name, system_name);
}


static uint32_t
jpp_names_nameless(jpp_names_t *names, uint64_t address)
{
    char      text[JPP_MODULE_NAME + sizeof("+0x0123456789abcdef")];
    uint32_t  name;

    (void) snprintf(text, sizeof(text), "%.*s%s0x%" PRIx64, JPP_MODULE_NAME,
                    names->module, names->mapping != NULL ? "+" : "", address);

    name = jpp_profile_string(names->profile, text, strlen(text));

    return name == 0 ? 0
                     : jpp_profile_function(names->profile, names->id, name,
                                            name);
}
