
/*
 * What damage at each byte of a text does to what is made of it: the golden
 * file has each line of the text, and below it, for each kind of damage, a sign
 * for each byte.  $ is a line's end.
 */


#include "jpp_test_main.h"
#include "jpp_test_dump.h"
#include "jpp_test_golden.h"
#include "jpp_test_lines.h"


/* signs: a report that is the same, or is another; the rest are sentences */
#define JPP_SIGNS  "._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

#define JPP_MAX    4096


typedef struct {
    const char           *name;
    const jpp_parser_t   *parser;  /* NULL: mappings of the kernel */
    const char           *args;
    const char           *text;
} jpp_damaged_t;


typedef enum {
    JPP_CUT = 0,                   /* here, and all that follows */
    JPP_GONE,
    JPP_LETTER,
    JPP_DIGIT,
    JPP_TWICE,
    JPP_DAMAGES
} jpp_damage_t;


static const jpp_damaged_t  jpp_damaged[] = {

    { "a heap with owners", &jpp_parser_heap, "format=folded&by=location",
      "heap_v2/1\n"
      "  t*: 1: 4 [2: 9]\n"
      "  t0: 1: 4 [2: 9] owner\tone\t/a\tback\n"
      "@ 0x400201 0x7f0000000301\n"
      "  t*: 1: 4 [2: 9]\n"
      "  t0: 1: 4 [2: 9]\n"
      "\n"
      "MAPPED_LIBRARIES:\n"
      "00400000-00500000 r-xp 00000000 08:01 11   /usr/sbin/prog\n"
      "7f0000000000-7f0000100000 r-xp 00002000 08:01 12 /lib/libc.so\n" },

    { "one of jemalloc", &jpp_parser_heap, "format=folded&by=location",
      "heap_v2/1\n"
      "  t*: 2: 8 [0: 0]\n"
      "  t4: 2: 8 [0: 0]\n"
      "@ 0x400201 0x400301 0x2001\n"
      "  t*: 1: 4 [0: 0]\n"
      "  t4: 1: 4 [0: 0]\n"
      "@ 0x400201 0x400401\n"
      "  t*: 1: 4 [0: 0]\n"
      "  t4: 1: 4 [0: 0]\n"
      "\n"
      "MAPPED_LIBRARIES:\n"
      "00400000-00500000 r-xp 00000000 08:01 11   /usr/sbin/prog\n"
      "OWNERS:\n"
      "(unknown)\t(unknown)\n"
      "one\t/a\n" },

    { "CPU time", &jpp_parser_cpu, "format=top&cols=80",
      "jpp_times/1 cpu\n"
      "frequency 100\n"
      "highest 100\n"
      "duration 3000000000\n"
      "early it ends\n"
      "threads 2\n"
      "labels 1\nthread=main\n"
      "owner one\t/a\n"
      "@ 0.0 3 30000000 0x401000 0x402000\n"
      "@ 0 1 10000000 0x105\n"
      "MAPPED_LIBRARIES:\n"
      "00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/prog\n" },

    { "smaps", NULL, NULL,
      "7f0000000000-7f0000200000 rw-p 00000000 00:00 0 \n"
      "Rss:                 100 kB\n"
      "Pss:                  70 kB\n"
      "Private_Clean:         8 kB\n"
      "VmFlags: rd wr nr \n"
      "7f0000200000-7f0000300000 r-xs 00000000 08:01 17     /lib/libc.so\n"
      "Rss:                  12 kB\n"
      "Pss:                   4 kB\n" }
};


static size_t  n_profiles, n_wrong;


static void
jpp_damaged_smaps(const char *data, size_t len, char report[JPP_MAX])
{
    size_t              n;
    jpp_smaps_t         mapping;
    jpp_smaps_parser_t  parser;

    jpp_smaps_text(&parser, data, len);
    n = (size_t) sprintf(report, "ok\n");

    while (jpp_smaps_next(&parser, &mapping)) {
        n += (size_t) sprintf(report + n, "%" PRIx64 "-%" PRIx64 " %d%d%d%d %"
                              PRIu64 " %s: %" PRIu64 ", %" PRIu64 ", %" PRIu64
                              "\n", mapping.start, mapping.end,
                              mapping.is_readable, mapping.is_executable,
                              mapping.is_shared, mapping.is_unreserved,
                              mapping.inode, mapping.name, mapping.rss,
                              mapping.pss, mapping.private_clean);
    }

    jpp_lines_close(&parser.lines);

    if (parser.n_bad != 0) {
        (void) sprintf(report, "%" PRIu64 " could not be read", parser.n_bad);
    }
}


/* Does it keep the contract, but for mappings that were damaged? */

static void
jpp_damaged_profile(const jpp_vec_t *profile)
{
    char    *text;
    FILE    *complaints;
    size_t   len;

    complaints = open_memstream(&text, &len);
    n_wrong += jpp_contract_check(profile->data, profile->len,
                                  JPP_CONTRACT_HEAP, complaints, NULL) != 0
               && fflush(complaints) == 0
               && strstr(text, "is not on a page") == NULL;
    n_profiles++;

    fclose(complaints);
    free(text);
}


/* The report of the LEN bytes at DATA, or why there is none. */

static void
jpp_damaged_report(const jpp_damaged_t *text, const char *data, size_t len,
    char report[JPP_MAX])
{
    jpp_vec_t             *out;
    jpp_code_t             rc;
    jpp_capture_t          capture;
    jpp_report_options_t   options;

    if (text->parser == NULL) {
        jpp_damaged_smaps(data, len, report);
        return;
    }

    (void) jpp_test_query(&options, text->parser, text->args);
    capture = jpp_test_capture(data, len);

    jpp_test_anew();
    rc = jpp_test_report_into(&out, &capture, 1, &options);

    if (rc == JPP_OK) {
        (void) snprintf(report, JPP_MAX, "ok\n%.*s", (int) out->len,
                        (const char *) out->data);

        if (text->parser == &jpp_parser_heap) {
            options = jpp_test_options("symbolize=0");
            (void) jpp_test_report_into(&out, &capture, 1, &options);
            jpp_damaged_profile(out);
        }

    } else {
        (void) snprintf(report, JPP_MAX, "%d, line %" PRIu64 ": %s", (int) rc,
                        err.line, err.text);
    }
}


/* Its length; what it was becomes DAMAGED. */

static size_t
jpp_damage(const char *text, size_t i, jpp_damage_t damage,
    char damaged[JPP_MAX])
{
    size_t  len;

    len = strlen(text);
    memcpy(damaged, text, len + 1);

    switch (damage) {

    case JPP_CUT:
        len = i;
        break;

    case JPP_GONE:
        memmove(damaged + i, damaged + i + 1, len - i);
        len--;
        break;

    case JPP_TWICE:
        memmove(damaged + i + 1, damaged + i, len - i + 1);
        len++;
        break;

    case JPP_LETTER:
    case JPP_DIGIT:
    case JPP_DAMAGES:
        damaged[i] = damage == JPP_LETTER ? 'x' : '8';
        break;
    }

    damaged[len] = '\0';

    return len;
}


/* The sign of REPORT in the N of REPORTS, to which a new one is added. */

static char
jpp_damaged_sign(char (*reports)[JPP_MAX], size_t *n, const char *report)
{
    size_t  i;

    if (strncmp(report, "ok\n", 3) == 0) {
        return JPP_SIGNS[strcmp(report, reports[0]) != 0];
    }

    for (i = 2; i < *n && strcmp(reports[i], report) != 0; i++) { /* void */ }

    if (i == *n && i < sizeof(JPP_SIGNS) - 2) {
        strcpy(reports[(*n)++], report);
    }

    return JPP_SIGNS[i];
}


static void
jpp_damaged_all(const jpp_damaged_t *text, FILE *out)
{
    char           damaged[JPP_MAX], report[JPP_MAX];
    size_t         i, n, len;
    const char    *line, *next;
    jpp_damage_t   damage;

    static char  reports[sizeof(JPP_SIGNS)][JPP_MAX];

    jpp_damaged_report(text, text->text, strlen(text->text), reports[0]);
    fprintf(out, "%s: %s\n", text->name, reports[0]);

    for (n = 2, line = text->text; *line != '\0'; line = next) {

        next = strchr(line, '\n') + 1;

        for (i = 0; line + i < next - 1; i++) {
            fputc(line[i] == '\t' ? ' ' : line[i], out);
        }

        fputs("$\n", out);

        for (damage = JPP_CUT; damage < JPP_DAMAGES; damage++) {
            for (i = (size_t) (line - text->text);
                 i < (size_t) (next - text->text);
                 i++)
            {
                len = jpp_damage(text->text, i, damage, damaged);
                jpp_damaged_report(text, damaged, len, report);
                fputc(jpp_damaged_sign(reports, &n, report), out);
            }

            fputc('\n', out);
        }
    }

    for (i = 2; i < n; i++) {
        fprintf(out, "%c: %s.\n", JPP_SIGNS[i], reports[i]);
    }
}


JPP_TEST(jpp_damaged_test)
{
    size_t  i;
    FILE   *out;

    static char  text[JPP_GOLDEN_MAX];

    out = fmemopen(text, sizeof(text), "w");

    for (i = 0; i < sizeof(jpp_damaged) / sizeof(jpp_damaged[0]); i++) {
        jpp_damaged_all(&jpp_damaged[i], out);
    }

    fclose(out);
    jpp_is_golden(text, "damaged.txt");
    jpp_is_u64(n_wrong, 0, "%zu profiles keep the contract", n_profiles);
}
