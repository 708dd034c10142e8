
/*
 * Names the location at an address: see the table in jpp_symbolize.h.  Each
 * function of an object is named once, however many locations it has.
 *
 * For one profile; one thread at a time; memory from the profile's arena.
 */

#include "jpp_symbolize.h"

#include <dlfcn.h>


/* a file's name has up to 255 bytes, and takes up to four times that */
#define JPP_MODULE_NAME   1024
#define JPP_DEMANGLED     4096

/* the distance of a neighbour, and the bytes of its name that are shown */
#define JPP_NEIGHBOURS    256
#define JPP_NEIGHBOUR     200


/* the demangler's stack grows with the name: about 64 bytes a byte */
#define JPP_DEMANGLE_MAX_NAME   1024

/*
 * What a name may unfold to.  A reference ("S1_", "T_") stands for an earlier
 * part of the name, which may hold references itself: with n of them a name
 * becomes up to 3^(n/3) times as long, 350 times for 16.  A pack expansion
 * ("Dp") repeats what follows it for every argument of the pack.
 */
#define JPP_DEMANGLE_MAX_COST   16
#define JPP_DEMANGLE_REFERENCE  1
#define JPP_DEMANGLE_PACK       8


/*
 * C++ names as people write them, by the demangler of whatever C++ library
 * the process has loaded; the owner of __cxa_demangle.
 *
 * It uses malloc, and gives everything back.  A name is hostile input: one of
 * 190 bytes can unfold to 9 MB, and to twice as much with every ten bytes
 * more.  So the length of names is bounded, and what they can unfold to;
 * others stay mangled.
 */


jpp_demangle_pt
jpp_demangle_find(void)
{
    return (jpp_demangle_pt) (uintptr_t) dlsym(RTLD_DEFAULT, "__cxa_demangle");
}


/*
 * Counts what looks like a reference or a pack, in identifiers as well: too
 * high is safe.
 */

static size_t
jpp_demangle_cost(const char *name)
{
    size_t       cost;
    const char  *p, *end;

    cost = 0;

    for (p = name; *p != '\0'; p++) {

        if (p[0] == 'D' && p[1] == 'p') {
            cost += JPP_DEMANGLE_PACK;
            continue;
        }

        if (*p != 'S' && *p != 'T') {
            continue;
        }

        end = p + 1 + strspn(p + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");

        if (*end == '_') {
            cost += JPP_DEMANGLE_REFERENCE;
        }
    }

    return cost;
}


bool
jpp_demangle(jpp_demangle_pt demangle, const char *name, char *buf,
    size_t size)
{
    int      status;
    char    *text;
    bool     fits;
    size_t   len;

    if (demangle == NULL
        || name[0] != '_' || name[1] != 'Z'
        || strnlen(name, JPP_DEMANGLE_MAX_NAME + 1) > JPP_DEMANGLE_MAX_NAME
        || jpp_demangle_cost(name) > JPP_DEMANGLE_MAX_COST)
    {
        return false;
    }

    status = 0;
    text = demangle(name, NULL, NULL, &status);

    if (text == NULL) {
        return false;
    }

    len = strlen(text);
    fits = (status == 0 && len != 0 && len < size);

    if (fits) {
        memcpy(buf, text, len + 1);
    }

    free(text);

    return fits;
}


bool
jpp_names_init(jpp_names_t *names, jpp_profile_t *profile)
{
    memset(names, 0, sizeof(jpp_names_t));

    names->profile = profile;
    names->demangle = jpp_demangle_find();
    names->functions = jpp_vec_create(profile->arena);

    return names->functions != NULL;
}


bool
jpp_names_enter(jpp_names_t *names, uint32_t id, const jpp_elf_t *elf)
{
    size_t       size;
    const char  *file;

    names->id = id;
    names->mapping = NULL;
    names->module = "";
    names->elf = elf;

    if (id == 0) {
        return true;
    }

    names->mapping = jpp_profile_mapping_at(names->profile, id);

    file = jpp_profile_str(names->profile, names->mapping->file).data;
    names->module = jpp_path_name(file);

    if (names->module[0] == '\0') {
        names->module = file[0] != '\0' ? file : "[anon]";
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


/* The string "module+0xADDRESS". */

static uint32_t
jpp_names_offset(jpp_names_t *names, uint64_t address)
{
    char  text[JPP_MODULE_NAME + sizeof("+0x0123456789abcdef")];

    jpp_print(text, "%.*s%s0x%" PRIx64, JPP_MODULE_NAME, names->module,
              names->mapping != NULL ? "+" : "", address);

    return jpp_profile_string(names->profile, text, strlen(text));
}


static uint32_t
jpp_names_nameless(jpp_names_t *names, uint64_t address)
{
    uint32_t  name;

    name = jpp_names_offset(names, address);

    return name == 0 ? 0
                     : jpp_profile_function(names->profile, names->id, name,
                                            name);
}


static const char *
jpp_names_neighbour(jpp_names_t *names, const jpp_elf_function_t *function,
    int step, char *text, size_t size)
{
    uint32_t                   n;
    const char                *name;
    const jpp_elf_function_t  *end;

    end = step < 0 ? names->elf->functions
                   : names->elf->functions + names->elf->n_functions - 1;

    for (n = 0; n < JPP_NEIGHBOURS && function != end; n++) {
        function += step;

        if (function->name != 0) {
            name = names->elf->names + function->name;

            return jpp_demangle(names->demangle, name, text, size) ? text
                                                                   : name;
        }
    }

    return NULL;
}


/* Set the file of function ID to FILE. */

static bool
jpp_names_file(jpp_names_t *names, uint32_t id, const char *file)
{
    uint32_t  string;

    if (id == 0 || file == NULL) {
        return id != 0;
    }

    string = jpp_profile_string(names->profile, file, strlen(file));

    jpp_profile_function_at(names->profile, id)->file = string;

    return string != 0;
}


/*
 * A static function mostly lies between others of its source file: that is not
 * a name, but says where to look.
 */

static uint32_t
jpp_names_near(jpp_names_t *names, const jpp_elf_function_t *function)
{
    char         text[2 * JPP_NEIGHBOUR + sizeof("between before ")];
    char         first[JPP_DEMANGLED], second[JPP_DEMANGLED];
    uint32_t     id;
    const char  *before, *after;

    id = jpp_names_nameless(names, function->entry);

    if (id == 0) {
        return 0;
    }

    before = jpp_names_neighbour(names, function, -1, first, sizeof(first));
    after = jpp_names_neighbour(names, function, 1, second, sizeof(second));

    if (before == NULL && after == NULL) {
        return id;
    }

    jpp_print(text, "%s%.*s%s%.*s",
              after == NULL ? "after " : before != NULL ? "between " : "",
              JPP_NEIGHBOUR, before != NULL ? before : "",
              after == NULL ? "" : before != NULL ? " and " : "before ",
              JPP_NEIGHBOUR, after != NULL ? after : "");

    return jpp_names_file(names, id, text) ? id : 0;
}


/* The address is kept, as the name in the file. */

static uint32_t
jpp_names_hinted(jpp_names_t *names, const jpp_elf_function_t *function)
{
    uint32_t     id, name, offset;
    const char  *hint;

    hint = names->elf->names + function->name;
    name = jpp_profile_string(names->profile, hint, strlen(hint));
    offset = jpp_names_offset(names, function->entry);

    if (name == 0 || offset == 0) {
        return 0;
    }

    id = jpp_profile_function(names->profile, names->id, name, offset);

    return jpp_names_file(names, id, names->table) ? id : 0;
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


uint32_t
jpp_names_function(jpp_names_t *names, uint64_t address)
{
    uint32_t                  *id;
    uint64_t                   vaddr;
    const jpp_elf_function_t  *function;

    names->is_named = false;

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

    names->is_named = function->name != 0;

    id = jpp_vec_items(names->functions, uint32_t);
    id += function - names->elf->functions;

    if (*id != 0) {
        return *id;
    }

    if (function->name == 0) {
        *id = jpp_names_near(names, function);

    } else if (function->name >= names->elf->hinted) {
        *id = jpp_names_hinted(names, function);

    } else {
        names->mapping->has_functions = true;
        *id = jpp_names_named(names, names->elf->names + function->name);
    }

    return *id;
}
