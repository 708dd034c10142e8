
#include "jpp_test_main.h"
#include "jpp_test_golden.h"
#include "jpp_utf8.h"


/*
 * Nothing; ASCII; a backslash is no escape, but where it looks like one, and
 * not before the end; controls; characters of two to four bytes; the least and
 * the most of a last byte; no character, half of one, two thirds; too long, a
 * surrogate, past the last; controls of C1; what turns the direction, what
 * cannot be seen, ends of lines, tags.
 */
static const char  *cases[] = {
    "", "www.example.com", "~\\.php$ \"x\"", "\\xff \\", "\\",
    "a\n\x1b[31m\x7f", "\xd0\xbf\xd1\x80.\xe2\x82\xac \xf0\x9f\x8c\x8d",
    "\xe2\x80\x80\xe2\x80\xbf", "\xff\xfe", "\xc3", "\xe2\x82(",
    "\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80", "\xc2\x85\xc2\x9b",
    "a\xe2\x80\xaez\xe2\x81\xa6", "\xe2\x80\x8b\xef\xbb\xbf\xc2\xad",
    "\xe2\x80\xa8|\xf3\xa0\x81\x81"
};


/* names in few columns */
static const struct {
    const char  *from;
    size_t       max;
} shorts[] = {
    { "", 4 }, { "abcdefgh", 8 }, { "abcdefghi", 8 }, { "abcdefghi", 4 },
    { "a\nb", 6 }, { "\\x0abc", 6 },
    { "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 5 },
    { "\xf0\x9f\x98\x80z", 3 }, { "\xc3\xa4\xc3\xb6", 1 }
};


JPP_TEST(jpp_utf8_test)
{
    char      text[256];
    size_t    i, n, len, n_wrong;
    uint8_t   bytes[4];
    uint32_t  code;

    for (i = 0; i < jpp_nelts(cases); i++) {
        n = strlen(cases[i]);
        len = jpp_utf8_escape(text, cases[i], n);
        text[len] = '\0';

        jpp_note("%s, %zu bytes, is %s, %zu bytes", cases[i], n, text, len);
        jpp_ok(len <= JPP_UTF8_ESCAPED(n), "within its bound");
    }

    len = jpp_utf8_escape(text, "a\0b\\x", 4);
    jpp_is_mem(text, "a\\x00b\\", 7, "a NUL, and not beyond the end");
    jpp_is_u64(len, 7, "of which nothing follows");
    jpp_shows_notes("names escaped");

    for (i = 0; i < jpp_nelts(shorts); i++) {
        n = strlen(shorts[i].from);

        jpp_note("%s has %zu columns, of which %zu hold %zu bytes",
                 shorts[i].from, jpp_utf8_width(shorts[i].from, n),
                 shorts[i].max,
                 jpp_utf8_fits(shorts[i].from, n, shorts[i].max));

        if (shorts[i].max < 4) {
            continue;
        }

        len = jpp_utf8_short(text, shorts[i].from, n, shorts[i].max);
        jpp_note("    bytes: %zu, \"%.*s\"", len, (int) len, text);
        len = jpp_utf8_shorter(text, shorts[i].from, n, shorts[i].max);
        jpp_note("    text: %zu, \"%.*s\"", len, (int) len, text);
    }

    jpp_shows_notes("names in few columns");

    /* whatever the bytes are */

    for (code = 0, n_wrong = 0; code < 1 << 20; code++) {
        bytes[0] = (uint8_t) (0xc0 + (code >> 14));
        bytes[1] = (uint8_t) (code >> 6);
        bytes[2] = (uint8_t) (0x80 + (code & 63));
        bytes[3] = (uint8_t) (code & 255);

        len = jpp_utf8_escape(text, (char *) bytes, 4);

        for (i = 0; i < len; i += n) {
            n = jpp_utf8_len((uint8_t *) text + i, len - i);

            if (n == 0) {
                n_wrong++;
                break;
            }
        }

        n_wrong += len > JPP_UTF8_ESCAPED(4);
    }

    jpp_is_u64(n_wrong, 0, "what was escaped is text");
}
