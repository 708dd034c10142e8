
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
 * Reads identities only; no state but the caller's tables; any thread.
 */

#include "jpp_symbolize.h"

#include <sys/sysmacros.h>


/*
 * For headers, notes and segments of one file: small, so that the arena maps
 * single pages, because every mapping of every report needs it.
 */
#define JPP_FILE_ARENA    (256 * 1024)

/* times of files have the precision of the kernel's tick, or of seconds */
#define JPP_FILE_SETTLED  2


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
    uint32_t                  i;
    uint64_t                  page, start, end;
    const jpp_elf_segment_t  *segment;

    page = (uint64_t) sysconf(_SC_PAGESIZE);

    for (i = 0; i < elf->n_segments; i++) {
        segment = &elf->segments[i];

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
jpp_file_prove(jpp_file_t *file, const jpp_mapping_t *mapping,
    const char *build_id, const jpp_elf_t *elf, jpp_err_t *err)
{
    char  text[JPP_BUILD_ID_TEXT];

    file->is_proven = jpp_file_is_of(file, mapping, build_id);

    if (file->is_proven) {
        return JPP_OK;
    }

    if (build_id[0] != '\0') {
        jpp_build_id_text(&file->build_id, text);

        return jpp_err_set(err, JPP_ERR_INPUT,
                           "the file on disk has another build id (%s) than "
                           "what was loaded (%s)",
                           text[0] != '\0' ? text : "none", build_id);
    }

    if (mapping->deleted) {
        return jpp_err_set(err, JPP_ERR_INPUT,
                           "the file was replaced after it was loaded");
    }

    if (!jpp_file_is_laid_out(elf, mapping)) {
        return jpp_err_set(err, JPP_ERR_INPUT,
                           "the file on disk is not the one that was loaded");
    }

    return JPP_OK;
}


static void
jpp_file_key(jpp_file_t *file)
{
    const uint64_t  identity[] = {
        file->st.st_dev, file->st.st_ino, (uint64_t) file->st.st_size,
        (uint64_t) file->st.st_mtim.tv_sec, (uint64_t) file->st.st_mtim.tv_nsec
    };

    if (file->build_id.len != 0) {
        file->key = file->build_id;
        return;
    }

    memcpy(file->key.data, identity, sizeof(identity));
    file->key.len = sizeof(identity);
}


static jpp_code_t
jpp_file_try(jpp_file_t *file, const jpp_mapping_t *mapping,
    const char *build_id, const char *path, int flags, jpp_err_t *err)
{
    jpp_elf_t    elf;
    jpp_code_t   rc;
    jpp_arena_t  arena;

    memset(file, 0, sizeof(jpp_file_t));

    file->fd = open(path, O_RDONLY|O_NONBLOCK|O_CLOEXEC|flags);

    if (file->fd == -1) {
        return jpp_err_sys(err, errno, "the file cannot be opened");
    }

    jpp_arena_init(&arena, JPP_FILE_ARENA);

    rc = jpp_file_check(file->fd, &file->st, err);

    if (rc == JPP_OK) {
        rc = jpp_elf_read(&elf, &arena, file->fd, -1, JPP_ELF_IDENTITY, err);
    }

    if (rc == JPP_OK) {
        file->build_id = elf.build_id;

        rc = jpp_file_prove(file, mapping, build_id, &elf, err);
    }

    jpp_arena_destroy(&arena);

    if (rc != JPP_OK) {
        jpp_file_close(file);
        return rc;
    }

    jpp_file_key(file);

    file->device = mapping->device;
    file->inode = mapping->inode;

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
        file->is_at_path = true;
        return JPP_OK;
    }

    /* the kernel's own links to the file that is mapped */

    strict = *mapping;
    strict.deleted = true;

    (void) snprintf(path, sizeof(path),
                    "/proc/self/map_files/%" PRIx64 "-%" PRIx64,
                    mapping->start, mapping->limit);

    if (jpp_file_try(file, &strict, build_id, path, 0, NULL) == JPP_OK
        || (stat("/proc/self/exe", &st) == 0
            && st.st_ino == mapping->inode
            && jpp_file_try(file, &strict, build_id, "/proc/self/exe", 0,
                            NULL)
               == JPP_OK))
    {
        return JPP_OK;
    }

    return rc;
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
jpp_file_is_of(const jpp_file_t *file, const jpp_mapping_t *mapping,
    const char *build_id)
{
    char      text[JPP_BUILD_ID_TEXT];
    uint64_t  device;

    if (build_id[0] != '\0') {
        jpp_build_id_text(&file->build_id, text);

        return strcmp(text, build_id) == 0;
    }

    device = (uint64_t) major(file->st.st_dev) << 32 | minor(file->st.st_dev);

    return file->st.st_ino == mapping->inode && device == mapping->device;
}


bool
jpp_file_is_expected(const jpp_mapping_t *mapping)
{
    return mapping->inode != 0 && mapping->path[0] == '/';
}


int
jpp_file_open_debug(const jpp_build_id_t *id, const char *root)
{
    int          fd;
    char         path[PATH_MAX], text[JPP_BUILD_ID_TEXT];
    struct stat  st;

    if (id->len < 2) {
        return -1;
    }

    jpp_build_id_text(id, text);

    if (snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", root, text,
                 text + 2)
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


/*
 * Are A and B one file, unchanged?  Changes of its owner and permissions
 * count.
 */

static bool
jpp_file_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino
           && a->st_dev == b->st_dev
           && a->st_size == b->st_size
           && a->st_mtim.tv_sec == b->st_mtim.tv_sec
           && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec
           && a->st_ctim.tv_sec == b->st_ctim.tv_sec
           && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}


/* Was the last change long enough ago that another one gets a new time? */

static bool
jpp_file_is_settled(const struct stat *st)
{
    time_t  settled;

    settled = time(NULL) - JPP_FILE_SETTLED;

    return st->st_ctim.tv_sec <= settled && st->st_mtim.tv_sec <= settled;
}


static const jpp_known_file_t *
jpp_known_row(const jpp_known_t *known, const struct stat *st)
{
    uint32_t  i;

    for (i = 0; i < known->n && i < JPP_KNOWN_FILES; i++) {
        if (jpp_file_is_same(&known->files[i].file.st, st)) {
            return &known->files[i];
        }
    }

    return NULL;
}


bool
jpp_known_find(const jpp_known_t *known, const jpp_mapping_t *mapping,
    const char *build_id, jpp_file_t *file)
{
    struct stat              st;
    const jpp_known_file_t  *row;

    row = known->n != 0 && lstat(mapping->path, &st) == 0
          ? jpp_known_row(known, &st) : NULL;

    if (row == NULL
        || !row->file.is_proven
        || !row->file.is_at_path
        || !jpp_file_is_of(&row->file, mapping, build_id))
    {
        return false;
    }

    *file = row->file;
    file->device = mapping->device;
    file->inode = mapping->inode;

    return true;
}


bool
jpp_known_refused(const jpp_known_t *known, const jpp_file_t *file,
    jpp_err_t *err)
{
    const jpp_known_file_t  *row;

    row = jpp_known_row(known, &file->st);

    if (row == NULL || row->code == JPP_OK) {
        return false;
    }

    (void) jpp_err_set(err, row->code, "%s", row->text);

    return true;
}


void
jpp_known_add(jpp_known_t *known, const jpp_file_t *file, const jpp_err_t *err)
{
    uint32_t            i;
    const struct stat  *st;
    jpp_known_file_t   *row;

    if (!jpp_file_is_settled(&file->st)
        || (err == NULL ? !file->is_proven || !file->is_at_path
                        : err->code == JPP_ERR_SYS))
    {
        return;
    }

    for (i = 0; i < known->n && i < JPP_KNOWN_FILES; i++) {
        st = &known->files[i].file.st;

        if (st->st_ino == file->st.st_ino && st->st_dev == file->st.st_dev) {
            break;
        }
    }

    if (i == known->n || i == JPP_KNOWN_FILES) {
        i = known->n++ % JPP_KNOWN_FILES;
    }

    row = &known->files[i];

    row->file = *file;
    row->file.fd = -1;
    row->code = err != NULL ? err->code : JPP_OK;

    (void) snprintf(row->text, JPP_KNOWN_TEXT, "%.*s", JPP_KNOWN_TEXT - 1,
                    err != NULL ? err->text : "");
}
