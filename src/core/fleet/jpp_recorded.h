
/*
 * What an archive of captures contains of a worker: its reply, the files that
 * came with it, and what identifies these in a report.
 *
 * The adapter writes archives (snapshots, bundles) and reads them again; the
 * tool reads them as well.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_RECORDED_H_INCLUDED_
#define _JPP_RECORDED_H_INCLUDED_


#include "jpp_message.h"
#include "jpp_report.h"


/*
 * A reply in an archive.  What a worker of another version sent does not
 * unpack.
 */

#define JPP_RECORDED_KEY  16

typedef struct {
    uint8_t    key[JPP_RECORDED_KEY];
    uint64_t   started;
    uint8_t    message[JPP_MESSAGE_REPLY];
} jpp_recorded_reply_t;


/* Of a file in an archive: "heap/worker-0-pid-4711-generation-1.dump". */
void jpp_recorded_name(char name[JPP_TAR_NAME], const char *folder,
    const jpp_identity_t *who, const char *suffix);

/* Is NAME such a name in FOLDER, with SUFFIX, and of whom? */
bool jpp_recorded_named(const char *name, const char *folder,
    jpp_identity_t *who, const char *suffix);

/*
 * Set what identifies CAPTURE, which PARSER reads, as one of the worker WHO:
 * its name, its labels and those of what it inherited, group and source.  FILE
 * is one more label, unless it is NULL.  False: ARENA has no memory.
 */
bool jpp_recorded_identify(jpp_capture_t *capture, const jpp_identity_t *who,
    const jpp_parser_t *parser, const char *file, jpp_arena_t *arena);


#endif /* _JPP_RECORDED_H_INCLUDED_ */
