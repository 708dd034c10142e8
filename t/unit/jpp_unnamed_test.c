
/* How many addresses have no name, in which builds of which files. */


#include "jpp_test_main.h"
#include "jpp_profile.h"
#include "jpp_symbolize.h"


#define JPP_TEST_CAP  (1024 * 1024)

#define ID     "0123456789abcdef0123456789abcdef01234567"

#define HOW    "install their debug symbols, then reload. For nginx: "         \
               "nginx-dbgsym on Debian and Ubuntu, nginx-dbg from nginx.org. " \
               "From debuginfod: $DEBUGINFOD_URLS/buildid/ID/debuginfo"


typedef struct {
    uint32_t          file;        /* its number */
    const char       *build_id;
    uint32_t          n;
} jpp_unnamed_test_t;


static const jpp_value_type_t  types[] = { { "space", "bytes", false, 0, 0 } };


/* Nine locations, and the N ADDED ones. */

static const char *
jpp_unnamed_test_comment(const jpp_unnamed_test_t *added, size_t n,
    const char *name)
{
    char            path[512];
    size_t          i;
    jpp_arena_t     arena;
    jpp_mapping_t   mapping;
    jpp_profile_t   profile;
    jpp_unnamed_t   unnamed;

    static char  text[JPP_UNNAMED_TEXT], comment[2 * JPP_UNNAMED_TEXT];

    jpp_arena_init(&arena, JPP_TEST_CAP);
    (void) jpp_profile_init(&profile, &arena, types, 1);

    memset(&unnamed, 0, sizeof(jpp_unnamed_t));
    memset(&mapping, 0, sizeof(jpp_mapping_t));

    for (i = 0; i < 9; i++) {
        (void) jpp_profile_location(&profile, 0, i);
    }

    for (i = 0; i < n; i++) {
        (void) snprintf(path, sizeof(path), "/x/%s%" PRIu32, name,
                        added[i].file);

        mapping.file = jpp_profile_string(&profile, path, strlen(path));
        mapping.build_id = jpp_profile_string(&profile, added[i].build_id,
                                              strlen(added[i].build_id));

        jpp_unnamed_add(&unnamed, &mapping, added[i].n);
    }

    comment[0] = '\0';

    jpp_unnamed_comment(&unnamed, &profile, text);

    if (!profile.is_mute && profile.comments->len != 0) {
        (void) snprintf(comment, sizeof(comment), "%s",
                        jpp_profile_str(&profile,
                                        *jpp_vec_items(profile.comments,
                                                       uint32_t)).data);
    }

    jpp_is_str(comment, text, "the comment is the sentence");

    jpp_arena_destroy(&arena);

    return comment;
}


JPP_TEST(jpp_unnamed_test_few)
{
    static const jpp_unnamed_test_t  one[] = { { 1, ID, 3 } };
    static const jpp_unnamed_test_t  none[] = { { 1, "", 3 } };
    static const jpp_unnamed_test_t  twice[] = {
        { 1, ID, 3 }, { 2, "", 4 }, { 1, ID, 2 }
    };
    static const jpp_unnamed_test_t  builds[] = {
        { 1, "ab12", 3 }, { 1, "cd34", 4 }
    };
    static const jpp_unnamed_test_t  many[] = {
        { 1, "", 1 }, { 2, "", 5 }, { 3, "", 2 }, { 4, "", 3 }, { 5, "", 1 },
        { 6, "", 4 }
    };

    jpp_is_str(jpp_unnamed_test_comment(one, 0, "lib"), "", "all have names");
    jpp_is_str(jpp_unnamed_test_comment(one, 1, "lib"),
               "3 of 9 addresses have no name (lib1 3, build id " ID "): " HOW,
               "one file");
    jpp_is_str(jpp_unnamed_test_comment(none, 1, "lib"),
               "3 of 9 addresses have no name (lib1 3): " HOW,
               "a file without a build id");
    jpp_is_str(jpp_unnamed_test_comment(twice, 3, "lib"),
               "9 of 9 addresses have no name (lib1 5, build id " ID "; "
               "lib2 4): " HOW, "several mappings of a file");
    jpp_is_str(jpp_unnamed_test_comment(builds, 2, "lib"),
               "7 of 9 addresses have no name (lib1 4, build id cd34; "
               "lib1 3, build id ab12): " HOW, "two builds of a file");
    jpp_is_str(jpp_unnamed_test_comment(many, 6, "lib"),
               "16 of 9 addresses have no name (lib2 5; lib6 4; lib4 3; "
               "lib3 2): " HOW, "the files with the most addresses");
}


/* The longest names, numbers and build ids have room. */

JPP_TEST(jpp_unnamed_test_long)
{
    char                id[129], name[256];
    size_t              i, n;
    const char         *text, *end;
    jpp_unnamed_test_t  added[JPP_UNNAMED_FILES];

    memset(id, 'f', 128);
    id[128] = '\0';

    for (i = 0; i < JPP_UNNAMED_FILES; i++) {
        added[i].file = (uint32_t) i;
        added[i].build_id = id;
        added[i].n = UINT32_MAX;
    }

    memset(name, 'x', 255);
    name[255] = '\0';

    text = jpp_unnamed_test_comment(added, JPP_UNNAMED_FILES, name);
    n = strlen(text);

    for (i = 0, end = text; (end = strstr(end, id)) != NULL; i++) {
        end++;
    }

    jpp_is_u64(i, JPP_UNNAMED_FILES, "all build ids");
    jpp_ok(n > sizeof(HOW) && strcmp(text + n + 1 - sizeof(HOW), HOW) == 0,
           "nothing is cut: %s", text);
}
