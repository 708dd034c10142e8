
/* Memory histories: a worker's, and nginx's with its largest owners. */


#include "jpp_worker.h"

#include <math.h>


/* bytes that are worth a word */
#define JPP_GROWN_FLOOR  ((uint64_t) 1024 * 1024)


/* From the points that a history had to those that it has. */
typedef struct {
    unsigned   halvings;
    uint64_t   before;
    uint64_t   n;
} jpp_history_step_t;


void
jpp_history_init(jpp_history_t *history)
{
    history->interval = JPP_HISTORY_INTERVAL;
    history->n = 0;
}


static uint64_t
jpp_history_most(uint64_t x, uint64_t y)
{
    return x == JPP_NONE || y == JPP_NONE ? jpp_smaller(x, y)
                                          : jpp_larger(x, y);
}


static jpp_history_step_t
jpp_history_step(jpp_history_t *history, uint64_t seconds)
{
    jpp_history_step_t  step;

    step.halvings = 0;
    step.before = history->n;

    while (seconds / history->interval >= JPP_HISTORY_POINTS) {
        history->n = (history->n + 1) / 2;
        history->interval *= 2;
        step.halvings++;
    }

    history->n = jpp_larger(history->n, seconds / history->interval + 1);
    step.n = history->n;

    return step;
}


static void
jpp_history_column(uint64_t *values, const jpp_history_step_t *step,
    uint64_t value)
{
    unsigned  halvings;
    uint64_t  i, n;

    n = step->before;

    for (halvings = step->halvings; halvings != 0; halvings--) {
        for (i = 0; i < n; i += 2) {
            values[i / 2] = i + 1 < n ? jpp_history_most(values[i],
                                                         values[i + 1])
                                      : values[i];
        }

        n = (n + 1) / 2;
    }

    while (n < step->n) {
        values[n++] = value;
    }

    values[n - 1] = jpp_history_most(values[n - 1], value);
}


void
jpp_history_add(jpp_history_t *history, uint64_t seconds, uint64_t allocated,
    uint64_t rss)
{
    jpp_history_step_t  step;

    step = jpp_history_step(history, seconds);

    jpp_history_column(history->allocated, &step, allocated);
    jpp_history_column(history->rss, &step, rss);
}


void
jpp_history_json(jpp_json_t *json, const jpp_history_t *history)
{
    uint64_t  i;

    if (history == NULL) {
        jpp_json_null(json, "history");
        return;
    }

    jpp_json_open(json, "history", '{');
    jpp_json_u64(json, "interval", history->interval);
    jpp_json_open(json, "points", '[');

    for (i = 0; i < history->n; i++) {
        jpp_json_pair(json, history->allocated[i], history->rss[i]);
    }

    jpp_json_close(json, ']');
    jpp_json_close(json, '}');
}


double
jpp_history_slope(const uint64_t *values, size_t n, double *error)
{
    size_t  i;
    double  x, y, sum, sum_y, sum_xx, sum_xy, sum_yy, slope, rest;

    sum_y = sum_xx = sum_xy = sum_yy = 0;

    for (i = 0; i < n; i++) {
        sum_y += (double) values[i];
    }

    sum = (double) n;

    for (i = 0; i < n; i++) {
        x = (double) i - (sum - 1) / 2;
        y = (double) values[i] - sum_y / sum;

        sum_xx += x * x;
        sum_xy += x * y;
        sum_yy += y * y;
    }

    slope = sum_xx > 0 ? sum_xy / sum_xx : 0;

    if (error != NULL) {
        rest = fmax(sum_yy - slope * sum_xy, 0);
        *error = n > 2 ? sqrt(rest / (sum - 2) / sum_xx) : 0;
    }

    return slope;
}


bool
jpp_history_change(const jpp_history_t *history, const uint64_t *values,
    size_t from, size_t end, jpp_grown_t *grown)
{
    size_t    i, n, half;
    double    points;
    uint64_t  before;

    for (i = from; i < end; i++) {
        from = values[i] == JPP_NONE ? i + 1 : from;
    }

    n = end - from;

    if (n == 0) {
        return false;
    }

    for (i = from > n ? from - n : 0, before = 0; i < from; i++) {
        before = values[i] != JPP_NONE ? jpp_larger(before, values[i]) : before;
    }

    values += from;

    memset(grown, 0, sizeof(jpp_grown_t));

    grown->then = values[0];
    grown->now = values[n - 1];
    grown->n = n;

    if (n < JPP_GROWN_POINTS) {
        return true;
    }

    points = 3600 / (double) history->interval;
    half = n / 2;

    grown->per_hour = jpp_history_slope(values, n, &grown->error) * points;
    grown->error *= points;

    before += jpp_less(grown->now, grown->then) / 4;

    grown->is_rising = jpp_less(grown->now, grown->then) >= JPP_GROWN_FLOOR
                       && grown->now > before
                       && grown->per_hour > 4 * grown->error
                       && jpp_history_slope(values, half, NULL) > 0
                       && jpp_history_slope(values + half, n - half, NULL) > 0;

    return true;
}


void
jpp_held_begin(jpp_held_t *held)
{
    jpp_held_owner_t  *owner;

    jpp_each(owner, held->owners, JPP_HELD_OWNERS + 1) {
        owner->last = 0;
    }
}


/* What OWNER has at the last point. */

static uint64_t
jpp_held_latest(const jpp_held_t *held, const jpp_held_owner_t *owner)
{
    return held->all.n == 0 ? owner->last
           : jpp_larger(owner->bytes[held->all.n - 1], owner->last);
}


/* The past of OWNER becomes a part of that of all others. */

static void
jpp_held_forget(jpp_held_t *held, jpp_held_owner_t *owner)
{
    size_t             i;
    jpp_held_owner_t  *others;

    others = &held->owners[JPP_HELD_OWNERS];

    if (owner->who[0] != '\0') {
        others->last += owner->last;

        for (i = 0; i < held->all.n; i++) {
            jpp_add_known(&others->bytes[i], owner->bytes[i]);
        }
    }

    memset(owner->bytes, 0xff, sizeof(owner->bytes));
    owner->last = 0;
}


void
jpp_held_see(jpp_held_t *held, const char *who, const char *place,
    uint64_t bytes)
{
    char               name[JPP_HELD_NAME] = "";
    jpp_held_owner_t  *one, *owner, *least;

    jpp_print(name, "%s", who);

    owner = NULL;
    least = held->owners;

    jpp_each(one, held->owners, JPP_HELD_OWNERS) {
        if (strcmp(one->who, name) == 0) {
            owner = one;
        }

        if (jpp_held_latest(held, one) < jpp_held_latest(held, least)) {
            least = one;
        }
    }

    if (owner == NULL) {

        if (bytes / 2 <= jpp_held_latest(held, least)) {
            held->owners[JPP_HELD_OWNERS].last += bytes;
            return;
        }

        owner = least;

        jpp_held_forget(held, owner);
        memcpy(owner->who, name, sizeof(name));
    }

    jpp_print(owner->place, "%s", place);
    owner->last += bytes;
}


void
jpp_held_add(jpp_held_t *held, uint64_t now, uint64_t allocated, uint64_t rss)
{
    jpp_held_owner_t    *owner;
    jpp_history_step_t   step;

    /* a worker may have been killed as it began: the interval comes last */

    if (held->all.interval == 0) {
        held->begun = now;
        jpp_history_init(&held->all);
    }

    held->seconds = jpp_less(now, held->begun) / 1000;
    step = jpp_history_step(&held->all, held->seconds);

    jpp_history_column(held->all.allocated, &step, allocated);
    jpp_history_column(held->all.rss, &step, rss);

    jpp_each(owner, held->owners, JPP_HELD_OWNERS + 1) {
        jpp_history_column(owner->bytes, &step, owner->last);
    }
}


size_t
jpp_held_rise(const jpp_held_t *held)
{
    size_t           i, from;
    uint64_t         low, last;
    const uint64_t  *rss;

    rss = held->all.rss;
    from = held->all.n - 1;
    last = low = rss[from];

    for (i = from; i-- != 0 && rss[i] != JPP_NONE; /* void */ ) {

        if (rss[i] <= low) {
            low = rss[i];
            from = i;

        } else if (rss[i] - low > jpp_larger(jpp_less(last, low) / 4,
                                             JPP_GROWN_FLOOR))
        {
            break;
        }
    }

    return from;
}


uint64_t
jpp_held_since(const jpp_held_t *held)
{
    return held->all.n == 0 ? 0
           : held->seconds - jpp_held_rise(held) * held->all.interval;
}


static int
jpp_held_compare(const void *a, const void *b, void *ctx)
{
    const jpp_grown_t  *one = a, *other = b;

    (void) ctx;

    return jpp_sort_order_i64((int64_t) (other->now - other->then),
                              (int64_t) (one->now - one->then));
}


size_t
jpp_held_grown(const jpp_held_t *held, size_t from, jpp_grown_t *all,
    jpp_grown_t grown[JPP_HELD_OWNERS + 1])
{
    size_t                   i, n;
    const jpp_held_owner_t  *owner;

    (void) jpp_history_change(&held->all, held->all.rss, from, held->all.n,
                              all);

    for (i = 0, n = 0; i <= JPP_HELD_OWNERS; i++) {
        owner = &held->owners[i];

        if ((owner->who[0] != '\0'
             || (i == JPP_HELD_OWNERS && jpp_held_latest(held, owner) != 0))
            && jpp_history_change(&held->all, owner->bytes, from,
                                  held->all.n, &grown[n]))
        {
            grown[n].who = i == JPP_HELD_OWNERS ? "all others" : owner->who;
            grown[n++].place = owner->place;
        }
    }

    jpp_sort(grown, n, sizeof(jpp_grown_t), jpp_held_compare, NULL);

    return n;
}
