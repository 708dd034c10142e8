
#include <string.h>

#include "jpp_memory_ledger.h"
#include "jpp_sort.h"


bool
jpp_memory_has_data(const jpp_memory_answer_t *answer, jpp_err_t *err)
{
    if (answer->data == NULL) {
        (void) jpp_err_set(err, JPP_ERR_GONE, "%s",
                           answer->why != NULL ? answer->why
                                               : "it has ended meanwhile");
        return false;
    }

    return true;
}


bool
jpp_memory_ledger_of(jpp_ledger_read_t *ledger,
    const jpp_memory_answer_t *answer, jpp_err_t *err)
{
    return jpp_memory_has_data(answer, err)
           && jpp_ledger_load(ledger, answer->data, answer->len, err)
              == JPP_OK;
}


static void
jpp_memory_ledger_sums(jpp_json_t *json, const jpp_ledger_facts_t *facts)
{
    const jpp_ledger_sums_t  *sums;

    sums = &facts->sums;

    jpp_json_u64(json, "pss", sums->pss);
    jpp_json_u64(json, "rss", sums->rss);
    jpp_json_u64(json, "anonymous", sums->anonymous);
    jpp_json_u64(json, "mappings", sums->n_mappings);
    jpp_json_u64(json, "mappings_without_pages", sums->n_unpaged);
    jpp_json_u64(json, "names_without_row", sums->n_unnamed);
    jpp_json_u64(json, "read_us", facts->nanos / 1000);

    jpp_json_open(json, "beside", '{');

    jpp_json_u64(json, "swap", sums->swap);
    jpp_json_u64(json, "socket_queues", facts->sockets);
    jpp_json_u64(json, "sockets", facts->n_sockets);

    jpp_json_close(json, '}');
}


static void
jpp_memory_ledger_rows(jpp_json_t *json, const jpp_ledger_row_t *rows,
    size_t n)
{
    size_t  i;

    jpp_json_open(json, "rows", '[');

    for (i = 0; i < n; i++) {
        jpp_json_open(json, NULL, '{');

        jpp_json_str(json, "what", jpp_ledger_kinds[rows[i].kind]);

        if (rows[i].name_len != 0) {
            jpp_json_name(json, "name", rows[i].name, rows[i].name_len);
        }

        jpp_json_u64(json, "bytes", rows[i].bytes);

        if (rows[i].how == JPP_LEDGER_BOUND) {
            jpp_json_u64(json, "least", rows[i].least);
            jpp_json_u64(json, "most", rows[i].most);
        }

        if (rows[i].held != JPP_NONE) {
            jpp_json_u64(json, "held", rows[i].held);
        }

        jpp_json_str(json, "how", jpp_ledger_hows[rows[i].how]);
        jpp_json_bool(json, "anonymous",
                      jpp_ledger_kind_is_anonymous((jpp_ledger_kind_t)
                                                   rows[i].kind));
        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
}


void
jpp_memory_ledger_json(jpp_json_t *json, const jpp_memory_answer_t *answer)
{
    jpp_err_t           err;
    jpp_ledger_read_t   ledger;

    if (!jpp_memory_ledger_of(&ledger, answer, &err)) {
        jpp_json_null(json, "ledger");
        return;
    }

    jpp_json_open(json, "ledger", '{');

    jpp_memory_ledger_sums(json, &ledger.facts);
    jpp_memory_ledger_rows(json, ledger.rows, ledger.n);

    jpp_json_close(json, '}');
}


bool
jpp_memory_ledger_total(jpp_json_t *json, const jpp_memory_t *memory)
{
    jpp_memory_ledger_t  *sum;

    if (memory->detail != JPP_DETAIL_LEDGER) {
        return true;
    }

    sum = jpp_arena_alloc(memory->arena, sizeof(jpp_memory_ledger_t));

    if (sum == NULL || !jpp_memory_ledger(sum, memory)) {
        return false;
    }

    if (sum->n == 0) {
        jpp_json_null(json, "ledger");
        return true;
    }

    jpp_json_open(json, "ledger", '{');

    jpp_json_u64(json, "workers", sum->n);
    jpp_memory_ledger_sums(json, &sum->facts);
    jpp_memory_ledger_rows(json, jpp_vec_items(sum->ledger.rows,
                                               jpp_ledger_row_t),
                           jpp_vec_count(sum->ledger.rows, jpp_ledger_row_t));
    jpp_json_close(json, '}');

    return true;
}


static bool
jpp_memory_ledger_add(jpp_memory_ledger_t *sum, const jpp_ledger_read_t *one)
{
    size_t                   i;
    jpp_ledger_row_t        *row;
    jpp_ledger_sums_t       *sums;
    const jpp_ledger_row_t  *from;

    sums = &sum->facts.sums;

    sums->pss += one->facts.sums.pss;
    sums->rss += one->facts.sums.rss;
    sums->swap += one->facts.sums.swap;
    sums->anonymous += one->facts.sums.anonymous;
    sums->n_mappings += one->facts.sums.n_mappings;
    sums->n_unpaged += one->facts.sums.n_unpaged;
    sums->n_unnamed += one->facts.sums.n_unnamed;
    sum->facts.sockets += one->facts.sockets;
    sum->facts.n_sockets += one->facts.n_sockets;
    sum->facts.nanos += one->facts.nanos;
    sum->n++;

    for (i = 0; i < one->n; i++) {
        from = &one->rows[i];

        row = jpp_ledger_row(&sum->ledger, (jpp_ledger_kind_t) from->kind,
                             from->name, from->name_len);

        if (row == NULL) {
            return false;
        }

        row->bytes += from->bytes;
        row->least += from->least;
        row->most += from->most;
        row->how = row->how > from->how ? row->how : from->how;

        jpp_add_known(&row->held, from->held);
    }

    return true;
}


static int
jpp_memory_ledger_compare(const void *a, const void *b, void *ctx)
{
    const jpp_ledger_row_t *one = a;
    const jpp_ledger_row_t *other = b;

    (void) ctx;

    return jpp_sort_order(other->bytes, one->bytes);
}


bool
jpp_memory_ledger(jpp_memory_ledger_t *sum, const jpp_memory_t *memory)
{
    size_t              i;
    jpp_err_t           err;
    jpp_vec_t          *none;
    jpp_ledger_read_t   one;

    memset(sum, 0, sizeof(jpp_memory_ledger_t));

    none = jpp_vec_create(memory->arena);

    if (none == NULL || !jpp_ledger_init(&sum->ledger, memory->arena, 1, none))
    {
        return false;
    }

    for (i = 0; i < memory->n_answers; i++) {

        if (jpp_memory_ledger_of(&one, &memory->answers[i], &err)
            && !jpp_memory_ledger_add(sum, &one))
        {
            return false;
        }
    }

    jpp_sort(sum->ledger.rows->data,
             jpp_vec_count(sum->ledger.rows, jpp_ledger_row_t),
             sizeof(jpp_ledger_row_t), jpp_memory_ledger_compare, NULL);

    return true;
}
