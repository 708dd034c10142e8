
/*
 * jemalloc-pprof: profiles of the dumps that jemalloc wrote by itself.
 *
 * Options (jpp_options.h), files (jpp_io.h) and one call of jpp_report():
 * what a server answers for the same dumps comes from the same code.
 */


#include "jpp_io.h"
#include "jpp_options.h"
#include "jpp_proc.h"
#include "jpp_saved.h"

#include <dlfcn.h>


#define JPP_TOOL_MESSAGE  8192

#define JPP_EXIT_OK       0
#define JPP_EXIT_FAILED   1
#define JPP_EXIT_USAGE    2


typedef struct {
    jpp_options_t    options;

    jpp_capture_t   *captures;     /* the files, then the base */
    const char     **names;        /* theirs, to show */
    size_t           n;

    const char      *place;        /* where it went wrong; NULL: nowhere */
} jpp_tool_t;


static void jpp_tool_say(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));


/*
 * The next file opened would get a closed standard descriptor, and our error
 * sentences would go into it.  So such a descriptor is opened for the wrong
 * direction: it keeps its number, and fails like a closed one.
 */

static void
jpp_tool_standard_fds(void)
{
    int  fd;

    for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {

        if (fcntl(fd, F_GETFD) == -1) {
            (void) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}


static jpp_code_t
jpp_tool_answer(jpp_tool_t *tool, jpp_err_t *err)
{
    int            error;
    jpp_output_t   output;
    const uint8_t *text;

    (void) jpp_output_open(&output, NULL, err);
    tool->place = output.name;

    text = (const uint8_t *) tool->options.answer;
    error = jpp_output_write(&output, text, strlen(tool->options.answer));

    return error == 0 ? jpp_output_commit(&output, err)
                      : jpp_err_sys(err, error, "cannot be written");
}


static void
jpp_tool_comments(void *data, jpp_profile_t *profile)
{
    size_t             i;
    const jpp_tool_t  *tool = data;

    jpp_profile_comment(profile, JPP_TOOL " " JPP_VERSION);

    for (i = 0; i < tool->n; i++) {
        jpp_profile_comment(profile, "dump %s%s", tool->names[i],
                            tool->captures[i].is_base ? " (base)" : "");
    }
}


/* Comments and labels: which file a sample is from. */

static jpp_code_t
jpp_tool_describe(jpp_tool_t *tool, jpp_arena_t *arena, jpp_err_t *err)
{
    size_t           i;
    jpp_label_t     *labels;
    jpp_capture_t   *capture;

    labels = jpp_arena_alloc(arena, tool->n * sizeof(jpp_label_t));

    if (labels == NULL) {
        return jpp_err_memory(err);
    }

    for (i = 0; i < tool->n; i++) {
        capture = &tool->captures[i];

        /* a base is subtracted from samples with the same labels */

        if (tool->n > 1 && tool->options.base == NULL) {
            labels[i].key = "file";
            labels[i].str = tool->names[i];
            capture->labels = &labels[i];
            capture->n_labels = 1;
        }
    }

    tool->options.report.title = tool->names[0];
    tool->options.report.comments = jpp_tool_comments;
    tool->options.report.data = tool;

    return JPP_OK;
}


/*
 * The mapping of its own that this kernel lists last for every process, such
 * as "[vsyscall]".  NULL without /proc, or without one.
 */

static const char *
jpp_tool_tail(jpp_arena_t *arena)
{
    jpp_vec_t  *maps;

    maps = jpp_vec_create(arena);

    if (maps == NULL || jpp_proc_maps(maps, NULL) != JPP_OK) {
        return NULL;
    }

    return jpp_proc_tail((const char *) maps->data, maps->len, arena);
}


static jpp_code_t
jpp_tool_read(jpp_tool_t *tool, jpp_arena_t *arena, jpp_err_t *err)
{
    size_t                 i, n_saved;
    int64_t                newest;
    jpp_code_t             rc;
    const char            *tail;
    jpp_input_t            input;
    jpp_capture_t         *capture;
    const jpp_options_t   *options;

    options = &tool->options;

    tool->n = options->n_files + (options->base != NULL);
    tool->captures = jpp_arena_alloc(arena, tool->n * sizeof(jpp_capture_t));
    tool->names = jpp_arena_alloc(arena, tool->n * sizeof(char *));

    if (tool->captures == NULL || tool->names == NULL) {
        return jpp_err_memory(err);
    }

    tail = options->any_kernel ? NULL : jpp_tool_tail(arena);
    newest = INT64_MIN;
    n_saved = 0;

    for (i = 0; i < tool->n; i++) {
        capture = &tool->captures[i];

        capture->is_base = (i == options->n_files);
        capture->tail = tail;

        input.path = capture->is_base ? options->base : options->files[i];

        rc = jpp_input_read(&input, arena, err);
        tool->place = input.name;

        if (rc != JPP_OK) {
            return rc;
        }

        tool->names[i] = input.name;
        capture->data = (const char *) input.data->data;
        capture->len = input.data->len;

        n_saved += jpp_saved_is(capture->data, capture->len, arena);

        if (n_saved != 0 && n_saved != i + 1) {
            return jpp_err_set(err, JPP_ERR_INPUT, "a dump and a saved profile "
                               "have no stacks in common: make a profile of "
                               "the dump first (-o FILE.pb.gz DUMP)");
        }

        if (capture->is_base) {
            tool->options.report.duration_nanos = newest - input.mtime;

        } else if (input.mtime > newest) {
            newest = input.mtime;
        }
    }

    tool->options.report.time_nanos = newest;

    if (n_saved != 0) {
        tool->options.report.parser = jpp_saved_parser();

        if (jpp_format_of(&options->report.args)->takes_one) {
            return jpp_err_set(err, JPP_ERR_INPUT, "a saved profile, not a "
                               "dump: choose another format");
        }
    }

    return jpp_tool_describe(tool, arena, err);
}


/*
 * The core looks for __cxa_demangle() among what the process has loaded.  A
 * server has it when a module of it is written in C++; here it is loaded;
 * without it, names stay mangled.
 */

static void
jpp_tool_demangler(const jpp_report_options_t *options)
{
    if (jpp_report_has_names(options)) {
        (void) dlopen("libstdc++.so.6", RTLD_LAZY|RTLD_GLOBAL);
    }
}


static jpp_code_t
jpp_tool_report(jpp_tool_t *tool, jpp_arena_t *arena, jpp_output_t *output,
    jpp_err_t *err)
{
    jpp_code_t      rc;
    jpp_sink_t      sink;
    jpp_symbols_t   symbols;

    static uint8_t  buffer[JPP_SINK_BUFFER];

    jpp_tool_demangler(&tool->options.report);

    /* nothing outlives the call, so that nothing need make room */

    jpp_symbols_init(&symbols, arena->cap);
    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_output_write, output);

    rc = jpp_report(arena, &symbols, tool->captures, tool->n,
                    &tool->options.report, &sink, err);

    jpp_symbols_destroy(&symbols);

    if (rc == JPP_ERR_WRITE) {
        tool->place = output->name;

    } else {
        tool->place = rc != JPP_ERR_ARG ? tool->names[err->capture] : NULL;
    }

    return rc;
}


static jpp_code_t
jpp_tool_run(jpp_tool_t *tool, jpp_err_t *err)
{
    jpp_code_t    rc;
    jpp_arena_t   arena;
    jpp_output_t  output;

    /* beyond that the machine would fail, without a reason */

    jpp_arena_init(&arena, (size_t) sysconf(_SC_PHYS_PAGES)
                           * (size_t) sysconf(_SC_PAGESIZE));

    rc = jpp_output_open(&output, tool->options.output, err);
    tool->place = output.name;

    if (rc != JPP_OK) {
        return rc;
    }

    rc = jpp_tool_read(tool, &arena, err);

    if (rc == JPP_OK) {
        rc = jpp_tool_report(tool, &arena, &output, err);
    }

    if (rc == JPP_OK) {
        tool->place = output.name;
        rc = jpp_output_commit(&output, err);

    } else {
        jpp_output_discard(&output);
    }

    /* the names in the error are argv's */

    jpp_arena_destroy(&arena);

    return rc;
}


static void
jpp_tool_failed(const jpp_tool_t *tool, const jpp_err_t *err)
{
    char         line[32];
    const char  *hint;

    line[0] = '\0';

    if (err->line != 0) {
        (void) snprintf(line, sizeof(line), ":%ju", (uintmax_t) err->line);
    }

    /* the core knows of other kernels, but not of our options */

    hint = err->code == JPP_ERR_TAIL ? " (if the latter: --any-kernel)" : "";

    jpp_tool_say(JPP_TOOL ": %s%s%s%s%s",
                 tool->place != NULL ? tool->place : "", line,
                 tool->place != NULL ? ": " : "", err->text, hint);
}


/* One write, so that the lines of several tools do not mix. */

static void
jpp_tool_say(const char *fmt, ...)
{
    int      len;
    char     message[JPP_TOOL_MESSAGE], *p;
    va_list  args;

    va_start(args, fmt);
    len = vsnprintf(message, sizeof(message) - 1, fmt, args);
    va_end(args);

    if (len < 0) {
        return;
    }

    /* names of files are quoted, and stderr may be a terminal */

    for (p = message; *p != '\0'; p++) {
        if ((unsigned char) *p < 0x20 || *p == 0x7f) {
            *p = '?';
        }
    }

    *p++ = '\n';

    (void) !write(STDERR_FILENO, message, (size_t) (p - message));
}


int
main(int argc, char **argv)
{
    jpp_err_t   err = { 0 };
    jpp_code_t  rc;
    jpp_tool_t  tool = { 0 };

    /* a closed pipe and a limit of file size are errors of write() here */

    (void) signal(SIGPIPE, SIG_IGN);
    (void) signal(SIGXFSZ, SIG_IGN);

    jpp_tool_standard_fds();

    if (jpp_options_read(&tool.options, argc, argv, &err) != JPP_OK) {
        jpp_tool_say(JPP_TOOL ": %s (see " JPP_TOOL " --help)", err.text);
        return JPP_EXIT_USAGE;
    }

    rc = tool.options.answer != NULL ? jpp_tool_answer(&tool, &err)
                                     : jpp_tool_run(&tool, &err);

    if (rc != JPP_OK) {
        jpp_tool_failed(&tool, &err);
        return JPP_EXIT_FAILED;
    }

    return JPP_EXIT_OK;
}
