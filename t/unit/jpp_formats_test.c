
#include "jpp_report.h"
#include "jpp_test_main.h"


/* A page is for people, and debug=1 for programs that read the text. */

JPP_TEST(jpp_formats_debug)
{
    jpp_err_t              err;
    jpp_report_options_t   options;

    jpp_report_options_init(&options);
    jpp_is_u64(jpp_args_query(&options.args, "format=html&debug=1", 19, &err),
               JPP_OK, "a page for a program");
    jpp_is_u64(jpp_report_check(&options, 1, &err), JPP_ERR_ARG, "is refused");
    jpp_is_str(err.text, "format=html has no debug=1, which asks for "
               "format=text: choose one of the two", "with a reason");

    jpp_report_options_init(&options);
    jpp_is_u64(jpp_args_query(&options.args, "format=html&debug=0", 19, &err),
               JPP_OK, "one for people");
    jpp_is_u64(jpp_report_check(&options, 1, &err), JPP_OK, "is not");
}


JPP_TEST(jpp_formats_test)
{
    size_t               i, k, n_same;
    jpp_err_t            err;
    jpp_args_t           args;
    const char          *text, *named;
    const jpp_format_t  *format;

    static char               word[JPP_ERR_TEXT];
    static const char *const  list[] = { word, "a", "b" };
    static const jpp_words_t  words = JPP_WORD_LIST(list, 3, 1);

    memset(word, 'w', sizeof(word) - 1);
    n_same = 0;

    for (i = 0; i < jpp_format_words.n; i++) {
        format = &jpp_formats[i];

        jpp_ok(format->name != NULL && format->about != NULL
               && format->type != NULL && format->write != NULL,
               "%s: the row is filled in", format->name);
        jpp_ok(format == jpp_format_find(format->name), "it is found");
        jpp_is_str(jpp_word(&jpp_format_words, (uint32_t) i), format->name,
                   "it is a word");

        jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
        jpp_is_u64(jpp_args_query(&args, "debug=1", 7, &err), JPP_OK, "debug");
        args.values[JPP_ARG_FORMAT] = (uint32_t) i;
        jpp_is_str(jpp_format_of(&args)->name, "text", "debug=1 is text");
        args.is_set[JPP_ARG_FORMAT] = true;
        jpp_ok(jpp_format_of(&args) == format, "unless a format is set");

        for (k = 0; k < i; k++) {
            n_same += strcmp(format->name, jpp_formats[k].name) == 0;
        }
    }

    jpp_is_u64(n_same, 0, "no two have one name");
    jpp_ok(jpp_word(&jpp_format_words, jpp_format_words.n) == NULL,
           "the words end with the last format");
    jpp_ok(jpp_format_find("top ") == NULL && jpp_format_find("") == NULL,
           "what is no format is not found");

    jpp_is_str(jpp_format_legacy(&jpp_parser_heap)->name, "text",
               "the legacy form of a heap");
    jpp_is_str(jpp_format_legacy(&jpp_parser_cpu)->name, "binary",
               "and of CPU time");

    /* what is allowed is said from the rows */

    jpp_args_init(&args, &jpp_format_words, jpp_parser_heap.types);
    jpp_is_u64(jpp_args_query(&args, "format=x", 8, &err), JPP_ERR_ARG, "a");

    for (i = 0, text = err.text; i < jpp_format_words.n; i++) {
        named = strstr(text, jpp_formats[i].name);
        jpp_ok(named != NULL, "the refusal names %s", jpp_formats[i].name);
        text = named != NULL ? named : text;
    }

    jpp_is_u64(jpp_args_query(&args, "type=x", 6, &err), JPP_ERR_ARG, "b");
    jpp_is_str(err.text, "type must be inuse_space, inuse_objects, "
               "alloc_space or alloc_objects", "types, the default first");

    /* words of any length can be compared */

    jpp_args_init(&args, &words, &words);
    jpp_is_u64(args.values[JPP_ARG_FORMAT], 1, "the default of the words");
    jpp_is_u64(args.values[JPP_ARG_TYPE], 1, "of either");
    jpp_is_u64(jpp_args_query(&args, "format=pprof", 12, &err), JPP_ERR_ARG,
               "a word of another table");
    jpp_is_u64(strlen(err.text), JPP_ERR_TEXT - 1, "a long list is cut");
    jpp_is_u64(jpp_args_query(&args, "type=b", 6, &err), JPP_OK, "a short one");
    jpp_is_u64(args.values[JPP_ARG_TYPE], 2, "is the third");
}
