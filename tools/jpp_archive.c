
#include "jpp_archive.h"
#include "jpp_utf8.h"


/* the first header */
#define JPP_ARCHIVE_PEEK   512
#define JPP_ARCHIVE_MAGIC  257

/* of a sentence that lists members */
#define JPP_ARCHIVE_NAMES  (JPP_ERR_TEXT / 2)


static const char *const  jpp_archive_suffixes[JPP_ARCHIVE_PARTS] = {
    "reply", "dump", "baseline"
};


bool
jpp_archive_is(const char *data, size_t len, jpp_arena_t *arena)
{
    bool        is_archive;
    jpp_vec_t  *unpacked;

    if (!jpp_gzip_is((const uint8_t *) data, len)) {
        return len >= JPP_ARCHIVE_PEEK
               && memcmp(data + JPP_ARCHIVE_MAGIC, "ustar", 5) == 0;
    }

    unpacked = jpp_vec_create(arena);

    if (unpacked == NULL) {
        return false;
    }

    /* what does not fit is an error, but there by then */

    (void) jpp_gunzip((const uint8_t *) data,
                      jpp_smaller(len, JPP_ARCHIVE_PEEK), JPP_ARCHIVE_MAX,
                      unpacked, NULL);

    is_archive = !jpp_gzip_is(unpacked->data, unpacked->len)
                 && jpp_archive_is((const char *) unpacked->data,
                                   unpacked->len, arena);

    jpp_vec_release(unpacked);

    return is_archive;
}


jpp_code_t
jpp_archive_open(jpp_archive_t *archive, const char *data, size_t len,
    jpp_arena_t *arena, jpp_err_t *err)
{
    jpp_vec_t   *unpacked;
    jpp_code_t   rc;

    archive->data = (const uint8_t *) data;
    archive->len = len;
    archive->arena = arena;

    if (!jpp_gzip_is(archive->data, len)) {
        return JPP_OK;
    }

    unpacked = jpp_vec_create(arena);

    if (unpacked == NULL) {
        return jpp_err_memory(err);
    }

    rc = jpp_gunzip(archive->data, len, JPP_ARCHIVE_MAX, unpacked, err);

    archive->data = unpacked->data;
    archive->len = unpacked->len;

    return rc;
}


static void
jpp_archive_name(const jpp_tar_t *tar, char name[JPP_UTF8_ESCAPED(JPP_TAR_NAME)
                                                 + 1])
{
    name[jpp_utf8_escape(name, tar->name, strlen(tar->name))] = '\0';
}


jpp_code_t
jpp_archive_list(const jpp_archive_t *archive, jpp_sink_t *sink, jpp_err_t *err)
{
    char        name[JPP_UTF8_ESCAPED(JPP_TAR_NAME) + 1];
    jpp_tar_t   tar;
    jpp_code_t  rc;

    jpp_tar_init(&tar, archive->data, archive->len);

    while ((rc = jpp_tar_next(&tar, err)) == JPP_OK && tar.data != NULL) {
        jpp_archive_name(&tar, name);
        jpp_sink_printf(sink, "%12zu  %s\n", tar.len, name);
    }

    return rc;
}


/* There is no WHAT: say what there is, as far as it fits. */

static jpp_code_t
jpp_archive_absent(const jpp_archive_t *archive, const char *what,
    jpp_err_t *err)
{
    char         names[JPP_ARCHIVE_NAMES];
    char         name[JPP_UTF8_ESCAPED(JPP_TAR_NAME) + 1];
    size_t       len;
    jpp_tar_t    tar;
    const char  *more;

    len = 0;
    more = "";
    names[0] = '\0';

    jpp_tar_init(&tar, archive->data, archive->len);

    while (jpp_tar_next(&tar, NULL) == JPP_OK && tar.data != NULL) {
        jpp_archive_name(&tar, name);

        if (len + strlen(name) + sizeof(", ") > sizeof(names)) {
            more = " ...";
            break;
        }

        len += (size_t) snprintf(names + len, sizeof(names) - len, "%s%s",
                                 len != 0 ? ", " : "", name);
    }

    return jpp_err_set(err, JPP_ERR_ABSENT, "the archive has no %s; it has "
                       "%s%s%s", what, len != 0 ? names : "no file", more,
                       len != 0 ? " (--list lists, --member=NAME reads one)"
                                : "");
}


jpp_code_t
jpp_archive_member(const jpp_archive_t *archive, const char *name,
    jpp_tar_t *member, jpp_err_t *err)
{
    char        what[JPP_TAR_NAME + sizeof("member ")];
    jpp_code_t  rc;

    jpp_tar_init(member, archive->data, archive->len);

    while ((rc = jpp_tar_next(member, err)) == JPP_OK && member->data != NULL) {
        if (strcmp(member->name, name) == 0) {
            return JPP_OK;
        }
    }

    (void) snprintf(what, sizeof(what), "member %s", name);

    return rc != JPP_OK ? rc : jpp_archive_absent(archive, what, err);
}


/* The worker WHO, which may be new; NULL: it has failed. */

static jpp_archive_worker_t *
jpp_archive_worker(jpp_vec_t *workers, const jpp_identity_t *who,
    jpp_err_t *err)
{
    jpp_archive_worker_t  *worker;

    jpp_vec_each(worker, workers) {
        if (worker->who.index == who->index && worker->who.pid == who->pid
            && worker->who.generation == who->generation)
        {
            return worker;
        }
    }

    if (jpp_vec_count(workers, jpp_archive_worker_t) == JPP_MAX_CAPTURES) {
        (void) jpp_err_set(err, JPP_ERR_LIMIT, "the archive has more than %d "
                           "workers", JPP_MAX_CAPTURES);
        return NULL;
    }

    worker = jpp_vec_push(workers, sizeof(jpp_archive_worker_t));

    if (worker == NULL) {
        (void) jpp_err_memory(err);
        return NULL;
    }

    worker->who = *who;

    return worker;
}


/* Sort the members of FOLDER by worker. */

static jpp_code_t
jpp_archive_sort(const jpp_archive_t *archive, const char *folder,
    jpp_vec_t *workers, jpp_err_t *err)
{
    int                    i;
    jpp_tar_t              tar;
    jpp_code_t             rc;
    jpp_identity_t         who;
    jpp_archive_worker_t  *worker;

    jpp_tar_init(&tar, archive->data, archive->len);

    while ((rc = jpp_tar_next(&tar, err)) == JPP_OK && tar.data != NULL) {

        for (i = 0; i < JPP_ARCHIVE_PARTS; i++) {

            if (!jpp_recorded_named(tar.name, folder, &who,
                                    jpp_archive_suffixes[i]))
            {
                continue;
            }

            worker = jpp_archive_worker(workers, &who, err);

            if (worker == NULL) {
                return err->code;
            }

            if (worker->parts[i].data != NULL) {
                return jpp_err_set(err, JPP_ERR_INPUT, "the archive has %s "
                                   "twice", tar.name);
            }

            worker->parts[i] = tar;
        }
    }

    return rc;
}


/* Workers of one generation share the baseline of the first that has one. */

static void
jpp_archive_complete(jpp_archive_worker_t *worker, jpp_vec_t *workers)
{
    const jpp_tar_t              *packed, *baseline;
    const jpp_archive_worker_t   *other;
    const jpp_recorded_reply_t   *reply;

    packed = &worker->parts[JPP_ARCHIVE_REPLY];
    reply = (const void *) packed->data;

    if (packed->len != sizeof(jpp_recorded_reply_t)
        || !jpp_message_reply_unpack(&worker->reply, reply->message,
                                     JPP_MESSAGE_REPLY))
    {
        memset(&worker->reply, 0, sizeof(jpp_message_reply_t));
    }

    worker->group = jpp_vec_count(workers, jpp_archive_worker_t);

    jpp_vec_each(other, workers) {

        if (other->who.generation != worker->who.generation) {
            continue;
        }

        worker->group = jpp_smaller(worker->group, (size_t) (other
                            - jpp_vec_items(workers, jpp_archive_worker_t)));

        baseline = &other->parts[JPP_ARCHIVE_BASELINE];

        if (worker->reply.has_baseline && baseline->data != NULL) {
            worker->baseline = baseline;
            break;
        }
    }
}


jpp_code_t
jpp_archive_workers(const jpp_archive_t *archive, const jpp_parser_t *parser,
    jpp_vec_t *workers, jpp_err_t *err)
{
    bool                   is_heap;
    size_t                 n;
    jpp_code_t             rc;
    jpp_archive_worker_t  *worker;

    is_heap = parser != &jpp_parser_pools;
    n = 0;

    rc = jpp_archive_sort(archive, is_heap ? "heap" : "pools", workers, err);

    if (rc != JPP_OK) {
        return rc;
    }

    jpp_vec_each(worker, workers) {
        jpp_archive_complete(worker, workers);

        n += worker->parts[JPP_ARCHIVE_DUMP].data != NULL;
    }

    if (n != 0) {
        return JPP_OK;
    }

    jpp_vec_each(worker, workers) {
        if (worker->reply.err.code != JPP_OK) {
            return jpp_err_set(err, JPP_ERR_ABSENT, "no worker of the archive "
                               "answered: %s: %s",
                               jpp_worker_name(&worker->who),
                               worker->reply.err.text);
        }
    }

    return jpp_archive_absent(archive, is_heap
                              ? "heap dump of a worker (heap/worker-*.dump)"
                              : "table of pools (pools/worker-*.dump)", err);
}
