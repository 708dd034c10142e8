
#include "jpp_ages.h"


/* The third line behind the stack, which may be of another, or of none. */

uint64_t
jpp_ages_read(const char *p, const char *end)
{
    int       i;
    uint64_t  number = 0;

    for (i = 0; i < 3 && p != NULL; i++) {
        p = memchr(p, '\n', (size_t) (end - p));
        p = p != NULL ? p + 1 : NULL;
    }

    return p != NULL && jpp_scan_numbers(p, "  td", &number) != NULL
           && number < JPP_AGES + JPP_AGE_POWERS * JPP_AGE_QUARTERS
           ? number : 0;
}


bool
jpp_ages_label(jpp_profile_t *profile, uint32_t from, uint64_t number,
    uint32_t *set)
{
    uint32_t     age;
    jpp_label_t  labels[2] = { { 0 } };

    *set = from;

    if (number < JPP_AGES) {
        return true;
    }

    age = (uint32_t) number - JPP_AGES;

    labels[0].key = JPP_AGE_KEY;
    labels[0].num = (int64_t) 1 << age % JPP_AGE_POWERS * 2;
    labels[0].unit = "seconds";
    labels[1].key = JPP_QUARTER_KEY;
    labels[1].num = age / JPP_AGE_POWERS + 1;

    return jpp_profile_labels(profile, from, 0, labels, 2, set);
}
