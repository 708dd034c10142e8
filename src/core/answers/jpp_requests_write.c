
#include "jpp_requests_json.h"
#include "jpp_requests_text.h"
#include "jpp_requests_write.h"


static const char *jpp_requests_word(const void *ctx, uint32_t i);


static const struct {
    const char   *name;
    const char   *type;
    bool        (*write)(const jpp_requests_t *requests,
                         const jpp_requests_rows_t *rows, jpp_sink_t *sink);
} jpp_requests_formats[] = {
    { "top", "text/plain", jpp_requests_text },
    { "json", "application/json", jpp_requests_json }
};


#define JPP_REQUESTS_FORMATS                                                  \
    (sizeof(jpp_requests_formats) / sizeof(jpp_requests_formats[0]))


const jpp_words_t  jpp_requests_words = { jpp_requests_word, NULL, 0 };


const char *
jpp_requests_type(const jpp_args_t *args)
{
    return jpp_requests_formats[args->values[JPP_ARG_FORMAT]].type;
}


bool
jpp_requests_write(const jpp_requests_t *requests, jpp_sink_t *sink)
{
    jpp_requests_rows_t  rows;

    return jpp_requests_rows(&rows, requests)
           && jpp_requests_formats[requests->args->values[JPP_ARG_FORMAT]]
              .write(requests, &rows, sink);
}


static const char *
jpp_requests_word(const void *ctx, uint32_t i)
{
    (void) ctx;

    return i < JPP_REQUESTS_FORMATS ? jpp_requests_formats[i].name : NULL;
}
