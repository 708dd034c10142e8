
/*
 * Which package has the symbols that a file lost: one table of files and one
 * of distributions.  What is in neither has no cure here that can be copied,
 * and gets a general one.
 *
 * Pure functions; the facts of the host are the caller's to find.
 */


#ifndef _JPP_PACKAGES_H_INCLUDED_
#define _JPP_PACKAGES_H_INCLUDED_


#include <stddef.h>
#include <stdint.h>


#define JPP_PACKAGES_TEXT  512

/* a word of os-release that is longer is not believed */
#define JPP_HOST_WORD      32


typedef enum {
    JPP_PACKAGES_UNKNOWN = 0,
    JPP_PACKAGES_DEBIAN,
    JPP_PACKAGES_UBUNTU,
    JPP_PACKAGES_FEDORA,           /* and all that are made like it */
    JPP_PACKAGES_SUSE,
    JPP_PACKAGES_ALPINE,
    JPP_PACKAGES
} jpp_packages_t;


/* Zeros are a host that nothing is known about. */
typedef struct {
    jpp_packages_t    packages;
    uint32_t          version;     /* of the distribution; 0: unknown */
    char              codename[JPP_HOST_WORD];
} jpp_host_t;


/* Fill HOST from the LEN bytes of os-release at TEXT. */
void jpp_host_read(jpp_host_t *host, const char *text, size_t len);

/*
 * Write what installs the symbols of the N FILES, names without a folder, to
 * TEXT: "apt install nginx-dbgsym ...".
 */
void jpp_packages_cure(const jpp_host_t *host, const char *const *files,
    size_t n, char text[JPP_PACKAGES_TEXT]);


#endif /* _JPP_PACKAGES_H_INCLUDED_ */
