
/*
 * Unwinds the calling or the interrupted stack for samplers, with
 * src/core/unwind and the loaded objects of this process.  The last frame of a
 * truncated stack says why (jpp_cut.h).
 *
 * One per process, because allocators call their hooks without an argument.
 * jpp_backtrace_start() and _refresh() are for any thread, outside signals and
 * allocators; everything marked [signal] also for handlers and for malloc()
 * itself: no lock, no memory, errno untouched.
 */


#ifndef _JPP_BACKTRACE_H_INCLUDED_
#define _JPP_BACKTRACE_H_INCLUDED_


#include "jpp_core.h"


/*
 * What a thread of this process does at this moment, as the kernel says: it
 * runs, or it is blocked in a system call or by a missing page.  Of a blocked
 * one the place of its stack is known, so that another thread can read it: the
 * thread itself is not disturbed, as it would be by a signal, after which many
 * system calls fail with EINTR.
 *
 * And its name, and which signals it blocks.
 *
 * The owner of /proc/self/task/.../syscall.  No state, no memory; any thread,
 * but not in handlers.
 */

typedef enum {
    JPP_BLOCKED_RUNS = 0,
    JPP_BLOCKED_WAITS,
    JPP_BLOCKED_UNKNOWN       /* this kernel does not say */
} jpp_blocked_state_t;


typedef enum {
    JPP_BLOCKED_FOR_OTHER = 0,
    JPP_BLOCKED_FOR_THREAD,   /* another one */
    JPP_BLOCKED_FOR_POLL,     /* from here on, as an event loop waits */
    JPP_BLOCKED_FOR_EPOLL
} jpp_blocked_for_t;


/* of a system call */
#define JPP_BLOCKED_ARGS  6


typedef struct {
    jpp_blocked_state_t   state;
    int64_t               call;    /* the system call; -1: none, a page */
    uintptr_t             args[JPP_BLOCKED_ARGS];    /* registers, in order */
    uintptr_t             rsp;
    uintptr_t             pc;      /* behind the call; of the access */
} jpp_blocked_t;


/* Fill BLOCKED with what the thread TID of this process does. */
void jpp_blocked_read(pid_t tid, jpp_blocked_t *blocked);

/* The same from the LEN bytes of the kernel's line at TEXT. */
void jpp_blocked_parse(const char *text, size_t len, jpp_blocked_t *blocked);

/* What it waits for. */
jpp_blocked_for_t jpp_blocked_for(const jpp_blocked_t *blocked);

/* Does thread TID block SIGNO? */
bool jpp_blocked_masks(pid_t tid, int signo);

/* The name of thread TID, with question marks for what is not printable. */
#define JPP_BLOCKED_NAME  16

void jpp_blocked_name(pid_t tid, char name[JPP_BLOCKED_NAME]);


/* the least depth */
#define JPP_BACKTRACE_MIN   4

#define JPP_BACKTRACE_LAST  UINTPTR_MAX

#define JPP_BACKTRACE_COPY  (64 * 1024)


/* where a call returns to: the address, and what two registers are then */
typedef struct {
    uintptr_t         pc;
    uintptr_t         rsp;
    uintptr_t         rbp;
} jpp_backtrace_frame_t;


typedef struct {
    uint64_t          n;           /* stacks that were walked */
    uint64_t          n_cut;       /* and ended before their outermost frame */
} jpp_backtrace_counts_t;


/*
 * Learn what is loaded, and walk once, so that lazy binding is done; later
 * calls only refresh.  False: there is no unwinder for this machine.
 */
bool jpp_backtrace_start(void);

/*
 * Learn what was loaded since.  Costs next to nothing if that is nothing, or if
 * another thread is at it.
 */
void jpp_backtrace_refresh(void);

/*
 * [signal] Store the stack of the caller at PCS, return addresses from the
 * innermost: the first lies in the caller's caller.  At least one, and at most
 * DEPTH - 2; deeper stacks lack their outermost frames.
 */
uint32_t jpp_backtrace(uintptr_t *pcs, uint32_t depth);

/*
 * [signal] The same from FRAME, which is the first; at least one, and at most
 * DEPTH.  0: a frame needs other registers, which jpp_backtrace() knows.
 */
uint32_t jpp_backtrace_from(const jpp_backtrace_frame_t *frame,
    uintptr_t *pcs, uint32_t depth);

/*
 * [signal] The same of what a signal has interrupted, in its handler: UCONTEXT
 * is the third argument of that.  At least one, and at most DEPTH; the first
 * lies one behind the instruction, as return addresses do.  Not among what is
 * counted.
 */
uint32_t jpp_backtrace_interrupted(const void *ucontext, uintptr_t *pcs,
    uint32_t depth);

/*
 * [signal] The same of the main thread while it is BLOCKED, for any thread of
 * the process: by its memory, so that it is not disturbed.  It may go on in the
 * meantime: the stack is true if it is BLOCKED in the same place afterwards.
 * 0: it does not run on its own stack.
 */
uint32_t jpp_backtrace_blocked(const jpp_blocked_t *blocked, uintptr_t *pcs,
    uint32_t depth);

/*
 * The same of any thread of this process, whose stack may be unmapped as it
 * ends: it is copied, JPP_BACKTRACE_COPY bytes at most, to COPY, and walked
 * there.  Not in handlers.
 */
uint32_t jpp_backtrace_copied(const jpp_blocked_t *blocked, uint8_t *copy,
    uintptr_t *pcs, uint32_t depth);

/* [signal] Where the main thread's stack ends that RSP lies in; 0: in none. */
uintptr_t jpp_backtrace_top(uintptr_t rsp);

/* [signal] As jpp_unwind_distance(); JPP_BACKTRACE_LAST is JPP_UNWIND_LAST. */
uintptr_t jpp_backtrace_distance(uintptr_t pc);

/* [signal] Is the stack from RSP on at least SIZE bytes long? */
bool jpp_backtrace_holds(uintptr_t rsp, size_t size);

/* [signal] Where the function that ADDRESS lies in starts; 0: unknown. */
uintptr_t jpp_backtrace_function(uintptr_t address);

/*
 * [signal] What allocators have walked so far; threads that walk are seen soon.
 */
void jpp_backtrace_count(jpp_backtrace_counts_t *counts);


#endif /* _JPP_BACKTRACE_H_INCLUDED_ */
