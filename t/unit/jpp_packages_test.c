
/* What has no name, and which package brings it. */


#include "jpp_intern.h"
#include "jpp_test.h"
#include "jpp_unnamed.h"


#define JPP_TEST_CAP  (1024 * 1024)

#define DEBIAN  "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"             \
                "VERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\nID=debian\n"


static void jpp_packages_test_hosts(void);
static void jpp_packages_test_cures(void);
static void jpp_packages_test_long(void);
static void jpp_packages_test_unnamed(void);
static const char *jpp_packages_test_comment(const uint32_t (*added)[2],
    size_t n, const jpp_host_t *host);


static const jpp_value_type_t  types[] = { { "space", "bytes", false, 0, 0 } };


int
main(void)
{
    jpp_packages_test_hosts();
    jpp_packages_test_cures();
    jpp_packages_test_long();
    jpp_packages_test_unnamed();

    return jpp_done();
}


static void
jpp_packages_test_hosts(void)
{
    size_t      i;
    jpp_host_t  host;

    static const struct {
        const char      *text;
        jpp_packages_t   packages;
        uint32_t         version;
        const char      *codename;
    } rows[] = {
        { "", JPP_PACKAGES_UNKNOWN, 0, "" },
        { DEBIAN, JPP_PACKAGES_DEBIAN, 12, "bookworm" },
        { "ID=ubuntu\nID_LIKE=debian\nVERSION_ID='24.04'",
          JPP_PACKAGES_UBUNTU, 24, "" },
        { "ID_LIKE=debian\nID=ubuntu\n", JPP_PACKAGES_UBUNTU, 0, "" },
        { "ID=mint\nID_LIKE=\"ubuntu debian\"\n", JPP_PACKAGES_UBUNTU, 0, "" },
        { "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n",
          JPP_PACKAGES_FEDORA, 0, "" },
        { "ID=\"opensuse-leap\"\nVERSION_ID=\"15.6\"\n", JPP_PACKAGES_SUSE, 15,
          "" },
        { "ID=alpine\nVERSION_ID=3.20.1\n", JPP_PACKAGES_ALPINE, 3, "" },
        { "ID=debianish\n", JPP_PACKAGES_UNKNOWN, 0, "" },
        { "ID=deb\n", JPP_PACKAGES_UNKNOWN, 0, "" },
        { "ID\nID=\n=\n\n\"\nID=\"\nVERSION_ID=123456789\n",
          JPP_PACKAGES_UNKNOWN, 1234, "" },
        { "VERSION_ID=9999\nVERSION_ID=9998\n", JPP_PACKAGES_UNKNOWN, 9998,
          "" },
        { "VERSION_CODENAME=abcdefghijabcdefghijabcdefghija\n",
          JPP_PACKAGES_UNKNOWN, 0, "abcdefghijabcdefghijabcdefghija" },
        { "VERSION_CODENAME=abcdefghijabcdefghijabcdefghijab\n",
          JPP_PACKAGES_UNKNOWN, 0, "" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_host_read(&host, rows[i].text, strlen(rows[i].text));

        jpp_is_u64(host.packages, rows[i].packages, "host %zu", i);
        jpp_is_u64(host.version, rows[i].version, "its version");
        jpp_is_str(host.codename, rows[i].codename, "its codename");
    }
}


static void
jpp_packages_test_cures(void)
{
    char        text[JPP_PACKAGES_TEXT];
    size_t      i, n;
    jpp_host_t  host;

    static const struct {
        const char  *host;
        const char  *files[4];
        const char  *cure;
    } rows[] = {
        { DEBIAN, { "nginx", NULL },
          "apt install nginx-dbgsym (deb MIRROR/debian-debug bookworm-debug "
          "main), then reload" },
        { DEBIAN, { "libssl.so.3", "libcrypto.so.3", "libc.so.6", NULL },
          "apt install libssl3-dbgsym libc6-dbg (deb MIRROR/debian-debug "
          "bookworm-debug main), then reload" },
        { DEBIAN, { "libc.so.6", "libm.so.6", NULL },
          "apt install libc6-dbg, then reload" },
        { DEBIAN, { "libfoo.so.1", "libz.so.1.2.13", NULL },
          "apt install zlib1g-dbgsym (deb MIRROR/debian-debug bookworm-debug "
          "main), and the debug symbols of the others, then reload" },
        { DEBIAN, { "libfoo.so.1", NULL },
          "install their debug symbols, then reload" },
        { "ID=debian\n", { "nginx", NULL },
          "apt install nginx-dbgsym, then reload" },
        { "ID=debian\nVERSION_ID=13\n", { "libssl.so.3", NULL },
          "apt install libssl3t64-dbgsym, then reload" },
        { "ID=ubuntu\nVERSION_ID=22.04\nVERSION_CODENAME=jammy\n",
          { "libcrypto.so.3", NULL },
          "apt install libssl3-dbgsym (from Ubuntu's archive of debug "
          "symbols, jammy), then reload" },
        { "ID=ubuntu\nVERSION_ID=24.04\n", { "libcrypto.so.3", NULL },
          "apt install libssl3t64-dbgsym, then reload" },
        { "ID=fedora\nVERSION_ID=41\n", { "nginx", "libc.so.6", NULL },
          "dnf debuginfo-install nginx glibc, then reload" },
        { "ID=sles\n", { "libz.so.1", NULL },
          "zypper install libz1-debuginfo, then reload" },
        { "ID=alpine\n", { "ld-musl-x86_64.so.1", NULL },
          "apk add musl-dbg, then reload" },
        { "ID=alpine\n", { "libstdc++.so.6", NULL },
          "install their debug symbols, then reload" },
        { "ID=other\n", { "nginx", NULL },
          "install their debug symbols, then reload" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_host_read(&host, rows[i].host, strlen(rows[i].host));

        for (n = 0; n < 4 && rows[i].files[n] != NULL; n++) { /* void */ }

        jpp_packages_cure(&host, rows[i].files, n, text);
        jpp_is_str(text, rows[i].cure, "cure %zu", i);
    }
}


/* More files than there is room for their packages. */

static void
jpp_packages_test_long(void)
{
    char        text[JPP_PACKAGES_TEXT];
    jpp_host_t  host;

    static const char *const  files[] = {
        "nginx", "libssl.so.3", "libjemalloc.so.2", "libz.so.1",
        "libpcre2-8.so.0", "libcrypt.so.1", "libstdc++.so.6", "libc.so.6"
    };

    jpp_host_read(&host, DEBIAN, sizeof(DEBIAN) - 1);
    jpp_packages_cure(&host, files, 8, text);

    jpp_ok(strlen(text) < JPP_PACKAGES_TEXT
           && strstr(text, " libc6-dbg (deb MIRROR") != NULL,
           "all packages: %s", text);
}


static void
jpp_packages_test_unnamed(void)
{
    jpp_host_t  host;

    static const uint32_t  one[][2] = { { 1, 3 } };
    static const uint32_t  twice[][2] = { { 1, 3 }, { 2, 4 }, { 1, 2 } };
    static const uint32_t  many[][2] = {
        { 1, 1 }, { 2, 5 }, { 3, 2 }, { 4, 3 }, { 5, 1 }, { 6, 4 }
    };

    jpp_host_read(&host, DEBIAN, sizeof(DEBIAN) - 1);

    jpp_is_str(jpp_packages_test_comment(one, 0, &host), "", "all have names");
    jpp_is_str(jpp_packages_test_comment(one, 1, &host),
               "3 of 9 addresses have no name (lib1 3): install their debug "
               "symbols, then reload", "one file");
    jpp_is_str(jpp_packages_test_comment(twice, 3, &host),
               "9 of 9 addresses have no name (lib1 5, lib2 4): install their "
               "debug symbols, then reload", "several mappings of a file");
    jpp_is_str(jpp_packages_test_comment(many, 6, &host),
               "16 of 9 addresses have no name (lib2 5, lib6 4, lib4 3, "
               "lib3 2): install their debug symbols, then reload",
               "the packages with the most addresses");
}


/* Nine locations, and the ADDED ones of "/x/libI". */

static const char *
jpp_packages_test_comment(const uint32_t (*added)[2], size_t n,
    const jpp_host_t *host)
{
    char            path[32];
    size_t          i;
    jpp_arena_t     arena;
    jpp_profile_t   profile;
    jpp_unnamed_t   unnamed;

    static char  text[1024];

    jpp_arena_init(&arena, JPP_TEST_CAP);
    (void) jpp_profile_init(&profile, &arena, types, 1);

    memset(&unnamed, 0, sizeof(jpp_unnamed_t));

    for (i = 0; i < 9; i++) {
        (void) jpp_profile_location(&profile, 0, i);
    }

    for (i = 0; i < n; i++) {
        (void) snprintf(path, sizeof(path), "/x/lib%u", added[i][0]);

        jpp_unnamed_add(&unnamed, jpp_profile_string(&profile, path,
                                                     strlen(path)),
                        added[i][1]);
    }

    text[0] = '\0';

    if (jpp_unnamed_comment(&unnamed, &profile, host, text)
        && profile.comments->len != 0)
    {
        (void) snprintf(text, sizeof(text), "%s",
                        jpp_profile_str(&profile,
                                        *jpp_vec_items(profile.comments,
                                                       uint32_t)).data);
    }

    jpp_arena_destroy(&arena);

    return text;
}
