
#include "jpp_locations_json.h"
#include "jpp_locations_text.h"
#include "jpp_locations_write.h"


static const char *jpp_locations_word(const void *ctx, uint32_t i);


static const struct {
    const char   *name;
    const char   *type;
    bool        (*write)(const jpp_locations_t *locations, jpp_sink_t *sink);
} jpp_locations_formats[] = {
    { "top", "text/plain", jpp_locations_as_text },
    { "json", "application/json", jpp_locations_as_json }
};


#define JPP_LOCATIONS_FORMATS                                                 \
    (sizeof(jpp_locations_formats) / sizeof(jpp_locations_formats[0]))


const jpp_words_t  jpp_locations_words = { jpp_locations_word, NULL, 0 };


const char *
jpp_locations_type(const jpp_args_t *args)
{
    return jpp_locations_formats[args->values[JPP_ARG_FORMAT]].type;
}


bool
jpp_locations_write(const jpp_locations_t *locations, jpp_sink_t *sink)
{
    return jpp_locations_formats[locations->args->values[JPP_ARG_FORMAT]]
           .write(locations, sink);
}


static const char *
jpp_locations_word(const void *ctx, uint32_t i)
{
    (void) ctx;

    return i < JPP_LOCATIONS_FORMATS ? jpp_locations_formats[i].name : NULL;
}
