
/*
 * The words of a profile of pools: what frames an owner becomes, and what
 * memory is held for.
 */


#ifndef _JPP_POOLS_WORDS_H_INCLUDED_
#define _JPP_POOLS_WORDS_H_INCLUDED_


#include "jpp_pools_table.h"


#define JPP_POOLS_FRAMES  4


/* Which name of an owner follows the text of a frame. */
typedef enum {
    JPP_POOLS_NO_NAME = 0,
    JPP_POOLS_SERVERS,
    JPP_POOLS_LOCATIONS,
    JPP_POOLS_THIRDS
} jpp_pools_which_t;


typedef struct {
    const char          *text;
    jpp_pools_which_t    which;
} jpp_pools_part_t;


typedef struct {
    jpp_pools_part_t     parts[JPP_POOLS_FRAMES];   /* root first */
    bool                 has_classes;  /* large allocations have names */
} jpp_pools_frames_t;


/* By jpp_pools_kind_t. */
extern const jpp_pools_frames_t  jpp_pools_owners[JPP_POOLS_KINDS];

/* By jpp_pools_class_t; NULL for JPP_POOLS_ITSELF. */
extern const char *const  jpp_pools_classes[JPP_POOLS_CLASSES];

/* By jpp_pools_reason_t: why a walk ended early. */
extern const char *const  jpp_pools_reasons[JPP_POOLS_REASONS];

/* the first frame of what memory is held for; those before it say by whom */
extern const char *const  jpp_pools_parts[];


/* What an owner of KIND is: "request", "http2 connection". */
const char *jpp_pools_kind_name(jpp_pools_kind_t kind);


#endif /* _JPP_POOLS_WORDS_H_INCLUDED_ */
