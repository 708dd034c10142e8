
/*
 * os-release(5): a variable a line, as a shell would read it; values may be
 * quoted.
 */


#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "jpp_packages.h"


typedef struct {
    const char       *file;        /* how its name begins */
    const char       *names[JPP_PACKAGES];
    const char       *t64;         /* since time_t has 64 bits everywhere: */
                                   /*   Debian 13, Ubuntu 24 */
} jpp_package_t;


typedef struct {
    const char       *id;          /* a word of ID or ID_LIKE */
    jpp_packages_t    packages;
} jpp_distribution_t;


typedef struct {
    const char       *install;     /* before the packages */
    const char       *archive;     /* after them, before the codename */
    const char       *main;        /* after that */
    const char       *included;    /* a package that needs no archive */
} jpp_command_t;


static const jpp_package_t  jpp_package_table[] = {
    { "nginx", { NULL, "nginx-dbgsym", "nginx-dbgsym", "nginx",
                 "nginx-debuginfo", "nginx-dbg" }, NULL },
    { "libssl.so.3", { NULL, "libssl3-dbgsym", "libssl3-dbgsym",
                       "openssl-libs", "libopenssl3-debuginfo",
                       "openssl-dbg" },
      "libssl3t64-dbgsym" },
    { "libcrypto.so.3", { NULL, "libssl3-dbgsym", "libssl3-dbgsym",
                          "openssl-libs", "libopenssl3-debuginfo",
                          "openssl-dbg" },
      "libssl3t64-dbgsym" },
    { "libjemalloc.so.2", { NULL, "libjemalloc2-dbgsym",
                            "libjemalloc2-dbgsym", "jemalloc",
                            "libjemalloc2-debuginfo", "jemalloc-dbg" }, NULL },
    { "libz.so.1", { NULL, "zlib1g-dbgsym", "zlib1g-dbgsym", "zlib",
                     "libz1-debuginfo", "zlib-dbg" }, NULL },
    { "libpcre2-8.so.0", { NULL, "libpcre2-8-0-dbgsym",
                           "libpcre2-8-0-dbgsym", "pcre2",
                           "libpcre2-8-0-debuginfo", "pcre2-dbg" }, NULL },
    { "libcrypt.so.1", { NULL, "libcrypt1-dbgsym", "libcrypt1-dbgsym",
                         "libxcrypt", "libcrypt1-debuginfo", NULL }, NULL },
    { "libstdc++.so.6", { NULL, "libstdc++6-dbgsym", "libstdc++6-dbgsym",
                          "libstdc++", "libstdc++6-debuginfo", NULL }, NULL },
    { "libc.so.6", { NULL, "libc6-dbg", "libc6-dbg", "glibc",
                     "glibc-debuginfo", NULL }, NULL },
    { "libm.so.6", { NULL, "libc6-dbg", "libc6-dbg", "glibc",
                     "glibc-debuginfo", NULL }, NULL },
    { "ld-linux", { NULL, "libc6-dbg", "libc6-dbg", "glibc",
                    "glibc-debuginfo", NULL }, NULL },
    { "ld-musl", { NULL, NULL, NULL, NULL, NULL, "musl-dbg" }, NULL },
    { NULL, { NULL }, NULL }
};


static const jpp_distribution_t  jpp_distributions[] = {
    { "debian", JPP_PACKAGES_DEBIAN },
    { "ubuntu", JPP_PACKAGES_UBUNTU },
    { "fedora", JPP_PACKAGES_FEDORA },
    { "rhel", JPP_PACKAGES_FEDORA },
    { "centos", JPP_PACKAGES_FEDORA },
    { "suse", JPP_PACKAGES_SUSE },
    { "opensuse", JPP_PACKAGES_SUSE },
    { "sles", JPP_PACKAGES_SUSE },
    { "alpine", JPP_PACKAGES_ALPINE },
    { NULL, JPP_PACKAGES_UNKNOWN }
};


static const jpp_command_t  jpp_commands[JPP_PACKAGES] = {
    { NULL, NULL, NULL, NULL },
    { "apt install", " (deb MIRROR/debian-debug ", "-debug main)",
      "libc6-dbg" },
    { "apt install", " (from Ubuntu's archive of debug symbols, ", ")",
      "libc6-dbg" },
    { "dnf debuginfo-install", NULL, NULL, NULL },
    { "zypper install", NULL, NULL, NULL },
    { "apk add", NULL, NULL, NULL }
};


/* The first word of VALUE that is in the table, or begins as one does. */

static void
jpp_host_id(jpp_host_t *host, const char *value, size_t len)
{
    size_t                     i, word;
    const jpp_distribution_t  *d;

    for (i = 0; i < len && host->packages == JPP_PACKAGES_UNKNOWN;
         i += word + 1)
    {
        for (word = 0; i + word < len && value[i + word] != ' '
                       && value[i + word] != '-'; word++)
        {
            /* void */
        }

        for (d = jpp_distributions; d->id != NULL; d++) {
            if (strlen(d->id) == word && memcmp(d->id, value + i, word) == 0) {
                host->packages = d->packages;
                break;
            }
        }
    }
}


static void
jpp_host_line(jpp_host_t *host, const char *line, size_t len)
{
    size_t       i, n;
    const char  *value;

    value = memchr(line, '=', len);
    if (value == NULL) {
        return;
    }

    n = (size_t) (value++ - line);
    len -= n + 1;

    if (len >= 2 && (*value == '"' || *value == '\'')
        && value[len - 1] == *value)
    {
        value++;
        len -= 2;
    }

    if (n == 2 && memcmp(line, "ID", 2) == 0) {

        /* ID comes before ID_LIKE */

        host->packages = JPP_PACKAGES_UNKNOWN;
        jpp_host_id(host, value, len);

    } else if (n == 7 && memcmp(line, "ID_LIKE", 7) == 0) {
        jpp_host_id(host, value, len);

    } else if (n == 10 && memcmp(line, "VERSION_ID", 10) == 0) {
        host->version = 0;

        for (i = 0; i < len && i < 4 && value[i] >= '0' && value[i] <= '9';
             i++)
        {
            host->version = host->version * 10 + (uint32_t) (value[i] - '0');
        }

    } else if (n == 16 && memcmp(line, "VERSION_CODENAME", 16) == 0
               && len < JPP_HOST_WORD)
    {
        memcpy(host->codename, value, len);
        host->codename[len] = '\0';
    }
}


void
jpp_host_read(jpp_host_t *host, const char *text, size_t len)
{
    const char  *end;

    memset(host, 0, sizeof(jpp_host_t));

    while (len != 0) {
        end = memchr(text, '\n', len);

        jpp_host_line(host, text, end != NULL ? (size_t) (end - text) : len);

        if (end == NULL) {
            return;
        }

        len -= (size_t) (end + 1 - text);
        text = end + 1;
    }
}


static const char *
jpp_packages_find(const jpp_host_t *host, const char *file)
{
    const jpp_package_t  *row;

    for (row = jpp_package_table; row->file != NULL; row++) {

        if (strncmp(file, row->file, strlen(row->file)) != 0) {
            continue;
        }

        if (row->t64 != NULL
            && ((host->packages == JPP_PACKAGES_DEBIAN && host->version >= 13)
                || (host->packages == JPP_PACKAGES_UBUNTU
                    && host->version >= 24)))
        {
            return row->t64;
        }

        return row->names[host->packages];
    }

    return NULL;
}


/* What does not fit is left out: files and names are few. */

static void
jpp_packages_add(char *text, const char *fmt, ...)
{
    size_t   len;
    va_list  args;

    len = strlen(text);

    va_start(args, fmt);
    (void) vsnprintf(text + len, JPP_PACKAGES_TEXT - len, fmt, args);
    va_end(args);
}


void
jpp_packages_cure(const jpp_host_t *host, const char *const *files, size_t n,
    char text[JPP_PACKAGES_TEXT])
{
    bool                  needs_archive, has_all;
    size_t                i, k;
    const char           *name;
    const jpp_command_t  *command;

    command = &jpp_commands[host->packages];
    needs_archive = false;
    has_all = true;
    text[0] = '\0';

    for (i = 0; i < n; i++) {
        name = jpp_packages_find(host, files[i]);

        if (name == NULL) {
            has_all = false;
            continue;
        }

        for (k = 0; k < i && jpp_packages_find(host, files[k]) != name; k++) {
            /* void */
        }

        if (k < i) {
            continue;
        }

        jpp_packages_add(text, "%s %s", text[0] == '\0' ? command->install
                                                        : "", name);

        needs_archive |= command->included == NULL
                         || strcmp(name, command->included) != 0;
    }

    if (text[0] == '\0') {
        jpp_packages_add(text, "install their debug symbols");

    } else {
        if (needs_archive && command->archive != NULL
            && host->codename[0] != '\0')
        {
            jpp_packages_add(text, "%s%s%s", command->archive, host->codename,
                             command->main);
        }

        if (!has_all) {
            jpp_packages_add(text, ", and the debug symbols of the others");
        }
    }

    jpp_packages_add(text, ", then reload");
}
