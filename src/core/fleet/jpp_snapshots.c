
#include "jpp_snapshots.h"


/* seconds after which whoever writes one has been killed */
#define JPP_SNAPSHOT_LOST  60


const char *const  jpp_snapshot_reasons[JPP_SNAPSHOT_REASONS] = {
    JPP_SNAPSHOT_LIST(JPP_LIST_TEXT)
};


void
jpp_snapshots_init(jpp_snapshots_t *snapshots, size_t size)
{
    size -= sizeof(jpp_snapshots_t);

    snapshots->n_pages = (uint32_t) jpp_smaller(size / JPP_SNAPSHOT_PAGE,
                                                JPP_SNAPSHOT_PAGES);
    snapshots->keep = JPP_SNAPSHOTS;
    snapshots->trigger.kills = JPP_NONE;
}


static uint32_t
jpp_snapshot_pages(uint64_t len)
{
    return (uint32_t) ((len + JPP_SNAPSHOT_PAGE - 1) / JPP_SNAPSHOT_PAGE);
}


static uint8_t *
jpp_snapshot_page(const jpp_snapshots_t *snapshots, uint32_t page)
{
    return (uint8_t *) (uintptr_t) (snapshots + 1)
           + (size_t) page * JPP_SNAPSHOT_PAGE;
}


/* The sum has no padding in it that a copy could change. */

static uint32_t
jpp_snapshot_sum(const jpp_snapshot_t *about)
{
    return jpp_hash_bytes(about, sizeof(jpp_snapshot_t)) | 1;
}


static int
jpp_snapshot_compare(const void *a, const void *b, void *ctx)
{
    const jpp_snapshot_t  *one = a, *other = b;

    (void) ctx;

    return jpp_sort_order(one->id, other->id);
}


size_t
jpp_snapshots_list(const jpp_snapshots_t *snapshots,
    jpp_snapshot_t list[JPP_SNAPSHOTS])
{
    size_t                      n;
    const jpp_snapshot_slot_t  *slot;

    n = 0;

    jpp_each(slot, snapshots->slots, JPP_SNAPSHOTS) {
        memcpy(&list[n], &slot->about, sizeof(jpp_snapshot_t));

        n += list[n].id != 0 && slot->sum == jpp_snapshot_sum(&list[n])
             && list[n].reason < JPP_SNAPSHOT_REASONS;
    }

    jpp_sort(list, n, sizeof(jpp_snapshot_t), jpp_snapshot_compare, NULL);

    return n;
}


/* The first of RISE; N: there is none. */

static size_t
jpp_snapshots_first(const jpp_snapshot_t *list, size_t n, uint64_t rise)
{
    size_t  i;

    for (i = 0; i < n && list[i].rise != rise; i++) { /* void */ }

    return i;
}


static bool
jpp_snapshots_is_largest(const jpp_snapshot_t *list, size_t n, size_t which)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        if (list[i].rise == list[which].rise
            && (list[i].held > list[which].held
                || (i > which && list[i].held == list[which].held)))
        {
            return false;
        }
    }

    return true;
}


size_t
jpp_snapshots_victim(const jpp_snapshot_t *list, size_t n)
{
    size_t    i, first, victim;
    int64_t   gap, least;
    uint64_t  rise;

    rise = list[n - 1].rise;
    first = jpp_snapshots_first(list, n, rise);
    victim = n;
    least = INT64_MAX;

    for (i = 0; i + 1 < n; i++) {

        if (i == first || jpp_snapshots_is_largest(list, n, i)) {
            continue;
        }

        if (list[i].rise != rise) {
            return i;
        }

        gap = list[i + 1].time - (i != 0 ? list[i - 1].time : INT64_MIN / 2);

        if (gap < least) {
            least = gap;
            victim = i;
        }
    }

    return victim != n ? victim : first == 0 && n > 2 ? 1 : 0;
}


static void
jpp_snapshots_drop(jpp_snapshots_t *snapshots, uint64_t id)
{
    jpp_snapshot_slot_t  *slot;

    jpp_each(slot, snapshots->slots, JPP_SNAPSHOTS) {
        if (slot->about.id == id) {
            slot->about.id = 0;
        }
    }
}


/* What is being written stays; what has lost its writer goes. */

static void
jpp_snapshots_room(const jpp_snapshots_t *snapshots, uint32_t *slots,
    uint32_t *pages)
{
    uint32_t                    page;
    const jpp_snapshot_slot_t  *slot;

    *slots = 0;
    *pages = 0;

    jpp_each(slot, snapshots->slots, JPP_SNAPSHOTS) {
        *slots += slot->about.id == 0;
    }

    for (page = 0; page < snapshots->n_pages; page++) {
        *pages += snapshots->owners[page] == 0
                  || snapshots->slots[snapshots->owners[page] - 1].about.id
                     == 0;
    }

    *slots -= (uint32_t) jpp_smaller(JPP_SNAPSHOTS - snapshots->keep, *slots);
}


static void
jpp_snapshots_clean(jpp_snapshots_t *snapshots, int64_t now)
{
    jpp_snapshot_slot_t  *slot;

    jpp_each(slot, snapshots->slots, JPP_SNAPSHOTS) {
        if (slot->about.id != 0
            && (slot->sum != 0 ? slot->sum != jpp_snapshot_sum(&slot->about)
                : now < slot->about.time
                  || now - slot->about.time > JPP_SNAPSHOT_LOST))
        {
            slot->about.id = 0;
        }
    }
}


jpp_code_t
jpp_snapshots_begin(jpp_snapshots_t *snapshots, jpp_snapshot_t *about,
    jpp_snapshot_place_t *place, jpp_err_t *err)
{
    size_t                n;
    uint32_t              i, need, slots, pages;
    jpp_snapshot_t        list[JPP_SNAPSHOTS];
    jpp_snapshot_slot_t  *slot;

    need = jpp_snapshot_pages(about->len);

    if (need > snapshots->n_pages) {
        return jpp_err_set(err, JPP_ERR_LIMIT, "it has %s, and the zone has "
                           "room for %s: raise zone= of "
                           "jemalloc_pprof_snapshots", jpp_bytes(about->len),
                           jpp_bytes((uint64_t) snapshots->n_pages
                                     * JPP_SNAPSHOT_PAGE));
    }

    jpp_snapshots_clean(snapshots, about->time);

    for ( ;; ) {
        jpp_snapshots_room(snapshots, &slots, &pages);

        if (slots != 0 && pages >= need) {
            break;
        }

        n = jpp_snapshots_list(snapshots, list);

        if (n == 0) {
            return jpp_err_set(err, JPP_ERR_BUSY,
                               "another one is being written");
        }

        jpp_snapshots_drop(snapshots, list[jpp_snapshots_victim(list, n)].id);
    }

    for (i = 0; snapshots->slots[i].about.id != 0; i++) { /* void */ }

    about->id = ++snapshots->n_ids;

    slot = &snapshots->slots[i];
    slot->sum = 0;
    memcpy(&slot->about, about, sizeof(jpp_snapshot_t));

    *place = (jpp_snapshot_place_t) { about->id, i };

    /* a page of a free slot has kept its number */

    for (i = 0; i < snapshots->n_pages; i++) {
        if (snapshots->owners[i] == place->slot + 1
            || (snapshots->owners[i] != 0
                && snapshots->slots[snapshots->owners[i] - 1].about.id == 0))
        {
            snapshots->owners[i] = 0;
        }

        if (need != 0 && snapshots->owners[i] == 0) {
            snapshots->owners[i] = (uint8_t) (place->slot + 1);
            need--;
        }
    }

    return JPP_OK;
}


void
jpp_snapshots_write(jpp_snapshots_t *snapshots,
    const jpp_snapshot_place_t *place, const uint8_t *data, size_t len)
{
    size_t    part;
    uint32_t  page;

    for (page = 0; page < snapshots->n_pages && len != 0; page++) {

        if (snapshots->owners[page] == place->slot + 1) {
            part = jpp_smaller(len, JPP_SNAPSHOT_PAGE);
            memcpy(jpp_snapshot_page(snapshots, page), data, part);
            data += part;
            len -= part;
        }
    }
}


bool
jpp_snapshots_end(jpp_snapshots_t *snapshots,
    const jpp_snapshot_place_t *place)
{
    jpp_snapshot_slot_t  *slot;

    slot = &snapshots->slots[place->slot];

    if (slot->about.id != place->id) {
        return false;
    }

    slot->sum = jpp_snapshot_sum(&slot->about);
    snapshots->counts[slot->about.reason]++;

    return true;
}


bool
jpp_snapshots_read(const jpp_snapshots_t *snapshots,
    const jpp_snapshot_t *about, uint8_t *data)
{
    size_t    part, len;
    uint32_t  i, page;
    uint8_t  *to;

    for (i = 0; i < JPP_SNAPSHOTS
                && snapshots->slots[i].about.id != about->id; i++)
    {
        /* void */
    }

    to = data;
    len = about->len;

    for (page = 0; page < snapshots->n_pages && len != 0; page++) {

        if (snapshots->owners[page] == i + 1) {
            part = jpp_smaller(len, JPP_SNAPSHOT_PAGE);
            memcpy(to, jpp_snapshot_page(snapshots, page), part);
            to += part;
            len -= part;
        }
    }

    return len == 0 && jpp_hash_bytes(data, about->len) == about->sum;
}


static bool
jpp_snapshot_is_of(const jpp_snapshot_t *snapshot, const jpp_moment_t *moment,
    int64_t now)
{
    return moment->kind == JPP_MOMENT_LAST
           || (moment->kind == JPP_MOMENT_ID
               && snapshot->id == (uint64_t) moment->value)
           || (moment->kind == JPP_MOMENT_GENERATION
               && snapshot->generation == (uint64_t) moment->value)
           || (moment->kind == JPP_MOMENT_AGO
               && snapshot->time <= now - moment->value)
           || (moment->kind == JPP_MOMENT_TIME
               && snapshot->time <= moment->value);
}


const jpp_snapshot_t *
jpp_snapshots_find(const jpp_snapshot_t *list, size_t n,
    const jpp_moment_t *moment, int64_t now, jpp_err_t *err)
{
    size_t  i;

    if (n == 0) {
        (void) jpp_err_set(err, JPP_ERR_MISSING, "there are no snapshots yet: "
                           "one is taken a minute after nginx has started, "
                           "and at once by control with snapshot=1");
        return NULL;
    }

    for (i = n; i-- != 0; /* void */ ) {
        if (jpp_snapshot_is_of(&list[i], moment, now)) {
            return &list[i];
        }
    }

    (void) jpp_err_set(err, JPP_ERR_MISSING, "there is no snapshot of that "
                       "time, id or generation: the oldest is %" PRIu64
                       " of %s (generation %" PRIu64 "), the newest %" PRIu64
                       " of %s (generation %" PRIu64 "); snapshots lists them",
                       list[0].id, jpp_date(list[0].time), list[0].generation,
                       list[n - 1].id, jpp_date(list[n - 1].time),
                       list[n - 1].generation);
    return NULL;
}


const jpp_snapshot_t *
jpp_snapshots_most(const jpp_snapshot_t *list, size_t n, int64_t since,
    int64_t until)
{
    const jpp_snapshot_t  *one, *most;

    most = NULL;

    jpp_each(one, list, n) {
        if (one->time >= since && one->time <= until
            && (most == NULL || one->held >= most->held))
        {
            most = one;
        }
    }

    return most;
}


const jpp_snapshot_t *
jpp_snapshots_before(const jpp_snapshot_t *list, size_t n, int64_t time)
{
    while (n > 1 && list[n - 1].time > time) {
        n--;
    }

    return n != 0 ? &list[n - 1] : NULL;
}
