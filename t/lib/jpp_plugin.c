
/*
 * For jpp_sampler_plugins_test: allocates and frees, and is an object of its
 * own in each file that it is copied to.
 */


#include <stdlib.h>


void *jpp_plugin_malloc(size_t size);
void jpp_plugin_free(void *p);


void *
jpp_plugin_malloc(size_t size)
{
    return malloc(size);
}


void
jpp_plugin_free(void *p)
{
    free(p);
}
