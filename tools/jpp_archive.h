
/*
 * Reads archives: snapshots, as "curl .../snapshots?at=7" leaves them, and any
 * other tar or tar.gz.  Lists the members, finds one, or makes captures of all
 * that workers answered, with the labels that a server gives them.
 *
 * Nothing in a file is trusted: names are shown escaped, sizes are bounded, and
 * each fault has a sentence.  Members with other names are ignored: archives
 * of newer versions contain more.  Memory from an arena.
 */


#ifndef _JPP_ARCHIVE_H_INCLUDED_
#define _JPP_ARCHIVE_H_INCLUDED_


#include "jpp_recorded.h"


/* bytes of an unpacked archive */
#define JPP_ARCHIVE_MAX  ((size_t) 1 << 30)


typedef struct {
    const uint8_t  *data;          /* unpacked */
    size_t          len;
    jpp_arena_t    *arena;
} jpp_archive_t;


/* What an archive has of a worker. */
enum {
    JPP_ARCHIVE_REPLY = 0,
    JPP_ARCHIVE_DUMP,
    JPP_ARCHIVE_BASELINE,
    JPP_ARCHIVE_PARTS
};


typedef struct {
    jpp_identity_t        who;
    jpp_tar_t             parts[JPP_ARCHIVE_PARTS];   /* data NULL: none */
    const jpp_tar_t      *baseline;    /* of its generation, or NULL */
    size_t                group;       /* which that is: another number for */
                                       /*   each, below that of workers */
    jpp_message_reply_t   reply;       /* zeros: of another version */
} jpp_archive_worker_t;


/*
 * Do the LEN bytes at DATA, gzip-ed or not, begin as an archive does?  Memory
 * from ARENA, which is given back.
 */
bool jpp_archive_is(const char *data, size_t len, jpp_arena_t *arena);

/* Fill the caller's ARCHIVE from the LEN bytes at DATA, which stay. */
jpp_code_t jpp_archive_open(jpp_archive_t *archive, const char *data,
    size_t len, jpp_arena_t *arena, jpp_err_t *err);

/* Write a line for each member: its size and its name. */
jpp_code_t jpp_archive_list(const jpp_archive_t *archive, jpp_sink_t *sink,
    jpp_err_t *err);

/* Find the member NAME; JPP_ERR_ABSENT: it has none, but others. */
jpp_code_t jpp_archive_member(const jpp_archive_t *archive, const char *name,
    jpp_tar_t *member, jpp_err_t *err);

/*
 * Fill the empty vector WORKERS with a jpp_archive_worker_t for each worker,
 * and what PARSER reads of it: its heap, or its pools.  JPP_ERR_ABSENT: there
 * is no dump of any.
 */
jpp_code_t jpp_archive_workers(const jpp_archive_t *archive,
    const jpp_parser_t *parser, jpp_vec_t *workers, jpp_err_t *err);


#endif /* _JPP_ARCHIVE_H_INCLUDED_ */
