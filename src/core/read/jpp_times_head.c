
#include <string.h>

#include "jpp_intern.h"
#include "jpp_scan.h"
#include "jpp_times_head.h"


/* of the copy of a label that has to end with a NUL */
#define JPP_TIMES_LABEL  256


typedef struct {
    const char                 *key;
    size_t                      offset;
} jpp_times_key_t;


static const jpp_times_key_t  jpp_times_keys[] = {
    { "frequency ",     offsetof(jpp_times_facts_t, frequency) },
    { "highest ",       offsetof(jpp_times_facts_t, highest) },
    { "duration ",      offsetof(jpp_times_facts_t, duration) },
    { "dropped ",       offsetof(jpp_times_facts_t, dropped) },
    { "dropped_nanos ", offsetof(jpp_times_facts_t, dropped_nanos) },
    { "idle ",          offsetof(jpp_times_facts_t, idle) },
    { "waits ",         offsetof(jpp_times_facts_t, waits) },
    { "threads ",       offsetof(jpp_times_facts_t, threads) },
    { "deaf ",          offsetof(jpp_times_facts_t, deaf) },
    { "beyond ",        offsetof(jpp_times_facts_t, beyond) }
};


/* The line at P, in TEXT: "key=value".  Returns where it ends, or NULL. */

static const char *
jpp_times_label(const char *p, const char *end, char text[JPP_TIMES_LABEL],
    jpp_label_t *label)
{
    char    *value;
    size_t   len;

    end = memchr(p, '\n', (size_t) (end - p));

    if (end == NULL || end - p >= JPP_TIMES_LABEL) {
        return NULL;
    }

    len = (size_t) (end - p);

    memcpy(text, p, len);
    text[len] = '\0';

    value = memchr(text, '=', len);

    if (value == NULL || value == text) {
        return NULL;
    }

    *value = '\0';

    memset(label, 0, sizeof(jpp_label_t));

    label->key = text;
    label->str = value + 1;

    return end + 1;
}


/* A set of N labels, besides those that all samples of the capture have. */

static const char *
jpp_times_labels(jpp_times_reading_t *reading, const char *p)
{
    char         texts[JPP_MAX_LABELS][JPP_TIMES_LABEL];
    uint32_t    *set;
    uint64_t     i, n;
    const char  *q, *end;
    jpp_label_t  labels[JPP_MAX_LABELS];

    end = reading->dump->end;
    q = jpp_scan_dec(p, &n);

    if (q == NULL || *q != '\n' || n > JPP_MAX_LABELS) {
        return jpp_times_error(reading, p, "not a number of labels");
    }

    if (jpp_vec_count(reading->sets, uint32_t) >= JPP_MAX_LABEL_SETS) {
        return jpp_times_error(reading, p, "too many sets of labels");
    }

    for (i = 0, p = q + 1; i < n; i++, p = q) {

        q = jpp_times_label(p, end, texts[i], &labels[i]);

        if (q == NULL) {
            return jpp_times_error(reading, p, "not a label");
        }
    }

    set = jpp_vec_push(reading->sets, sizeof(uint32_t));

    return set != NULL
           && jpp_profile_labels_more(reading->profile,
                                      reading->options->labels, labels, n,
                                      set)
           ? p : jpp_times_memory(reading);
}


static const char *
jpp_times_owner(jpp_times_reading_t *reading, const char *p)
{
    const char  *end;

    end = memchr(p, '\n', (size_t) (reading->dump->end - p));

    return jpp_owner_labels_add(&reading->owners, reading->profile->arena, p,
                                end)
           ? end + 1 : jpp_times_memory(reading);
}


static const char *
jpp_times_fact(jpp_times_reading_t *reading, const char *p)
{
    size_t       i, len;
    uint64_t     value;
    const char  *q, *end;

    value = 0;
    end = memchr(p, '\n', (size_t) (reading->dump->end - p));
    q = jpp_scan_text(p, end, "early ");

    if (q != NULL) {
        len = (size_t) (end - q);
        len = len < JPP_TIMES_TEXT - 1 ? len : JPP_TIMES_TEXT - 1;

        memcpy(reading->early, q, len);
        reading->early[len] = '\0';

        return end + 1;
    }

    for (i = 0; i < sizeof(jpp_times_keys) / sizeof(jpp_times_keys[0]); i++) {

        q = jpp_scan_text(p, end, jpp_times_keys[i].key);

        if (q == NULL) {
            continue;
        }

        if (jpp_scan_dec(q, &value) != end || value > INT64_MAX) {
            break;
        }

        memcpy((char *) &reading->facts + jpp_times_keys[i].offset, &value,
               sizeof(uint64_t));

        return end + 1;
    }

    return jpp_times_error(reading, p, "not a fact about the capture");
}


const char *
jpp_times_head(jpp_times_reading_t *reading, const char *p)
{
    const char  *q, *end;

    end = reading->dump->end;
    q = jpp_scan_text(p, end, reading->profile->types[JPP_TIMES_NANOS].type);

    if (q == NULL || *q != '\n') {
        return jpp_times_error(reading, p, "a capture of another kind of "
                               "time");
    }

    for (p = q + 1; p != NULL && p < end && *p != '@'; /* void */ ) {

        q = jpp_scan_text(p, end, "labels ");

        if (q != NULL) {
            p = jpp_times_labels(reading, q);
            continue;
        }

        q = jpp_scan_text(p, end, "owner ");

        p = q != NULL ? jpp_times_owner(reading, q)
                      : jpp_times_fact(reading, p);
    }

    return p;
}


const char *
jpp_times_error(jpp_times_reading_t *reading, const char *p,
    const char *sentence)
{
    (void) jpp_err_line(reading->err, JPP_ERR_INPUT,
                        jpp_dump_line(reading->dump, p), "%s", sentence);

    return NULL;
}


const char *
jpp_times_memory(jpp_times_reading_t *reading)
{
    (void) jpp_err_memory(reading->err);

    return NULL;
}
