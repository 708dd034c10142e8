
/*
 * The words for where a stall was, of functions with a symbol and without.
 */


#include "jpp_test_main.h"

#include <link.h>

#include "jpp_cut.h"
#include "jpp_proc.h"
#include "jpp_unwind.h"
#include "jpp_watch.h"


static volatile unsigned  jpp_n;


/* Nobody exports it. */

static void __attribute__((noinline))
jpp_nameless(void)
{
    jpp_n += 3;
    jpp_n *= 5;
}


static const char *
jpp_where_of(uintptr_t pc, uintptr_t caller)
{
    static jpp_stall_t  stall;

    stall.kind = JPP_STALL_RAN;
    stall.depth = caller != 0 ? 2 : 1;
    stall.pcs[0] = pc;
    stall.pcs[1] = caller;

    jpp_where(&stall);

    return stall.where;
}


JPP_TEST(jpp_where_test)
{
    char         expected[JPP_STALL_WHERE];
    void        *symbol;
    Dl_info      info;
    uintptr_t    start, end;
    const char  *text;

    start = (uintptr_t) jpp_nameless;
    jpp_nameless();

    (void) jpp_backtrace_start();
    (void) dladdr((void *) start, &info);

    jpp_print(expected, "computing in jpp_where_test+0x%zx",
              (size_t) (start - (uintptr_t) info.dli_fbase));

    if (JPP_UNWIND_IS_HERE) {
        jpp_is_str(jpp_where_of(start + 1, 0), expected,
                   "a function without a symbol");
        jpp_is_str(jpp_where_of(start + 5, 0), expected,
                   "is one name wherever it was");
    }

    start = (uintptr_t) dlsym(RTLD_DEFAULT, "getpid");

    text = jpp_where_of(start + 1, 0);
    jpp_ok(strstr(text, "computing in ") == text
           && strstr(text, "getpid (libc.") != NULL, "with one: %s", text);

    /* a call that is the last instruction returns behind its function */

    (void) dladdr1((void *) start, &info, &symbol, RTLD_DL_SYMENT);
    end = start + ((const ElfW(Sym) *) symbol)->st_size;

    jpp_ok(strstr(jpp_where_of(end, 0), "getpid (libc.") != NULL,
           "the end is still of it");
    jpp_ok(strstr(jpp_where_of(end + 1, 0), "libc.so.6+0x") != NULL,
           "and no byte more");

    text = jpp_where_of((uintptr_t) jpp_nameless + 1,
                        (uintptr_t) jpp_nameless + 5);
    jpp_ok(strstr(text, ", called by") == NULL, "itself: %s", text);

    text = jpp_where_of(start + 1, (uintptr_t) jpp_nameless + 1);
    jpp_ok(strstr(text, ", called by jpp_where_test+0x") != NULL,
           "and who called: %s", text);

    jpp_is_str(jpp_where_of(jpp_cut_frame(JPP_CUT_CODE), 0),
               "computing in code of no file", "what is in no file");
}
