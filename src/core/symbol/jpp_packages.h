
/*
 * Which package has the symbols of a stripped file: a table of files and one
 * of distributions.  Anything else gets a general sentence, without a command
 * to copy.
 *
 * Pure functions; the caller finds the facts of the host.
 */


#ifndef _JPP_PACKAGES_H_INCLUDED_
#define _JPP_PACKAGES_H_INCLUDED_


#include <stddef.h>
#include <stdint.h>


#define JPP_PACKAGES_TEXT  512

/* longer words of os-release are ignored */
#define JPP_HOST_WORD      32


typedef enum {
    JPP_PACKAGES_UNKNOWN = 0,
    JPP_PACKAGES_DEBIAN,
    JPP_PACKAGES_UBUNTU,
    JPP_PACKAGES_FEDORA,           /* and those derived from it */
    JPP_PACKAGES_SUSE,
    JPP_PACKAGES_ALPINE,
    JPP_PACKAGES
} jpp_packages_t;


/* Zeros: nothing is known about the host. */
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
