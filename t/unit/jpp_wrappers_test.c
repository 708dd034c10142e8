
#include "jpp_test_arena.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_view.h"


/* first those that pass memory on, then others, and those without a name */

static const char  *names[] = {
    "ngx_alloc", "ngx_calloc", "ngx_memalign", "ngx_palloc", "ngx_palloc_large",
    "ngx_palloc_block.isra.0", "ngx_pnalloc", "ngx_pcalloc", "ngx_pmemalign",
    "ngx_create_pool", "ngx_create_temp_buf", "ngx_array_push",
    "ngx_array_push_n", "ngx_list_push", "CRYPTO_malloc", "CRYPTO_zalloc",
    "CRYPTO_clear_realloc", "CRYPTO_allocalloc", "CRYPTO_strdup",
    "OPENSSL_strndup", "strdup", "strndup", "__strdup", "g_malloc0_n",
    "operator new(unsigned long)",
    "operator new[](unsigned long, std::nothrow_t const&)", "_Znwm", "_Znam",
    "malloc", "malloc@plt", "strdup@plt",
    "std::allocator<char>::allocate(unsigned long)",
    "std::allocator_traits<std::allocator<int> >::allocate(x)", "", "n",
    "ngx_allo", "ngx_allocator", "xngx_alloc", "ngx_create_pools", "ngx_pallo",
    "ngx_array_pus", "ngx_array_destroy", "CRYPTO_alloc_x", "CRYPTO_free",
    "CRYPTOalloc", "SSL_new", "strduplicate", "xstrdup", "strdupa",
    "operator delete(void*)", "operator", "main", "mallocx",
    "std::allocator<char>::deallocat(x)", "std::string::reserve", "g_free", "*",
    "ngx_*", "\xff\xfe", "nginx+0x3f2a0", "libc.so.6+0x1", "0x30000000", "a+0x",
    "0x"
};


/* Those of the letters p, u, v, x; again, and without memory. */

static void
jpp_wrappers_test_marks(jpp_profile_t *profile)
{
    size_t           i, k;
    jpp_function_t  *function;

    for (k = 1; k <= 2; k++) {
        profile->arena->fail_at = profile->arena->n_calls + k;
        jpp_ok(!jpp_wrappers_mark(profile), "no memory, no marks (%zu)", k);
    }

    profile->arena->fail_at = 0;

    for (k = 0; k < 2; k++) {
        jpp_ok(jpp_wrappers_mark(profile), "marks");

        for (i = 0; i < 24; i++) {
            function = jpp_profile_function_at(profile, (uint32_t) i + 1);

            if (i != 'w' - 'a') {
                jpp_note("%c: \"%s\"", (int) ('a' + i),
                         jpp_profile_str(profile, function->file).data);
            }
        }

        jpp_shows_notes("marks of functions");
    }
}


/*
 * Each letter is a function: p and z pass memory on, u has no name, and neither
 * have v, w, x and y, whose neighbours are below.  The others hold memory.
 */

JPP_TEST(jpp_wrappers_test_stacks)
{
    char             text[8], name[2] = "a", nameless[] = "x+0x1";
    size_t           i, k, len;
    uint8_t         *pos;
    uint32_t         id, string, file, function;
    jpp_sample_t     sample;
    jpp_profile_t    profile;
    const uint8_t   *table, *again, *p, *end;
    static const jpp_value_type_t  type = { "space", "bytes", false, 0, 0 };

    /* the leaf first; the last are with static functions of the pools */

    static const char  *rows[] = {
        "", "a", "ab", "pa", "ppab", "apb", "p", "pzp", "pua", "pupa", "puupab",
        "ua", "upa", "pu", "pup", "pap", "puap", "pva", "va", "pwa", "pvwpa",
        "pxa", "pya", "pxpa", "pv"
    };

    static const char  *near[26] = {
        ['v' - 'a'] = "between ngx_pool_cleanup_file and ngx_create_pool",
        ['w' - 'a'] = "before ngx_pool_cleanup_file",
        ['x' - 'a'] = "between ngx_pool_delete_file and ngx_array_create",
        ['y' - 'a'] = "after ngx_palloc"
    };

    jpp_profile_init(&profile, &arena, &type, 1);
    profile.period_unit = "bytes";

    for (i = 0; i < 26; i++) {
        name[0] = (char) ('a' + i);
        nameless[0] = name[0];
        string = name[0] == 'p' ? jpp_profile_string(&profile, "strdup", 6)
                 : name[0] == 'z' ? jpp_profile_string(&profile, "malloc", 6)
                 : name[0] == 'u' || near[i] != NULL
                 ? jpp_profile_string(&profile, nameless, 5)
                 : jpp_profile_string(&profile, name, 1);

        function = jpp_profile_function(&profile, 0, string, string);
        id = jpp_profile_location(&profile, 0, i + 1);
        jpp_profile_location_at(&profile, id)->function = function;

        if (near[i] != NULL) {
            file = jpp_profile_string(&profile, near[i], strlen(near[i]));
            jpp_profile_function_at(&profile, function)->file = file;
        }
    }

    table = jpp_wrappers_table(&profile, false);
    jpp_ok(table != NULL, "a table");

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {

        len = strlen(rows[i]);
        pos = jpp_profile_begin(&profile, 0, (uint32_t) len);

        for (k = 0; k < len; k++) {
            pos = jpp_profile_push(pos, (uint32_t) (rows[i][k] - 'a') + 1);
        }

        jpp_profile_end(&profile, pos);
        (void) jpp_profile_append(&profile, (int64_t[]) { 1 });
        jpp_profile_sample(&profile, (uint32_t) i, &sample);

        end = sample.stack + sample.stack_len;
        p = jpp_wrappers_skip(&profile, table, sample.stack, end);

        for (k = 0; p < end; k++) {
            p = jpp_stack_next(p, &id);
            text[k] = (char) ('a' + id - 1);
        }

        text[k] = '\0';
        jpp_note("%s: %s", rows[i], text[0] != '\0' ? text : "nothing");
    }

    jpp_shows_notes("what holds memory, and its callers");

    jpp_wrappers_test_marks(&profile);

    again = jpp_wrappers_table(&profile, false);
    jpp_ok(again != NULL && memcmp(again, table, 26) == 0,
           "marks say what the names said");

    arena.fail_at = arena.n_calls + 1;
    jpp_ok(jpp_wrappers_table(&profile, false) == NULL, "no memory, no table");
}


JPP_TEST(jpp_wrappers_test)
{
    char    *name;
    size_t   i;

    static const char  *words[] = {
        [JPP_WRAPPER_NOT] = " does not", [JPP_WRAPPER_YES] = " does",
        [JPP_WRAPPER_UNNAMED] = " has no name"
    };

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        jpp_note("%s%s", names[i], words[jpp_wrappers(names[i])]);
    }

    jpp_shows_notes("which functions pass memory on");

    /* as long as a name may be, for whatever a star makes of it */

    name = malloc(JPP_MAX_SYMBOL_NAME + 1);
    memset(name, 'a', JPP_MAX_SYMBOL_NAME);
    memcpy(name, "CRYPTO_", 7);
    memcpy(name + JPP_MAX_SYMBOL_NAME - 5, "alloc", 6);
    jpp_is_u64(jpp_wrappers(name), JPP_WRAPPER_YES, "a long name");
    name[strlen(name) - 1] = 'x';
    jpp_is_u64(jpp_wrappers(name), JPP_WRAPPER_NOT, "another");
    free(name);
}
