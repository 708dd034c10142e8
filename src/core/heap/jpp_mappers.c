
#include <stdio.h>

#include "jpp_images.h"
#include "jpp_mappers.h"


/* A symbol that nobody else defines, and what is said if somebody does. */

typedef struct {
    const char  *symbol;
    const char  *name;
} jpp_mapper_row_t;


static const jpp_mapper_row_t  jpp_mapper_rows[JPP_MAPPERS] = {
    [JPP_MAPPER_LUAJIT] = { "luaJIT_setmode", "LuaJIT" },
    [JPP_MAPPER_PYTHON] = { "Py_Initialize", "Python" },
    [JPP_MAPPER_GO] = { "_cgo_topofstack", "Go" },
    [JPP_MAPPER_JAVA] = { "JNI_CreateJavaVM", "Java" }
};


uint32_t
jpp_mappers_loaded(void)
{
    unsigned  i;
    uint32_t  mappers;

    for (i = 0, mappers = 0; i < JPP_MAPPERS; i++) {
        mappers |= (uint32_t) jpp_images_has(jpp_mapper_rows[i].symbol) << i;
    }

    return mappers;
}


const char *
jpp_mappers_text(uint32_t mappers, char text[JPP_MAPPERS_TEXT])
{
    int         n;
    size_t      len;
    unsigned    i, n_names;
    uint32_t    rest;

    text[0] = '\0';
    n_names = 0;

    /* another version of the module may know more of them */

    rest = mappers & (((uint32_t) 1 << JPP_MAPPERS) - 1);

    for (i = 0, len = 0; i < JPP_MAPPERS; i++) {

        if ((rest >> i & 1) == 0) {
            continue;
        }

        rest &= ~((uint32_t) 1 << i);
        n_names++;

        n = snprintf(text + len, JPP_MAPPERS_TEXT - len, "%s%s",
                     len == 0 ? "" : rest != 0 ? ", " : " and ",
                     jpp_mapper_rows[i].name);

        len += (size_t) n;
    }

    if (len != 0) {
        (void) snprintf(text + len, JPP_MAPPERS_TEXT - len, " %s loaded",
                        n_names > 1 ? "are" : "is");
    }

    return text;
}
