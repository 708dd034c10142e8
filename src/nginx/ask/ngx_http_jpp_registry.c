
/*
 * The registry: the rows of the zone, which are the workers of this nginx in
 * all generations.
 */


#include "ngx_http_jpp.h"
#include "ngx_http_jpp_zone.h"


/*
 * The master takes no lock: if a killed worker held it, the master would wait
 * for ever, since it reaps its children only later.
 */

ngx_uint_t
ngx_http_jpp_registry_advance(ngx_http_jpp_zone_t *zone)
{
    zone->loaded = ngx_time();

    return ngx_atomic_fetch_add(&zone->generation, 1) + 1;
}


static void
ngx_http_jpp_vanished(ngx_http_jpp_zone_t *zone, ngx_uint_t place)
{
    jpp_notes_vanished(&zone->notes, &zone->rows[place].who,
                       &zone->notes.notes[place], ngx_time());
}


ngx_uint_t
ngx_http_jpp_is_row(const ngx_http_jpp_row_t *a, const ngx_http_jpp_row_t *b)
{
    return a->who.pid == b->who.pid
           && ngx_memcmp(a->key, b->key, NGX_HTTP_JPP_KEY) == 0;
}


static ngx_int_t
ngx_http_jpp_registry_enter(ngx_http_jpp_zone_t *zone,
    ngx_http_jpp_row_t *row)
{
    ngx_uint_t           i, place;
    ngx_http_jpp_row_t  *r;

    ngx_http_jpp_zone_lock(zone);

    place = zone->n_rows;

    for (i = 0; i < zone->n_rows; i++) {
        r = &zone->rows[i];

        /* our pid may have belonged to a killed worker */

        if (r->who.pid == row->who.pid) {

            if (!ngx_http_jpp_is_row(r, row)) {
                ngx_http_jpp_vanished(zone, i);
            }

            r->who.pid = 0;
        }

        if (r->who.pid == 0 && place == zone->n_rows) {
            place = i;
        }
    }

    if (place < NGX_HTTP_JPP_MAX_ROWS) {
        row->place = place;

        /* whoever is killed in between leaves a row with a note of its own */

        jpp_note_clear(&zone->notes.notes[place]);

        zone->rows[place] = *row;
        zone->n_rows = ngx_max(zone->n_rows, place + 1);
    }

    ngx_http_jpp_zone_unlock(zone);

    return place < NGX_HTTP_JPP_MAX_ROWS ? NGX_OK : NGX_DECLINED;
}


ngx_int_t
ngx_http_jpp_registry_join(ngx_http_jpp_zone_t *zone,
    ngx_http_jpp_row_t *row)
{
    static ngx_http_jpp_row_t  rows[NGX_HTTP_JPP_MAX_ROWS];

    if (ngx_http_jpp_registry_enter(zone, row) == NGX_OK) {
        return NGX_OK;
    }

    /* this clears the rows of killed workers */

    (void) ngx_http_jpp_registry_list(zone, rows);

    return ngx_http_jpp_registry_enter(zone, row);
}


void
ngx_http_jpp_registry_clear(ngx_http_jpp_zone_t *zone,
    const ngx_http_jpp_row_t *row, ngx_uint_t has_vanished)
{
    ngx_uint_t  i, n_others, was_there;

    ngx_http_jpp_zone_lock(zone);

    for (i = 0, n_others = 0, was_there = 0; i < zone->n_rows; i++) {

        if (!ngx_http_jpp_is_row(&zone->rows[i], row)) {
            n_others += zone->rows[i].who.pid != 0
                        && zone->rows[i].who.generation
                           == row->who.generation;
            continue;
        }

        if (has_vanished) {
            ngx_http_jpp_vanished(zone, i);
        }

        zone->rows[i].who.pid = 0;
        was_there = 1;
    }

    if (was_there && n_others == 0
        && row->who.generation != zone->generation)
    {
        jpp_notes_ended(&zone->notes, &row->who, ngx_time());
    }

    ngx_http_jpp_zone_unlock(zone);
}


/* To be sure takes reading two files: its pid may have been used again. */

static ngx_uint_t
ngx_http_jpp_lives(const ngx_http_jpp_row_t *row, ngx_uint_t is_sure)
{
    jpp_process_t  process;

    if (kill((pid_t) row->who.pid, 0) == -1 && ngx_errno == NGX_ESRCH) {
        return 0;
    }

    return !is_sure || row->started == 0
           || !jpp_process_read((pid_t) row->who.pid, &process)
           || process.started == row->started;
}


static int
ngx_http_jpp_compare(const void *one, const void *two, void *ctx)
{
    const ngx_http_jpp_row_t *a = one;
    const ngx_http_jpp_row_t *b = two;

    int  order;

    order = jpp_sort_order(a->who.generation, b->who.generation);
    order = order != 0 ? order : jpp_sort_order(a->who.index, b->who.index);

    return order != 0 ? order : jpp_sort_order_i64(a->who.pid, b->who.pid);
}


ngx_uint_t
ngx_http_jpp_registry_list(ngx_http_jpp_zone_t *zone,
    ngx_http_jpp_row_t rows[NGX_HTTP_JPP_MAX_ROWS])
{
    ngx_uint_t  i, n, n_rows;

    ngx_http_jpp_zone_lock(zone);

    for (i = 0, n_rows = 0; i < zone->n_rows; i++) {
        if (zone->rows[i].who.pid != 0) {
            rows[n_rows++] = zone->rows[i];
        }
    }

    ngx_http_jpp_zone_unlock(zone);

    for (i = 0, n = 0; i < n_rows; i++) {

        if (!ngx_http_jpp_lives(&rows[i], 0)) {
            ngx_http_jpp_registry_clear(zone, &rows[i], 1);

        } else {
            rows[n++] = rows[i];
        }
    }

    jpp_sort(rows, n, sizeof(ngx_http_jpp_row_t), ngx_http_jpp_compare, NULL);

    return n;
}


/* The first row of the present configuration; 0: there is none. */

static ngx_uint_t
ngx_http_jpp_first(ngx_http_jpp_zone_t *zone, ngx_http_jpp_row_t *first)
{
    ngx_uint_t                 is_there;
    const ngx_http_jpp_row_t  *row;

    is_there = 0;

    jpp_each(row, zone->rows, zone->n_rows) {
        if (row->who.pid != 0 && row->who.generation == zone->generation
            && (!is_there
                || ngx_http_jpp_compare(row, first, NULL) < 0))
        {
            *first = *row;
            is_there = 1;
        }
    }

    return is_there;
}


ngx_uint_t
ngx_http_jpp_registry_leads(ngx_http_jpp_zone_t *zone,
    const ngx_http_jpp_row_t *row)
{
    ngx_uint_t          is_there;
    ngx_http_jpp_row_t  first;

    for ( ;; ) {
        ngx_http_jpp_zone_lock(zone);

        is_there = row->who.generation == zone->generation
                   && ngx_http_jpp_first(zone, &first);

        ngx_http_jpp_zone_unlock(zone);

        if (!is_there || ngx_http_jpp_is_row(&first, row)) {
            return is_there;
        }

        if (ngx_http_jpp_lives(&first, 1)) {
            return 0;
        }

        ngx_http_jpp_registry_clear(zone, &first, 1);
    }
}


ngx_uint_t
ngx_http_jpp_registry_has(ngx_http_jpp_zone_t *zone, ngx_pid_t pid)
{
    ngx_uint_t  i, n;

    ngx_http_jpp_zone_lock(zone);

    n = zone->n_rows;

    for (i = 0; i < n && zone->rows[i].who.pid != pid; i++) { /* void */ }

    ngx_http_jpp_zone_unlock(zone);

    return i < n;
}


jpp_note_t *
ngx_http_jpp_registry_note(ngx_http_jpp_zone_t *zone,
    const ngx_http_jpp_row_t *row)
{
    return row->place < NGX_HTTP_JPP_MAX_ROWS
           && ngx_http_jpp_is_row(&zone->rows[row->place], row)
           ? &zone->notes.notes[row->place] : NULL;
}
