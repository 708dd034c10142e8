
/* How many addresses have no name, in which builds of which files. */


#include "jpp_test_main.h"
#include "jpp_test_arena.h"
#include "jpp_test_golden.h"
#include "jpp_symbolize.h"


#define ID     "0123456789abcdef0123456789abcdef01234567"

#define HOW    "install their debug symbols, then reload. For nginx: "         \
               "nginx-dbgsym on Debian and Ubuntu, nginx-dbg from nginx.org. " \
               "From debuginfod: $DEBUGINFOD_URLS/buildid/ID/debuginfo"


typedef struct {
    uint32_t          file;        /* its number */
    const char       *build_id;
    uint32_t          n;
} jpp_unnamed_test_t;


/* Nine locations, and the N ADDED ones. */

static const char *
jpp_unnamed_test_comment(const jpp_unnamed_test_t *added, size_t n,
    const char *name)
{
    char            path[512];
    const char     *said;
    size_t          i;
    jpp_mapping_t   mapping = { 0 };
    jpp_profile_t   profile;
    jpp_unnamed_t   unnamed = { 0 };

    static char  text[JPP_UNNAMED_TEXT];

    jpp_test_anew();
    jpp_profile_of_space(&profile, &arena);

    for (i = 0; i < 9; i++) {
        (void) jpp_profile_location(&profile, 0, i);
    }

    for (i = 0; i < n; i++) {
        jpp_print(path, "/x/%s%" PRIu32, name, added[i].file);

        mapping.file = jpp_profile_string(&profile, path, strlen(path));
        mapping.build_id = jpp_profile_string(&profile, added[i].build_id,
                                              strlen(added[i].build_id));

        jpp_unnamed_add(&unnamed, &mapping, added[i].n);
    }

    jpp_unnamed_comment(&unnamed, &profile, text);

    said = jpp_comments_of(&profile);
    jpp_ok(!profile.is_mute && strncmp(said, text, strlen(text)) == 0
           && strlen(said) == strlen(text) + (*text != '\0'),
           "the comment is the sentence");

    return text;
}


JPP_TEST(jpp_unnamed_test_few)
{
    size_t  i;

    static const struct {
        const char          *what;
        size_t               n;
        jpp_unnamed_test_t   added[6];
    } rows[] = {
        { "all have names", 0, { { 1, ID, 3 } } },
        { "one file", 1, { { 1, ID, 3 } } },
        { "a file without a build id", 1, { { 1, "", 3 } } },
        { "several mappings of a file", 3,
          { { 1, ID, 3 }, { 2, "", 4 }, { 1, ID, 2 } } },
        { "two builds of a file", 2, { { 1, "ab12", 3 }, { 1, "cd34", 4 } } },
        { "the files with the most addresses", 6,
          { { 1, "", 1 }, { 2, "", 5 }, { 3, "", 2 }, { 4, "", 5 },
            { 6, "", 4 }, { 5, "", 2 } } }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_shows(jpp_unnamed_test_comment(rows[i].added, rows[i].n, "lib"),
                  "%s", rows[i].what);
    }
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
