
/*
 * A jemalloc that misbehaves as a test wants it to: a library to be preloaded
 * (into nginx, or into a unit test) that exports mallctl(), and a
 * memfd_create(), eventfd(), socket(), connect() and accept4() that can be
 * made to fail, and an open() that can be made to wait.
 *
 *     LD_PRELOAD=build/t/jpp_fake.so JPP_FAKE=FILE nginx ...
 *
 * FILE is read at every call, so that a running process can be given something
 * new; replace it by rename(), or half of it may be read.  While it cannot be
 * read (no free descriptor, say) what was last read holds.  A file that is
 * empty, or none, is a jemalloc 5.3.0 with a profiler that is active, and a
 * dump of three stacks.
 *
 * FILE has lines `key value`; lines that begin with # are passed over.  Of two
 * lines with one key the first counts.
 *
 * What is read; a value of `-` makes it ENOENT, as where a version lacks it:
 *
 *     config.prof 0|1             opt.prof 0|1            prof.active 0|1
 *     prof.lg_sample 19           prof.gdump 0|1          version 5.3.0-0-g0
 *     opt.prof_accum 0|1          opt.prof_final 0|1
 *     opt.prof_leak_error 0|1     opt.prof_sys_thread_name 0|1
 *     opt.prof_thread_active_init 0|1
 *     opt.lg_prof_interval -1     stats.allocated 1000000 (and the others)
 *     thread.allocated rising|-
 *
 * With config.prof 0, opt.* and prof.* are ENOENT; with opt.prof 0, prof.* are
 * 0 and a dump is ENOENT; as in the real one.  thread.prof.active is per
 * thread, for reading and writing.  A value of another width than jemalloc's
 * is EINVAL; `narrow NAME` is a version whose NAME is a byte less.
 *
 * What can be written: prof.active, and through prof.reset prof.lg_sample; what
 * was last written is read from then on, whatever FILE says.  Each write of
 * arena.4096.purge takes 1000000 from stats.resident.
 *
 *     refuse NAME     a write of NAME fails with EFAULT
 *
 * thread.allocated rises with every call, so that this mallctl is believed to
 * be malloc()'s.  `-` is a build without statistics: then only the object of
 * malloc() can tell, which is this library too.
 *
 *     symbol mallctl|je_mallctl|_rjem_mallctl|none
 *
 * is whose thread.allocated rises; through the others it stands still, as that
 * of an allocator does that is not malloc()'s.
 *
 * The dump.  The first of these keys that is there says what is written:
 *
 *     dump FILE       the bytes of FILE
 *     garbage N       N bytes of noise
 *     empty 1         nothing
 *     large N         a well-formed dump of N MB
 *                     and without any, three stacks: see jpp_fake_stacks.c
 *
 * and these change it:
 *
 *     maps 1|0        append "\nMAPPED_LIBRARIES:\n" and the maps of this
 *                     process; 1 for three stacks and for large, else 0
 *     cut N           only the first N bytes
 *     hang SECONDS    sleep before anything is written (fractions are allowed)
 *     hold 1          wait before anything is written, until FILE has no hold
 *     fail ERRNO      write nothing; errno is ERRNO, mallctl() says EFAULT
 *
 * Who dumps when:
 *
 *     log FILE        append "PID begins", and "PID ends", around each dump
 *
 * And what fails with a number:
 *
 *     memfd ERRNO     memfd_create()
 *     eventfd ERRNO   eventfd(), as a worker starts
 *     socket ERRNO    socket() of the kind that workers talk by
 *     connect ERRNO   connect() to an abstract unix socket
 *     accept ERRNO    accept4() from a unix socket
 *
 * And what the kernel takes its time for:
 *
 *     wait PATH       open() of PATH, in /proc or /sys, returns once FILE has
 *                     no wait
 */


#ifndef _JPP_FAKE_H_INCLUDED_
#define _JPP_FAKE_H_INCLUDED_


#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>


#define JPP_FAKE_SIZE    4096

/* what a purge gives back */
#define JPP_FAKE_PURGED  1000000


/* FILE, as it was read last, behind what was written. */
typedef struct {
    char             text[JPP_FAKE_SIZE + 128];
} jpp_fake_t;


/* What was written; -1: nothing. */
typedef struct {
    int              active;
    int              lg_sample;
    int              n_purges;
} jpp_fake_written_t;


typedef enum {
    JPP_FAKE_BOOL = 0,
    JPP_FAKE_SIZE_T,
    JPP_FAKE_SSIZE_T,
    JPP_FAKE_U64,
    JPP_FAKE_STRING
} jpp_fake_width_t;


typedef struct {
    const char        *name;
    jpp_fake_width_t   width;
    const char        *value;
} jpp_fake_control_t;


/* What a dump is built from: bytes out, and how many are still allowed. */
typedef struct {
    FILE              *file;
    long long          left;
} jpp_fake_out_t;


/* What can be read, and what it is where FILE says nothing; ends with NULL. */
extern const jpp_fake_control_t  jpp_fake_controls[];

/* What was written, under the lock that reading takes, too. */
extern jpp_fake_written_t  jpp_fake_written;
extern pthread_mutex_t     jpp_fake_mutex;


/* FILE as it is now; errno is kept. */
void jpp_fake_read(jpp_fake_t *fake);

/*
 * The value of KEY: the rest of its line, in VALUE, or what it is without one;
 * NULL where that is nothing.
 */
const char *jpp_fake_get(jpp_fake_t *fake, const char *key,
    char value[JPP_FAKE_SIZE]);

long long jpp_fake_number(jpp_fake_t *fake, const char *key,
    long long otherwise);
bool jpp_fake_is(jpp_fake_t *fake, const char *key);

/* A dump to PATH; what mallctl() answers. */
int jpp_fake_dump(jpp_fake_t *fake, const char *path);

/* The kinds of dumps. */
void jpp_fake_three(jpp_fake_out_t *out, unsigned lg_sample);
void jpp_fake_large(jpp_fake_out_t *out, long long bytes, unsigned lg_sample);
void jpp_fake_garbage(jpp_fake_out_t *out, long long bytes);
void jpp_fake_copy(jpp_fake_out_t *out, const char *path);
void jpp_fake_bytes(jpp_fake_out_t *out, const char *data, size_t len);


#endif /* _JPP_FAKE_H_INCLUDED_ */
