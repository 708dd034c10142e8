
/*
 * What the fuzz targets share: the memory one input may take, and a sink that
 * throws away what it gets.
 */


#ifndef _JPP_FUZZ_H_INCLUDED_
#define _JPP_FUZZ_H_INCLUDED_


#include "jpp_sink.h"


#define JPP_FUZZ_MEMORY  (64 * 1024 * 1024)


int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static inline int
jpp_fuzz_discard(void *ctx, const uint8_t *data, size_t len)
{
    (void) ctx;
    (void) data;
    (void) len;

    return 0;
}


static inline jpp_sink_t *
jpp_fuzz_sink(void)
{
    static jpp_sink_t  sink;
    static uint8_t     buffer[JPP_SINK_BUFFER];

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_fuzz_discard, NULL);

    return &sink;
}


#endif /* _JPP_FUZZ_H_INCLUDED_ */
