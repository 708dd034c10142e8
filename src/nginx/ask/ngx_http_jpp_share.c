
#include "ngx_http_jpp_budget.h"
#include "ngx_http_jpp_share.h"


/* workers that are asked at the same time */
#define NGX_HTTP_JPP_AT_ONCE    2

/* what the kernel says about a process, after a colon */
#define NGX_HTTP_JPP_DESCRIBED  (sizeof(": ") + JPP_PROCESS_TEXT)


static void ngx_http_jpp_share_try(ngx_http_jpp_share_t *share);
static void ngx_http_jpp_share_replied(ngx_http_jpp_peer_t *peer);
static void ngx_http_jpp_share_finish(ngx_http_jpp_share_t *share);
static void ngx_http_jpp_share_free_slot(ngx_http_jpp_share_t *share);
static const char *ngx_http_jpp_share_describe(
    const ngx_http_jpp_share_t *share, char text[NGX_HTTP_JPP_DESCRIBED]);
static void ngx_http_jpp_share_take(ngx_http_jpp_share_t *share);
static void ngx_http_jpp_share_take_baseline(ngx_http_jpp_share_t *share);
static const jpp_memfd_t *ngx_http_jpp_share_same_baseline(
    const ngx_http_jpp_share_t *share, const struct stat *st);
static jpp_code_t ngx_http_jpp_share_hold(ngx_http_jpp_share_t *share,
    size_t len, const char *what, jpp_err_t *err);


static ngx_uint_t  ngx_http_jpp_n_slots;


void
ngx_http_jpp_inquiry_init(ngx_http_jpp_inquiry_t *inquiry,
    jpp_message_kind_t kind, const jpp_args_t *args,
    const ngx_http_jpp_loc_conf_t *conf)
{
    ngx_memzero(inquiry, sizeof(ngx_http_jpp_inquiry_t));

    inquiry->question.kind = kind;
    inquiry->selector = jpp_args_selector(args);
    inquiry->max_size = conf->max_size;
    inquiry->timeout = conf->timeout;
}


ngx_uint_t
ngx_http_jpp_inquiry_is_same(const ngx_http_jpp_inquiry_t *a,
    const ngx_http_jpp_inquiry_t *b)
{
    return jpp_message_question_is_same(&a->question, &b->question)
           && a->selector.kind == b->selector.kind
           && a->selector.number == b->selector.number
           && a->is_second == b->is_second
           && a->delay == b->delay
           && a->max_size == b->max_size
           && a->timeout == b->timeout;
}


void
ngx_http_jpp_share_init(ngx_http_jpp_share_t *share,
    const ngx_http_jpp_inquiry_t *inquiry, const ngx_http_jpp_row_t *row)
{
    share->inquiry = inquiry;

    share->peer.row = *row;
    share->peer.file = -1;
    share->peer.baseline = -1;
    share->peer.replied = ngx_http_jpp_share_replied;

    jpp_memfd_init(&share->dump);
    jpp_memfd_init(&share->inherited);
}


ngx_uint_t
ngx_http_jpp_share_has_room(const ngx_http_jpp_inquiry_t *inquiry)
{
    return inquiry->wait != 0
           || ngx_http_jpp_n_slots
              < NGX_HTTP_JPP_AT_ONCE;
}


void
ngx_http_jpp_share_ask(ngx_http_jpp_share_t *share)
{
    const ngx_http_jpp_kind_t  *kind;

    share->asked = ngx_current_msec;

    kind = &ngx_http_jpp_kinds[share->inquiry->question.kind];

    if (kind->wait == NULL) {
        share->slots = kind->is_alone ? NGX_HTTP_JPP_AT_ONCE : 1;
        ngx_http_jpp_n_slots += share->slots;
    }

    ngx_http_jpp_share_try(share);
}


static void
ngx_http_jpp_share_try(ngx_http_jpp_share_t *share)
{
    switch (ngx_http_jpp_ask(&share->peer, &share->inquiry->question)) {
    case NGX_OK:
        share->state = NGX_HTTP_JPP_SHARE_ASKED;
        break;

    case NGX_AGAIN:
        share->state = NGX_HTTP_JPP_SHARE_REFUSED;
        break;

    default: /* NGX_ERROR */
        ngx_http_jpp_share_finish(share);
    }
}


static void
ngx_http_jpp_share_replied(ngx_http_jpp_peer_t *peer)
{
    ngx_http_jpp_share_t       *share;
    const ngx_http_jpp_kind_t  *kind;

    share = (ngx_http_jpp_share_t *) peer;
    kind = &ngx_http_jpp_kinds[share->inquiry->question.kind];

    if (peer->reply.err.code == JPP_OK
        && (kind->file != NULL) != (peer->file != -1))
    {
        (void) jpp_err_set(&peer->reply.err, JPP_ERR_GONE,
                           "its answer makes no sense: it has a file too many "
                           "or too few");

    } else if (peer->file != -1) {
        ngx_http_jpp_share_take(share);
    }

    ngx_http_jpp_share_finish(share);

    share->done(share);
}


/* The error of the reply says whether it failed. */

static void
ngx_http_jpp_share_finish(ngx_http_jpp_share_t *share)
{
    ngx_http_jpp_share_free_slot(share);

    if (share->peer.reply.err.code == JPP_OK) {
        share->state = NGX_HTTP_JPP_SHARE_ANSWERED;
        return;
    }

    share->state = NGX_HTTP_JPP_SHARE_FAILED;

    ngx_http_jpp_share_close(share);

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "jemalloc_pprof: worker %ui (pid %P) did not answer: %s",
                  share->peer.row.index, share->peer.row.pid,
                  share->peer.reply.err.text);
}


static void
ngx_http_jpp_share_free_slot(ngx_http_jpp_share_t *share)
{
    ngx_http_jpp_n_slots -= share->slots;
    share->slots = 0;
}


ngx_uint_t
ngx_http_jpp_share_is_done(const ngx_http_jpp_share_t *share)
{
    return share->state == NGX_HTTP_JPP_SHARE_ANSWERED
           || share->state == NGX_HTTP_JPP_SHARE_FAILED;
}


ngx_uint_t
ngx_http_jpp_share_check(ngx_http_jpp_share_t *share, ngx_uint_t may_look)
{
    if (share->state == NGX_HTTP_JPP_SHARE_REFUSED) {
        ngx_http_jpp_share_try(share);
    }

    if (share->state != NGX_HTTP_JPP_SHARE_ASKED
        && share->state != NGX_HTTP_JPP_SHARE_REFUSED)
    {
        return 0;
    }

    if (share->checked != 0
        || ngx_current_msec - share->asked
           < share->inquiry->wait
             + share->inquiry->timeout / NGX_HTTP_JPP_SLICES)
    {
        return 0;
    }

    ngx_http_jpp_share_free_slot(share);

    share->checked = ngx_current_msec;
    share->is_seen = may_look;

    if (may_look) {
        (void) jpp_process_read(share->peer.row.pid, &share->process);
    }

    return may_look;
}


void
ngx_http_jpp_share_hurry(ngx_http_jpp_share_t *share)
{
    /* it sees by itself that it exits */

    if (share->state == NGX_HTTP_JPP_SHARE_ASKED
        && share->peer.row.pid != ngx_pid)
    {
        ngx_http_jpp_ask_again(&share->peer, &share->inquiry->question);
    }
}


void
ngx_http_jpp_share_give_up(ngx_http_jpp_share_t *share)
{
    char  text[NGX_HTTP_JPP_DESCRIBED];

    if (ngx_http_jpp_share_is_done(share)) {
        return;
    }

    (void) jpp_err_set(&share->peer.reply.err, JPP_ERR_LATE,
                       share->state == NGX_HTTP_JPP_SHARE_WAITING
                       ? "it was not queried within %lu ms "
                         "(jemalloc_pprof_timeout)%s"
                       : share->state == NGX_HTTP_JPP_SHARE_REFUSED
                       ? "it accepted no connection within %lu ms "
                         "(jemalloc_pprof_timeout)%s"
                       : "no answer within %lu ms "
                         "(jemalloc_pprof_timeout)%s",
                       (unsigned long) share->inquiry->timeout,
                       ngx_http_jpp_share_describe(share, text));

    ngx_http_jpp_share_finish(share);
}


static const char *
ngx_http_jpp_share_describe(const ngx_http_jpp_share_t *share,
    char text[NGX_HTTP_JPP_DESCRIBED])
{
    jpp_process_t  now;

    /* this event loop runs, since it calls this */

    if (share->peer.row.pid == ngx_pid) {
        return ngx_http_jpp_kinds[share->inquiry->question.kind].work
               != NULL ? ": its background thread is still busy"
                       : ": its event loop is still busy";
    }

    if (!share->is_seen
        || !jpp_process_read(share->peer.row.pid, &now))
    {
        return "";
    }

    text[0] = ':';
    text[1] = ' ';

    (void) jpp_process_say(share->process.state != '\0' ? &share->process
                                                        : NULL,
                           &now, ngx_current_msec - share->checked, text + 2);
    return text;
}


/* Map the file and the baseline, and close their descriptors. */

static void
ngx_http_jpp_share_take(ngx_http_jpp_share_t *share)
{
    size_t                      max_size;
    jpp_err_t                  *err;
    const ngx_http_jpp_kind_t  *kind;

    err = &share->peer.reply.err;
    max_size = share->inquiry->max_size;
    kind = &ngx_http_jpp_kinds[share->inquiry->question.kind];

    share->dump.fd = share->peer.file;
    share->peer.file = -1;

    if (jpp_memfd_map(&share->dump, max_size, err) != JPP_OK) {

        if (err->code == JPP_ERR_LIMIT) {
            (void) jpp_err_set(err, JPP_ERR_LIMIT,
                               "its %s is larger than the %zu bytes of "
                               "jemalloc_pprof_max_size: raise that%s",
                               kind->file, max_size, kind->smaller);
        }

        return;
    }

    if (ngx_http_jpp_share_hold(share, share->dump.len, kind->file, err)
        != JPP_OK)
    {
        return;
    }

    (void) close(share->dump.fd);
    share->dump.fd = -1;

    if (share->peer.baseline != -1) {
        ngx_http_jpp_share_take_baseline(share);
    }
}


/*
 * Workers of one generation share one file, which is mapped once.  Without it,
 * inherited memory counts as the worker's own, and the report says so.
 */

static void
ngx_http_jpp_share_take_baseline(ngx_http_jpp_share_t *share)
{
    jpp_err_t          *err;
    struct stat         st;
    jpp_memfd_t        *memfd;
    const jpp_memfd_t  *same;

    err = &share->baseline_err;
    memfd = &share->inherited;

    memfd->fd = share->peer.baseline;
    share->peer.baseline = -1;

    share->baseline = memfd;

    if (fstat(memfd->fd, &st) == -1 || !S_ISREG(st.st_mode)) {
        (void) jpp_err_set(err, JPP_ERR_INPUT, "it is not a file");
        jpp_memfd_close(memfd);
        return;
    }

    same = ngx_http_jpp_share_same_baseline(share, &st);

    if (same != NULL) {
        jpp_memfd_close(memfd);
        share->baseline = same;
        return;
    }

    share->dev = st.st_dev;
    share->ino = st.st_ino;

    if (jpp_memfd_map(memfd, share->inquiry->max_size, err) != JPP_OK
        || ngx_http_jpp_share_hold(share, memfd->len, "baseline", err)
           != JPP_OK)
    {
        jpp_memfd_close(memfd);
        return;
    }

    (void) close(memfd->fd);
    memfd->fd = -1;
}


/* That of another share, if it is mapped already, or NULL. */

static const jpp_memfd_t *
ngx_http_jpp_share_same_baseline(const ngx_http_jpp_share_t *share,
    const struct stat *st)
{
    ngx_uint_t                   i;
    const ngx_http_jpp_share_t  *other;

    for (i = 0; i < share->n_all; i++) {
        other = &share->all[i];

        if (other != share && other->inherited.data != NULL
            && other->ino == st->st_ino && other->dev == st->st_dev)
        {
            return &other->inherited;
        }
    }

    return NULL;
}


/* Count LEN more bytes for SHARE. */

static jpp_code_t
ngx_http_jpp_share_hold(ngx_http_jpp_share_t *share, size_t len,
    const char *what, jpp_err_t *err)
{
    if (ngx_http_jpp_budget_hold(len, ngx_http_jpp_share_cap(share->inquiry))
        != NGX_OK)
    {
        return jpp_err_set(err, JPP_ERR_FULL,
                           "its %s of %zu bytes does not fit: dumps and "
                           "answers may use %d times jemalloc_pprof_max_size "
                           "together: raise that", what, len,
                           NGX_HTTP_JPP_TOTAL);
    }

    share->held += len;

    return JPP_OK;
}


size_t
ngx_http_jpp_share_cap(const ngx_http_jpp_inquiry_t *inquiry)
{
    return (inquiry->is_second ? 2 : 1)
           * ngx_http_jpp_budget_cap(inquiry->max_size);
}


void
ngx_http_jpp_share_close(ngx_http_jpp_share_t *share)
{
    ngx_http_jpp_share_free_slot(share);

    ngx_http_jpp_ask_close(&share->peer);

    jpp_memfd_close(&share->dump);
    jpp_memfd_close(&share->inherited);

    ngx_http_jpp_budget_release(share->held);
    share->held = 0;
}


void
ngx_http_jpp_share_missing(const ngx_http_jpp_share_t *share, const char *why,
    jpp_missing_t *missing)
{
    missing->who.index = share->peer.row.index;
    missing->who.pid = share->peer.row.pid;
    missing->who.generation = share->peer.row.generation;
    missing->why = why;
}
