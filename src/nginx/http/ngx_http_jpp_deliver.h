
/*
 * Answers with a body that takes memory: it counts in the budget until it is
 * sent, and is refused where the budget is used up.
 */


#ifndef _NGX_HTTP_JPP_DELIVER_H_INCLUDED_
#define _NGX_HTTP_JPP_DELIVER_H_INCLUDED_


#include "ngx_http_jpp_send.h"

#include "jpp_arena.h"


/*
 * 200 with LEN bytes at DATA, which lie in ARENA, or 429 where the budget does
 * not allow them.  The request takes over the memory: the caller's ARENA is
 * empty afterwards.  Returns what a content handler returns.
 */
ngx_int_t ngx_http_jpp_deliver(ngx_http_request_t *r,
    const ngx_http_jpp_answer_t *answer, jpp_arena_t *arena, u_char *data,
    size_t len);


#endif /* _NGX_HTTP_JPP_DELIVER_H_INCLUDED_ */
