
#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_view.h"


typedef struct {
    const char   *stack;       /* root first, by semicolons */
    int64_t       after;
    int64_t       before;
    int64_t      seen;         /* samples, that came since then */
} jpp_svg_stack_t;


static jpp_profile_t  profile;


void
jpp_before_each(void)
{
    jpp_parser_init(&jpp_parser_heap, &profile, &arena);
}


/* A name that begins with @ is of another file. */

static void
jpp_svg_fill(jpp_vec_t **base, const jpp_svg_stack_t *stacks, const char *file)
{
    int64_t         values[JPP_HEAP_COLUMNS] = { 0 };
    int64_t         before[JPP_HEAP_COLUMNS] = { 0 };
    uint8_t        *pos;
    uint32_t        n, i, k, mapping, other, ids[16];
    const char     *p, *end;

    mapping = jpp_profile_frames(&profile, 0x1000, file);
    other = jpp_profile_frames(&profile, (uint64_t) 1 << 44, "/lib/other.so");

    if (profile.n_samples == 0) {
        (void) jpp_profile_count(&profile);

        for (i = 0; base != NULL && i < profile.n_columns; i++) {
            base[i] = jpp_vec_create(profile.arena);
        }
    }

    for ( /* void */ ; stacks->stack != NULL; stacks++) {
        for (p = stacks->stack, n = 0; *p != '\0'; n++) {
            end = p + strcspn(p, ";");
            ids[n] = jpp_profile_frame(&profile, *p == '@' ? other : mapping, p,
                                       (size_t) (end - p));
            p = *end == ';' ? end + 1 : end;
        }

        for (i = 0; i < 2; i++) {
            pos = jpp_profile_begin(&profile, 0, n);

            for (k = n; k > 0; k--) {
                pos = jpp_profile_push(pos, ids[k - 1]);
            }

            jpp_profile_end(&profile, pos);

            values[JPP_HEAP_INUSE_SPACE] = stacks->after;
            values[JPP_HEAP_INUSE_OBJECTS] = stacks->seen;
            values[JPP_HEAP_INUSE_SAMPLES] = stacks->seen;
            values[JPP_HEAP_INUSE_DOUBT] = stacks->seen * JPP_DOUBT_ONE;

            before[JPP_HEAP_INUSE_SPACE] = stacks->before;
            profile.n_seen[1] += (uint64_t) stacks->seen;

            if (i == 0) {
                (void) jpp_profile_commit(&profile, NULL, values);

            } else if (base != NULL) {
                (void) jpp_profile_commit(&profile, base, before);
            }
        }
    }
}


static void
jpp_svg_view(jpp_view_t *view, jpp_args_t *args, jpp_vec_t **base,
    const char *query)
{
    memset(view, 0, sizeof(jpp_view_t));
    jpp_args_init(args, &jpp_format_words, jpp_parser_heap.types);
    jpp_is_u64(jpp_args_query(args, query, strlen(query), &err), JPP_OK,
               "\"%s\"", query);

    view->profile = &profile;
    view->args = args;
    view->base = base;
    view->title = "title";
}


static const char *
jpp_svg_text(jpp_vec_t **base, const char *query)
{
    jpp_args_t  args;
    jpp_view_t  view;
    jpp_sink_t  sink;

    jpp_svg_view(&view, &args, base, query);
    jpp_test_sink(&sink, profile.arena);
    jpp_ok(jpp_svg_write(&view, &sink), "written");

    return jpp_test_text(&sink);
}


/* The longest name that fits in is whole; a longer one has as many signs. */

JPP_TEST(jpp_svg_test_fits)
{
    char         name[400], text[420], cut[420];
    size_t       n;
    bool         is_whole;
    const char  *svg;

    jpp_svg_stack_t  stacks[] = { { name, 4000, 0, 0 }, { NULL, 0, 0, 0 } };

    memset(name, 'x', sizeof(name));

    for (n = 140, is_whole = true; is_whole && n < 400; n++) {
        name[n] = '\0';

        jpp_test_begin();
        jpp_svg_fill(NULL, stacks, "/bin/prog");
        svg = jpp_svg_text(NULL, "width=1200");

        jpp_print(text, "\">%s</text>", name);
        jpp_print(cut, "\">%.*s..</text>", (int) n - 3, name);
        is_whole = strstr(svg, text) != NULL;

        jpp_ok(is_whole || (n > 140 && strstr(svg, cut) != NULL),
               "%zu letters", n);

        name[n] = 'x';
    }

    jpp_ok(!is_whole, "which is %zu", n - 2);
}


/* Of pools: servers and locations, and what is neither's under its own name;
   what was counted rests on no samples, and is exact. */

static const jpp_svg_stack_t  jpp_svg_owners[] = {
    { "http;server a;location /x;request;pool blocks;512", 4000, 0, 0 },
    { "http;server b;client connection;pool blocks;256", 300, 0, 0 },
    { "configuration;pool blocks;16384", 200, 0, 0 },
    { NULL, 0, 0, 0 }
};

/* Who owns nothing but calls who does has a colour, too: only the root is
   grey. */

static const jpp_svg_stack_t  jpp_svg_callers[] = {
    { "main;@reads", 100, 0, 0 },
    { NULL, 0, 0, 0 }
};

/* Both sides of a difference; widths are the greater of the two. */

static const jpp_svg_stack_t  jpp_svg_sides[] = {
    { "main;grows", 3000, 1000, 0 },
    { "main;shrinks", 1000, 2000, 0 },
    { "main;new", 500, 0, 0 },
    { "main;gone", 0, 700, 0 },
    { NULL, 0, 0, 0 }
};

/* A change that its samples do not prove has a colour of its own. */

static const jpp_svg_stack_t  jpp_svg_noise[] = {
    { "main;a little more", 30000, 29000, 2 },
    { "main;a little less", 20000, 21000, 2 },
    { "main;just enough", 50000, 40000, 4 },
    { "main;much more", 90000, 1000, 50 },
    { "main;much less", 1000, 50000, 50 },
    { "main;group;one", 30000, 29000, 2 },
    { "main;group;two", 3000, 2900, 2 },
    { "main;the same", 4000, 4000, 3 },
    { NULL, 0, 0, 0 }
};

/* Names are cut between characters, and escaped. */

static const jpp_svg_stack_t  jpp_svg_texts[] = {
    { "\303\251\303\251\303\251\303\251\303\251\303\251\303\251", 50, 0, 0 },
    { "<&>", 950, 0, 0 },
    { NULL, 0, 0, 0 }
};


JPP_TEST(jpp_svg_test_golden)
{
    size_t      i;
    jpp_vec_t  *base[JPP_MAX_COLUMNS], **before;

    static const struct {
        const char             *name;
        const jpp_svg_stack_t  *stacks;
        bool                    is_difference;
        uint32_t                period;
        const char             *file;
        const char             *query;
    } rows[] = {
        { "svg-owners.svg", jpp_svg_owners, false, 0, "[nginx]", "" },
        { "svg-callers.svg", jpp_svg_callers, false, 0, "/bin/prog", "" },
        { "svg-sides.svg", jpp_svg_sides, true, 0, "/bin/prog", "" },
        { "svg-noise.svg", jpp_svg_noise, true, 1000, "/bin/prog", "" },
        { "svg-texts.svg", jpp_svg_texts, false, 0, "/bin/<prog>", "width=800" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        before = rows[i].is_difference ? base : NULL;

        jpp_test_begin();
        profile.period = rows[i].period != 0 ? rows[i].period : profile.period;
        jpp_svg_fill(before, rows[i].stacks, rows[i].file);

        jpp_is_golden(jpp_svg_text(before, rows[i].query), rows[i].name);
    }
}


/* The tree as text: its nodes, what leaves have, and the first owner. */

static const char *
jpp_svg_nodes(jpp_vec_t **base, const char *query, bool is_by_leaf)
{
    char                    *p;
    size_t                   n;
    uint32_t                 i;
    jpp_args_t               args;
    jpp_tree_t               tree;
    jpp_view_t               view;
    const jpp_tree_node_t   *node;

    static char  text[4096];

    jpp_svg_view(&view, &args, base, query);

    if (!jpp_tree_init(&tree, &view, is_by_leaf)) {
        return "no memory";
    }

    p = text + sprintf(text, "%d\n", tree.is_difference);

#define JPP_NAME(id)                                                          \
    ((id) == 0 ? "-" : jpp_profile_str(&profile,                               \
        jpp_profile_function_at(&profile, (id))->name).data)

    for (i = 0; i < jpp_vec_count(tree.nodes, jpp_tree_node_t); i++) {
        node = jpp_tree_node(&tree, i);
        p += sprintf(p, "%u %s %" PRId64 "-%" PRId64 " %" PRId64 " %.0f %.0f\n",
                     node->parent, JPP_NAME(node->function), node->after,
                     node->before, node->seen, node->variance, node->width);
    }

    for (i = 0; i <= jpp_vec_count(profile.functions, jpp_function_t); i++) {
        p += sprintf(p, "%s %" PRId64 "\n", JPP_NAME(i), tree.flat[i]);
    }

    n = jpp_vec_count(profile.strings, jpp_str_t) - 1;

    for (i = 0; (i = jpp_tree_next(tree.owned, n, i)) != 0; /* void */ ) {
        p += sprintf(p, "%s\n", jpp_profile_str(&profile, i).data);
    }

    return text;
}


/* All that a tree has: of what passes memory on, and of samples before. */

JPP_TEST(jpp_svg_test_tree)
{
    uint32_t    i, seen;
    jpp_vec_t  *base[JPP_MAX_COLUMNS];

    static const jpp_svg_stack_t  stacks[] = {
        { "main;@reads;malloc", 3000, 1000, 8 }, { "main;@reads", 500, 500, 2 },
        { "main;gone;malloc", 0, 700, 0 }, { "main;less", -400, 0, 4 },
        { "", 60, 0, 1 }, { "nothing", 0, 0, 9 }, { NULL, 0, 0, 0 }
    };

    /* samples, and their doubt */
    static const int64_t  before[2][3] = {
        { 4, 0, 6 }, { 5 * JPP_DOUBT_ONE, 0, 6 * JPP_DOUBT_ONE }
    };

    jpp_svg_fill(base, stacks, "/bin/prog");

    jpp_shows(jpp_svg_nodes(NULL, "callers=1", false),
              "from the root, without what passes memory on");

    seen = jpp_profile_seen(&profile,
                            profile.types[profile.default_type].count);

    for (i = 0; i < 2; i++) {
        base[seen + i] = jpp_vec_create(&arena);
        memcpy(jpp_vec_push(base[seen + i], sizeof(before[i])), before[i],
               sizeof(before[i]));
    }

    jpp_shows(jpp_svg_nodes(base, "", false),
              "a difference, with samples on both sides");
    jpp_shows(jpp_svg_nodes(base, "", true), "from the leaf");
    jpp_is_u64(jpp_tree_owner(&profile, 0), 0, "no function has no owner");
}


/* Widths are the greater of both sides. */

JPP_TEST(jpp_svg_test_sides)
{
    jpp_args_t   args;
    jpp_tree_t   tree;
    jpp_vec_t   *base[JPP_MAX_COLUMNS];
    jpp_view_t   view;

    jpp_svg_fill(base, jpp_svg_sides, "/bin/prog");
    jpp_svg_view(&view, &args, base, "");

    jpp_ok(jpp_tree_init(&tree, &view, false), "a tree");
    jpp_is_i64(jpp_tree_node(&tree, 0)->after, 4500, "after");
    jpp_is_i64(jpp_tree_node(&tree, 0)->before, 3700, "before");
    jpp_ok(jpp_tree_node(&tree, 0)->width > 6199
           && jpp_tree_node(&tree, 0)->width < 6201, "the greater of each");
}


/* What is said about it, and owners that fill more than a line. */

JPP_TEST(jpp_svg_test_notes)
{
    size_t  i;

    static const char *const  comments[] = {
        "jemalloc 5.3.0", "workers 2/3", "worker 1 is missing: it hangs",
        "left out 3 samples", "origin=worker: one part", "lg_sample 14"
    };

    static const jpp_svg_stack_t  stacks[] = {
        { "http;server one.example;location /a;request", 4000, 0, 5 },
        { "http;server two.example;location /some/long/one;request", 3900, 0,
          5 },
        { "http;server three.example;location /b;request", 3800, 0, 5 },
        { "http;server four.example;client connection", 3700, 0, 5 },
        { "http;server five.example;client connection", 3600, 0, 5 },
        { "http;server six.example;client connection", 3500, 0, 5 },
        { "http;server seven.example;client connection", 3400, 0, 5 },
        { "configuration;pool blocks;16384", 20, 0, 1 },
        { NULL, 0, 0, 0 }
    };

    for (i = 0; i < sizeof(comments) / sizeof(comments[0]); i++) {
        jpp_profile_comment(&profile, "%s", comments[i]);
    }

    jpp_svg_fill(NULL, stacks, "[nginx]");
    profile.time_nanos = 1795233720000000000;

    jpp_is_golden(jpp_svg_text(NULL, "width=700"), "svg-notes.svg");
}


/* No memory, at every call. */

JPP_TEST(jpp_svg_test_fails)
{
    char         name[16];
    size_t       i;
    jpp_args_t   args;
    jpp_view_t   view;
    jpp_sink_t   sink;

    jpp_svg_stack_t  one[2] = { { name, 9, 0, 1 }, { NULL, 0, 0, 0 } };

    for (i = 0; i < 1000; i++) {
        jpp_print(name, "f%zu", i);
        jpp_svg_fill(NULL, one, "/bin/prog");
    }

    jpp_svg_view(&view, &args, NULL, "");
    jpp_denies(&arena,
               jpp_test_sink(&sink, &arena);
               (void) jpp_vec_reserve(sink.ctx, 65536), 4,
               jpp_done_code(jpp_svg_write(&view, &sink)));
}


/* Siblings that are too narrow are counted in one box. */

JPP_TEST(jpp_svg_test_many)
{
    char              name[16];
    size_t            i;
    const char       *svg;
    jpp_svg_stack_t   one[2] = { { name, 1, 0, 0 }, { NULL, 0, 0, 0 } };

    for (i = 0; i < 5000; i++) {
        jpp_print(name, "f%zu", i);
        jpp_svg_fill(NULL, one, "/bin/prog");
    }

    svg = jpp_svg_text(NULL, "");

    jpp_ok(strlen(svg) < 10000, "and the picture is small");

    jpp_is_golden(svg, "svg-many.svg");
}
