
#include "jpp_options.h"

#include <sys/ioctl.h>


typedef enum {
    JPP_OPTION_ARG,            /* of jpp_args.h, by the same name */
    JPP_OPTION_LEVEL,
    JPP_OPTION_TYPE,
    JPP_OPTION_BASE,
    JPP_OPTION_MEMBER,
    JPP_OPTION_POOLS,
    JPP_OPTION_LIST,
    JPP_OPTION_OUTPUT,
    JPP_OPTION_ANY_KERNEL,
    JPP_OPTION_HELP,
    JPP_OPTION_VERSION
} jpp_option_kind_t;


typedef struct {
    const char          *name;
    jpp_option_kind_t    kind;
    bool                 has_value;
} jpp_option_t;


static const jpp_option_t  jpp_options_table[] = {
    { "format",     JPP_OPTION_ARG,        true },
    { "type",       JPP_OPTION_TYPE,       true },
    { "symbolize",  JPP_OPTION_ARG,        true },
    { "sort",       JPP_OPTION_ARG,        true },
    { "n",          JPP_OPTION_ARG,        true },
    { "callers",    JPP_OPTION_ARG,        true },
    { "by",         JPP_OPTION_ARG,        true },
    { "owners",     JPP_OPTION_ARG,        true },
    { "ages",       JPP_OPTION_ARG,        true },
    { "width",      JPP_OPTION_ARG,        true },
    { "cols",       JPP_OPTION_ARG,        true },
    { "invert",     JPP_OPTION_ARG,        true },
    { "level",      JPP_OPTION_LEVEL,      true },
    { "base",       JPP_OPTION_BASE,       true },
    { "output",     JPP_OPTION_OUTPUT,     true },
    { "member",     JPP_OPTION_MEMBER,     true },
    { "pools",      JPP_OPTION_POOLS,      false },
    { "list",       JPP_OPTION_LIST,       false },
    { "any-kernel", JPP_OPTION_ANY_KERNEL, false },
    { "help",       JPP_OPTION_HELP,       false },
    { "version",    JPP_OPTION_VERSION,    false },
    { NULL,         JPP_OPTION_HELP,       false }
};

/* the rows of the formats stand between the two */

static const char  jpp_options_usage[] =
"usage: " JPP_TOOL " [option...] FILE...\n"
"\n"
"Makes a profile from heap dumps that jemalloc wrote (prof_gdump, prof_final,\n"
"lg_prof_interval, prof.dump), from saved profiles (heap.pb.gz), or from\n"
"snapshots of nginx (tar.gz).  A FILE may be gzip-ed; - is stdin.  Several\n"
"FILEs are added; the label \"file\" names the FILE that a sample is from.\n"
"\n"
"  --format=FORMAT    top if the output is a terminal, otherwise pprof;\n"
"                     FORMAT is one of\n";


static const char  jpp_options_version[] = JPP_TOOL " " JPP_VERSION "\n";

static const char  jpp_options_more[] =
"  --type=TYPE        the value that top, folded and svg show, and pprof and\n"
"                     html show first: inuse_space (the default),\n"
"                     inuse_objects, alloc_space or alloc_objects\n"
"  --base=FILE        subtract this file, to show what has changed since;\n"
"                     the profile has no label \"file\"\n"
"  --pools            read the pools in snapshots, not the heaps\n"
"  --member=NAME      read this member of the archive FILE\n"
"  --list             list the members of the archive FILE\n"
"  --symbolize=0|1    1: find names of functions in files of this machine (1)\n"
"  --sort=flat|cum    sort top by flat (the default), or by cum\n"
"  --n=ROWS           the rows of top: 1 to 1000 (50)\n"
"  --callers=0|1      1: skip allocation wrappers such as ngx_palloc\n"
"                     (1 for top and for svg with --invert=1,\n"
"                     0 for folded and svg)\n"
"  --by=OWNER         group samples by server, location or upstream, if the\n"
"                     dump has owners: a table in top, else the roots\n"
"  --owners=0|1       1: label samples with their owners (0)\n"
"  --ages=0|1         1: label samples with their age if the dump has ages,\n"
"                     and show the median age and suspected leaks in top (0)\n"
"  --width=PIXELS     the width of svg: 300 to 8000 (1200)\n"
"  --cols=COLUMNS     the width of top: 20 to 1000 (COLUMNS if it is set, or\n"
"                     the width of the terminal, or 1000 in a file or a pipe)\n"
"  --invert=0|1       1: svg begins with the functions that hold memory (0)\n"
"  --level=1..9       the compression of pprof (1)\n"
"  --any-kernel       the dump comes from another kernel: do not expect its\n"
"                     list of mappings to end as it does on this machine\n"
"  -o, --output=FILE  write to FILE, which is created only on success\n"
"  --help, --version\n"
"\n"
"Exit status: 0, or 1 if there is no profile, or 2 if the options are wrong.\n"
"\n"
"Examples:\n"
"  " JPP_TOOL " jeprof.1234.0.f.heap\n"
"  " JPP_TOOL " -o heap.pb.gz FILE && go tool pprof -top heap.pb.gz\n"
"  " JPP_TOOL " --format=top --base=before.heap after.heap\n";


static const jpp_option_t *
jpp_options_find(const char *name, size_t len)
{
    const jpp_option_t  *option;

    for (option = jpp_options_table; option->name != NULL; option++) {

        if (strlen(option->name) == len
            && memcmp(option->name, name, len) == 0)
        {
            return option;
        }
    }

    return NULL;
}


static const char *
jpp_options_help(jpp_options_t *options)
{
    char    *p, *end;
    size_t   i;

    p = options->help;
    end = p + sizeof(options->help);

    p += snprintf(p, (size_t) (end - p), "%s", jpp_options_usage);

    for (i = 0; i < jpp_format_words.n; i++) {
        p += snprintf(p, (size_t) (end - p), "                       %-10s%s\n",
                      jpp_formats[i].name, jpp_formats[i].about);
    }

    (void) snprintf(p, (size_t) (end - p), "%s", jpp_options_more);

    return options->help;
}


static jpp_code_t
jpp_options_set(jpp_options_t *options, const jpp_option_t *option,
    const char *value, jpp_err_t *err)
{
    uint32_t  bit;

    bit = 1u << (option - jpp_options_table);

    if (option->has_value && (options->given & bit) != 0) {
        return jpp_err_set(err, JPP_ERR_ARG, "--%s is given twice",
                           option->name);
    }

    options->given |= bit;

    switch (option->kind) {

    case JPP_OPTION_ARG:
        return jpp_args_set(&options->report.args, option->name,
                            strlen(option->name), value, strlen(value), err);

    case JPP_OPTION_LEVEL:
        if (value[0] < '1' || value[0] > '9' || value[1] != '\0') {
            return jpp_err_set(err, JPP_ERR_ARG, "level must be 1 to 9");
        }

        options->report.level = value[0] - '0';
        break;

    case JPP_OPTION_TYPE:
        options->type = value;
        break;

    case JPP_OPTION_MEMBER:
        options->member = value;
        break;

    case JPP_OPTION_POOLS:
        options->is_pools = true;
        break;

    case JPP_OPTION_LIST:
        options->is_list = true;
        break;

    case JPP_OPTION_BASE:
        options->base = value;
        break;

    case JPP_OPTION_OUTPUT:
        if (*value == '\0') {
            return jpp_err_set(err, JPP_ERR_ARG, "--output needs a value");
        }

        options->output = value;
        break;

    case JPP_OPTION_ANY_KERNEL:
        options->any_kernel = true;
        break;

    case JPP_OPTION_HELP:
        options->answer = jpp_options_help(options);
        break;

    case JPP_OPTION_VERSION:
        options->answer = jpp_options_version;
        break;
    }

    return JPP_OK;
}


/* argv[*I] is an option, and its value may be the next one. */

static jpp_code_t
jpp_options_read_one(jpp_options_t *options, char **argv, int *i,
    jpp_err_t *err)
{
    size_t               len;
    const char          *name, *value;
    const jpp_option_t  *option;

    name = argv[*i] + 2;
    len = strcspn(name, "=");
    value = name[len] == '=' ? name + len + 1 : NULL;

    if (argv[*i][1] == 'o') {
        value = *name != '\0' ? name : NULL;
        name = "output";
        len = strlen(name);

    } else if (argv[*i][1] != '-') {
        return jpp_err_set(err, JPP_ERR_ARG, "unknown option %s", argv[*i]);
    }

    option = jpp_options_find(name, len);

    if (option == NULL) {
        return jpp_err_set(err, JPP_ERR_ARG, "unknown option --%.*s",
                           (int) len, name);
    }

    if (!option->has_value) {
        return value == NULL
               ? jpp_options_set(options, option, NULL, err)
               : jpp_err_set(err, JPP_ERR_ARG, "--%s takes no value",
                             option->name);
    }

    if (value == NULL) {
        value = argv[++*i];
    }

    return value != NULL
           ? jpp_options_set(options, option, value, err)
           : jpp_err_set(err, JPP_ERR_ARG, "--%s needs a value", option->name);
}


/* How wide tables are: as COLUMNS says, or else the terminal. */

static void
jpp_options_cols(jpp_args_t *args, bool is_terminal)
{
    jpp_err_t        err;
    const char      *columns;
    struct winsize   size;

    columns = getenv("COLUMNS");

    if (args->is_set[JPP_ARG_COLS]
        || (columns != NULL
            && jpp_args_set(args, "cols", sizeof("cols") - 1, columns,
                            strlen(columns), &err) == JPP_OK))
    {
        return;
    }

    if (!is_terminal) {
        args->values[JPP_ARG_COLS] = JPP_MAX_COLS;

    } else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0
               && size.ws_col >= JPP_MIN_COLS && size.ws_col <= JPP_MAX_COLS)
    {
        args->values[JPP_ARG_COLS] = size.ws_col;
    }
}


static jpp_code_t
jpp_options_default(jpp_options_t *options, jpp_err_t *err)
{
    jpp_args_t  *args;

    args = &options->report.args;

    jpp_options_cols(args, options->output == NULL && isatty(STDOUT_FILENO));

    if (options->output != NULL || !isatty(STDOUT_FILENO)) {
        return JPP_OK;
    }

    if (!args->is_set[JPP_ARG_FORMAT]) {
        args->values[JPP_ARG_FORMAT] = (uint32_t) (jpp_format_find("top")
                                                   - jpp_formats);

    } else if (jpp_format_of(args)->is_binary) {
        return jpp_err_set(err, JPP_ERR_ARG, "%s is binary and stdout is a "
                           "terminal: give -o FILE, or another format",
                           jpp_format_of(args)->name);
    }

    return JPP_OK;
}


/* The types are those of heaps, or of pools. */

static jpp_code_t
jpp_options_type(jpp_options_t *options, jpp_err_t *err)
{
    jpp_args_t  *args;

    args = &options->report.args;

    if (options->is_pools) {
        options->report.parser = &jpp_parser_pools;
        args->types = *jpp_parser_pools.types;
        args->values[JPP_ARG_TYPE] = args->types.value;
    }

    return options->type == NULL
           ? JPP_OK : jpp_args_set(args, "type", sizeof("type") - 1,
                                   options->type, strlen(options->type), err);
}


/* Checks that need all options. */

static jpp_code_t
jpp_options_check(jpp_options_t *options, jpp_err_t *err)
{
    size_t      i, n, n_stdin;
    jpp_code_t  rc;

    rc = jpp_options_type(options, err);
    if (rc != JPP_OK) {
        return rc;
    }

    if (options->n_files == 0) {
        return jpp_err_set(err, JPP_ERR_ARG, "no FILE given");
    }

    n = options->n_files + (options->base != NULL);

    rc = jpp_report_check(&options->report, n, err);
    if (rc != JPP_OK) {
        return rc;
    }

    if (options->base != NULL && jpp_args_has_ages(&options->report.args)) {
        return jpp_err_set(err, JPP_ERR_ARG, "--ages=1 is about samples at one "
                           "time: leave it out, or --base");
    }

    n_stdin = options->base != NULL && strcmp(options->base, "-") == 0;

    for (i = 0; i < options->n_files; i++) {
        n_stdin += strcmp(options->files[i], "-") == 0;
    }

    if (n_stdin > 1) {
        return jpp_err_set(err, JPP_ERR_ARG, "stdin (-) is given twice");
    }

    return jpp_options_default(options, err);
}


jpp_code_t
jpp_options_read(jpp_options_t *options, int argc, char **argv,
    jpp_err_t *err)
{
    int         i;
    bool        is_option;
    jpp_code_t  rc;

    memset(options, 0, sizeof(jpp_options_t));
    jpp_report_options_init(&options->report);

    options->files = argv;
    is_option = true;

    for (i = 1; i < argc; i++) {

        if (!is_option || argv[i][0] != '-' || argv[i][1] == '\0') {
            options->files[options->n_files++] = argv[i];
            continue;
        }

        if (strcmp(argv[i], "--") == 0) {
            is_option = false;
            continue;
        }

        rc = jpp_options_read_one(options, argv, &i, err);

        if (rc != JPP_OK || options->answer != NULL) {
            return rc;
        }
    }

    return jpp_options_check(options, err);
}
