
/*
 * Connections that are idle, without clients: for what a walk through 100,000
 * of them costs, which no machine for tests can have.
 *
 *     http { simulate N [shuffled]; }
 *     location { evict; }
 *
 * Each worker begins with N connections that have waited for a request since
 * they were accepted by its first socket: the slot, the pool, and in that all
 * that nginx puts there.  With "shuffled" the pools lie in memory as they do
 * after hours, in no order.  "evict" writes 96 MB, so that nothing of all that
 * is in a cache of the processor.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_http.h>


#define NGX_HTTP_SIMULATION_EVICTED  (96 * 1024 * 1024)


typedef struct {
    ngx_int_t        n;
    ngx_flag_t       is_shuffled;
} ngx_http_simulation_conf_t;


static void *ngx_http_simulation_create(ngx_conf_t *cf);
static char *ngx_http_simulation_simulate(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_simulation_evict(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static ngx_int_t ngx_http_simulation_handler(ngx_http_request_t *r);
static ngx_int_t ngx_http_simulation_init(ngx_cycle_t *cycle);
static ngx_int_t ngx_http_simulation_connection(ngx_cycle_t *cycle,
    ngx_pool_t *pool);


static ngx_command_t  ngx_http_simulation_commands[] = {

    { ngx_string("simulate"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE12,
      ngx_http_simulation_simulate,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("evict"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_http_simulation_evict,
      0,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_simulation_module_ctx = {
    NULL,                              /* preconfiguration */
    NULL,                              /* postconfiguration */

    ngx_http_simulation_create,        /* create main configuration */
    NULL,                              /* init main configuration */

    NULL,                              /* create server configuration */
    NULL,                              /* merge server configuration */

    NULL,                              /* create location configuration */
    NULL                               /* merge location configuration */
};


ngx_module_t  ngx_http_simulation_module = {
    NGX_MODULE_V1,
    &ngx_http_simulation_module_ctx,   /* module context */
    ngx_http_simulation_commands,      /* module directives */
    NGX_HTTP_MODULE,                   /* module type */
    NULL,                              /* init master */
    NULL,                              /* init module */
    ngx_http_simulation_init,          /* init process */
    NULL,                              /* init thread */
    NULL,                              /* exit thread */
    NULL,                              /* exit process */
    NULL,                              /* exit master */
    NGX_MODULE_V1_PADDING
};


/* what configure writes for a module that is loaded */

ngx_module_t  *ngx_modules[] = { &ngx_http_simulation_module, NULL };
char          *ngx_module_names[] = { "ngx_http_simulation_module", NULL };
char          *ngx_module_order[] = { NULL };


static void *
ngx_http_simulation_create(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(ngx_http_simulation_conf_t));
}


static char *
ngx_http_simulation_simulate(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_simulation_conf_t *scf = conf;

    ngx_str_t  *value;

    value = cf->args->elts;

    scf->n = ngx_atoi(value[1].data, value[1].len);
    scf->is_shuffled = cf->args->nelts == 3;

    return scf->n == NGX_ERROR ? "has no number" : NGX_CONF_OK;
}


static char *
ngx_http_simulation_evict(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = ngx_http_simulation_handler;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_simulation_handler(ngx_http_request_t *r)
{
    static u_char  *memory;

    if (memory == NULL) {
        memory = malloc(NGX_HTTP_SIMULATION_EVICTED);

        if (memory == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    ngx_memset(memory, ngx_random(), NGX_HTTP_SIMULATION_EVICTED);

    return NGX_HTTP_NO_CONTENT;
}


static ngx_int_t
ngx_http_simulation_init(ngx_cycle_t *cycle)
{
    ngx_int_t                     i, k;
    ngx_pool_t                  **pools, *pool;
    ngx_http_simulation_conf_t   *scf;

    scf = ngx_http_cycle_get_module_main_conf(cycle,
                                              ngx_http_simulation_module);

    if (scf == NULL || scf->n == 0) {
        return NGX_OK;
    }

    pools = malloc(scf->n * sizeof(ngx_pool_t *));
    if (pools == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < scf->n; i++) {
        pools[i] = ngx_create_pool(512, cycle->log);

        if (pools[i] == NULL) {
            return NGX_ERROR;
        }
    }

    for (i = scf->n - 1; i > 0 && scf->is_shuffled; i--) {
        k = ngx_random() % (i + 1);

        pool = pools[i];
        pools[i] = pools[k];
        pools[k] = pool;
    }

    for (i = 0; i < scf->n; i++) {
        if (ngx_http_simulation_connection(cycle, pools[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    free(pools);

    return NGX_OK;
}


/* As ngx_event_accept() and ngx_http_init_connection() do it. */

static ngx_int_t
ngx_http_simulation_connection(ngx_cycle_t *cycle, ngx_pool_t *pool)
{
    ngx_log_t              *log;
    ngx_listening_t        *ls;
    ngx_connection_t       *c;
    ngx_http_in_addr_t     *addr;
    ngx_http_log_ctx_t     *ctx;
    ngx_http_connection_t  *hc;

    ls = cycle->listening.elts;

    c = ngx_get_connection(ls->fd, cycle->log);
    if (c == NULL) {
        return NGX_ERROR;
    }

    c->pool = pool;

    log = ngx_palloc(pool, sizeof(ngx_log_t));
    hc = ngx_pcalloc(pool, sizeof(ngx_http_connection_t));
    ctx = ngx_palloc(pool, sizeof(ngx_http_log_ctx_t));

    if (log == NULL || hc == NULL || ctx == NULL) {
        return NGX_ERROR;
    }

    *log = ls->log;

    c->log = log;
    c->listening = ls;
    c->number = ngx_atomic_fetch_add(ngx_connection_counter, 1);

    addr = ((ngx_http_port_t *) ls->servers)->addrs;

    hc->addr_conf = &addr[0].conf;
    hc->conf_ctx = hc->addr_conf->default_server->ctx;
    c->data = hc;

    ctx->connection = c;
    ctx->request = NULL;
    ctx->current_request = NULL;
    log->data = ctx;

    return NGX_OK;
}
