
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
 * A file that was replaced after it was loaded is still there for the process
 * that runs it: where the path fails, /proc/self/exe and /proc/self/map_files
 * are tried, and for them the layout is no proof.
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
    bool              is_proven;   /* not only likely */
    jpp_build_id_t    build_id;
    jpp_build_id_t    key;         /* the same, or made of inode and time */
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
 * Is FILE what MAPPING was made of, by the build id BUILD_ID or, where that is
 * "", by device and inode?
 */
bool jpp_file_is_of(const jpp_file_t *file, const jpp_mapping_t *mapping,
    const char *build_id);

/*
 * Are A and B of one file that did not change in between?  A change of who
 * owns it, or may write to it, is one.
 */
bool jpp_file_is_same(const struct stat *a, const struct stat *b);

/* Was the last change so long ago that the next one gets another time? */
bool jpp_file_is_settled(const struct stat *st);

/* Could MAPPING have a file at all?  Not "[vdso]", and not anonymous memory. */
bool jpp_file_is_expected(const jpp_mapping_t *mapping);

/*
 * A descriptor of the debug file for build id ID below ROOT, or -1.  Links are
 * followed, for distributions that install these files so; what is inside
 * has to prove itself (jpp_elf.h).
 */
int jpp_file_open_debug(const jpp_build_id_t *id, const char *root);

/* Write ID as text. */
void jpp_build_id_text(const jpp_build_id_t *id, char text[JPP_BUILD_ID_TEXT]);


#endif /* _JPP_FILE_H_INCLUDED_ */
