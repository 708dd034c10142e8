
/*
 * What may be loaded beside nginx and maps its memory itself, so that malloc's
 * profiler and its counters have nothing of it.
 *
 * One table, of what was seen to do so; the others are named by nobody.  Any
 * thread.
 */


#ifndef _JPP_MAPPERS_H_INCLUDED_
#define _JPP_MAPPERS_H_INCLUDED_


#include <stddef.h>
#include <stdint.h>


typedef enum {
    JPP_MAPPER_LUAJIT = 0,
    JPP_MAPPER_PYTHON,
    JPP_MAPPER_GO,
    JPP_MAPPER_JAVA,
    JPP_MAPPERS
} jpp_mapper_t;

/* " is loaded" and all of their names */
#define JPP_MAPPERS_TEXT   64


/* A bit for each that is loaded: looks at everything that is. */
uint32_t jpp_mappers_loaded(void);

/*
 * Write which of MAPPERS, a bit for each, are loaded: "LuaJIT and Go are
 * loaded"; "" for none.  Returns TEXT.
 */
const char *jpp_mappers_text(uint32_t mappers, char text[JPP_MAPPERS_TEXT]);


#endif /* _JPP_MAPPERS_H_INCLUDED_ */
