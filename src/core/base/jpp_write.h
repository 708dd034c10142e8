
/*
 * Writing to files.  At the largest size that a process may give one
 * (RLIMIT_FSIZE), the kernel ends the process by SIGXFSZ.  Here the signal is
 * held back in the calling thread, so that the limit is an error like any
 * other, and nobody else's handler or mask changes.
 *
 * No state, no memory; any thread.
 */


#ifndef _JPP_WRITE_H_INCLUDED_
#define _JPP_WRITE_H_INCLUDED_


#include "jpp_err.h"


/*
 * Write all LEN bytes of DATA to the file whose descriptor FD points to: a
 * write function of jpp_sink.h.  Returns 0, or an errno.
 */
int jpp_write(void *fd, const uint8_t *data, size_t len);

/*
 * The same for files that others write: from _hold() to _release(), which is
 * given the same WAS, no limit ends the process.  Errno is untouched.
 */
void jpp_write_hold(sigset_t *was);
void jpp_write_release(const sigset_t *was);

/* Has the file behind FD the largest size that it may have? */
bool jpp_write_is_full(int fd);

/*
 * WHAT could not be written, since a call failed with SYS_ERRNO: as
 * jpp_err_sys(), with the fix where that is the limit.
 */
jpp_code_t jpp_write_failed(jpp_err_t *err, int sys_errno, const char *what);


#endif /* _JPP_WRITE_H_INCLUDED_ */
