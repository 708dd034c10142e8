
/*
 * Opens the file of a mapping, and proves that it is the file that was loaded.
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

#include "jpp_symbolize.h"

#include <sys/sysmacros.h>


/*
 * For headers, notes and segments of one file: small, so that the arena maps
 * single pages, because every mapping of every report needs it.
 */
#define JPP_FILE_ARENA    (256 * 1024)


static jpp_code_t
jpp_file_check(int fd, struct stat *st, jpp_err_t *err)
{
    if (fstat(fd, st) == -1) {
        return jpp_err_sys(err, errno, "the file cannot be examined");
    }

    if (!S_ISREG(st->st_mode)) {
        return jpp_err_set(err, JPP_ERR_INPUT, "it is not a regular file");
    }

    if (st->st_uid != 0 && st->st_uid != geteuid()) {
        return jpp_err_set(err, JPP_ERR_INPUT,
                           "the file belongs to user %" PRIu64 ", who is "
                           "neither root nor the user of this process",
                           (uint64_t) st->st_uid);
    }

    if ((st->st_mode & S_IWOTH) != 0) {
        return jpp_err_set(err, JPP_ERR_INPUT,
                           "everybody may write to the file");
    }

    return JPP_OK;
}


/* Would the kernel map an executable segment of ELF as MAPPING is? */

static bool
jpp_file_is_laid_out(const jpp_elf_t *elf, const jpp_mapping_t *mapping)
{
    uint64_t                  page, start, end;
    const jpp_elf_segment_t  *segment;

    page = (uint64_t) sysconf(_SC_PAGESIZE);

    jpp_each(segment, elf->segments, elf->n_segments) {
        start = segment->offset & ~(page - 1);
        end = (segment->offset + segment->size + page - 1) & ~(page - 1);

        if (start == mapping->offset
            && end - start == mapping->limit - mapping->start)
        {
            return true;
        }
    }

    return false;
}


static jpp_code_t
jpp_file_prove(jpp_file_t *file, const struct stat *st,
    const jpp_mapping_t *mapping, const char *build_id, const jpp_elf_t *elf,
    jpp_err_t *err)
{
    uint64_t  device;

    if (build_id[0] != '\0') {
        file->is_proven = strcmp(file->build_id, build_id) == 0;

        return file->is_proven
               ? JPP_OK
               : jpp_err_set(err, JPP_ERR_INPUT,
                             "the file on disk has another build id (%s) than "
                             "what was loaded (%s)",
                             file->build_id[0] != '\0' ? file->build_id
                                                       : "none", build_id);
    }

    device = (uint64_t) major(st->st_dev) << 32 | minor(st->st_dev);
    file->is_proven = st->st_ino == mapping->inode && device == mapping->device;

    if (!file->is_proven && mapping->deleted) {
        return jpp_err_set(err, JPP_ERR_INPUT,
                           "the file was replaced after it was loaded");
    }

    if (!file->is_proven && !jpp_file_is_laid_out(elf, mapping)) {
        return jpp_err_set(err, JPP_ERR_INPUT,
                           "the file on disk is not the one that was loaded");
    }

    return JPP_OK;
}


static jpp_code_t
jpp_file_try(jpp_file_t *file, const jpp_mapping_t *mapping,
    const char *build_id, const char *path, int flags, jpp_err_t *err)
{
    jpp_elf_t    elf;
    jpp_code_t   rc;
    jpp_arena_t  arena;
    struct stat  st;

    memset(file, 0, sizeof(jpp_file_t));

    file->fd = open(path, O_RDONLY|O_NONBLOCK|O_CLOEXEC|flags);

    if (file->fd == -1) {
        return jpp_err_sys(err, errno, "the file cannot be opened");
    }

    jpp_arena_init(&arena, JPP_FILE_ARENA);

    rc = jpp_file_check(file->fd, &st, err);

    if (rc == JPP_OK) {
        rc = jpp_elf_read(&elf, &arena, file->fd, -1, JPP_ELF_IDENTITY, err);
    }

    if (rc == JPP_OK) {
        jpp_build_id_text(&elf.build_id, file->build_id);

        rc = jpp_file_prove(file, &st, mapping, build_id, &elf, err);
    }

    jpp_arena_destroy(&arena);

    if (rc != JPP_OK) {
        jpp_file_close(file);
        return rc;
    }

    /* any change of it has a new time */

    jpp_print(file->identity,
              "%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64 ".%ld",
              (uint64_t) st.st_dev, (uint64_t) st.st_ino,
              (uint64_t) st.st_size, (uint64_t) st.st_ctim.tv_sec,
              (long) st.st_ctim.tv_nsec);

    return JPP_OK;
}


jpp_code_t
jpp_file_open(jpp_file_t *file, const jpp_mapping_t *mapping,
    const char *build_id, jpp_err_t *err)
{
    char           path[64];
    jpp_code_t     rc;
    struct stat    st;
    jpp_mapping_t  strict;

    rc = jpp_file_try(file, mapping, build_id, mapping->path, O_NOFOLLOW, err);

    if (rc == JPP_OK) {
        return JPP_OK;
    }

    /* the kernel's own links to the file that is mapped */

    strict = *mapping;
    strict.deleted = true;

    jpp_print(path, "/proc/self/map_files/%" PRIx64 "-%" PRIx64,
              mapping->start, mapping->limit);

    return jpp_file_try(file, &strict, build_id, path, 0, NULL) == JPP_OK
           || (stat("/proc/self/exe", &st) == 0
               && st.st_ino == mapping->inode
               && jpp_file_try(file, &strict, build_id, "/proc/self/exe", 0,
                               NULL)
                  == JPP_OK)
           ? JPP_OK : rc;
}


void
jpp_file_close(jpp_file_t *file)
{
    if (file->fd != -1) {
        (void) close(file->fd);
        file->fd = -1;
    }
}


bool
jpp_file_is_expected(const jpp_mapping_t *mapping)
{
    return mapping->inode != 0 && mapping->path[0] == '/';
}


int
jpp_file_open_debug(const char *build_id, const char *root)
{
    int          fd;
    char         path[PATH_MAX];
    struct stat  st;

    /* one byte would name nothing */

    if (strlen(build_id) <= 2
        || snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", root,
                    build_id, build_id + 2)
           >= (int) sizeof(path))
    {
        return -1;
    }

    fd = open(path, O_RDONLY|O_NONBLOCK|O_CLOEXEC);

    if (fd != -1 && jpp_file_check(fd, &st, NULL) != JPP_OK) {
        (void) close(fd);
        return -1;
    }

    return fd;
}


void
jpp_build_id_text(const jpp_build_id_t *id, char text[JPP_BUILD_ID_TEXT])
{
    uint32_t           i;
    static const char  hex[] = "0123456789abcdef";

    for (i = 0; i < id->len; i++) {
        text[2 * i] = hex[id->data[i] >> 4];
        text[2 * i + 1] = hex[id->data[i] & 15];
    }

    text[2 * i] = '\0';
}
