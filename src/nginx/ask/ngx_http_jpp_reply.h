
/*
 * What this worker answers to a question, while it is worked on.
 */


#ifndef _NGX_HTTP_JPP_REPLY_H_INCLUDED_
#define _NGX_HTTP_JPP_REPLY_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "jpp_memfd.h"
#include "jpp_message.h"


/* An answer in the making, for everybody who asked for it in time. */
typedef struct {
    jpp_message_question_t   question;
    jpp_message_reply_t      reply;
    jpp_memfd_t              file;         /* that goes with it; fd -1: none */
    uint64_t                 took;         /* the work, ms */
    void                    *state;        /* what the kind keeps, or NULL */
    const char              *why_early;    /* the wait was short; or NULL */
} ngx_http_jpp_reply_t;


/* In any thread: open REPLY's file; its err says why it is not. */
jpp_code_t ngx_http_jpp_reply_open(ngx_http_jpp_reply_t *reply);


#endif /* _NGX_HTTP_JPP_REPLY_H_INCLUDED_ */
