
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
 * Reads identities only; no state but the caller's tables; any thread.
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


/*
 * Files that were proven before.
 *
 * A report needs only the build ids of most files, and the cache of objects
 * has the others.  So a file is not opened again while stat() says that it is
 * unchanged: same device, inode, size and times of change.  A file that
 * changed so recently that another change might get the same time is not kept.
 *
 * A table of fixed size: a new row replaces the oldest.  One thread at a time.
 */

/* nginx and its libraries are 20 to 40 */
#define JPP_KNOWN_FILES  128


/* Zeros are an empty table. */
typedef struct {
    jpp_file_t  files[JPP_KNOWN_FILES];
    uint32_t    n;                       /* ever kept */
} jpp_known_t;


/*
 * Fill FILE, but for its descriptor (-1), with what is known of MAPPING's
 * file, whose build id is the text BUILD_ID ("": not known).  False: nothing
 * is known, or it has changed.
 */
bool jpp_known_find(const jpp_known_t *known, const jpp_mapping_t *mapping,
    const char *build_id, jpp_file_t *file);

/*
 * Keep FILE, in place of what was known.  A file is not kept if it is not
 * proven, was found elsewhere, or changed just now.
 */
void jpp_known_add(jpp_known_t *known, const jpp_file_t *file);


/*
 * Files whose functions cannot be read, and why: a file that is damaged, or
 * takes too much, stays refused until stat() says that it has changed.
 *
 * A table of fixed size: a new row replaces the oldest.  One thread at a time.
 */

#define JPP_REFUSED_FILES  32
#define JPP_REFUSED_TEXT   160


typedef struct {
    struct stat    st;
    jpp_code_t     code;
    char           text[JPP_REFUSED_TEXT];
} jpp_refused_file_t;


/* Zeros are an empty table. */
typedef struct {
    jpp_refused_file_t   files[JPP_REFUSED_FILES];
    uint32_t             n;        /* ever kept */
} jpp_refused_t;


/* Was FILE, as it is now, refused?  Then ERR, or NULL, says why. */
bool jpp_refused_find(const jpp_refused_t *refused, const jpp_file_t *file,
    jpp_err_t *err);

/*
 * Remember that FILE was refused for the reason ERR; but not if the reason may
 * pass, such as a failed system call, or if the file changed just now.
 */
void jpp_refused_add(jpp_refused_t *refused, const jpp_file_t *file,
    const jpp_err_t *err);


#endif /* _JPP_FILE_H_INCLUDED_ */
