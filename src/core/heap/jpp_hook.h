
/*
 * jemalloc's samples, walked by src/unwind: jpp_backtrace() in the place of
 * the unwinder that jemalloc comes with, usually libgcc's.  That one takes
 * fifty times as long, and aborts the process at code of LuaJIT.
 *
 * With jpp_owners.h, whom a sample belongs to is its last frame.
 *
 * jemalloc 5.3.0 and 5.3.1 have the hook, experimental.hooks.prof_backtrace.
 * It is the process's, and any thread that allocates may be in it: whoever sets
 * it stays loaded (jpp_images_unwind() sees to that).
 *
 * For one thread; jemalloc calls the hook itself in any.
 */


#ifndef _JPP_HOOK_H_INCLUDED_
#define _JPP_HOOK_H_INCLUDED_


/* Who walks the stacks of jemalloc's samples, and why. */
typedef enum {
    JPP_HOOK_NONE = 0,        /* nobody: opt.prof is false, or no jemalloc */
    JPP_HOOK_OFF,             /* jemalloc: the hook is not set */
    JPP_HOOK_ABSENT,          /* jemalloc: this version has no such hook */
    JPP_HOOK_MACHINE,         /* jemalloc: no unwinder for this machine */
    JPP_HOOK_ON               /* src/unwind */
} jpp_hook_t;


/*
 * Set the hook, in a process whose profiler may be switched on; its main thread
 * is the one that calls this.  Returns what jpp_hook_read() does.
 */
jpp_hook_t jpp_hook_set(void);

/* Give the hook back to who had it, unless somebody else has it by now. */
void jpp_hook_reset(void);

/* Who has it now?  JPP_HOOK_NONE is the caller's to know. */
jpp_hook_t jpp_hook_read(void);


#endif /* _JPP_HOOK_H_INCLUDED_ */
