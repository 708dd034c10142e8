
/*
 * Who walks the stacks of this process: the module's unwinder, where jemalloc
 * allows it and the configuration does not forbid it.
 *
 * For the event loop.
 */


#ifndef _NGX_HTTP_JPP_UNWIND_H_INCLUDED_
#define _NGX_HTTP_JPP_UNWIND_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/* As this process starts: learn its code, and give jemalloc the unwinder. */
void ngx_http_jpp_unwind_init(ngx_cycle_t *cycle);

/* See what is loaded from now on, while anything here samples; idempotent. */
void ngx_http_jpp_unwind_watch(void);

/* As it ends: jemalloc has its own again. */
void ngx_http_jpp_unwind_exit(void);


#endif /* _NGX_HTTP_JPP_UNWIND_H_INCLUDED_ */
