
/*
 * The file behind a mapping: how it is opened, and the proof that it is the
 * one that was loaded.
 *
 * Files are opened with O_NOFOLLOW|O_NONBLOCK|O_CLOEXEC and used only when
 * regular, owned by root or by us, not writable by others, and not too large.
 * Proof is
 *
 *     the build id          where the mapping's is known: equal, or refused
 *                           (the only proof on overlayfs and btrfs, where the
 *                           kernel lists another device than stat() has)
 *     device and inode      else: equal
 *     the layout            else, unless the mapping's file is known to be
 *                           deleted: an executable segment lies where the
 *                           mapping does; likely, but no proof
 *
 * A process can still open a file that was replaced after it was loaded: if
 * the path fails, /proc/self/exe and /proc/self/map_files are tried; for them
 * the layout is no proof.
 *
 * Reads identities only; no state; any thread.
 */


#ifndef _JPP_FILE_H_INCLUDED_
#define _JPP_FILE_H_INCLUDED_


#include <sys/stat.h>

#include "jpp_elf.h"
#include "jpp_err.h"
#include "jpp_profile.h"


/* lower-case hexadecimal and the NUL */
#define JPP_BUILD_ID_TEXT  (2 * JPP_BUILD_ID_MAX + 1)


typedef struct {
    int               fd;          /* -1: it is not open */
    struct stat       st;
    bool              is_at_path;  /* of the mapping */
    bool              is_proven;   /* not just likely */
    jpp_build_id_t    build_id;
    jpp_build_id_t    key;         /* the same, or from inode and time */
    uint64_t          device;      /* as the mapping has them */
    uint64_t          inode;
} jpp_file_t;


/*
 * Open the caller's FILE for MAPPING, whose build id is the text BUILD_ID
 * ("": not known).  The sentence of an error is about the file at the
 * mapping's path.
 */
jpp_code_t jpp_file_open(jpp_file_t *file, const jpp_mapping_t *mapping,
    const char *build_id, jpp_err_t *err);

/* Close what was opened. */
void jpp_file_close(jpp_file_t *file);

/*
 * Is FILE what MAPPING maps, by the build id BUILD_ID or, if that is "", by
 * device and inode?
 */
bool jpp_file_is_of(const jpp_file_t *file, const jpp_mapping_t *mapping,
    const char *build_id);

/*
 * Are A and B one file, unchanged?  Changes of its owner and permissions
 * count.
 */
bool jpp_file_is_same(const struct stat *a, const struct stat *b);

/* Was the last change long enough ago that another one gets a new time? */
bool jpp_file_is_settled(const struct stat *st);

/* Could MAPPING have a file? "[vdso]" and anonymous memory could not. */
bool jpp_file_is_expected(const jpp_mapping_t *mapping);

/*
 * A descriptor of the debug file for build id ID below ROOT, or -1.  Links are
 * followed, because some distributions install them; the build id inside
 * proves the file (jpp_elf.h).
 */
int jpp_file_open_debug(const jpp_build_id_t *id, const char *root);

/* Write ID as text. */
void jpp_build_id_text(const jpp_build_id_t *id, char text[JPP_BUILD_ID_TEXT]);


#endif /* _JPP_FILE_H_INCLUDED_ */
