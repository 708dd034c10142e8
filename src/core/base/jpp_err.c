
#include "jpp_err.h"
#include "jpp_units.h"
#include "jpp_utf8.h"


static void
jpp_err_fill(jpp_err_t *err, jpp_code_t code, int sys_errno, uint64_t line,
    const char *fmt, va_list args)
{
    if (err == NULL) {
        return;
    }

    err->code = code;
    err->sys_errno = sys_errno;
    err->capture = 0;
    err->line = line;

    (void) vsnprintf(err->text, sizeof(err->text), fmt, args);

    jpp_ascii_clean(err->text);
}


jpp_code_t
jpp_err_line(jpp_err_t *err, jpp_code_t code, uint64_t line, const char *fmt,
    ...)
{
    va_list  args;

    va_start(args, fmt);
    jpp_err_fill(err, code, 0, line, fmt, args);
    va_end(args);

    return code;
}


jpp_code_t
jpp_err_sys(jpp_err_t *err, int sys_errno, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    jpp_err_fill(err, JPP_ERR_SYS, sys_errno, 0, fmt, args);
    va_end(args);

    if (err != NULL) {
        errno = sys_errno;
        jpp_text_add(err->text, sizeof(err->text), ": %m");
    }

    return JPP_ERR_SYS;
}


jpp_code_t
jpp_err_memory(jpp_err_t *err)
{
    return jpp_err_set(err, JPP_ERR_MEMORY,
                       "the report needs more memory than it may take");
}
