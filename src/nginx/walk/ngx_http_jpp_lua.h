
/*
 * The VMs of LuaJIT in this worker: where they are, how large, and the answer
 * to a question for what holds their memory, a walk in a copy of this process
 * (jpp_lua.h, jpp_copy_open()).
 *
 * For the event loop, unless a function says more.
 */


#ifndef _NGX_HTTP_JPP_LUA_H_INCLUDED_
#define _NGX_HTTP_JPP_LUA_H_INCLUDED_


#include "ngx_http_jpp_ask.h"


/*
 * In the master, or a single process, for each configuration: learn the layout
 * of VMs, where a module of CYCLE has one.  Workers inherit it.
 */
void ngx_http_jpp_lua_configured(ngx_cycle_t *cycle);

/* Fill LUA with what is known of this worker's VMs. */
void ngx_http_jpp_lua_describe(jpp_lua_known_t *lua);

/*
 * The answer to a question for the heap (ngx_http_jpp_ask.h): the slice copies
 * this process, and in the thread the work waits for the copy.  One at a time.
 */
jpp_code_t ngx_http_jpp_lua_check(const jpp_worker_t *worker, jpp_err_t *err);
ngx_int_t ngx_http_jpp_lua_slice(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_lua_work(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_lua_release(ngx_http_jpp_reply_t *reply);


#endif /* _NGX_HTTP_JPP_LUA_H_INCLUDED_ */
