
/*
 * The table of resources, a row for each name.  A new resource is a row and a
 * file with its handler; a resource that is a profile is a row alone, with its
 * request type.  The root of a tree is console.
 */


#ifndef _NGX_HTTP_JPP_RESOURCES_H_INCLUDED_
#define _NGX_HTTP_JPP_RESOURCES_H_INCLUDED_


#include "ngx_http_jpp_http.h"


/* The content handler of every location that serves profiles. */
ngx_int_t ngx_http_jpp_handler(ngx_http_request_t *r);

/* The resource called NAME, or NULL. */
const ngx_http_jpp_resource_t *ngx_http_jpp_resource(const ngx_str_t *name);

/*
 * Their names, for a sentence: "heap, allocs and so on".  Valid until the next
 * call.
 */
const ngx_str_t *ngx_http_jpp_resource_names(void);

/*
 * Start a handler whose init has the options of a report for DATA: whether the
 * QUESTION allows one is checked.
 */
ngx_int_t ngx_http_jpp_profile_start(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);

/* Their links, for jpp_console_html(). */
extern const jpp_console_link_t  ngx_http_jpp_links[];

extern const ngx_http_jpp_resource_t  ngx_http_jpp_console;

/* their handlers */
extern const ngx_http_jpp_handler_t  ngx_http_jpp_bundle;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_cmdline;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_control;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_events;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_grown;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_locations;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_memory;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_metrics;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_profile;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_recorded;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_requests;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_snapshots;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_stalls;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_status;
extern const ngx_http_jpp_handler_t  ngx_http_jpp_symbol;


#endif /* _NGX_HTTP_JPP_RESOURCES_H_INCLUDED_ */
