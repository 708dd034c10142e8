
/*
 * The core's error value.
 *
 * Every function that can fail for a reason a person should read returns a
 * jpp_code_t and fills the caller's jpp_err_t: the code, the errno where there
 * is one, the line of the input where there is one, and one sentence that says
 * what is wrong.  The core never logs, prints, aborts or asserts on input.
 *
 * No state, no allocation; any thread.
 */


#ifndef _JPP_ERR_H_INCLUDED_
#define _JPP_ERR_H_INCLUDED_


#include "jpp_config.h"


#define JPP_ERR_TEXT  512


typedef enum {
    JPP_OK = 0,
    JPP_ERR_ARG,         /* a parameter has a value that is not allowed */
    JPP_ERR_INPUT,       /* the input is not what it claims to be */
    JPP_ERR_CUT,         /* the input was truncated */
    JPP_ERR_LIMIT,       /* past a limit of jpp_limits.h, or the caller's */
    JPP_ERR_SYS,         /* a system call failed, see sys_errno */
    JPP_ERR_WRITE,       /* what was written could not be delivered */
    JPP_ERR_JEMALLOC,    /* jemalloc refused */
    JPP_ERR_MEMORY,      /* the arena or the kernel has no memory */
    JPP_ERR_TAIL,        /* the input was cut, or is of another kernel */
    JPP_ERR_LATE,        /* nothing came in time */
    JPP_ERR_GONE,        /* the process asked has ended, or is another */
    JPP_ERR_FULL,        /* what is held leaves no room: try again */
    JPP_ERR_DENIED,      /* a policy, or an old kernel, has no such call */
    JPP_ERR_STATE,       /* the profiler's state forbids it: jpp_diagnosis.h */
    JPP_ERR_BUSY,        /* as many are at work as there may be: try again */
    JPP_ERR_TAKEN,       /* it belongs to somebody else in this process */
    JPP_ERR_ABSENT,      /* this machine, or this build, has no such thing */
    JPP_ERR_MISSING,     /* what is asked for is not there, or no longer */
    JPP_CODES
} jpp_code_t;


typedef struct {
    jpp_code_t   code;
    int          sys_errno;
    size_t       capture;               /* which of several inputs, 0.. */
    uint64_t     line;                  /* of that input, 1.., 0 for none */
    char         text[JPP_ERR_TEXT];    /* one sentence, no newline */
} jpp_err_t;


/*
 * Fill ERR with CODE and a sentence and return CODE.  The sentence is cut at
 * JPP_ERR_TEXT - 1 bytes, and control bytes in it (input may be quoted) become
 * question marks.  ERR may be NULL.
 */
#define jpp_err_set(err, code, ...)  jpp_err_line(err, code, 0, __VA_ARGS__)

/* The same at LINE of the input. */
jpp_code_t jpp_err_line(jpp_err_t *err, jpp_code_t code, uint64_t line,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The same for a failed call: JPP_ERR_SYS, and ": <strerror>" is appended. */
jpp_code_t jpp_err_sys(jpp_err_t *err, int sys_errno, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The arena has reached its cap, or the kernel has no memory. */
jpp_code_t jpp_err_memory(jpp_err_t *err);


#endif /* _JPP_ERR_H_INCLUDED_ */
