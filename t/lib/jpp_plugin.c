
/*
 * For jpp_sampler_plugins_test and t/274-plugins.t: allocates and frees, and is
 * an object of its own in each file that it is copied to.  Its version is a
 * text, which can be replaced in a copy.
 */


#include <stdlib.h>


void *jpp_plugin_malloc(size_t size);
void jpp_plugin_free(void *p);
const char *jpp_plugin_version(void);


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


const char *
jpp_plugin_version(void)
{
    return "version 1";
}
