
/*
 * How old live samples are: dumps with ages, the table, and which functions are
 * suspected of a leak after ten minutes of a simulated clock.
 */


#include "jpp_samples.h"
#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_AGED_STACK(counts, age)                                           \
    "@ 0x400201 0x400301\n  t*: " counts "\n  t0: " counts "\n" age

#define JPP_AGED_AGE(counts, age)  "  t" age ": " counts "\n"

#define JPP_AGED_HEAD(more)                                                   \
    "heap_v2/1\n  t*: 6: 60 [0: 0]\n"                                         \
    "  t0: 1: 10 [0: 0] owner\t(unknown)\t(unknown)\n" more

#define JPP_AGED                                                              \
    JPP_AGED_STACK("0: 0 [9: 900]", "")                                       \
    JPP_AGED_STACK("1: 10 [0: 0]", JPP_AGED_AGE("1: 10 [0: 0]", "65536"))     \
    JPP_AGED_STACK("1: 30 [0: 0]", JPP_AGED_AGE("1: 30 [0: 0]", "65540"))     \
    JPP_AGED_STACK("2: 50 [0: 0]", JPP_AGED_AGE("2: 50 [0: 0]", "65586"))     \
    JPP_AGED_STACK("1: 1 [0: 0]", JPP_AGED_AGE("1: 1 [0: 0]", "65600"))       \
    JPP_TEST_MAPS

#define JPP_AGED_LINE  "  t65536: 0: 0 [0: 0] ages\n"


typedef struct {
    const char  *name;
    const char  *text;
    const char  *args;
} jpp_aged_case_t;


static const jpp_aged_case_t  cases[] = {

    { "the table", JPP_AGED_HEAD(JPP_AGED_LINE) JPP_AGED,
      "format=top&ages=1&symbolize=0" },

    { "by cum, and of the old", JPP_AGED_HEAD(JPP_AGED_LINE) JPP_AGED,
      "format=top&age=5s&sort=cum&symbolize=0" },

    { "what was ever allocated has no age",
      JPP_AGED_HEAD(JPP_AGED_LINE) JPP_AGED,
      "format=top&ages=1&type=alloc_space&symbolize=0" },

    { "without", JPP_AGED_HEAD(JPP_AGED_LINE) JPP_AGED,
      "format=top&symbolize=0" },

    { "a dump without ages", JPP_AGED_HEAD("") JPP_AGED,
      "format=top&ages=1&symbolize=0" },

    { "another thread of that name",
      JPP_AGED_HEAD("  t65535: 0: 0 [0: 0] ages\n") JPP_AGED,
      "format=top&ages=1&symbolize=0" },

    { "another name of that thread",
      JPP_AGED_HEAD("  t65536: 0: 0 [0: 0] ages of old\n") JPP_AGED,
      "format=top&ages=1&symbolize=0" },

    { "a stack at the end has no third line",
      JPP_AGED_HEAD(JPP_AGED_LINE) JPP_AGED_STACK("1: 5 [0: 0]", "")
      JPP_TEST_MAPS,
      "format=folded&ages=1&symbolize=0" },

    { "no time at all", JPP_AGED_HEAD(JPP_AGED_LINE) JPP_AGED,
      "format=top&age=5s&seconds=5" }
};


static jpp_vec_t  *out;


JPP_TEST(jpp_aged_test_cases)
{
    size_t                  i;
    const jpp_aged_case_t  *row;

    for (i = 0; i < jpp_nelts(cases); i++) {
        row = &cases[i];
        jpp_test_anew();

        (void) jpp_test_report_of(&out, &jpp_parser_heap, row->args,
                                  &row->text, 1);
        jpp_ok(err.code == JPP_OK || err.code == JPP_ERR_ARG, "%s", row->name);
        jpp_shows(err.code == JPP_OK ? (char *) out->data : err.text, "%s",
                  row->name);
    }

    jpp_test_anew();
    jpp_is_u64(jpp_test_report_of(&out, &jpp_parser_cpu, "ages=1",
                                  &cases[0].text, 1),
               JPP_ERR_ARG, "no memory: %s", err.text);
}


/* The labels of the profile, by the contract checker. */

JPP_TEST(jpp_aged_test_labels)
{
    jpp_test_anew();

    jpp_is_u64(jpp_test_report_of(&out, &jpp_parser_heap, "ages=1&symbolize=0",
                                  &cases[0].text, 1),
               JPP_OK, "a profile");
    jpp_shows(jpp_test_contract(out, 0), "and its labels");
}


/* No memory, at every call; the last is for what is written. */

static jpp_code_t
jpp_aged_denied(void)
{
    jpp_code_t  rc;

    rc = jpp_test_report_of(&out, &jpp_parser_heap, cases[0].args,
                            &cases[0].text, 1);

    return rc == JPP_ERR_WRITE ? JPP_ERR_MEMORY : rc;
}


JPP_TEST(jpp_aged_test_memory)
{
    jpp_denies(&arena, jpp_test_anew(), 10, jpp_aged_denied());
}


/* A saved profile may have any numbers for these, and any values. */

JPP_TEST(jpp_aged_test_saved)
{
    size_t                i;
    uint32_t              set;
    jpp_view_t            view = { 0 };
    jpp_sink_t            sink;
    jpp_label_t           labels[2] = { { 0 } };
    jpp_profile_t         profile;
    jpp_report_options_t  options;

    static const int64_t  numbers[][2] = {
        { INT64_MIN, 1 }, { -1, 1 }, { 0, 1 }, { 3, 0 }, { 3, -1 }, { 3, 5 },
        { 3, INT64_MIN }, { 3, INT64_MAX }, { 5, 1 }, { INT64_MAX, 4 }
    };
    static const int64_t  values[JPP_HEAP_COLUMNS] = {
        INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 0, INT64_MAX, 0
    };

    jpp_test_anew();
    (void) jpp_parser_init(&jpp_parser_heap, &profile, &arena);
    (void) jpp_profile_count(&profile);

    labels[0].key = JPP_AGE_KEY;
    labels[1].key = JPP_QUARTER_KEY;

    for (i = 0; i < jpp_nelts(numbers); i++) {
        labels[0].num = numbers[i][0];
        labels[1].num = numbers[i][1];

        (void) jpp_profile_labels(&profile, 0, 0, labels, 2, &set);
        jpp_test_stack(&profile, set, i < 8 ? "none" : "both");
        (void) jpp_profile_commit(&profile, NULL, values);
    }

    options = jpp_test_options("ages=1&cols=1000&type=inuse_objects");
    view.profile = &profile;
    view.args = &options.args;
    profile.default_type = options.args.values[JPP_ARG_TYPE];

    jpp_test_sink(&sink, &arena);
    jpp_ok(jpp_functions_write(&view, &sink), "written");
    jpp_shows(jpp_test_text(&sink), "only numbers that an age can have count");
}


JPP_TEST(jpp_aged_test_ages)
{
    jpp_is_u64(jpp_age(0, 0, 0), 48, "at once: the last quarter");
    jpp_is_u64(jpp_age(3, 97, 100), 48, "three seconds are few");
    jpp_is_u64(jpp_age(4, 96, 100), 49, "four");
    jpp_is_u64(jpp_age(255, 0, 255), 3, "one less than four to the 4th");
    jpp_is_u64(jpp_age(256, 64, 256), 20, "that, in the second quarter");
    jpp_is_u64(jpp_age(UINT32_MAX, 0, UINT32_MAX), 15, "the oldest");
    jpp_is_u64(jpp_age(0, 110, 100), 48, "one of later than now");
}


/*
 * Plants: what a function allocates every second, how long it holds that, and
 * for how long it goes on.  By hand, so that the clock can be as well.
 */

#define JPP_PLANT_SECONDS  600
#define JPP_PLANT_LG       12
#define JPP_PLANT_HELD     8192


typedef struct {
    void       (*function)(void);
    uint32_t     each;             /* objects a second */
    uint32_t     size;
    uint32_t     first;            /* of the seconds, */
    uint32_t     last;             /*   and behind them */
    uint32_t     lives;            /* so many seconds, and at most as many */
                                   /*   more; 0: for ever */
} jpp_plant_t;


typedef struct {
    uintptr_t    address;          /* 0: free */
    uint32_t     end;
} jpp_plant_object_t;


#define JPP_PLANT(name)                                                       \
                                                                              \
__attribute__((noinline, aligned(64))) static void                            \
name(void)                                                                    \
{                                                                             \
    __asm__ volatile ("nop # " #name);                                        \
}

JPP_PLANT(plant_leak)
JPP_PLANT(plant_requests)
JPP_PLANT(plant_keepalive)
JPP_PLANT(plant_lru)
JPP_PLANT(plant_cache)
JPP_PLANT(plant_late)
JPP_PLANT(plant_ended)


static const jpp_plant_t  plants[] = {
    { plant_leak, 1, 1000, 0, 600, 0 },
    { plant_requests, 99, 1000, 0, 600, 1 },
    { plant_keepalive, 4, 4000, 0, 600, 30 },
    { plant_lru, 10, 2000, 0, 600, 100 },
    { NULL, 0, 0, 0, 0, 0 },

    { plant_cache, 100, 2000, 0, 20, 0 },
    { plant_late, 100, 2000, 400, 420, 0 },
    { plant_ended, 5, 1000, 0, 450, 0 },
    { plant_requests, 99, 1000, 0, 600, 1 },
    { NULL, 0, 0, 0, 0, 0 }
};


static jpp_plant_object_t  held[JPP_PLANT_HELD];
static uint64_t            plant_random;
static int64_t             plant_left;


static void
jpp_plant_add(const jpp_plant_t *plant, jpp_plant_object_t *object)
{
    uint32_t        site;
    uintptr_t       pc;
    jpp_site_key_t  key = { 0, 0 };

    static uintptr_t  addresses = 0x10000;

    addresses += 64;

    object->address = addresses;
    object->end = plant->lives == 0
                  ? UINT32_MAX
                  : jpp_samples.live.now + plant->lives
                    + (uint32_t) (jpp_hash_u64(addresses) % plant->lives);

    plant_left -= plant->size;

    if (plant_left >= 0) {
        return;
    }

    plant_left = jpp_draw(&plant_random, JPP_PLANT_LG);

    pc = (uintptr_t) plant->function + 1;
    key.kind = jpp_sites_class(plant->size);

    site = jpp_sites_add(&jpp_samples.sites, &pc, 1, &key);
    jpp_sites_count(&jpp_samples.sites, site, 1, plant->size);
    (void) jpp_live_add(&jpp_samples.live, addresses,
                        jpp_live_object(site, plant->size));
}


/* Ten minutes of PLANTS, from a START by the clock on. */

static void
jpp_plants_grow(const jpp_plant_t *from, uint32_t start)
{
    uint32_t             i, second;
    uint64_t             sample;
    jpp_plant_object_t  *object;
    const jpp_plant_t   *plant;

    memset(held, 0, sizeof(held));
    plant_random = 1;
    plant_left = 0;
    jpp_samples.live.now = start;
    jpp_samples_start(JPP_PLANT_LG, 1);

    for (second = 0; second < JPP_PLANT_SECONDS; second++) {
        jpp_samples.live.now = start + second;
        object = held;

        jpp_each_of(object, held) {
            if (object->address != 0 && object->end <= start + second) {
                (void) jpp_live_take(&jpp_samples.live, object->address,
                                     &sample);
                object->address = 0;
            }
        }

        object = held;

        for (plant = from; plant->function != NULL; plant++) {
            for (i = 0;
                 i < plant->each
                 && second >= plant->first && second < plant->last;
                 i++)
            {
                while (object->address != 0) {
                    object++;
                }

                jpp_plant_add(plant, object);
            }
        }
    }

    jpp_samples.live.now = start + JPP_PLANT_SECONDS;
}


/* The report by ARGS of what was planted; NULL: there is none. */

static char *
jpp_plants_show(const char *args, jpp_ages_t ages)
{
    jpp_code_t            rc;
    jpp_memfd_t           memfd;
    jpp_capture_t         capture;
    jpp_report_options_t  options;

    jpp_test_anew();
    options = jpp_test_options(args);

    rc = jpp_memfd_open(&memfd, NULL, &err);

    if (rc == JPP_OK) {
        rc = jpp_samples_dump(&jpp_samples, memfd.fd, &ages, &err);
    }

    if (rc == JPP_OK) {
        rc = jpp_memfd_map(&memfd, 64 << 20, &err);
    }

    if (rc == JPP_OK) {
        capture = jpp_test_capture(memfd.data, memfd.len);
        rc = jpp_test_report_into(&out, &capture, 1, &options);
    }

    jpp_memfd_close(&memfd);
    jpp_is_u64(rc, JPP_OK, "%s %s", args, err.text);

    return rc == JPP_OK ? (char *) out->data : NULL;
}


/* Does the first row of TEXT end with NAME?  Rows follow the heading of "flat",
   and columns follow it in that. */

static bool
jpp_plants_is_first(const char *text, const char *name)
{
    const char  *row;

    row = strstr(text, "function\n");
    row = row != NULL ? strchr(row, '\n') + 1 : text;

    return memmem(row, strcspn(row, "\n"), name, strlen(name)) != NULL;
}


static const jpp_ages_t  none = { 0, false };
static const jpp_ages_t  told = { 0, true };
static const jpp_ages_t  old = { 300, true };


/* A leak of one of a hundred objects, beside all that come and go. */

JPP_TEST(jpp_aged_test_leak)
{
    char  *text;

    if (!jpp_samples_prepare()) {
        jpp_ok(true, "no samples on this machine");
        return;
    }

    jpp_plants_grow(plants, 1000);

    text = jpp_plants_show("format=top&cols=200", none);
    jpp_ok(text != NULL && !jpp_plants_is_first(text, "plant_leak"),
           "without ages others have more");

    text = jpp_plants_show("format=top&cols=200&age=5m", old);
    jpp_ok(text != NULL && jpp_plants_is_first(text, "plant_leak"),
           "of what is older than half of it, the leak has most");
    jpp_lacks(text, "plant_requests", "requests have gone");
    jpp_lacks(text, "plant_keepalive", "and so have connections");
    jpp_lacks(text, "leak?", "what is left out is not judged");

    text = jpp_plants_show("format=top&cols=200&ages=1", told);
    jpp_has(text, "\n\nleak? plant_leak holds ", "it is suspected");
    jpp_ok(text != NULL && strstr(strstr(text, "leak?") + 1, "leak?") == NULL,
           "and nothing else is");
    jpp_has(text, ">4 min 16 s  plant_leak\n", "its median age");
    jpp_has(text, "<4 s  plant_requests\n", "and one of requests");
    jpp_shows(strstr(text, "\n\nleak?"), "the suspect");

    jpp_samples_stop();
}


/* Caches are bounded, whenever they were filled; one that has ended is over. */

JPP_TEST(jpp_aged_test_caches)
{
    char  *text;

    if (!jpp_samples_prepare()) {
        jpp_ok(true, "no samples on this machine");
        return;
    }

    jpp_plants_grow(plants + 5, 2000000);

    text = jpp_plants_show("format=top&cols=200&age=5m", old);
    jpp_ok(text != NULL && jpp_plants_is_first(text, "plant_cache"),
           "the oldest is a cache");

    text = jpp_plants_show("format=top&cols=200&ages=1", told);
    jpp_has(text, "\n\nleak? no function is suspected", "nothing is suspected");

    /* what is forgotten has no age */

    jpp_samples_start(JPP_PLANT_LG, 1);
    text = jpp_plants_show("format=top&cols=200&ages=1", told);
    jpp_has(text, "inuse_space: 0 B in 0 stacks", "a reset forgets");

    jpp_samples_stop();
}


/* Split by age, the sum is the same. */

JPP_TEST(jpp_aged_test_sums)
{
    char     *text;
    double    all, parts;

    if (!jpp_samples_prepare()) {
        jpp_ok(true, "no samples on this machine");
        return;
    }

    jpp_plants_grow(plants, 5);

    text = jpp_plants_show("format=top&type=inuse_objects&cols=200", none);
    all = text != NULL ? strtod(text + sizeof("inuse_objects:"), NULL) : 0;
    text = jpp_plants_show("format=top&type=inuse_objects&ages=1&cols=200",
                           told);
    parts = text != NULL ? strtod(text + sizeof("inuse_objects:"), NULL) : 1;

    jpp_ok(all > 1000 && parts > all * 0.99 && parts < all * 1.01,
           "%.0f objects, %.0f by age", all, parts);

    jpp_samples_stop();
}
