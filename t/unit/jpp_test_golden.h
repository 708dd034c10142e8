
/*
 * Texts to the letter: golden files in t/data/answers, a file for a text, or
 * one for a unit.  With JPP_UPDATE in the environment they are written anew.
 */


#ifndef _JPP_TEST_GOLDEN_H_INCLUDED_
#define _JPP_TEST_GOLDEN_H_INCLUDED_


#include "jpp_test.h"


/* bytes of the longest file */
#define JPP_GOLDEN_MAX  (256 * 1024)


/*
 * Is TEXT what the golden file of this unit, jpp_x_test.txt, has next?  The
 * rest is its caption, for printf(), below which it stands there:
 *
 *     == caption
 *     text
 */
#define jpp_shows(text, ...)                                                  \
    jpp_golden_shows((text), __FILE__, __LINE__, __VA_ARGS__)

/* The same of the lines that jpp_note() has noted since the last time. */
#define jpp_shows_notes(...)                                                  \
    jpp_golden_shows(jpp_notes(), __FILE__, __LINE__, __VA_ARGS__)


/*
 * Notes WHAT, and up to 16 fields of S with their names:
 *
 *     jpp_note_of("its own limit", *cgroup, usage, levels[0].limit);
 *
 * A number is signed there: none (UINT64_MAX) is -1.
 */
#define jpp_note_of(what, s, ...)                                             \
    do {                                                                      \
        jpp_note_add(what);                                                   \
        JPP_SCANS(JPP_FIELD(": ", s, __VA_ARGS__))                            \
        jpp_note_end();                                                       \
    } while (0)

/* the first of the fields, and by the next scan of the macros those behind */
#define JPP_FIELD(before, s, f, ...)                                          \
    jpp_note_add(before);                                                     \
    _Generic((s).f, char *: jpp_note_text, const char *: jpp_note_text,       \
             default: jpp_note_number)(#f, (s).f);                            \
    __VA_OPT__(JPP_FIELDS_BEHIND JPP_LATER () (", ", s, __VA_ARGS__))
#define JPP_FIELDS_BEHIND()  JPP_FIELD
#define JPP_LATER
#define JPP_SCANS(...)  JPP_SCAN(JPP_SCAN(JPP_SCAN(JPP_SCAN(__VA_ARGS__))))
#define JPP_SCAN(...)   JPP_AGAIN(JPP_AGAIN(JPP_AGAIN(__VA_ARGS__)))
#define JPP_AGAIN(...)  __VA_ARGS__


static char    jpp_noted[JPP_GOLDEN_MAX];
static size_t  jpp_noted_len;


/* The file NAME in GOLDEN, first written as TEXT, by MODE, if that is asked. */
static inline void
jpp_golden_read(const char *name, const char *text, const char *mode,
    char golden[JPP_GOLDEN_MAX])
{
    char     path[128];
    FILE    *f;
    size_t   n;

    jpp_print(path, "t/data/answers/%s", name);

    if (getenv("JPP_UPDATE") != NULL && (f = fopen(path, mode)) != NULL) {
        fputs(text, f);
        fclose(f);
    }

    n = 0;
    f = fopen(path, "r");

    if (f != NULL) {
        n = fread(golden, 1, JPP_GOLDEN_MAX - 1, f);
        fclose(f);
    }

    golden[n] = '\0';
}


static inline void
jpp_golden_differs(const char *text, const char *golden)
{
    size_t  i, line;

    for (i = 0, line = 1; text[i] != '\0' && text[i] == golden[i]; i++) {
        line += text[i] == '\n';
    }

    jpp_diag("line %zu: got %.60s", line, text + i);
    jpp_diag("expected %.60s", golden + i);
}


/* Is TEXT what the file NAME has? */
static inline bool
jpp_is_golden(const char *text, const char *name)
{
    bool  held;

    static char  golden[JPP_GOLDEN_MAX];

    jpp_golden_read(name, text, "w", golden);
    held = jpp_ok(strcmp(text, golden) == 0,
                  "%s is as it was (JPP_UPDATE=1 writes it anew)", name);

    if (!held) {
        jpp_golden_differs(text, golden);
    }

    return held;
}


static inline bool __attribute__((format(printf, 4, 5)))
jpp_golden_shows(const char *text, const char *file, int line,
    const char *fmt, ...)
{
    int       n;
    bool      held;
    char      name[64];
    size_t    at, len;
    va_list   args;

    static char    golden[JPP_GOLDEN_MAX], section[2 * JPP_GOLDEN_MAX];
    static size_t  next;           /* what was read ends there */

    n = snprintf(section, sizeof(section), "== ");
    va_start(args, fmt);
    n += vsnprintf(section + n, 1024, fmt, args);
    va_end(args);
    (void) snprintf(section + n, sizeof(section) - (size_t) n, "\n%s\n",
                    text != NULL ? text : "(null)");

    file = strrchr(file, '/') + 1;
    jpp_print(name, "%.*s.txt", (int) strcspn(file, "."), file);
    jpp_golden_read(name, section, next == 0 ? "w" : "a", golden);

    at = next;
    len = strlen(section);
    held = strlen(golden) >= at && strncmp(golden + at, section, len) == 0
           && (golden[at + len] == '\0'
               || strncmp(golden + at + len, "== ", 3) == 0);

    /* the sections behind one that differs are compared, too */

    file = strstr(golden + at, "\n== ");
    next = held ? at + len
                : file != NULL ? (size_t) (file + 1 - golden) : strlen(golden);

    jpp_test_check(held, name, line, "%.*s (JPP_UPDATE=1 writes it anew)",
                   n - 3, section + 3);

    if (!held) {
        jpp_golden_differs(section, golden + at);
    }

    return held;
}


/* All lines, which are forgotten. */
static inline const char *
jpp_notes(void)
{
    jpp_noted[jpp_noted_len] = '\0';
    jpp_noted_len = 0;

    return jpp_noted;
}


/* Adds to the last line: what is not printable is "\x0a". */
static inline void
jpp_note_add(const char *text)
{
    bool  is_printable;

    for ( /* void */ ; *text != '\0' && jpp_noted_len < JPP_GOLDEN_MAX - 8;
         text++)
    {
        is_printable = *text >= 0x20 && *text < 0x7f;
        jpp_noted_len += (size_t) sprintf(jpp_noted + jpp_noted_len,
                                          is_printable ? "%c" : "\\x%02x",
                                          (uint8_t) *text);
    }
}


static inline void
jpp_note_end(void)
{
    jpp_noted[jpp_noted_len++] = '\n';
}


static inline void __attribute__((format(printf, 1, 2)))
jpp_note(const char *fmt, ...)
{
    char     line[8192];
    va_list  args;

    va_start(args, fmt);
    (void) vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);

    jpp_note_add(line);
    jpp_note_end();
}


/* Lines of TEXT, as lines. */
static inline void
jpp_note_lines(const char *text)
{
    int  len;

    for ( /* void */ ; *text != '\0'; text += len + (text[len] == '\n')) {
        len = (int) strcspn(text, "\n");
        jpp_note("    %.*s", len, text);
    }
}


/* Fields of jpp_note_of(). */
static inline void
jpp_note_text(const char *name, const char *text)
{
    jpp_note_add(name);
    jpp_note_add(" \"");
    jpp_note_add(text != NULL ? text : "(null)");
    jpp_note_add("\"");
}


static inline void
jpp_note_number(const char *name, int64_t number)
{
    char  text[32];

    jpp_note_add(name);
    jpp_print(text, " %" PRId64, number);
    jpp_note_add(text);
}


#endif /* _JPP_TEST_GOLDEN_H_INCLUDED_ */
