
#include "jpp_test_main.h"
#include "jpp_watch.h"


/* a sanitizer has a zone around it that nobody may touch */
static char  test_word[8] = "word";


JPP_TEST(test_peek)
{
    int          fd;
    char        *pages, to[JPP_PEEK_MAX];
    size_t       size;
    unsigned     i, wrong;
    jpp_peek_t   peek = { { -1, -1 } };

    size = (size_t) sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, 2 * size, PROT_READ|PROT_WRITE,
                 MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);

    memset(pages, 'x', size);
    (void) munmap(pages + size, size);

    jpp_ok(!jpp_peek(&peek, (uintptr_t) pages, to, 8), "it is not open");
    jpp_ok(jpp_peek_open(&peek), "open");
    jpp_ok(jpp_peek(&peek, (uintptr_t) pages, to, JPP_PEEK_MAX)
           && to[0] == 'x' && to[JPP_PEEK_MAX - 1] == 'x', "what is there");
    jpp_ok(!jpp_peek(&peek, (uintptr_t) pages, to, JPP_PEEK_MAX + 1),
           "one more than can be");
    jpp_ok(jpp_peek(&peek, (uintptr_t) test_word, to, 16)
           && strcmp(to, "word") == 0, "what is there, whosever it is");

    errno = 17;

    for (i = 1, wrong = 0; i < 64; i++) {

        wrong += jpp_peek(&peek, (uintptr_t) pages + size - i, to, i + 1);
        wrong += jpp_peek(&peek, (uintptr_t) pages + size, to, i);
        wrong += jpp_peek(&peek, 0, to, i);
        wrong += jpp_peek(&peek, UINTPTR_MAX - 7, to, i);

        /* and nothing of it is left in the pipe */

        *pages = (char) i;
        wrong += !jpp_peek(&peek, (uintptr_t) pages, to, 1) || *to != (char) i;
    }

    jpp_is_u64(wrong, 0, "what is not there, or in part, is no answer");
    jpp_is_u64((uint64_t) errno, 17, "errno is as it was");

    (void) mprotect(pages, size, PROT_NONE);
    jpp_ok(!jpp_peek(&peek, (uintptr_t) pages, to, 8), "nor what is forbidden");

    fd = peek.fds[0];
    jpp_peek_close(&peek);
    jpp_ok(fcntl(fd, F_GETFD) == -1, "its pipe is closed");
    jpp_peek_close(&peek);
    jpp_ok(!jpp_peek(&peek, (uintptr_t) to, to, 8), "closed");
}


JPP_TEST(test_where)
{
    jpp_stall_t  stall = { 0 };

    stall.kind = JPP_STALL_WAITED;
    stall.depth = 2;
    stall.pcs[0] = (uintptr_t) memccpy + 1;
    stall.pcs[1] = (uintptr_t) jpp_tests_all + 1;

    jpp_where(&stall);
    jpp_ok(strstr(stall.where, "blocked in ") == stall.where
           && strstr(stall.where, ", called by jpp_peek_test+0x") != NULL,
           "%s", stall.where);

    stall.depth = 1;
    stall.pcs[0] = 0x101;
    jpp_where(&stall);
    jpp_is_str(stall.where, "blocked in code of no file", "cut");

    stall.depth = 0;
    stall.kind = JPP_STALL_SHORT;
    jpp_where(&stall);
    jpp_is_str(stall.where, "too short for its stack to be taken", "no stack");
}
