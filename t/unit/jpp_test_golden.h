
/*
 * Texts to the letter: golden files in t/data/answers.
 */


#ifndef _JPP_TEST_GOLDEN_H_INCLUDED_
#define _JPP_TEST_GOLDEN_H_INCLUDED_


#include "jpp_test.h"


/* bytes of the longest file */
#define JPP_GOLDEN_MAX  (256 * 1024)


/*
 * Is TEXT what the file NAME has?  With JPP_UPDATE in the environment it is
 * written there.
 */
static inline bool
jpp_is_golden(const char *text, const char *name)
{
    bool     held;
    char     path[128];
    FILE    *f;
    size_t   i, n, line;

    static char  golden[JPP_GOLDEN_MAX];

    (void) snprintf(path, sizeof(path), "t/data/answers/%s", name);

    if (getenv("JPP_UPDATE") != NULL && (f = fopen(path, "w")) != NULL) {
        fputs(text, f);
        fclose(f);
    }

    n = 0;
    f = fopen(path, "r");

    if (f != NULL) {
        n = fread(golden, 1, sizeof(golden) - 1, f);
        fclose(f);
    }

    golden[n] = '\0';
    held = jpp_ok(strcmp(text, golden) == 0,
                  "%s is as it was (JPP_UPDATE=1 writes it anew)", name);

    if (!held) {
        for (i = 0, line = 1; text[i] != '\0' && text[i] == golden[i]; i++) {
            line += text[i] == '\n';
        }

        jpp_diag("line %zu: got %.60s", line, text + i);
        jpp_diag("expected %.60s", golden + i);
    }

    return held;
}


#endif /* _JPP_TEST_GOLDEN_H_INCLUDED_ */
