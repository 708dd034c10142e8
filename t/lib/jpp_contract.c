
/*
 * The rules, in jpp_contract_rules: each looks at one message of one list.
 * They run only over what jpp_contract_wire.c could decode and refers to
 * nothing that is not there.
 */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "jpp_contract.h"
#include "jpp_contract_wire.h"


#define JPP_CONTRACT_PAGE       4096
#define JPP_CONTRACT_MAX_TYPES  4


typedef void (*jpp_contract_rule_pt)(jpp_contract_t *c, jpp_value_t *message);


/* nothing that churns may be a string: Pyroscope makes series of strings */

static const struct {
    const char             *key;
    bool                    is_str;
} jpp_contract_known_labels[] = {
    { "worker",      true },
    { "origin",      true },
    { "pid",         false },
    { "generation",  false },
    { "age_seconds", false },
    { "quarter",     false }
};


static void jpp_contract_key(jpp_contract_t *c, jpp_value_t *message,
    const char *fmt, ...) __attribute__((format(printf, 3, 4), nonnull(3)));


/* The text by which MESSAGE is known: the same one twice is a violation. */

static void
jpp_contract_key(jpp_contract_t *c, jpp_value_t *message, const char *fmt, ...)
{
    int      len;
    char    *text;
    va_list  args;

    va_start(args, fmt);
    len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);

    text = jpp_contract_alloc(c, (size_t) len + 1);
    message[0].str = text;

    va_start(args, fmt);
    vsnprintf(text, (size_t) len + 1, fmt, args);
    va_end(args);
}


static void
jpp_contract_label(jpp_contract_t *c, jpp_value_t *label)
{
    bool         is_str;
    size_t       i;
    const char  *key;

    key = label[JPP_LABEL_KEY].str;
    is_str = label[JPP_LABEL_STR].num != 0;

    if (key[0] == '\0') {
        jpp_contract_no(c, "it has a label without a key");
    }

    if (is_str && (label[JPP_LABEL_NUM].seen || label[JPP_LABEL_UNIT].seen)) {
        jpp_contract_no(c, "its label \"%s\" is a string and a number", key);
    }

    for (i = 0; i < jpp_nelts(jpp_contract_known_labels); i++) {
        if (strcmp(jpp_contract_known_labels[i].key, key) == 0
            && jpp_contract_known_labels[i].is_str != is_str)
        {
            jpp_contract_no(c, "its label \"%s\" is %s", key,
                            is_str ? "a string" : "not a string");
        }
    }

    if (is_str) {
        jpp_contract_key(c, label, "%s=\"%s\"", key, label[JPP_LABEL_STR].str);
    } else {
        jpp_contract_key(c, label, "%s=%lld%s", key,
                         (long long) label[JPP_LABEL_NUM].num,
                         label[JPP_LABEL_UNIT].str);
    }
}


static int
jpp_contract_cmp(const void *one, const void *two)
{
    return strcmp((*(jpp_value_t *const *) one)[0].str,
                  (*(jpp_value_t *const *) two)[0].str);
}


/* The key of a sample is its stack and labels, by key whatever their order. */

static void
jpp_contract_labels(jpp_contract_t *c, jpp_value_t *sample)
{
    char         *text;
    FILE         *key;
    size_t        len;
    jpp_num_t     i, n;
    jpp_value_t  *label, *last;

    key = open_memstream(&text, &len);
    n = sample[JPP_SAMPLE_LABEL].num;
    last = NULL;

    for (i = 0; i < sample[JPP_SAMPLE_LOCATION].num; i++) {
        fprintf(key, " %llu", jpp_contract_num(sample, JPP_SAMPLE_LOCATION, i));
    }

    for (i = 0; i < n; i++) {
        jpp_contract_label(c, jpp_contract_item(sample, JPP_SAMPLE_LABEL, i));
    }

    if (n != 0) {
        qsort(sample[JPP_SAMPLE_LABEL].items, n, sizeof(jpp_value_t *),
              jpp_contract_cmp);
    }

    for (i = 0; i < n; i++, last = label) {
        label = jpp_contract_item(sample, JPP_SAMPLE_LABEL, i);
        fprintf(key, " %s", label[0].str);

        if (last != NULL
            && strcmp(last[JPP_LABEL_KEY].str, label[JPP_LABEL_KEY].str) == 0)
        {
            jpp_contract_no(c, "it has the label \"%s\" twice",
                            label[JPP_LABEL_KEY].str);
        }
    }

    fclose(key);
    jpp_contract_key(c, sample, "%s", text);
    free(text);
}


static void
jpp_contract_sample(jpp_contract_t *c, jpp_value_t *sample)
{
    bool       zero, negative;
    jpp_num_t  i, n;
    long long  value;

    n = sample[JPP_SAMPLE_VALUE].num;
    zero = true;
    negative = false;

    for (i = 0; i < n; i++) {
        value = (long long) jpp_contract_num(sample, JPP_SAMPLE_VALUE, i);
        zero &= value == 0;
        negative |= value < 0;
    }

    if (n != c->profile[JPP_PROFILE_TYPE].num) {
        jpp_contract_no(c, "it has %llu values for %llu types", n,
                        c->profile[JPP_PROFILE_TYPE].num);

    } else if (zero) {
        jpp_contract_no(c, "all its values are 0");
    }

    if ((c->flags & JPP_CONTRACT_POOLS)
        && sample[JPP_SAMPLE_LOCATION].num == 0)
    {
        jpp_contract_no(c, "it has no frame");
    }

    if (negative && c->profile[JPP_PROFILE_DURATION].num == 0) {
        jpp_contract_no(c, "a value is negative, and the duration is 0");
    }

    jpp_contract_labels(c, sample);
}


/* module+0xoffset: made up for what has no name */

static bool
jpp_contract_is_offset(const char *name)
{
    size_t       n;
    const char  *plus;

    plus = strrchr(name, '+');

    if (plus == NULL || strncmp(plus, "+0x", 3) != 0) {
        return false;
    }

    n = strspn(plus + 3, "0123456789abcdef");

    return n != 0 && plus[3 + n] == '\0';
}


/* Leaves with functions their mapping, and with mappings that they have one. */

static void
jpp_contract_location(jpp_contract_t *c, jpp_value_t *location)
{
    jpp_num_t     i, address;
    jpp_value_t  *mapping, *function;

    mapping = location[JPP_LOCATION_MAPPING].items;
    address = location[JPP_LOCATION_ADDRESS].num;

    jpp_contract_key(c, location, "0x%llx M=%llu", address,
                     location[JPP_LOCATION_MAPPING].num);

    if (mapping != NULL
        && (address < mapping[JPP_MAPPING_START].num
            || address >= mapping[JPP_MAPPING_LIMIT].num))
    {
        jpp_contract_no(c, "0x%llx is outside of mapping %llu", address,
                        mapping[JPP_ID].num);
    }

    /* a frame is nothing but its name */

    if ((c->flags & JPP_CONTRACT_POOLS)
        && (mapping == NULL || location[JPP_LOCATION_LINE].num != 1))
    {
        jpp_contract_no(c, "it is not one name in the mapping");
    }

    for (i = 0; i < location[JPP_LOCATION_LINE].num; i++) {

        function = jpp_contract_item(location, JPP_LOCATION_LINE, i)
                                                     [JPP_LINE_FUNCTION].items;

        if (function[0].seen && function[0].items != mapping) {
            jpp_contract_no(c, "its function %llu is in another mapping too",
                            function[JPP_ID].num);
        }

        function[0].seen = true;
        function[0].items = mapping;

        if (mapping != NULL
            && !jpp_contract_is_offset(function[JPP_FUNCTION_NAME].str))
        {
            mapping[0].seen = true;
        }
    }
}


static void
jpp_contract_mapping(jpp_contract_t *c, jpp_value_t *mapping)
{
    jpp_num_t    start, limit;
    const char  *build_id;

    start = mapping[JPP_MAPPING_START].num;
    limit = mapping[JPP_MAPPING_LIMIT].num;
    build_id = mapping[JPP_MAPPING_BUILD_ID].str;

    jpp_contract_key(c, mapping, "%llu: 0x%llx/0x%llx/0x%llx \"%s\" %s%s",
                     mapping[JPP_ID].num, start, limit,
                     mapping[JPP_MAPPING_OFFSET].num,
                     mapping[JPP_MAPPING_FILENAME].str,
                     build_id[0] != '\0' ? build_id : "-",
                     mapping[JPP_MAPPING_HAS_FUNCTIONS].num ? " [FN]" : "");

    if ((c->flags & JPP_CONTRACT_POOLS)
        && (mapping[JPP_ID].num != 1 || build_id[0] != '\0'
            || mapping[JPP_MAPPING_HAS_FUNCTIONS].num == 0
            || strcmp(mapping[JPP_MAPPING_FILENAME].str, "[nginx]") != 0))
    {
        jpp_contract_no(c, "it is not \"[nginx]\", the only one");
    }

    if (start >= limit) {
        jpp_contract_no(c, "it ends at 0x%llx and starts at 0x%llx", limit,
                        start);
    }

    if ((start | limit | mapping[JPP_MAPPING_OFFSET].num) % JPP_CONTRACT_PAGE
        != 0)
    {
        jpp_contract_no(c, "0x%llx, 0x%llx or 0x%llx is not on a page", start,
                        limit, mapping[JPP_MAPPING_OFFSET].num);
    }

    if (strspn(build_id, "0123456789abcdef") != strlen(build_id)
        || strlen(build_id) % 2 != 0)
    {
        jpp_contract_no(c, "its build id is \"%s\"", build_id);
    }

    if (mapping[JPP_MAPPING_HAS_FUNCTIONS].num != 0 && !mapping[0].seen) {
        jpp_contract_no(c, "has_functions, but none of its locations has a "
                        "name");
    }
}


static void
jpp_contract_function(jpp_contract_t *c, jpp_value_t *function)
{
    jpp_value_t  *mapping;

    mapping = function[0].items;

    jpp_contract_key(c, function, "\"%s\" M=%llu",
                     function[JPP_FUNCTION_NAME].str,
                     mapping != NULL ? mapping[JPP_ID].num : 0);

    if (function[JPP_FUNCTION_NAME].str[0] == '\0') {
        jpp_contract_no(c, "it has no name");
    }
}


/* locations come first: they say which mappings and functions are in use */

static const struct {
    unsigned                field;
    const char             *what;
    jpp_contract_rule_pt    rule;
} jpp_contract_rules[] = {
    { JPP_PROFILE_LOCATION, "location", jpp_contract_location },
    { JPP_PROFILE_MAPPING,  "mapping",  jpp_contract_mapping },
    { JPP_PROFILE_FUNCTION, "function", jpp_contract_function },
    { JPP_PROFILE_SAMPLE,   "sample",   jpp_contract_sample }
};


static const struct {
    unsigned                flag;
    const char             *types;
} jpp_contract_shapes[] = {
    { JPP_CONTRACT_HEAP, " alloc_objects/count alloc_space/bytes"
                         " inuse_objects/count inuse_space/bytes" },
    { JPP_CONTRACT_HEAP, " inuse_objects/count inuse_space/bytes" },
    { JPP_CONTRACT_CPU,  " samples/count cpu/nanoseconds" },
    { JPP_CONTRACT_POOLS, " inuse_objects/count inuse_space/bytes"
                          " unused_space/bytes" }
};


/* Of the messages that a rule gave the same key, one is too many. */

static void
jpp_contract_distinct(jpp_contract_t *c, unsigned field)
{
    size_t          size;
    jpp_num_t       i, n;
    jpp_value_t   **sorted;

    n = c->profile[field].num;

    if (n == 0) {
        return;
    }

    size = n * sizeof(jpp_value_t *);
    sorted = memcpy(jpp_contract_alloc(c, size), c->profile[field].items, size);

    qsort(sorted, n, sizeof(jpp_value_t *), jpp_contract_cmp);

    for (i = 1; i < n; i++) {
        if (jpp_contract_cmp(&sorted[i - 1], &sorted[i]) == 0) {
            c->ordinal = sorted[i][0].num;
            jpp_contract_no(c, "it is the same as %llu", sorted[i - 1][0].num);
        }
    }
}


static void
jpp_contract_rule_all(jpp_contract_t *c)
{
    size_t        k;
    unsigned      field;
    jpp_num_t     i;

    for (k = 0; k < jpp_nelts(jpp_contract_rules); k++) {

        field = jpp_contract_rules[k].field;
        c->what = jpp_contract_rules[k].what;

        for (i = 0; i < c->profile[field].num; i++) {
            c->ordinal = i + 1;
            jpp_contract_rules[k].rule(c, jpp_contract_item(c->profile, field,
                                                            i));
        }

        jpp_contract_distinct(c, field);
    }
}


static void
jpp_contract_types(jpp_contract_t *c)
{
    char          types[1024];
    bool          found;
    size_t        i, len;
    const char   *name;
    jpp_value_t  *type;

    len = 0;
    types[0] = '\0';
    found = false;
    name = c->profile[JPP_PROFILE_DEFAULT].str;

    if (c->profile[JPP_PROFILE_TYPE].num == 0
        || c->profile[JPP_PROFILE_TYPE].num > JPP_CONTRACT_MAX_TYPES)
    {
        jpp_contract_no(c, "there are %llu sample types",
                        c->profile[JPP_PROFILE_TYPE].num);
        return;
    }

    for (i = 0; i < c->profile[JPP_PROFILE_TYPE].num; i++) {
        type = jpp_contract_item(c->profile, JPP_PROFILE_TYPE, i);
        len += (size_t) snprintf(types + len, sizeof(types) - len,
                                 " %.99s/%.99s", type[JPP_VALUE_TYPE_TYPE].str,
                                 type[JPP_VALUE_TYPE_UNIT].str);
        found |= strcmp(name, type[JPP_VALUE_TYPE_TYPE].str) == 0;
    }

    if (name[0] == '\0' || !found) {
        jpp_contract_no(c, "default_sample_type \"%s\" is none of the types",
                        name);
    }

    for (i = 0; i < jpp_nelts(jpp_contract_shapes); i++) {
        if (c->flags == jpp_contract_shapes[i].flag
            && strcmp(types, jpp_contract_shapes[i].types) == 0)
        {
            return;
        }
    }

    if (c->flags != 0) {
        jpp_contract_no(c, "the sample types are not those of this kind of "
                        "profile:%s", types);
    }
}


static void
jpp_contract_period(jpp_contract_t *c)
{
    long long     period;
    const char   *type, *unit;
    jpp_value_t  *message;

    period = (long long) c->profile[JPP_PROFILE_PERIOD].num;

    if (period < 1
        || ((c->flags & JPP_CONTRACT_HEAP) && (period & (period - 1)) != 0)
        || ((c->flags & JPP_CONTRACT_POOLS) && period != 1))
    {
        jpp_contract_no(c, "period is %lld", period);
    }

    if (c->profile[JPP_PROFILE_PERIOD_TYPE].num == 0) {
        jpp_contract_no(c, "there is no period_type");
        return;
    }

    message = jpp_contract_item(c->profile, JPP_PROFILE_PERIOD_TYPE, 0);
    type = message[JPP_VALUE_TYPE_TYPE].str;
    unit = message[JPP_VALUE_TYPE_UNIT].str;

    if (type[0] == '\0' || unit[0] == '\0'
        || ((c->flags & (JPP_CONTRACT_HEAP|JPP_CONTRACT_POOLS))
            && (strcmp(type, "space") != 0 || strcmp(unit, "bytes") != 0))
        || ((c->flags & JPP_CONTRACT_CPU)
            && (strcmp(type, "cpu") != 0 || strcmp(unit, "nanoseconds") != 0)))
    {
        jpp_contract_no(c, "period_type is \"%s/%s\"", type, unit);
    }
}


static void
jpp_contract_times(jpp_contract_t *c)
{
    long long  taken, duration;

    taken = (long long) c->profile[JPP_PROFILE_TIME].num;
    duration = (long long) c->profile[JPP_PROFILE_DURATION].num;

    if (taken <= 0) {
        jpp_contract_no(c, "time_nanos is %lld", taken);
    }

    if (duration < 0 || (duration == 0 && (c->flags & JPP_CONTRACT_CPU))) {
        jpp_contract_no(c, "duration_nanos is %lld", duration);
    }
}


/* 1 4096: 3 2 1 origin="master" pid=12 */

static void
jpp_contract_print_sample(const jpp_value_t *sample, FILE *out)
{
    jpp_num_t  i;

    fprintf(out, "   ");

    for (i = 0; i < sample[JPP_SAMPLE_VALUE].num; i++) {
        fprintf(out, " %lld",
                (long long) jpp_contract_num(sample, JPP_SAMPLE_VALUE, i));
    }

    fprintf(out, ":%s", sample[0].str);
}


/* 3: 0x401234 M=1 F=2 main */

static void
jpp_contract_print_location(const jpp_value_t *location, FILE *out)
{
    jpp_num_t           i;
    const jpp_value_t  *function;

    fprintf(out, "    %llu: %s", location[JPP_ID].num, location[0].str);

    for (i = 0; i < location[JPP_LOCATION_LINE].num; i++) {
        function = jpp_contract_item(location, JPP_LOCATION_LINE, i)
                                                     [JPP_LINE_FUNCTION].items;
        fprintf(out, " F=%llu %s", function[JPP_ID].num,
                function[JPP_FUNCTION_NAME].str);
    }
}


/* 1: 0x400000/0x500000/0x0 "/usr/sbin/nginx" 0123456789abcdef [FN] */

static void
jpp_contract_print_mapping(const jpp_value_t *mapping, FILE *out)
{
    fprintf(out, "    %s", mapping[0].str);
}


/* 2: "foo::bar()" M=1 _ZN3foo3barEv */

static void
jpp_contract_print_function(const jpp_value_t *function, FILE *out)
{
    unsigned  field;

    fprintf(out, "    %llu: %s", function[JPP_ID].num, function[0].str);

    for (field = JPP_FUNCTION_SYSTEM_NAME; field <= JPP_FUNCTION_FILENAME;
         field++)
    {
        if (function[field].num != 0) {
            fprintf(out, " %s", function[field].str);
        }
    }
}


static void
jpp_contract_print(const jpp_contract_t *c, FILE *out)
{
    size_t        k;
    jpp_num_t     i;
    jpp_text_t   *strings;
    jpp_value_t  *profile, *type;

    static const struct {
        unsigned      field;
        const char   *title;
        void        (*print)(const jpp_value_t *message, FILE *out);
    } lists[] = {
        { JPP_PROFILE_SAMPLE, "samples", jpp_contract_print_sample },
        { JPP_PROFILE_LOCATION, "locations", jpp_contract_print_location },
        { JPP_PROFILE_MAPPING, "mappings", jpp_contract_print_mapping },
        { JPP_PROFILE_FUNCTION, "functions", jpp_contract_print_function }
    };

    profile = c->profile;
    strings = profile[JPP_PROFILE_STRING].items;

    fprintf(out, "types:");

    for (i = 0; i < profile[JPP_PROFILE_TYPE].num; i++) {
        type = jpp_contract_item(profile, JPP_PROFILE_TYPE, i);
        fprintf(out, " %s/%s", type[JPP_VALUE_TYPE_TYPE].str,
                type[JPP_VALUE_TYPE_UNIT].str);
    }

    fprintf(out, "\ndefault: %s\nperiod: %lld",
            profile[JPP_PROFILE_DEFAULT].str,
            (long long) profile[JPP_PROFILE_PERIOD].num);

    for (i = 0; i < profile[JPP_PROFILE_PERIOD_TYPE].num; i++) {
        type = jpp_contract_item(profile, JPP_PROFILE_PERIOD_TYPE, i);
        fprintf(out, " %s/%s", type[JPP_VALUE_TYPE_TYPE].str,
                type[JPP_VALUE_TYPE_UNIT].str);
    }

    fprintf(out, "\nduration: %lld\ntime: %lld\ncomments:\n",
            (long long) profile[JPP_PROFILE_DURATION].num,
            (long long) profile[JPP_PROFILE_TIME].num);

    for (i = 0; i < profile[JPP_PROFILE_COMMENT].num; i++) {
        fprintf(out, "    %s\n",
                strings[jpp_contract_num(profile, JPP_PROFILE_COMMENT,
                                         i)].data);
    }

    for (k = 0; k < jpp_nelts(lists); k++) {
        fprintf(out, "%s:\n", lists[k].title);

        for (i = 0; i < profile[lists[k].field].num; i++) {
            lists[k].print(jpp_contract_item(profile, lists[k].field, i), out);
            fprintf(out, "\n");
        }
    }
}


unsigned
jpp_contract_check(const uint8_t *data, size_t len, unsigned flags,
    FILE *complaints, FILE *print)
{
    jpp_contract_t  c = { 0 };

    c.complaints = complaints;
    c.flags = flags;

    jpp_contract_read(&c, data, len);

    if (c.n == 0) {

        jpp_contract_types(&c);
        jpp_contract_period(&c);
        jpp_contract_times(&c);
        jpp_contract_rule_all(&c);

        if (print != NULL) {
            jpp_contract_print(&c, print);
        }
    }

    jpp_contract_free(&c);

    return c.n;
}
