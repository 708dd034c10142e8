
/*
 * What this process is, seen from inside: its mappings, the objects loaded into
 * it, its stacks, and the signal that records them.
 */


#ifndef _JPP_PROC_H_INCLUDED_
#define _JPP_PROC_H_INCLUDED_


#include "jpp_unwind.h"


/*
 * This process's mappings; the owner of /proc/self/maps.
 *
 * No state; any thread.
 */

/* of an arena: enough for the text of all mappings, and a little more */
#define JPP_PROC_ARENA  ((size_t) 64 << 20)

/* Read the text of /proc/self/maps to MAPS, once more if it changed while that
   was done. */
jpp_code_t jpp_proc_maps(jpp_vec_t *maps, jpp_err_t *err);

/*
 * Read M from the line of maps at P; from 0 to 0: it is not such a line.
 * Returns the line behind it, or END; NULL: it has no end.
 */
const char *jpp_proc_line(const char *p, const char *end,
    jpp_scan_mapping_t *m);

/*
 * How the page at ADDRESS is protected, as mprotect() has it (PROT_READ ...),
 * by the LEN bytes of maps TEXT; 0: nothing is mapped there.
 */
int jpp_proc_protection(const char *text, size_t len, uintptr_t address);

/*
 * The name of the last mapping in the LEN bytes of maps TEXT ("[vsyscall]"),
 * copied to ARENA: with it jpp_maps_read() sees that a listing is complete.
 * NULL if the last mapping is not one of the kernel's own, whose names are in
 * brackets, and without memory.
 */
const char *jpp_proc_tail(const char *text, size_t len, jpp_arena_t *arena);


/*
 * Memory that may not be there, read without a fault: a pipe takes it, and a
 * write() of what is not mapped fails.
 *
 * For those who follow pointers that they cannot trust, at a moment when nobody
 * keeps the memory from changing: the kernel copies what is there, or says that
 * it is not.  A read takes two system calls, and JPP_PEEK_MAX bytes at most,
 * which are less than a pipe holds and are taken out at once.  A page of a
 * stack is proven by one call and without a descriptor (jpp_stack.c), but that
 * reads nothing.
 *
 * One parser at a time.  Everything marked [signal] is safe in a handler: no
 * lock, no memory, errno untouched.
 */

/* the most that can be read at once */
#define JPP_PEEK_MAX  4096


/* fd -1: closed */
typedef struct {
    int               fds[2];
} jpp_peek_t;


/* False: there are no descriptors. */
bool jpp_peek_open(jpp_peek_t *peek);
void jpp_peek_close(jpp_peek_t *peek);

/* [signal] Copy the SIZE bytes at ADDRESS to TO; false: they are not there. */
bool jpp_peek(const jpp_peek_t *peek, uintptr_t address, void *to, size_t size);


/*
 * Creates an unnamed file for a dump: anonymous memory by memfd_create(), or
 * where that is forbidden, an O_TMPFILE in a directory of the caller.  The
 * writer uses the descriptor, or its path below /proc/self/fd; the parser maps
 * it.
 *
 * No state; any thread.
 */

typedef struct {
    int            fd;             /* -1: closed */
    const char    *data;           /* NULL: not mapped */
    size_t         len;
} jpp_memfd_t;


/* Initialize MEMFD as closed, so that closing it is safe. */
void jpp_memfd_init(jpp_memfd_t *memfd);

/*
 * Open the caller's MEMFD: empty, and closed on exec.  If anonymous memory is
 * forbidden, the file goes to DIRECTORY; if that is NULL, the error is
 * JPP_ERR_DENIED.
 */
jpp_code_t jpp_memfd_open(jpp_memfd_t *memfd, const char *directory,
    jpp_err_t *err);

/*
 * Map what was written, MAX bytes at most (JPP_ERR_LIMIT above that).  The
 * file is sealed first, or copied if it cannot be, so that nobody else who
 * holds the descriptor can truncate it while it is read.  For an empty file
 * data is not NULL, and len is 0.
 */
jpp_code_t jpp_memfd_map(jpp_memfd_t *memfd, size_t max, jpp_err_t *err);

/* Unmap and close.  Allowed at any time after init. */
void jpp_memfd_close(jpp_memfd_t *memfd);


/*
 * A copy: a child process that has a copy of this one's memory, as it is at
 * one moment, and works on it while this one goes on.
 *
 * The kernel copies only page tables, while which this process stops: 30 to 40
 * ms a GB of anonymous memory.  After that each page that either writes to is
 * copied, too.  Descriptors are shared, so that no socket gets another
 * reference.
 *
 * The child has one thread, and locks as the others held them: its work calls
 * no malloc(), and nothing that locks.  Signals are blocked in it; it ends with
 * the thread that started it, and a fault ends nothing else.  Nobody gets a
 * SIGCHLD, and nobody's waitpid() sees it.
 *
 * One thread at a time, and the child is its parent's: any thread may wait for
 * it.
 */

/* of what the child says about where it is */
#define JPP_COPY_WHERE   192

/* and of what it found, where that is little */
#define JPP_COPY_RESULT  256


/* Memory that both have. */
typedef struct {
    bool              is_done;
    jpp_err_t         err;         /* of the work */
    char              where[JPP_COPY_WHERE];
    uint64_t          result[JPP_COPY_RESULT / sizeof(uint64_t)];
} jpp_copy_page_t;


/* Zeroed: there is none. */
typedef struct {
    pid_t                  pid;    /* 0: it has ended, or none was started */
    jpp_copy_page_t   *page;
    uint64_t               stop;   /* ns that this process stood still */
} jpp_copy_t;


typedef jpp_code_t (*jpp_copy_pt)(void *data, jpp_copy_page_t *page);


/*
 * Have WORK done on a copy of this process, in SECONDS of CPU time at most.
 * JPP_ERR_SYS: the kernel allows no process more, or has no memory.
 */
jpp_code_t jpp_copy_open(jpp_copy_t *copy, jpp_copy_pt work,
    void *data, unsigned seconds, jpp_err_t *err);

/*
 * Wait MS for its end.  JPP_ERR_LATE: it has not ended, and ERR is as it was;
 * else the code of the work, or JPP_ERR_GONE: it died, and ERR says where.
 */
jpp_code_t jpp_copy_wait(jpp_copy_t *copy, unsigned ms,
    jpp_err_t *err);

/* End the child, if there is one.  Allowed at any time. */
void jpp_copy_close(jpp_copy_t *copy);


/*
 * The objects loaded into this process: their build ids, read from memory, and
 * their segments for the unwinder.  The owner of dl_iterate_phdr().
 *
 * No state; any thread, but not while the objects may change under it.
 */

typedef struct {
    uint64_t          address;     /* of its code */
    jpp_build_id_t    build_id;
} jpp_image_t;


/* an object that stays loaded */
typedef struct {
    const char           *name;    /* "" for the program */
    uintptr_t             base;    /* what its addresses are added to */
    uintptr_t             dynamic; /* its dynamic section, 0: none */
    uintptr_t             code;    /* the first that is executable, 0: none */
    jpp_mapped_object_t   mapped;
} jpp_images_object_t;


/* False: enough. */
typedef bool (*jpp_images_visit_pt)(const jpp_images_object_t *object,
    void *data);


/* Are there LEN > 0 bytes of OBJECT, which can be read, at ADDRESS? */
bool jpp_images_holds(const jpp_images_object_t *object, uintptr_t address,
    size_t len);

/*
 * The value of TAG in the dynamic section of OBJECT; and the address of the LEN
 * bytes that it stands for, as far as OBJECT holds them.  0: there is none.
 */
uintptr_t jpp_images_dynamic(const jpp_images_object_t *object, int64_t tag);
uintptr_t jpp_images_table(const jpp_images_object_t *object, int64_t tag,
    size_t len);

/* Append what is loaded and has a build id to IMAGES; false: no memory. */
bool jpp_images_read(jpp_vec_t *images);

/*
 * Add every object that is loaded, and not in OBJECTS yet, after pinning it:
 * dlclose() does not unmap it any more.  One that cannot be pinned is left out,
 * and so is one for which there is no room.  Outside signals, one thread at a
 * time.
 */
void jpp_images_unwind(jpp_mapped_t *objects);

/*
 * Append, as pairs of uint64_t, the pages from which to which what is loaded
 * has zeroed data, in no file.  False: no memory.
 */
bool jpp_images_zeroed(jpp_vec_t *pairs);

/* Has anything that is loaded the global symbol NAME? */
bool jpp_images_has(const char *name);

/* Do both addresses lie in one object? */
bool jpp_images_is_beside(uintptr_t one, uintptr_t other);

/* Was anything loaded since *LOADS was so many?  It becomes as many as there
   were so far; those that are gone count. */
bool jpp_images_is_new(uint64_t *loads);

/*
 * Call VISIT with every object that is loaded, in the linker's order and after
 * pinning it, until it returns false; one that cannot be pinned is left out.
 * VISIT may call the linker.  Outside signals.
 */
void jpp_images_pinned(jpp_images_visit_pt visit, void *data);


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

/* [signal] ARGUMENTS become the first argument that the interrupted function,
   its caller and so on have on the stack: N of them at most; returns how many.
   Of one that has no such argument it is any word. */
uint32_t jpp_backtrace_arguments(const void *ucontext, uintptr_t *arguments,
    uint32_t n);

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


/*
 * The handler of SIGPROF, the signal that records stacks.  Each signal carries
 * the number of its user, one of a few; any other SIGPROF is ignored.
 *
 * The handler is set while somebody has claimed it.  Where the process already
 * has another one (google_perftools_profiles), there is no claim.  Afterwards
 * the signal is ignored, not fatal as it would be by default: one may still be
 * on its way.
 *
 * A signal restarts what it interrupts (SA_RESTART), but for sleep(), poll(),
 * epoll_wait() and their like, which return early, with EINTR: a thread that
 * waits in one of them is not to be sent any.  Threads that block SIGPROF get
 * none.
 *
 * Claims are for any thread; everything marked [signal] is safe in a handler:
 * no lock, no memory, errno untouched.
 */

typedef enum {
    JPP_SIGNAL_CPU = 0,
    JPP_SIGNAL_STALL,
    JPP_SIGNAL_USERS
} jpp_signal_user_t;


/* a signal's number is less */
#define JPP_SIGNAL_NUMBERS  65536


typedef struct {
    void             *ucontext;    /* what was interrupted, for */
                                   /*   jpp_backtrace_interrupted() */
    uint32_t          number;      /* the sender's */
    uint32_t          missed;      /* how often a timer has fired besides */
} jpp_signal_t;


/* [signal] In the thread that was interrupted; several may be in it. */
typedef void (*jpp_signal_pt)(const jpp_signal_t *signal);


/*
 * From now on RECEIVE gets the signals of USER.  JPP_ERR_TAKEN: SIGPROF belongs
 * to somebody else.  Claiming again changes nothing, but finds that out.
 */
jpp_code_t jpp_signal_claim(jpp_signal_user_t user, jpp_signal_pt receive,
    jpp_err_t *err);

/*
 * USER gets no more signals.  A thread may still be in its receiver until
 * jpp_signal_is_left().
 */
void jpp_signal_release(jpp_signal_user_t user);

/* Is no thread in USER's receiver?  Asked after the release. */
bool jpp_signal_is_left(jpp_signal_user_t user);

/* What a timer's sigev_value.sival_ptr is, for signals of USER. */
void *jpp_signal_value(jpp_signal_user_t user, uint32_t number);

/*
 * Send a signal of USER to thread THREAD of process PROCESS, which may be
 * another one.  USER must have claimed there, too: a process where nobody ever
 * has is ended by it.  False: errno says why.
 */
bool jpp_signal_send(pid_t process, pid_t thread, jpp_signal_user_t user,
    uint32_t number);

/*
 * [signal] If UCONTEXT, the third argument of a handler, is that of a thread
 * whose system call the signal has just ended, have it begin again, with the
 * same arguments: for a call that has lasted for no time to speak of.  True:
 * it will.
 *
 * The number of the call is not in UCONTEXT; it is taken from the instruction
 * before it, or from the stack, where glibc 2.41 and later have it.  Where it
 * is in neither place, the call ends early.
 */
bool jpp_restart(void *ucontext);


#endif /* _JPP_PROC_H_INCLUDED_ */
