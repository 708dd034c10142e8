
/*
 * The tool's files: dumps into memory, and the report to its place.
 *
 * A dump is read, never mapped (a file that is cut in place would be a
 * SIGBUS), into pages of an arena.  The report goes to a temporary file beside
 * its target, which takes the target's name only if all went well; whatever
 * happens before, signals included, the temporary file is removed.  A target
 * that is no regular file, such as a pipe or /dev/full, is written directly.
 *
 * The core reads what is in the files.  One output at a time, because a signal
 * handler has to find it; one thread.
 */


#ifndef _JPP_IO_H_INCLUDED_
#define _JPP_IO_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_err.h"


#define JPP_SECOND  INT64_C(1000000000)


typedef struct {
    const char   *path;            /* "-" is stdin */
    const char   *name;            /* of the file, to show */
    jpp_vec_t    *data;
    int64_t       mtime;           /* ns; now where it is no regular file */
} jpp_input_t;


typedef struct {
    const char   *name;            /* the target's, to show */
    int           fd;
    bool          is_temporary;
} jpp_output_t;


/*
 * Read all of INPUT, whose path is set, into ARENA.  If stderr is a terminal,
 * it shows the progress for large files.
 */
jpp_code_t jpp_input_read(jpp_input_t *input, jpp_arena_t *arena,
    jpp_err_t *err);

/*
 * Open the caller's OUTPUT to the file PATH; NULL and "-" are stdout.
 * output->name is set in any case.  Close it with jpp_output_commit() or
 * jpp_output_discard().
 */
jpp_code_t jpp_output_open(jpp_output_t *output, const char *path,
    jpp_err_t *err);

/* Writes all LEN bytes; a jpp_sink_write_pt whose CTX is a jpp_output_t. */
int jpp_output_write(void *ctx, const uint8_t *data, size_t len);

/* Give what was written its name.  After an error no file is left behind. */
jpp_code_t jpp_output_commit(jpp_output_t *output, jpp_err_t *err);

/* Close, and leave no file behind. */
void jpp_output_discard(jpp_output_t *output);


#endif /* _JPP_IO_H_INCLUDED_ */
