
#include "jpp_memory.h"
#include "jpp_memory_text.h"
#include "jpp_memory_write.h"


static const char *jpp_memory_word(const void *ctx, uint32_t i);


static const struct {
    const char      *name;
    const char      *type;
    bool           (*write)(const jpp_memory_t *memory, jpp_sink_t *sink);
    jpp_detail_t     detail;
} jpp_memory_formats[] = {
    { "json", "application/json", jpp_memory_json, JPP_DETAIL_NONE },
    { "top", "text/plain", jpp_memory_text, JPP_DETAIL_LEDGER }
};


#define JPP_MEMORY_FORMATS                                                    \
    (sizeof(jpp_memory_formats) / sizeof(jpp_memory_formats[0]))


const jpp_words_t  jpp_memory_words = { jpp_memory_word, NULL, 0 };


const char *
jpp_memory_type(const jpp_args_t *args)
{
    return jpp_memory_formats[args->values[JPP_ARG_FORMAT]].type;
}


jpp_detail_t
jpp_memory_detail(const jpp_args_t *args)
{
    return args->is_set[JPP_ARG_DETAIL]
           ? (jpp_detail_t) args->values[JPP_ARG_DETAIL]
           : jpp_memory_formats[args->values[JPP_ARG_FORMAT]].detail;
}


jpp_code_t
jpp_memory_check(const jpp_args_t *args, jpp_err_t *err)
{
    jpp_detail_t  detail, own;

    detail = jpp_memory_detail(args);
    own = jpp_memory_formats[args->values[JPP_ARG_FORMAT]].detail;

    if (own != JPP_DETAIL_NONE && detail != own) {
        return jpp_err_set(err, JPP_ERR_ARG,
                           "format=top shows the ledger only: leave format out "
                           "for detail=smaps and detail=arenas, which are "
                           "JSON");
    }

    return JPP_OK;
}


bool
jpp_memory_write(const jpp_memory_t *memory, jpp_sink_t *sink)
{
    return jpp_memory_formats[memory->args->values[JPP_ARG_FORMAT]]
           .write(memory, sink);
}


static const char *
jpp_memory_word(const void *ctx, uint32_t i)
{
    (void) ctx;

    return i < JPP_MEMORY_FORMATS ? jpp_memory_formats[i].name : NULL;
}
