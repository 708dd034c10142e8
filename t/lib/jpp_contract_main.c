
/*
 * jpp_contract [--heap|--cpu|--pools] [--print] FILE
 *
 * Exit 0 where the profile keeps the contract; else every violation is a
 * sentence on stderr and the exit is 1, or 2 where FILE cannot be read.
 * --print writes the profile as text to stdout.
 */

#include <stdlib.h>
#include <string.h>

#include "jpp_contract.h"


static uint8_t *
jpp_contract_load(const char *path, size_t *len)
{
    FILE     *file;
    long      size;
    uint8_t  *data;

    data = NULL;
    file = fopen(path, "rb");

    if (file == NULL) {
        return NULL;
    }

    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0) {
        rewind(file);
        data = malloc((size_t) size + 1);
        *len = data != NULL ? fread(data, 1, (size_t) size, file) : 0;
    }

    fclose(file);

    return data;
}


int
main(int argc, char **argv)
{
    int        i;
    FILE      *print;
    size_t     len;
    uint8_t   *data;
    unsigned   flags, n;

    flags = 0;
    print = NULL;

    for (i = 1; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {

        if (strcmp(argv[i], "--heap") == 0) {
            flags = JPP_CONTRACT_HEAP;

        } else if (strcmp(argv[i], "--cpu") == 0) {
            flags = JPP_CONTRACT_CPU;

        } else if (strcmp(argv[i], "--pools") == 0) {
            flags = JPP_CONTRACT_POOLS;

        } else if (strcmp(argv[i], "--print") == 0) {
            print = stdout;

        } else {
            break;
        }
    }

    if (i != argc - 1) {
        fprintf(stderr, "usage: jpp_contract [--heap|--cpu|--pools] [--print] "
                "FILE\n");
        return 2;
    }

    data = jpp_contract_load(argv[i], &len);

    if (data == NULL) {
        perror(argv[i]);
        return 2;
    }

    n = jpp_contract_check(data, len, flags, stderr, print);

    free(data);

    return n == 0 ? 0 : 1;
}
