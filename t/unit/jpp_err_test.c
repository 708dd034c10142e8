
#include "jpp_test_main.h"
#include "jpp_cpu.h"
#include "jpp_cpu_sampler.h"
#include "jpp_err.h"
#include "jpp_host.h"
#include "jpp_symbolize.h"
#include "jpp_test_golden.h"
#include "jpp_test_seccomp.h"
#include "jpp_watch.h"


JPP_TEST(jpp_test_null)
{
    jpp_is_u64(jpp_err_set(NULL, JPP_ERR_CUT, "x"), JPP_ERR_CUT, "NULL: set");
    jpp_is_u64(jpp_err_line(NULL, JPP_ERR_CUT, 1, "x"), JPP_ERR_CUT,
               "NULL: line");
    jpp_is_u64(jpp_err_sys(NULL, EIO, "x"), JPP_ERR_SYS, "NULL: sys");
    jpp_is_u64(jpp_err_memory(NULL), JPP_ERR_MEMORY, "NULL: memory");
}


JPP_TEST(jpp_test_long)
{
    int        len;
    char       text[JPP_ERR_TEXT + 2];
    size_t     wrong;
    jpp_err_t  err;

    for (len = JPP_ERR_TEXT - 20, wrong = 0; len <= JPP_ERR_TEXT + 1; len++) {

        memset(text, 'x', sizeof(text));
        text[len] = '\0';

        jpp_err_set(&err, JPP_ERR_INPUT, "%s", text);
        wrong += strlen(err.text) != (len < JPP_ERR_TEXT ? (size_t) len
                                                         : JPP_ERR_TEXT - 1);

        jpp_err_sys(&err, EIO, "%s", text);
        wrong += strlen(err.text) >= JPP_ERR_TEXT;
        wrong += strncmp(err.text, text, (size_t) len < JPP_ERR_TEXT
                                         ? (size_t) len
                                         : JPP_ERR_TEXT - 1) != 0;
    }

    jpp_is_u64(wrong, 0, "sentences around %d bytes are cut", JPP_ERR_TEXT);
}


JPP_TEST(jpp_test_sys)
{
    char       expected[128];
    jpp_err_t  err;

    jpp_is_u64(jpp_err_sys(&err, ENOENT, "open(\"%s\")", "a\nb"), JPP_ERR_SYS,
               "a failed call");
    jpp_is_i64(err.sys_errno, ENOENT, "its errno");

    jpp_print(expected, "open(\"a?b\"): %s", strerror(ENOENT));
    jpp_is_str(err.text, expected, "and its reason");

    jpp_err_sys(&err, 99999, "x");
    jpp_ok(strncmp(err.text, "x: ", 3) == 0 && strlen(err.text) > 3,
           "an unknown errno: %s", err.text);
}


JPP_TEST(jpp_err_test)
{
    jpp_err_t  err;

    memset(&err, 0xff, sizeof(jpp_err_t));

    jpp_is_u64(jpp_err_set(&err, JPP_ERR_ARG, "worker is \"%s\", not 0..%d",
                           "x", 7),
               JPP_ERR_ARG, "the code is the result");
    jpp_note_of("a sentence", err, code, sys_errno, line, text);

    jpp_is_u64(jpp_err_line(&err, JPP_ERR_INPUT, 17, "bad %c", 'x'),
               JPP_ERR_INPUT, "with a line");
    jpp_note_of("a line", err, code, sys_errno, line, text);

    jpp_is_u64(jpp_err_memory(&err), JPP_ERR_MEMORY, "the end of memory");
    jpp_note_of("the line before is forgotten", err, code, line, text);

    jpp_err_set(&err, JPP_ERR_INPUT, "a\tb\nc\rd\033e\177f\200g\303\251h~ ");
    jpp_note_of("only printable bytes", err, text);
    jpp_err_set(&err, JPP_ERR_INPUT, "%s", "");
    jpp_note_of("an empty one", err, text);
    jpp_shows_notes("errors");
}


#if defined(__x86_64__) && defined(__LP64__)


/* Notes what is said, and done, when CALL is refused with ERROR. */
#define jpp_refused(call, error, code)                                        \
    do {                                                                      \
        (void) jpp_refuse(call, 0, error);                                    \
        memset(&err, 0, sizeof(jpp_err_t));                                   \
        jpp_note(#call ": %d %s.", (int) (code), err.text);                   \
    } while (0)


/* The last one: what is refused stays refused. */

JPP_TEST(jpp_err_test_refused)
{
    jpp_err_t               err;
    jpp_file_t              file;
    jpp_peek_t              peek;
    jpp_usage_t             usage, before;
    jpp_mapping_t           mapping = { .path = "/etc/passwd" };
    const jpp_watch_loop_t  loop = { 0 };

    jpp_usage_read(&before);

    jpp_refused(SYS_timer_create, EPERM,
                jpp_cpu_threads_check(JPP_MODE_CPU, &err));
    jpp_refused(SYS_timer_create, ENOMEM,
                jpp_cpu_threads_check(JPP_MODE_CPU, &err));
    jpp_refused(SYS_pipe2, EMFILE, jpp_peek_open(&peek));
    (void) jpp_refuse(SYS_clone, UINT32_MAX, EAGAIN);
    jpp_refused(SYS_clone3, EAGAIN, jpp_watch_start(&loop, &err));
    jpp_refused(SYS_clone3, EAGAIN,
                jpp_cpu_open(JPP_MODE_WALL, 100, &err) != NULL);
    jpp_refused(SYS_rt_sigaction, EPERM,
                jpp_signal_claim(JPP_SIGNAL_STALL, NULL, &err));
    jpp_refused(SYS_access, EACCES, jpp_cpu_threads_check(JPP_MODE_CPU, &err));
    jpp_refused(SYS_fstat, EPERM, 0);
    jpp_refused(SYS_newfstatat, EPERM,
                jpp_file_open(&file, &mapping, "", &err));
    jpp_refused(SYS_getuid, EPERM,
                (jpp_usage_read(&usage), usage.fds - before.fds));
    jpp_shows_notes("what is refused");
}


#endif
