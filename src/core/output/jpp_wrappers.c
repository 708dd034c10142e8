
/*
 * The table of allocation wrappers, functions that only pass memory on to their
 * callers: ngx_palloc(), CRYPTO_malloc(), strdup() ...
 */


#include "jpp_view.h"


/*
 * A star is any number of characters.  Suffixes from a compiler or linker
 * (".isra.0", "@plt") are ignored.
 */

static const char *const  jpp_wrappers_patterns[] = {

    /* nginx, njs */

    "ngx_alloc", "ngx_calloc", "ngx_memalign", "ngx_palloc*", "ngx_pnalloc",
    "ngx_pcalloc", "ngx_pmemalign", "ngx_pstrdup", "ngx_create_pool",
    "ngx_create_temp_buf", "ngx_create_chain_of_bufs", "ngx_alloc_chain_link",
    "ngx_chain_get_free_buf", "ngx_array_create", "ngx_array_push*",
    "ngx_list_create", "ngx_list_push", "ngx_pool_cleanup_add",
    "ngx_http_gzip_filter_alloc", "ngx_http_gunzip_filter_alloc",
    "ngx_regex_malloc", "njs_mp_alloc*", "njs_mp_zalloc*", "njs_mp_align",
    "njs_mp_zalign", "njs_malloc", "njs_memalign",

    /* libraries */

    "CRYPTO_*alloc", "CRYPTO_*dup", "OPENSSL_*alloc", "OPENSSL_*dup",
    "BUF_MEM_grow*", "BIO_strdup", "g_malloc*", "g_realloc*", "g_try_malloc*",
    "g_try_realloc*", "g_slice_alloc*", "g_strdup*", "g_strndup", "g_memdup*",
    "xmlMallocLoc", "xmlStrdup", "xmlStrndup", "zcalloc", "gdMalloc",
    "gdCalloc", "gdRealloc", "luaM_*alloc*", "lj_alloc_*", "lj_mem_*",
    "Perl_safesys*alloc",

    /* C and C++ */

    "malloc", "calloc", "realloc", "reallocarray", "memalign", "valloc",
    "pvalloc", "aligned_alloc", "posix_memalign", "str*dup", "__str*dup",
    "wcsdup", "asprintf", "vasprintf", "__vasprintf*", "operator new*",
    "_Znw*", "_Zna*", "std::allocator<*::allocate*",
    "std::allocator_traits<*::allocate*", "std::__new_allocator<*::allocate*",
    "__gnu_cxx::new_allocator<*::allocate*", NULL
};


/*
 * The functions of ngx_palloc.c.  Its static ones, which get a block or a
 * large piece of memory for a pool, have no names in a stripped nginx.  gcc
 * puts them in front of a function of the file, clang between two.
 */

static const char *const  jpp_wrappers_pool[] = {
    "ngx_create_pool", "ngx_destroy_pool", "ngx_reset_pool", "ngx_palloc",
    "ngx_pnalloc", "ngx_pmemalign", "ngx_pfree", "ngx_pcalloc",
    "ngx_pool_cleanup_add", "ngx_pool_cleanup_file",
    "ngx_pool_delete_file", "ngx_pool_run_cleanup_file", NULL
};


static const char  jpp_wrappers_text[] = "passes memory on";


/* On a mismatch the last star takes one character more. */

static bool
jpp_wrappers_matches(const char *pattern, const char *name, const char *end)
{
    const char  *star, *from;

    star = NULL;
    from = NULL;

    while (name < end) {

        if (*pattern == '*') {
            star = ++pattern;
            from = name;

        } else if (*pattern == *name) {
            pattern++;
            name++;

        } else if (star != NULL) {
            pattern = star;
            name = ++from;

        } else {
            return false;
        }
    }

    while (*pattern == '*') {
        pattern++;
    }

    return *pattern == '\0';
}


jpp_wrappers_t
jpp_wrappers(const char *name)
{
    const char         *end;
    const char *const  *pattern;

    if (strncmp(name, "0x", 2) == 0 || strstr(name, "+0x") != NULL) {
        return JPP_WRAPPER_UNNAMED;
    }

    end = name + strcspn(name, ".@");

    for (pattern = jpp_wrappers_patterns; *pattern != NULL; pattern++) {

        if (jpp_wrappers_matches(*pattern, name, end)) {
            return JPP_WRAPPER_YES;
        }
    }

    return JPP_WRAPPER_NOT;
}


/* What a function without a name is, by its FILE: "between a and b", a mark. */

static jpp_wrappers_t
jpp_wrappers_near(const char *file)
{
    const char         *next;
    const char *const  *name;

    static const char  between[] = "between ", before[] = "before ";
    static const char  join[] = " and ";

    if (strncmp(file, between, sizeof(between) - 1) == 0) {
        next = strstr(file, join);
        next = next != NULL ? next + sizeof(join) - 1 : "";

    } else if (strncmp(file, before, sizeof(before) - 1) == 0) {
        next = file + sizeof(before) - 1;

    } else {
        return strncmp(file, jpp_wrappers_text, sizeof(jpp_wrappers_text) - 1)
               == 0 ? JPP_WRAPPER_YES : JPP_WRAPPER_UNNAMED;
    }

    for (name = jpp_wrappers_pool; *name != NULL; name++) {

        if (strcmp(*name, next) == 0) {
            return JPP_WRAPPER_YES;
        }
    }

    return JPP_WRAPPER_UNNAMED;
}


const uint8_t *
jpp_wrappers_table(const jpp_profile_t *profile, bool are_shown)
{
    uint8_t               *table;
    uint32_t               i, n;
    const jpp_function_t  *function;

    n = (uint32_t) jpp_vec_count(profile->functions, jpp_function_t);

    table = jpp_arena_alloc(profile->arena, (size_t) n + 1);

    /* the time that malloc() takes is its own */

    if (are_shown || strcmp(profile->period_unit, "bytes") != 0) {
        return table;
    }

    for (i = 1; table != NULL && i <= n; i++) {
        function = jpp_profile_function_at(profile, i);
        table[i] = jpp_wrappers(jpp_profile_str(profile, function->name).data);

        if (table[i] == JPP_WRAPPER_UNNAMED) {
            table[i] = jpp_wrappers_near(jpp_profile_str(profile,
                                                        function->file).data);
        }
    }

    return table;
}


/* FILE with the mark, once; 0: no memory. */

static uint32_t
jpp_wrappers_marked(jpp_profile_t *profile, uint32_t file)
{
    const char  *said, *text;

    said = jpp_profile_str(profile, file).data;

    if (strncmp(said, jpp_wrappers_text, sizeof(jpp_wrappers_text) - 1) == 0) {
        return file;
    }

    text = jpp_arena_printf(profile->arena, "%s%s%s", jpp_wrappers_text,
                            said[0] != '\0' ? ", " : "", said);

    return text != NULL ? jpp_profile_string(profile, text, strlen(text)) : 0;
}


bool
jpp_wrappers_mark(jpp_profile_t *profile)
{
    uint32_t         i, n;
    const uint8_t   *table;
    jpp_function_t  *function;

    table = jpp_wrappers_table(profile, false);
    n = (uint32_t) jpp_vec_count(profile->functions, jpp_function_t);

    for (i = 1; table != NULL && i <= n; i++) {
        function = jpp_profile_function_at(profile, i);

        if (table[i] == JPP_WRAPPER_YES) {
            function->file = jpp_wrappers_marked(profile, function->file);

            if (function->file == 0) {
                return false;
            }
        }
    }

    return table != NULL;
}


const uint8_t *
jpp_wrappers_skip(const jpp_profile_t *profile, const uint8_t *table,
    const uint8_t *stack, const uint8_t *end)
{
    uint8_t         kind;
    uint32_t        id;
    const uint8_t  *p, *next, *from, *last;

    from = stack;
    last = stack;
    kind = JPP_WRAPPER_YES;

    for (p = stack; p < end; p = next) {

        next = jpp_stack_next(p, &id);
        kind = table[jpp_profile_location_at(profile, id)->function];

        /* without a callee that passes on, this may be anything */

        if (kind == JPP_WRAPPER_NOT
            || (kind == JPP_WRAPPER_UNNAMED && from == stack))
        {
            break;
        }

        if (kind == JPP_WRAPPER_YES) {
            from = next;
            last = p;
        }
    }

    return from < end ? from : last;
}
