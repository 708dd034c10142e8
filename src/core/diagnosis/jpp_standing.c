
#include <string.h>

#include "jpp_standing.h"


size_t
jpp_standing_update(jpp_standing_t standing[JPP_FINDINGS],
    jpp_finding_t findings[JPP_FINDINGS], size_t n, int64_t now)
{
    size_t           i, n_said;
    jpp_standing_t  *s;

    for (i = 0; i < JPP_FINDINGS; i++) {
        s = &standing[i];
        s->holds = 0;

        /* the clock may have been set back */

        s->since = s->since < now ? s->since : now;
        s->seen = s->seen < now ? s->seen : now;
        s->said = s->said < now ? s->said : now;
    }

    for (i = 0, n_said = 0; i < n; i++) {
        s = &standing[findings[i].number];
        s->holds = 1;

        memcpy(s->because, findings[i].because, sizeof(s->because));

        if (s->since == 0) {
            s->since = now;

            if (s->said == 0 || now - s->said >= JPP_STANDING_REPEAT) {
                s->said = now;
                findings[n_said++] = findings[i];
            }
        }

        s->seen = now;
    }

    for (i = 0; i < JPP_FINDINGS; i++) {
        s = &standing[i];

        if (s->since != 0 && now - s->seen >= JPP_STANDING_OVER) {
            s->since = 0;
        }
    }

    return n_said;
}


uint32_t
jpp_standing_bits(const jpp_standing_t standing[JPP_FINDINGS])
{
    uint32_t  bits;
    unsigned  i;

    for (i = 0, bits = 0; i < JPP_FINDINGS; i++) {
        bits |= (uint32_t) standing[i].holds << i;
    }

    return bits;
}


size_t
jpp_standing_findings(const jpp_standing_t standing[JPP_FINDINGS],
    jpp_finding_t findings[JPP_FINDINGS])
{
    size_t    n;
    unsigned  i;

    for (i = 0, n = 0; i < JPP_FINDINGS; i++) {

        if (standing[i].since != 0) {
            jpp_finding_of(i, &findings[n]);
            memcpy(findings[n].because, standing[i].because,
                   sizeof(findings[n].because));

            /* whoever wrote it may have been killed meanwhile */

            findings[n++].because[sizeof(findings[0].because) - 1] = '\0';
        }
    }

    return n;
}
