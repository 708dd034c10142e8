
/*
 * jemalloc-pprof: profiles of the dumps that jemalloc wrote by itself, and of
 * those that an nginx has recorded in archives.
 *
 * Options (jpp_options.h), files (jpp_io.h) and one call of jpp_report():
 * what a server answers for the same dumps comes from the same code.
 */


#include "jpp_archive.h"
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
    jpp_arena_t      arena;

    jpp_vec_t       *captures;     /* of the files, then of the base */
    jpp_vec_t       *names;        /* theirs, to show */
    jpp_vec_t       *comments;     /* which files they are from */
    size_t           n_saved;      /* of them, saved profiles */
    const char      *tail;         /* of their mappings, or NULL */

    const char      *place;        /* where it went wrong; NULL: nowhere */
} jpp_tool_t;


/* A file, or a member of one. */
typedef struct {
    const char      *path;         /* of the file */
    const char      *name;         /* to show */
    const char      *data;
    size_t           len;
    int64_t          time;         /* ns */
    bool             is_base;
    bool             is_archive;
} jpp_tool_input_t;


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
    char             **comment;
    const jpp_tool_t  *tool = data;

    jpp_profile_comment(profile, JPP_TOOL " " JPP_VERSION);

    jpp_vec_each(comment, tool->comments) {
        jpp_profile_comment(profile, "%s", *comment);
    }
}


/* Append TEXT, which was printed to the arena or could not be, to TEXTS. */

static bool
jpp_tool_text(jpp_vec_t *texts, char *text)
{
    char  **last;

    last = text != NULL ? jpp_vec_push(texts, sizeof(char *)) : NULL;

    if (last != NULL) {
        *last = text;
    }

    return last != NULL;
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
jpp_tool_unpack(jpp_tool_t *tool, const jpp_tool_input_t *input,
    jpp_archive_t *archive, jpp_err_t *err)
{
    return input->is_archive
           ? jpp_archive_open(archive, input->data, input->len, &tool->arena,
                              err)
           : jpp_err_set(err, JPP_ERR_INPUT, "not an archive (tar or tar.gz), "
                         "whose members --list and --member show");
}


/* Read the file PATH, and find the member of it that is asked for. */

static jpp_code_t
jpp_tool_open(jpp_tool_t *tool, const char *path, jpp_tool_input_t *input,
    jpp_err_t *err)
{
    jpp_tar_t       member;
    jpp_code_t      rc;
    jpp_input_t     file;
    jpp_archive_t   archive;

    file.path = path;
    input->path = path;

    rc = jpp_input_read(&file, &tool->arena, err);

    tool->place = file.name;

    if (rc != JPP_OK) {
        return rc;
    }

    input->name = file.name;
    input->data = (const char *) file.data->data;
    input->len = file.data->len;
    input->time = file.mtime;
    input->is_archive = jpp_archive_is(input->data, input->len, &tool->arena);

    if (tool->options.member == NULL) {
        return JPP_OK;
    }

    rc = jpp_tool_unpack(tool, input, &archive, err);

    if (rc == JPP_OK) {
        rc = jpp_archive_member(&archive, tool->options.member, &member, err);
    }

    if (rc != JPP_OK) {
        return rc;
    }

    input->data = (const char *) member.data;
    input->len = member.len;
    input->time = member.time * JPP_SECOND;
    input->name = jpp_arena_printf(&tool->arena, "%s: %s", input->name,
                                   tool->options.member);
    input->is_archive = jpp_archive_is(input->data, input->len, &tool->arena);

    tool->place = input->name;

    return input->name != NULL ? JPP_OK : jpp_err_memory(err);
}


/* The label of the samples from INPUT; NULL: they have none. */

static const char *
jpp_tool_label(const jpp_tool_t *tool, const jpp_tool_input_t *input)
{
    /* a base is subtracted from samples with the same labels */

    return tool->options.n_files > 1 && tool->options.base == NULL
           ? input->name : NULL;
}


/* One more capture from INPUT, called NAME; NULL: no memory. */

static jpp_capture_t *
jpp_tool_capture(jpp_tool_t *tool, const jpp_tool_input_t *input, char *name)
{
    jpp_capture_t  *capture;

    if (!jpp_tool_text(tool->names, name)) {
        return NULL;
    }

    capture = jpp_vec_push(tool->captures, sizeof(jpp_capture_t));

    if (capture != NULL) {
        capture->is_base = input->is_base;
        capture->tail = tool->tail;
    }

    return capture;
}


static jpp_code_t
jpp_tool_file(jpp_tool_t *tool, const jpp_tool_input_t *input, jpp_err_t *err)
{
    jpp_label_t    *label;
    jpp_capture_t  *capture;

    label = jpp_arena_alloc(&tool->arena, sizeof(jpp_label_t));
    capture = jpp_tool_capture(tool, input,
                               jpp_arena_printf(&tool->arena, "%s",
                                                input->name));

    if (label == NULL || capture == NULL
        || !jpp_tool_text(tool->comments,
                          jpp_arena_printf(&tool->arena, "dump %s%s",
                                           input->name, input->is_base
                                           ? " (base)" : "")))
    {
        return jpp_err_memory(err);
    }

    capture->data = input->data;
    capture->len = input->len;

    label->key = "file";
    label->str = jpp_tool_label(tool, input);
    capture->labels = label;
    capture->n_labels = label->str != NULL;

    tool->n_saved += !tool->options.is_pools
                     && jpp_saved_is(input->data, input->len, &tool->arena);

    return JPP_OK;
}


/* What a WORKER of the archive INPUT answered: a capture, or why it is none. */

static bool
jpp_tool_worker(jpp_tool_t *tool, jpp_tool_input_t *input,
    const jpp_archive_worker_t *worker, size_t first)
{
    const jpp_tar_t  *dump, *baseline;
    jpp_capture_t    *capture;

    dump = &worker->parts[JPP_ARCHIVE_DUMP];

    if (dump->data == NULL) {
        return jpp_tool_text(tool->comments,
                   jpp_arena_printf(&tool->arena, "%s of %s is missing: %s",
                                    jpp_worker_name(&worker->who), input->name,
                                    worker->reply.err.code != JPP_OK
                                    ? worker->reply.err.text
                                    : "it has no dump"));
    }

    capture = jpp_tool_capture(tool, input,
                               jpp_arena_printf(&tool->arena, "%s: %s",
                                                input->name, dump->name));

    if (capture == NULL
        || !jpp_recorded_identify(capture, &worker->who,
                                  tool->options.report.parser,
                                  jpp_tool_label(tool, input), &tool->arena))
    {
        return false;
    }

    capture->data = (const char *) dump->data;
    capture->len = dump->len;

    baseline = tool->options.report.parser->is_own_baseline ? dump
                                                            : worker->baseline;

    if (baseline != NULL) {
        capture->baseline = (const char *) baseline->data;
        capture->baseline_len = baseline->len;
    }

    /* the same generation of another nginx inherited something else */

    capture->group = (uint32_t) (first + worker->group);
    capture->source = 0;

    input->time = dump->time * JPP_SECOND;

    return true;
}


static jpp_code_t
jpp_tool_archive(jpp_tool_t *tool, jpp_tool_input_t *input, jpp_err_t *err)
{
    size_t                       first;
    jpp_vec_t                   *workers;
    jpp_code_t                   rc;
    jpp_archive_t                archive;
    const jpp_archive_worker_t  *worker;

    workers = jpp_vec_create(&tool->arena);

    if (workers == NULL
        || !jpp_tool_text(tool->comments,
                          jpp_arena_printf(&tool->arena, "archive %s%s",
                                           input->name, input->is_base
                                           ? " (base)" : "")))
    {
        return jpp_err_memory(err);
    }

    rc = jpp_tool_unpack(tool, input, &archive, err);

    if (rc == JPP_OK) {
        rc = jpp_archive_workers(&archive, tool->options.report.parser, workers,
                                 err);
    }

    if (rc != JPP_OK) {
        return rc;
    }

    first = jpp_vec_count(tool->captures, jpp_capture_t);

    jpp_vec_each(worker, workers) {
        if (!jpp_tool_worker(tool, input, worker, first)) {
            return jpp_err_memory(err);
        }
    }

    return JPP_OK;
}


static jpp_code_t
jpp_tool_input(jpp_tool_t *tool, jpp_tool_input_t *input, jpp_err_t *err)
{
    size_t       i, n;
    jpp_code_t   rc;
    const char  *path;

    n = 0;

    for (i = 0; input->is_archive && i < tool->options.n_files; i++) {
        path = tool->options.files[i];
        n += jpp_tool_label(tool, input) != NULL
             && strcmp(path, input->path) == 0;
    }

    if (n > 1) {
        return jpp_err_set(err, JPP_ERR_INPUT, "the archive is given twice: "
                           "what its workers inherited would count twice");
    }

    rc = input->is_archive ? jpp_tool_archive(tool, input, err)
                           : jpp_tool_file(tool, input, err);

    if (rc == JPP_OK && tool->n_saved != 0
        && tool->n_saved != jpp_vec_count(tool->captures, jpp_capture_t))
    {
        return jpp_err_set(err, JPP_ERR_INPUT, "a dump and a saved profile "
                           "have no stacks in common: make a profile of "
                           "the dump first (-o FILE.pb.gz DUMP)");
    }

    return rc;
}


static jpp_code_t
jpp_tool_read(jpp_tool_t *tool, jpp_err_t *err)
{
    size_t                 i;
    int64_t                newest;
    jpp_code_t             rc;
    jpp_tool_input_t       input;
    jpp_report_options_t  *report;
    const jpp_options_t   *options;

    options = &tool->options;
    report = &tool->options.report;

    tool->captures = jpp_vec_create(&tool->arena);
    tool->names = jpp_vec_create(&tool->arena);
    tool->comments = jpp_vec_create(&tool->arena);

    if (tool->captures == NULL || tool->names == NULL
        || tool->comments == NULL)
    {
        return jpp_err_memory(err);
    }

    tool->tail = options->any_kernel ? NULL : jpp_tool_tail(&tool->arena);
    newest = INT64_MIN;

    for (i = 0; i < options->n_files + (options->base != NULL); i++) {
        input.is_base = i == options->n_files;

        rc = jpp_tool_open(tool, input.is_base ? options->base
                                               : options->files[i],
                           &input, err);
        if (rc == JPP_OK) {
            rc = jpp_tool_input(tool, &input, err);
        }

        if (rc != JPP_OK) {
            return rc;
        }

        if (i == 0) {
            report->title = input.name;
        }

        if (input.is_base) {
            report->duration_nanos = newest - input.time;

        } else if (input.time > newest) {
            newest = input.time;
        }
    }

    report->time_nanos = newest;
    report->comments = jpp_tool_comments;
    report->data = tool;

    if (tool->n_saved != 0) {
        report->parser = jpp_saved_parser();

        if (jpp_format_of(&report->args)->takes_one) {
            return jpp_err_set(err, JPP_ERR_INPUT, "a saved profile, not a "
                               "dump: choose another format");
        }
    }

    return JPP_OK;
}


/* Write the members of each file, below its name if there are several. */

static jpp_code_t
jpp_tool_list(jpp_tool_t *tool, jpp_sink_t *sink, jpp_err_t *err)
{
    size_t            i;
    jpp_code_t        rc;
    jpp_archive_t     archive;
    jpp_tool_input_t  input;

    rc = JPP_OK;

    for (i = 0; rc == JPP_OK && i < tool->options.n_files; i++) {
        rc = jpp_tool_open(tool, tool->options.files[i], &input, err);

        if (rc == JPP_OK) {
            rc = jpp_tool_unpack(tool, &input, &archive, err);
        }

        if (rc == JPP_OK && tool->options.n_files > 1) {
            jpp_sink_printf(sink, "%s:\n", input.name);
        }

        if (rc == JPP_OK) {
            rc = jpp_archive_list(&archive, sink, err);
        }
    }

    if (rc == JPP_OK && jpp_sink_flush(sink) != 0) {
        return jpp_err_sys(err, sink->error, "cannot be written");
    }

    return rc;
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
jpp_tool_report(jpp_tool_t *tool, jpp_sink_t *sink, jpp_err_t *err)
{
    jpp_code_t      rc;
    jpp_symbols_t   symbols;

    rc = jpp_tool_read(tool, err);

    if (rc != JPP_OK) {
        return rc;
    }

    jpp_tool_demangler(&tool->options.report);

    /* nothing outlives the call, so that nothing need make room */

    jpp_symbols_init(&symbols, tool->arena.cap);

    rc = jpp_report(&tool->arena, &symbols,
                    jpp_vec_items(tool->captures, jpp_capture_t),
                    jpp_vec_count(tool->captures, jpp_capture_t),
                    &tool->options.report, sink, err);

    jpp_symbols_destroy(&symbols);

    tool->place = rc == JPP_ERR_ARG
                  ? NULL : jpp_vec_items(tool->names, char *)[err->capture];

    return rc;
}


static jpp_code_t
jpp_tool_run(jpp_tool_t *tool, jpp_err_t *err)
{
    jpp_code_t    rc;
    jpp_sink_t    sink;
    jpp_output_t  output;

    static uint8_t  buffer[JPP_SINK_BUFFER];

    rc = jpp_output_open(&output, tool->options.output, err);
    tool->place = output.name;

    if (rc != JPP_OK) {
        return rc;
    }

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_output_write, &output);

    rc = tool->options.is_list ? jpp_tool_list(tool, &sink, err)
                               : jpp_tool_report(tool, &sink, err);

    if (rc == JPP_OK || sink.error != 0) {
        tool->place = output.name;
    }

    if (rc == JPP_OK) {
        return jpp_output_commit(&output, err);
    }

    jpp_output_discard(&output);

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

    /* beyond that the machine would fail, without a reason */

    jpp_arena_init(&tool.arena, (size_t) sysconf(_SC_PHYS_PAGES)
                                * (size_t) sysconf(_SC_PAGESIZE));

    rc = tool.options.answer != NULL ? jpp_tool_answer(&tool, &err)
                                     : jpp_tool_run(&tool, &err);

    if (rc != JPP_OK) {
        jpp_tool_failed(&tool, &err);
    }

    jpp_arena_destroy(&tool.arena);

    return rc == JPP_OK ? JPP_EXIT_OK : JPP_EXIT_FAILED;
}
