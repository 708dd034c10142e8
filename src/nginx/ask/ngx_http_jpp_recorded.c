
/*
 * Recorded collections: writes the parts of a collection into the archive of a
 * snapshot, and makes a collection from such an archive, as if its workers had
 * just answered.
 *
 *     heap/worker-0-pid-4711-generation-1.reply      the worker's reply, packed
 *     heap/worker-0-pid-4711-generation-1.dump       the file that came with it
 *     heap/worker-0-pid-4711-generation-1.baseline   what was inherited: with
 *                                                    the first of a generation
 */


#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_self.h"
#include "ngx_http_jpp_thread.h"


/* of an unpacked archive, as a multiple of jemalloc_pprof_max_size */
#define NGX_HTTP_JPP_RECORDED_TIMES  NGX_HTTP_JPP_TOTAL


/* A collection that is being loaded, in the thread. */
struct ngx_http_jpp_load_s {
    ngx_http_jpp_task_t          task;
    ngx_http_jpp_collection_t   *collection;   /* NULL: nobody waits */
    ngx_http_jpp_inquiry_t       inquiry;
    jpp_snapshots_t             *snapshots;

    ngx_uint_t                   is_done;

    /* the result: no part is one that has failed */
    ngx_http_jpp_part_t         *parts;
    ngx_uint_t                   n;
    ngx_http_jpp_part_t          failed;
    u_char                      *archive;
    size_t                       len;
    size_t                       held;         /* of the budget */
};


/* The resource whose captures a question collects; NULL: none is recorded. */

static const char *
ngx_http_jpp_recorded_folder(jpp_message_type_t type)
{
    return type == JPP_MESSAGE_DUMP ? "heap"
           : type == JPP_MESSAGE_POOLS ? "pools" : NULL;
}


void
ngx_http_jpp_recorded_add(jpp_sink_t *sink, const ngx_http_jpp_part_t *part,
    int64_t time)
{
    char                   name[JPP_TAR_NAME];
    const char            *folder;
    jpp_recorded_reply_t   recorded;

    folder = ngx_http_jpp_recorded_folder(part->collection->type
                                          - ngx_http_jpp_types);

    ngx_memzero(&recorded, sizeof(recorded));
    ngx_memcpy(recorded.key, part->row.key, NGX_HTTP_JPP_KEY);
    recorded.started = part->row.started;
    jpp_message_reply_pack(&part->reply, recorded.message);

    jpp_recorded_name(name, folder, &part->row.who, "reply");
    jpp_tar_add(sink, name, time, &recorded, sizeof(recorded));

    if (part->dump.data != NULL) {
        jpp_recorded_name(name, folder, &part->row.who, "dump");
        jpp_tar_add(sink, name, time, part->dump.data, part->dump.len);
    }

    if (part->inherited.data != NULL) {
        jpp_recorded_name(name, folder, &part->row.who, "baseline");
        jpp_tar_add(sink, name, time, part->inherited.data,
                    part->inherited.len);
    }
}


jpp_code_t
ngx_http_jpp_recorded_open(const jpp_snapshots_t *snapshots, uint64_t id,
    size_t max, jpp_vec_t *packed, jpp_vec_t *out, jpp_snapshot_t *about,
    jpp_err_t *err)
{
    u_char     *data;
    ngx_uint_t  i;

    for (i = 0; i < JPP_SNAPSHOTS; i++) {
        *about = snapshots->slots[i].about;

        if (about->id == id && about->len != 0
            && about->len <= (uint64_t) snapshots->n_pages * JPP_SNAPSHOT_PAGE)
        {
            break;
        }
    }

    data = NULL;

    if (i < JPP_SNAPSHOTS) {
        data = jpp_vec_push(packed, about->len);
        if (data == NULL) {
            return jpp_err_memory(err);
        }
    }

    if (data == NULL || !jpp_snapshots_read(snapshots, about, data)) {
        return jpp_err_set(err, JPP_ERR_MISSING, "snapshot %" PRIu64 " has "
                           "just been dropped for a newer one: snapshots lists "
                           "those that are left", id);
    }

    return out != NULL ? jpp_gunzip(data, about->len, max, out, err) : JPP_OK;
}


static ngx_http_jpp_part_t *
ngx_http_jpp_recorded_find(ngx_http_jpp_load_t *load, const jpp_identity_t *who)
{
    ngx_http_jpp_part_t  *part;

    jpp_each(part, load->parts, load->n) {
        if (part->row.who.pid == who->pid
            && part->row.who.generation == who->generation)
        {
            return part;
        }
    }

    return NULL;
}


/* A reply begins a part, and comes before what belongs to it. */

static void
ngx_http_jpp_recorded_member(ngx_http_jpp_load_t *load, const jpp_tar_t *tar,
    const char *folder)
{
    jpp_identity_t               who;
    ngx_http_jpp_part_t         *part;
    const jpp_recorded_reply_t  *recorded;

    if (jpp_recorded_named(tar->name, folder, &who, "reply")) {

        recorded = (const void *) tar->data;
        part = &load->parts[load->n];

        if (tar->len != sizeof(jpp_recorded_reply_t)
            || !jpp_message_reply_unpack(&part->reply, recorded->message,
                                         JPP_MESSAGE_REPLY))
        {
            return;
        }

        ngx_memcpy(part->row.key, recorded->key, NGX_HTTP_JPP_KEY);
        part->row.started = recorded->started;
        part->row.who = who;
        part->reply.worker.who = who;

        jpp_memfd_init(&part->dump);
        jpp_memfd_init(&part->inherited);

        load->n++;
        return;
    }

    if (jpp_recorded_named(tar->name, folder, &who, "dump")) {
        part = ngx_http_jpp_recorded_find(load, &who);

        if (part != NULL) {
            part->dump.data = (const char *) tar->data;
            part->dump.len = tar->len;
        }

    } else if (jpp_recorded_named(tar->name, folder, &who, "baseline")) {
        part = ngx_http_jpp_recorded_find(load, &who);

        if (part != NULL) {
            part->inherited.data = (const char *) tar->data;
            part->inherited.len = tar->len;
        }
    }
}


/* Move the parts that the inquiry means to the front; returns their number. */

static ngx_uint_t
ngx_http_jpp_recorded_choose(ngx_http_jpp_load_t *load, ngx_uint_t generation)
{
    ngx_uint_t              i, n, newest;
    ngx_http_jpp_part_t     part;
    const jpp_identity_t   *who;
    const jpp_selector_t   *selector;

    selector = &load->inquiry.selector;

    for (i = 0, newest = 0; i < load->n; i++) {
        who = &load->parts[i].row.who;

        if (who->index == selector->number) {
            newest = ngx_max(newest, who->generation);
        }
    }

    for (i = 0, n = 0; i < load->n; i++) {
        who = &load->parts[i].row.who;

        if (ngx_http_jpp_is_chosen(selector, who, generation)
            && (selector->kind != JPP_WORKER_INDEX
                || who->generation == newest))
        {
            part = load->parts[n];
            load->parts[n++] = load->parts[i];
            load->parts[i] = part;
        }
    }

    return n;
}


/* Workers of one generation share the baseline of the first that has one. */

static void
ngx_http_jpp_recorded_complete(ngx_http_jpp_load_t *load,
    ngx_http_jpp_part_t *part)
{
    ngx_uint_t                  i;
    const ngx_http_jpp_part_t  *other;

    if (part->reply.err.code == JPP_OK && part->dump.data == NULL) {
        (void) jpp_err_set(&part->reply.err, JPP_ERR_CUT,
                           "the snapshot lacks its capture");
    }

    part->state = part->reply.err.code == JPP_OK ? NGX_HTTP_JPP_PART_ANSWERED
                                                 : NGX_HTTP_JPP_PART_FAILED;

    for (i = 0; part->reply.has_baseline && i < load->n; i++) {
        other = &load->parts[i];

        if (other->inherited.data != NULL
            && other->row.who.generation == part->row.who.generation)
        {
            part->baseline = &other->inherited;
            break;
        }
    }
}


static jpp_code_t
ngx_http_jpp_recorded_unpack(ngx_http_jpp_load_t *load, jpp_arena_t *arena,
    jpp_snapshot_t *about, jpp_err_t *err)
{
    jpp_vec_t   *packed, *out;
    jpp_code_t   rc;

    packed = jpp_vec_create(arena);
    out = jpp_vec_create(arena);

    if (packed == NULL || out == NULL) {
        return jpp_err_memory(err);
    }

    rc = ngx_http_jpp_recorded_open(load->snapshots, load->inquiry.snapshot,
                                    NGX_HTTP_JPP_RECORDED_TIMES
                                    * load->inquiry.max_size,
                                    packed, out, about, err);
    if (rc != JPP_OK) {
        return rc;
    }

    load->len = out->len;
    load->archive = jpp_arena_object(out->len);

    if (load->archive == NULL) {
        return jpp_err_memory(err);
    }

    ngx_memcpy(load->archive, out->data, out->len);

    return JPP_OK;
}


static jpp_code_t
ngx_http_jpp_recorded_read(ngx_http_jpp_load_t *load, jpp_arena_t *arena,
    jpp_err_t *err)
{
    jpp_tar_t       tar;
    ngx_uint_t      i, n;
    jpp_code_t      rc;
    const char     *folder;
    jpp_snapshot_t  about;

    rc = ngx_http_jpp_recorded_unpack(load, arena, &about, err);
    if (rc != JPP_OK) {
        return rc;
    }

    jpp_tar_init(&tar, load->archive, load->len);

    for (n = 0; jpp_tar_next(&tar, err) == JPP_OK && tar.data != NULL; n++) {
        /* void */
    }

    load->parts = jpp_arena_object((n + 1) * sizeof(ngx_http_jpp_part_t));
    if (load->parts == NULL) {
        return jpp_err_memory(err);
    }

    folder = ngx_http_jpp_recorded_folder(load->inquiry.question.type);

    jpp_tar_init(&tar, load->archive, load->len);

    while ((rc = jpp_tar_next(&tar, err)) == JPP_OK && tar.data != NULL) {
        ngx_http_jpp_recorded_member(load, &tar, folder);
    }

    if (rc != JPP_OK) {
        return rc;
    }

    if (load->n == 0) {
        return jpp_err_set(err, JPP_ERR_MISSING, "snapshot %" PRIu64 " has no "
                           "%s: nothing was sampled when it was taken",
                           about.id, folder);
    }

    n = ngx_http_jpp_recorded_choose(load, about.generation);

    if (n == 0) {
        return jpp_err_set(err, JPP_ERR_MISSING, "no such worker in snapshot %"
                           PRIu64 ": it has %d, such as worker=pid-%d",
                           about.id, (int) load->n,
                           (int) load->parts[0].row.who.pid);
    }

    for (i = 0; i < n; i++) {
        ngx_http_jpp_recorded_complete(load, &load->parts[i]);
    }

    load->n = n;

    return JPP_OK;
}


/* A part that has failed says why. */

static void
ngx_http_jpp_recorded_failed(ngx_http_jpp_load_t *load, const jpp_err_t *err)
{
    load->failed.reply.err = *err;
    load->failed.state = NGX_HTTP_JPP_PART_FAILED;
    jpp_memfd_init(&load->failed.dump);
    jpp_memfd_init(&load->failed.inherited);
    load->n = 0;
}


static void
ngx_http_jpp_recorded_work(ngx_http_jpp_task_t *task)
{
    ngx_http_jpp_load_t *load = (void *) task;

    jpp_err_t    err;
    jpp_arena_t  arena;

    jpp_arena_init(&arena, 2 * NGX_HTTP_JPP_RECORDED_TIMES
                           * load->inquiry.max_size + 64 * 1024 * 1024);

    if (ngx_http_jpp_recorded_read(load, &arena, &err) != JPP_OK) {
        ngx_http_jpp_recorded_failed(load, &err);
    }

    jpp_arena_destroy(&arena);
}


static void
ngx_http_jpp_load_destroy(ngx_http_jpp_load_t *load)
{
    ngx_http_jpp_budget_release(load->held);

    jpp_arena_object_destroy(load->parts);
    jpp_arena_object_destroy(load->archive);
    jpp_arena_object_destroy(load);
}


static void
ngx_http_jpp_recorded_done(ngx_http_jpp_task_t *task)
{
    ngx_http_jpp_load_t *load = (void *) task;

    jpp_err_t                   err;
    ngx_uint_t                  i;
    ngx_http_jpp_collection_t  *co;

    co = load->collection;
    load->is_done = 1;

    if (co == NULL) {
        ngx_http_jpp_load_destroy(load);
        return;
    }

    if (ngx_http_jpp_budget_hold(load->len, load->inquiry.max_size,
                                 load->inquiry.is_second)
        == NGX_OK)
    {
        load->held = load->len;

    } else {
        (void) jpp_err_set(&err, JPP_ERR_FULL, "a snapshot of %zu bytes "
                           "exceeds the memory for dumps and answers: raise "
                           "jemalloc_pprof_max_size", load->len);
        ngx_http_jpp_recorded_failed(load, &err);
    }

    co->parts = load->n != 0 ? load->parts : &load->failed;
    co->n = load->n != 0 ? load->n : 1;
    co->n_next = co->n;
    co->n_done = co->n;

    for (i = 0; i < co->n; i++) {
        co->parts[i].collection = co;
        co->n_answered += co->parts[i].state == NGX_HTTP_JPP_PART_ANSWERED;
    }

    ngx_http_jpp_collect_proceed(NULL);
}


ngx_int_t
ngx_http_jpp_recorded_load(ngx_http_jpp_collection_t *co)
{
    ngx_http_jpp_load_t  *load;

    load = jpp_arena_object(sizeof(ngx_http_jpp_load_t));
    if (load == NULL) {
        return NGX_ERROR;
    }

    load->task.work = ngx_http_jpp_recorded_work;
    load->task.done = ngx_http_jpp_recorded_done;
    load->collection = co;
    load->inquiry = co->inquiry;
    load->snapshots = ngx_http_jpp_self.snapshots;

    if (load->snapshots == NULL
        || ngx_http_jpp_thread_post(&load->task) != NGX_OK)
    {
        ngx_http_jpp_load_destroy(load);
        return NGX_ERROR;
    }

    co->load = load;

    return NGX_OK;
}


void
ngx_http_jpp_recorded_leave(ngx_http_jpp_load_t *load)
{
    load->collection = NULL;

    if (load->is_done || ngx_http_jpp_thread_cancel(&load->task)) {
        ngx_http_jpp_load_destroy(load);
    }
}
