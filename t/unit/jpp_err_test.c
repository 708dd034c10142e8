
#include "jpp_test_main.h"
#include "jpp_err.h"
#include "jpp_test_golden.h"


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
