
#include "jpp_directives.h"
#include "jpp_pools.h"
#include "jpp_requests_json.h"
#include "jpp_version.h"


static const char *const  jpp_requests_bys[] = {
    [JPP_BY_REQUEST] = "request",
    [JPP_BY_CONNECTION] = "connection"
};


static const char *const  jpp_requests_protocols[JPP_POOLS_PROTOCOLS] = {
    [JPP_POOLS_HTTP1] = "HTTP/1",
    [JPP_POOLS_H2] = "HTTP/2",
    [JPP_POOLS_H3] = "HTTP/3",
    [JPP_POOLS_TCP] = "TCP",
    [JPP_POOLS_UDP] = "UDP",
    [JPP_POOLS_MAILS] = "mail"
};


static void
jpp_requests_json_name(jpp_json_t *json, const char *key, jpp_str_t name)
{
    if (name.len == 0) {
        jpp_json_null(json, key);
        return;
    }

    jpp_json_name(json, key, name.data, name.len);
}


/* null: it has none */

static void
jpp_requests_json_names(const jpp_requests_row_t *row, jpp_json_t *json)
{
    jpp_str_t  none;

    none.data = "";
    none.len = 0;

    jpp_requests_json_name(json, "server", row->server);
    jpp_requests_json_name(json, "location", row->location);

    jpp_json_str(json, "kind", jpp_pools_kind_name(row->kind));

    jpp_requests_json_name(json, "upstream",
                           row->kind == JPP_POOLS_REQUEST
                           || row->kind == JPP_POOLS_KEEPALIVE
                           ? row->third : none);
    jpp_requests_json_name(json, "module",
                           row->kind == JPP_POOLS_MODULE_CONNECTION
                           ? row->third : none);
    jpp_requests_json_name(json, "address",
                           row->kind == JPP_POOLS_STREAM
                           || row->kind == JPP_POOLS_MAIL ? row->third : none);
}


static void
jpp_requests_json_most(const jpp_requests_row_t *row, jpp_json_t *json)
{
    char                      text[JPP_DIRECTIVE_TEXT];
    const char               *class, *name;
    jpp_directive_of_t        of;
    const jpp_pools_unit_t   *unit;

    unit = row->unit;
    class = jpp_pools_classes[row->most.class];

    of.kind = row->most.kind;
    of.class = row->most.class;
    of.module = row->most.module;
    of.prefix = jpp_pools_str(&row->worker->table, unit->bound_module);

    jpp_json_open(json, "mostly", '{');

    jpp_json_str(json, "class", row->most.class == JPP_POOLS_MODULE ? "module"
                                                                   : class);
    jpp_requests_json_name(json, "module", row->most.module);
    jpp_json_u64(json, "bytes", row->most.bytes);

    name = jpp_directive(&of, text);
    jpp_json_str(json, "directive", name[0] != '\0' ? name : NULL);

    name = jpp_directive_value(unit->bound_number, unit->bound_size, text);
    jpp_json_str(json, "value", name[0] != '\0' ? name : NULL);

    jpp_json_close(json, '}');
}


static void
jpp_requests_json_unit(const jpp_requests_t *requests,
    const jpp_requests_row_t *row, jpp_json_t *json)
{
    jpp_str_t                client, uri;
    const jpp_pools_unit_t  *unit;

    unit = row->unit;

    jpp_json_identity(json, &row->worker->who);

    jpp_json_open(json, "kernel", '{');
    jpp_json_u64(json, "sending", unit->sending);
    jpp_json_u64(json, "receiving", unit->receiving);
    jpp_json_close(json, '}');

    jpp_json_u64(json, "age_ms", unit->age_msec);
    jpp_json_str(json, "protocol", jpp_requests_protocols[unit->protocol]);
    jpp_json_bool(json, "tls", unit->is_tls);

    jpp_requests_json_name(json, "state",
                           jpp_pools_str(&row->worker->table, unit->state));
    jpp_requests_json_name(json, "action",
                           jpp_pools_str(&row->worker->table, unit->action));

    client.data = unit->client;
    client.len = requests->has_clients ? unit->client_len : 0;
    uri.data = unit->uri;
    uri.len = requests->has_clients ? unit->uri_len : 0;

    jpp_requests_json_name(json, "client", client);
    jpp_requests_json_name(json, "uri", uri);
}


static void
jpp_requests_json_row(const jpp_requests_t *requests,
    const jpp_requests_row_t *row, jpp_json_t *json)
{
    jpp_json_open(json, NULL, '{');

    jpp_json_u64(json, "bytes", row->unit->bytes);
    jpp_json_u64(json, "unused", row->unit->unused);

    jpp_requests_json_names(row, json);

    jpp_json_u64(json, "requests", row->unit->n_requests);

    jpp_requests_json_most(row, json);
    jpp_requests_json_unit(requests, row, json);

    jpp_json_close(json, '}');
}


static void
jpp_requests_json_partial(const jpp_requests_t *requests, jpp_json_t *json)
{
    size_t                        i, n;
    const jpp_requests_worker_t  *workers;

    workers = jpp_vec_items(requests->workers, jpp_requests_worker_t);
    n = jpp_vec_count(requests->workers, jpp_requests_worker_t);

    jpp_json_open(json, "partial", '[');

    for (i = 0; i < n; i++) {

        if (workers[i].table.facts.reason == JPP_POOLS_WHOLE) {
            continue;
        }

        jpp_json_open(json, NULL, '{');
        jpp_json_identity(json, &workers[i].who);
        jpp_json_u64(json, "missed", workers[i].table.facts.n_missed);
        jpp_json_str(json, "why",
                     jpp_pools_reasons[workers[i].table.facts.reason]);
        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
}


bool
jpp_requests_json(const jpp_requests_t *requests,
    const jpp_requests_rows_t *rows, jpp_sink_t *sink)
{
    size_t                        i, n_answered, n_missing;
    uint64_t                      n_unproven;
    jpp_json_t                    json;
    const jpp_requests_row_t     *row;
    const jpp_requests_worker_t  *workers;

    workers = jpp_vec_items(requests->workers, jpp_requests_worker_t);
    n_answered = jpp_vec_count(requests->workers, jpp_requests_worker_t);
    n_missing = jpp_vec_count(requests->missing, jpp_missing_t);
    n_unproven = 0;

    for (i = 0; i < n_answered; i++) {
        n_unproven += workers[i].table.facts.n_unproven;
    }

    jpp_json_init(&json, sink);
    jpp_json_open(&json, NULL, '{');

    jpp_json_str(&json, "module", JPP_VERSION);
    jpp_json_u64(&json, "asked", n_answered + n_missing);
    jpp_json_u64(&json, "answered", n_answered);
    jpp_json_str(&json, "by",
                 jpp_requests_bys[requests->args->values[JPP_ARG_BY]]);
    jpp_json_u64(&json, "count", rows->n);
    jpp_json_u64(&json, "bytes", rows->bytes);

    jpp_json_open(&json, "rows", '[');

    row = jpp_vec_items(rows->rows, jpp_requests_row_t);

    for (i = 0; i < rows->n_shown; i++) {
        jpp_requests_json_row(requests, &row[i], &json);
    }

    jpp_json_close(&json, ']');

    jpp_json_u64(&json, "unproven", n_unproven);
    jpp_requests_json_partial(requests, &json);
    jpp_missing_json(&json, jpp_vec_items(requests->missing, jpp_missing_t),
                     n_missing);

    jpp_json_close(&json, '}');

    return true;
}
