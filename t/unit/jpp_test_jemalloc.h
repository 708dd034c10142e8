
/*
 * For the tests of jpp_jemalloc.h, a program for each of its sections.
 *
 * What jemalloc is there is decided before main(): every case is a run of the
 * program by itself, with something preloaded and a part to play.  A part
 * prints what it saw, and the first process compares.
 *
 * A program under a sanitizer has its malloc() from that, so that no jemalloc
 * can be preloaded; the fake one, which only has to be believed, can.
 *
 * To be included once.
 */


#ifndef _JPP_TEST_JEMALLOC_H_INCLUDED_
#define _JPP_TEST_JEMALLOC_H_INCLUDED_


#include "jpp_jemalloc.h"
#include "jpp_proc.h"
#include "jpp_report.h"
#include "jpp_test_golden.h"


#define JPP_REAL          "libjemalloc.so.2"

/* what the parts allocate, so that a dump has something to show */
#define JPP_BLOCK         65536
#define JPP_BLOCKS        100
#define JPP_HELD          (JPP_BLOCK * JPP_BLOCKS)

/* sampled so often that blocks of that size all are */
#define JPP_CONF          "prof:true,lg_prof_sample:12,prof_prefix:"


typedef struct {
    const char    *preload;          /* NULL: nothing */
    const char    *conf;             /* MALLOC_CONF */
    const char    *fake;             /* the file of JPP_FAKE */
    const char    *part;
    const char    *argument;
} jpp_run_t;


typedef struct {
    const char    *name;
    void         (*play)(void);
} jpp_part_t;


/* The whole program: PARTS, and functions as jpp_test_jemalloc() has them. */
#define JPP_TESTS_OF(parts, tests, real)                                      \
    int                                                                       \
    main(int argc, char **argv)                                               \
    {                                                                         \
        return jpp_test_jemalloc(argc, argv, (parts),                         \
                                 sizeof(parts) / sizeof((parts)[0]), (tests), \
                                 (real));                                     \
    }


/* Shows what N RUNS print. */
#define jpp_shows_runs(runs, n, ...)                                          \
    do {                                                                      \
        size_t  i_;                                                           \
                                                                              \
        for (i_ = 0; i_ < (n); i_++) {                                        \
            jpp_note_run(&(runs)[i_]);                                        \
        }                                                                     \
                                                                              \
        jpp_shows_notes(__VA_ARGS__);                                         \
    } while (0)


/*
 * What main() does: plays the part of ARGV, or has TESTS run, and behind them
 * REAL where a jemalloc that profiles can be preloaded.
 */
static inline int jpp_test_jemalloc(int argc, char **argv,
    const jpp_part_t *parts, size_t n, void (*tests)(void),
    void (*real)(void));

static inline bool jpp_test_is_profiled(void);
static inline const char *jpp_run(const jpp_run_t *run);
static inline void jpp_note_run(const jpp_run_t *run);
static inline void jpp_run_fake(const char *text);
static inline void jpp_part_state(void);
static inline void jpp_part_hold(void);
static inline void jpp_part_capture(const char *directory);
static inline jpp_code_t jpp_part_read(const jpp_memfd_t *memfd,
    bool is_foreign, jpp_err_t *err);
static inline void jpp_part_show(const char *step, jpp_code_t rc,
    const jpp_err_t *err);


static char   jpp_directory[] = "/tmp/jpp_jemalloc_XXXXXX";
static char   jpp_fake_so[4096];
static char   jpp_fake_file[64];

static void  *jpp_held[JPP_BLOCKS];

/* of the part that is played */
static const char     *jpp_argument;
static jpp_jemalloc_t  jemalloc;


static inline int
jpp_test_jemalloc(int argc, char **argv, const jpp_part_t *parts, size_t n,
    void (*tests)(void), void (*real)(void))
{
    size_t  i;

    for (i = 0; argc == 3 && i < n; i++) {
        if (strcmp(argv[1], parts[i].name) == 0) {
            jpp_argument = argv[2];
            jpp_jemalloc_read(&jemalloc);
            parts[i].play();
            fflush(stdout);

            /* not exit(): jemalloc may have an option to dump there */

            _exit(0);
        }
    }

    /* an unknown part must not run the tests, which would play it again */

    if (argc != 1) {
        return 1;
    }

    if (mkdtemp(jpp_directory) == NULL) {
        printf("Bail out!  no /tmp\n");
        return 1;
    }

    (void) jpp_beside("jpp_fake.so", jpp_fake_so);
    jpp_print(jpp_fake_file, "%s/fake", jpp_directory);

    tests();

    if (JPP_IS_SANITIZED) {
        jpp_ok(true, "a real jemalloc # SKIP not under a sanitizer");

    } else if (!jpp_test_is_profiled()) {
        jpp_ok(true, "a real jemalloc # SKIP no " JPP_REAL " with a profiler");

    } else {
        real();
    }

    unlink(jpp_fake_file);
    jpp_is_i64(rmdir(jpp_directory), 0, "nothing was written but that");

    return jpp_done();
}


/* Debian builds it with a profiler on amd64 and i386 only. */

static inline bool
jpp_test_is_profiled(void)
{
    const char  *state;
    jpp_run_t    run = { JPP_REAL, NULL, NULL, "state", "" };

    state = jpp_run(&run);

    return strncmp(state, "no_prof", 7) != 0
           && strncmp(state, "absent", 6) != 0;
}


/* What the part printed, without its last newline if it is one line. */

static inline const char *
jpp_run(const jpp_run_t *run)
{
    int      status;
    char     path[4096], command[8192];
    FILE    *file;
    size_t   len;

    static char  output[8192];

    if (run->fake != NULL) {
        jpp_run_fake(run->fake);
    }

    jpp_print(command, "exec env -u LD_PRELOAD -u MALLOC_CONF -u JPP_FAKE "
              "%s%s %s%s %s%s %s '%s' '%s'",
              run->preload != NULL ? "LD_PRELOAD=" : "",
              run->preload != NULL ? run->preload : "",
              run->conf != NULL ? "MALLOC_CONF=" : "",
              run->conf != NULL ? run->conf : "",
              run->fake != NULL ? "JPP_FAKE=" : "",
              run->fake != NULL ? jpp_fake_file : "",
              jpp_beside(JPP_PROGRAM, path), run->part, run->argument);

    file = popen(command, "r");
    len = file != NULL ? fread(output, 1, sizeof(output) - 1, file) : 0;
    status = file != NULL ? pclose(file) : -1;
    output[len] = '\0';

    if (status != 0) {
        jpp_print(output, "ended with 0x%x", status);

    } else if (len != 0 && memchr(output, '\n', len - 1) == NULL) {
        output[len - 1] = '\0';
    }

    return output;
}


static inline void
jpp_note_run(const jpp_run_t *run)
{
    jpp_note("%s", run->part);
    jpp_note_of("  of", *run, conf, fake, argument);
    jpp_note("  %s", jpp_run(run));
}


static inline void
jpp_run_fake(const char *text)
{
    FILE  *file;
    char   path[128];

    jpp_print(path, "%s.new", jpp_fake_file);

    file = fopen(path, "w");
    fputs(text, file);
    fclose(file);

    rename(path, jpp_fake_file);
}


static inline void
jpp_part_state(void)
{
    static const char *const  names[] = {
        "absent", "no_prof", "off", "refused", "inactive", "ready"
    };

    jpp_jemalloc_read(&jemalloc);

    printf("%s %s %s lg %u%s%s%s%s%s%s%s%s%s\n", names[jemalloc.state],
           jemalloc.version, jemalloc.variable, jemalloc.lg_sample,
           jemalloc.active ? " active" : "", jemalloc.accum ? " accum" : "",
           jemalloc.interval ? " interval" : "",
           jemalloc.gdump ? " gdump" : "", jemalloc.final ? " final" : "",
           jemalloc.leak_error ? " leak_error" : "",
           jemalloc.unsampled ? " unsampled" : "",
           jemalloc.allocator[0] != '\0' ? " " : "", jemalloc.allocator);
}


static inline void
jpp_part_hold(void)
{
    size_t  i;

    for (i = 0; i < JPP_BLOCKS; i++) {
        jpp_held[i] = malloc(JPP_BLOCK);

        /* the compiler leaves out a block that nothing reads */

        __asm__ volatile ("" : : "r" (jpp_held[i]) : "memory");
    }
}


/*
 * The way of a dump, up to the first failure.  PLACE is a directory for it,
 * "" for none, or "foreign": the maps may be another kernel's.
 */

static inline void
jpp_part_capture(const char *place)
{
    jpp_err_t    err;
    jpp_code_t   rc;
    const char  *step;
    jpp_memfd_t  memfd;

    step = "open";
    rc = jpp_memfd_open(&memfd, place[0] == '/' ? place : NULL, &err);

    if (rc == JPP_OK) {
        step = "dump";
        rc = jpp_jemalloc_dump(memfd.fd, &err);
    }

    if (rc == JPP_OK) {
        step = "map";
        rc = jpp_memfd_map(&memfd, 16 << 20, &err);
    }

    if (rc == JPP_OK) {
        step = "read";
        rc = jpp_part_read(&memfd, strcmp(place, "foreign") == 0, &err);
    }

    jpp_part_show(step, rc, &err);
    jpp_memfd_close(&memfd);
}


static inline jpp_code_t
jpp_part_read(const jpp_memfd_t *memfd, bool is_foreign, jpp_err_t *err)
{
    int64_t              bytes;
    uint32_t             i;
    jpp_vec_t           *maps;
    jpp_code_t           rc;
    jpp_arena_t          arena;
    jpp_sample_t         sample;
    jpp_profile_t        profile;
    jpp_dump_t           dump;
    jpp_read_options_t   options = { 0 };
    const char          *tail = NULL;

    jpp_arena_init(&arena, 256 << 20);
    maps = jpp_vec_create(&arena);

    /* no listing, no name to look for */

    if (!is_foreign && jpp_proc_maps(maps, err) == JPP_OK) {
        tail = jpp_proc_tail((char *) maps->data, maps->len, &arena);
    }

    jpp_parser_init(&jpp_parser_heap, &profile, &arena);
    rc = jpp_parser_heap.open(&dump, &profile, memfd->data, memfd->len, tail,
                              err);

    if (rc == JPP_OK) {
        rc = jpp_parser_heap.read(&profile, &dump, &options, err);
    }

    bytes = 0;

    for (i = 0; rc == JPP_OK && i < profile.n_samples; i++) {
        jpp_profile_sample(&profile, i, &sample);
        bytes += sample.values[JPP_HEAP_INUSE_SPACE];
    }

    if (rc == JPP_OK) {
        jpp_err_set(err, JPP_OK, "%u samples of %" PRId64 " bytes",
                    profile.n_samples, bytes);
    }

    jpp_arena_destroy(&arena);

    return rc;
}


static inline void
jpp_part_show(const char *step, jpp_code_t rc, const jpp_err_t *err)
{
    printf("%s %d: %s", step, rc, err->text);
}


#endif /* _JPP_TEST_JEMALLOC_H_INCLUDED_ */
