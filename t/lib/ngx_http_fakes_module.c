
/*
 * A module that leaves fake connections behind, in all the ways that a module
 * may: for t/158.
 *
 *     http { fakes; }
 *
 * Each worker has one connection for each row of the table below.  Some are
 * alive, and a timer that is set has their log.  The pools of the others are
 * destroyed as the worker starts, or a moment later.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_http.h>


typedef enum {
    NGX_HTTP_FAKES_IN_POOL = 0,
    NGX_HTTP_FAKES_STATIC,             /* not the pool's */
    NGX_HTTP_FAKES_CYCLE               /* the cycle's: it has no number */
} ngx_http_fakes_log_e;


typedef enum {
    NGX_HTTP_FAKES_IS_REQUEST = 0,     /* in the pool, as Lua's */
    NGX_HTTP_FAKES_IS_NULL,
    NGX_HTTP_FAKES_IS_CONNECTION       /* as in the list of free ones */
} ngx_http_fakes_data_e;


typedef struct {
    size_t                   size;         /* of the pool */
    unsigned                 is_alive:1;   /* its pool is */
    unsigned                 is_late:1;    /* destroyed by the first timer */
    unsigned                 has_timer:1;  /* that has its log */
    unsigned                 has_listening:1;
    unsigned                 has_no_number:1;
    ngx_http_fakes_log_e     log;
    ngx_http_fakes_data_e    data;
} ngx_http_fakes_row_t;


typedef struct {
    ngx_connection_t        *c;
    ngx_event_t              timer;
    ngx_log_t                log;
} ngx_http_fakes_t;


static char *ngx_http_fakes(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static ngx_int_t ngx_http_fakes_init_process(ngx_cycle_t *cycle);
static ngx_int_t ngx_http_fakes_create(ngx_cycle_t *cycle,
    const ngx_http_fakes_row_t *row, ngx_http_fakes_t *fake);
static ngx_int_t ngx_http_fakes_fill(ngx_cycle_t *cycle,
    const ngx_http_fakes_row_t *row, ngx_http_fakes_t *fake);
static void ngx_http_fakes_timer(ngx_event_t *ev);
static void ngx_http_fakes_late(ngx_event_t *ev);


static ngx_command_t  ngx_http_fakes_commands[] = {

    { ngx_string("fakes"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_NOARGS,
      ngx_http_fakes,
      0,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_fakes_module_ctx = {
    NULL,                              /* preconfiguration */
    NULL,                              /* postconfiguration */

    NULL,                              /* create main configuration */
    NULL,                              /* init main configuration */

    NULL,                              /* create server configuration */
    NULL,                              /* merge server configuration */

    NULL,                              /* create location configuration */
    NULL                               /* merge location configuration */
};


ngx_module_t  ngx_http_fakes_module = {
    NGX_MODULE_V1,
    &ngx_http_fakes_module_ctx,        /* module context */
    ngx_http_fakes_commands,           /* module directives */
    NGX_HTTP_MODULE,                   /* module type */
    NULL,                              /* init master */
    NULL,                              /* init module */
    ngx_http_fakes_init_process,       /* init process */
    NULL,                              /* init thread */
    NULL,                              /* exit thread */
    NULL,                              /* exit process */
    NULL,                              /* exit master */
    NGX_MODULE_V1_PADDING
};


static const ngx_http_fakes_row_t  ngx_http_fakes_rows[] = {

    /* as that of init_worker_by_lua */
    { .size = 128 },
    { .size = 1024 },
    { .size = 128, .is_late = 1 },
    { .size = 128, .has_listening = 1 },
    { .size = 128, .data = NGX_HTTP_FAKES_IS_NULL },
    { .size = 128, .data = NGX_HTTP_FAKES_IS_CONNECTION },

    /* a timer has a log of this number, but not the pool's */
    { .size = 128, .log = NGX_HTTP_FAKES_STATIC, .has_timer = 1 },
    { .size = 1024, .log = NGX_HTTP_FAKES_STATIC, .has_timer = 1,
      .is_late = 1 },
    { .size = 128, .log = NGX_HTTP_FAKES_CYCLE, .has_timer = 1,
      .has_no_number = 1 },

    /* alive, and nothing proves it */
    { .size = 8192, .is_alive = 1 },
    { .size = 8192, .is_alive = 1, .has_timer = 1, .has_no_number = 1 },

    /* alive, perhaps where one of the others was */
    { .size = 128, .is_alive = 1, .has_timer = 1 },
    { .size = 128, .is_alive = 1, .has_timer = 1, .has_listening = 1 },
    { .size = 1024, .is_alive = 1, .has_timer = 1 }
};

#define NGX_HTTP_FAKES                                                        \
    (sizeof(ngx_http_fakes_rows) / sizeof(ngx_http_fakes_row_t))


static ngx_uint_t        ngx_http_fakes_are_wanted;
static ngx_http_fakes_t  ngx_http_fakes_all[NGX_HTTP_FAKES];
static ngx_event_t       ngx_http_fakes_end;


static char *
ngx_http_fakes(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_fakes_are_wanted = 1;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_fakes_init_process(ngx_cycle_t *cycle)
{
    ngx_uint_t  i;

    if (!ngx_http_fakes_are_wanted) {
        return NGX_OK;
    }

    for (i = 0; i < NGX_HTTP_FAKES; i++) {
        if (ngx_http_fakes_create(cycle, &ngx_http_fakes_rows[i],
                                  &ngx_http_fakes_all[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    ngx_http_fakes_end.handler = ngx_http_fakes_late;
    ngx_http_fakes_end.data = ngx_http_fakes_all[0].c;
    ngx_http_fakes_end.log = cycle->log;
    ngx_http_fakes_end.cancelable = 1;

    ngx_add_timer(&ngx_http_fakes_end, 1);

    return NGX_OK;
}


static ngx_int_t
ngx_http_fakes_create(ngx_cycle_t *cycle, const ngx_http_fakes_row_t *row,
    ngx_http_fakes_t *fake)
{
    ngx_connection_t  *c;

    c = ngx_get_connection(0, cycle->log);
    if (c == NULL) {
        return NGX_ERROR;
    }

    fake->c = c;

    c->fd = (ngx_socket_t) -1;
    c->pool = ngx_create_pool(row->size, cycle->log);
    if (c->pool == NULL) {
        return NGX_ERROR;
    }

    if (!row->has_no_number) {
        c->number = ngx_atomic_fetch_add(ngx_connection_counter, 1);
    }

    if (ngx_http_fakes_fill(cycle, row, fake) != NGX_OK) {
        return NGX_ERROR;
    }

    fake->timer.handler = ngx_http_fakes_timer;
    fake->timer.data = c;
    fake->timer.log = c->log;
    fake->timer.cancelable = 1;

    if (row->has_timer) {
        ngx_add_timer(&fake->timer, 1000000);
    }

    if (!row->is_alive && !row->is_late) {
        ngx_destroy_pool(c->pool);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_fakes_fill(ngx_cycle_t *cycle, const ngx_http_fakes_row_t *row,
    ngx_http_fakes_t *fake)
{
    ngx_log_t         *log;
    ngx_listening_t   *ls;
    ngx_connection_t  *c;

    c = fake->c;

    log = row->log == NGX_HTTP_FAKES_IN_POOL
          ? ngx_palloc(c->pool, sizeof(ngx_log_t)) : &fake->log;
    if (log == NULL) {
        return NGX_ERROR;
    }

    *log = *cycle->log;
    log->connection = c->number;
    c->log = row->log == NGX_HTTP_FAKES_CYCLE ? cycle->log : log;

    switch (row->data) {

    case NGX_HTTP_FAKES_IS_REQUEST:
        c->data = ngx_pcalloc(c->pool, sizeof(ngx_http_request_t));
        break;

    case NGX_HTTP_FAKES_IS_NULL:
        break;

    case NGX_HTTP_FAKES_IS_CONNECTION:
        c->data = cycle->connections;
        break;
    }

    /* it names the module */
    c->read->handler = ngx_http_fakes_timer;

    ls = cycle->listening.elts;
    c->listening = row->has_listening ? ls : NULL;

    return NGX_OK;
}


static void
ngx_http_fakes_timer(ngx_event_t *ev)
{
    ngx_add_timer(ev, 1000000);
}


static void
ngx_http_fakes_late(ngx_event_t *ev)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_HTTP_FAKES; i++) {
        if (ngx_http_fakes_rows[i].is_late) {
            ngx_destroy_pool(ngx_http_fakes_all[i].c->pool);
        }
    }
}


/* what makes a module that can be loaded of this file */

extern ngx_module_t  *ngx_modules[];
extern char          *ngx_module_names[];
extern char          *ngx_module_order[];

ngx_module_t  *ngx_modules[] = { &ngx_http_fakes_module, NULL };
char  *ngx_module_names[] = { "ngx_http_fakes_module", NULL };
char  *ngx_module_order[] = { NULL };
