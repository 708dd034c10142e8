
#include <string.h>

#include "jpp_fuzz.h"
#include "jpp_packages.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char        text[JPP_PACKAGES_TEXT];
    jpp_host_t  host;

    static const char *const  files[] = { "nginx", "libssl.so.3", "other" };

    jpp_host_read(&host, (const char *) data, size);
    jpp_packages_cure(&host, files, 3, text);

    if (strlen(host.codename) >= JPP_HOST_WORD || host.version > 9999) {
        __builtin_trap();
    }

    return 0;
}
