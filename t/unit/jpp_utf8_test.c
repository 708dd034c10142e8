
#include "jpp_test_main.h"
#include "jpp_utf8.h"


typedef struct {
    const char   *from;
    size_t        len;
    const char   *to;
    const char   *what;
} jpp_utf8_case_t;


#define JPP_CASE(from, to, what)  { from, sizeof(from) - 1, to, what }


static const jpp_utf8_case_t  cases[] = {
    JPP_CASE("", "", "nothing"),
    JPP_CASE("www.example.com", "www.example.com", "ASCII"),
    JPP_CASE("~\\.php$ \"x\"", "~\\.php$ \"x\"", "a backslash is no escape"),
    JPP_CASE("\\xff \\", "\\x5cxff \\", "but where it looks like one"),
    { "\\x", 1, "\\", "and not before the end" },
    JPP_CASE("a\0b\n\x1b[31m\x7f", "a\\x00b\\x0a\\x1b[31m\\x7f", "controls"),
    JPP_CASE("\xd0\xbf\xd1\x80.\xe2\x82\xac \xf0\x9f\x8c\x8d",
             "\xd0\xbf\xd1\x80.\xe2\x82\xac \xf0\x9f\x8c\x8d",
             "characters of two, three and four bytes"),
    JPP_CASE("\xe2\x80\x80\xe2\x80\xbf", "\xe2\x80\x80\xe2\x80\xbf",
             "the least and the most of a last byte"),
    JPP_CASE("\xff\xfe", "\\xff\\xfe", "bytes of no character"),
    JPP_CASE("\xc3", "\\xc3", "the first half of one"),
    JPP_CASE("\xe2\x82(", "\\xe2\\x82(", "two thirds of one"),
    JPP_CASE("\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80",
             "\\xc0\\x80\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80",
             "too long, a surrogate, past the last"),
    JPP_CASE("\xc2\x85\xc2\x9b", "\\xc2\\x85\\xc2\\x9b", "controls of C1"),
    JPP_CASE("a\xe2\x80\xae" "b\xe2\x81\xa6",
             "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6",
             "what turns the direction"),
    JPP_CASE("\xe2\x80\x8b\xef\xbb\xbf\xc2\xad",
             "\\xe2\\x80\\x8b\\xef\\xbb\\xbf\\xc2\\xad",
             "what cannot be seen"),
    JPP_CASE("\xe2\x80\xa8|\xf3\xa0\x81\x81",
             "\\xe2\\x80\\xa8|\\xf3\\xa0\\x81\\x81", "ends of lines, tags")
};


/* names in few columns: raw ones, and text */
static const struct {
    const char   *from;
    size_t        max;
    const char   *raw;
    const char   *text;
    size_t        width;           /* of the text */
    size_t        fits;            /* bytes of it that MAX columns hold */
} shorts[] = {
    { "", 4, "", "", 0, 0 },
    { "abcdefgh", 8, "abcdefgh", "abcdefgh", 8, 8 },
    { "abcdefghi", 8, "ab...ghi", "ab...ghi", 9, 8 },
    { "abcdefghi", 4, "...i", "...i", 9, 4 },
    { "a\nb", 6, "a\\x0ab", "a\\x0ab", 6, 3 },
    { "\\x0abc", 6, "...abc", "\\x0abc", 6, 6 },
    { "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 5, "...\xe6\xbc\xa2",
      "...\xe6\xbc\xa2", 6, 6 },
    { "\xf0\x9f\x98\x80z", 3, NULL, NULL, 3, 5 },
    { "\xc3\xa4\xc3\xb6", 1, NULL, NULL, 2, 2 }
};


JPP_TEST(jpp_utf8_test)
{
    char      text[256];
    size_t    i, n, len, n_wrong;
    uint8_t   bytes[4];
    uint32_t  code;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        len = jpp_utf8_escape(text, cases[i].from, cases[i].len);
        text[len] = '\0';

        jpp_is_str(text, cases[i].to, "%s", cases[i].what);
        jpp_ok(len <= JPP_UTF8_ESCAPED(cases[i].len), "within its bound");
    }

    for (i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++) {
        n = strlen(shorts[i].from);

        jpp_is_u64(jpp_utf8_width(shorts[i].from, n), shorts[i].width,
                   "short %zu: its width", i);
        jpp_is_u64(jpp_utf8_fits(shorts[i].from, n, shorts[i].max),
                   shorts[i].fits, "and what fits");

        if (shorts[i].raw == NULL) {
            continue;
        }

        len = jpp_utf8_short(text, shorts[i].from, n, shorts[i].max);
        text[len] = '\0';
        jpp_is_str(text, shorts[i].raw, "bytes");

        len = jpp_utf8_shorter(text, shorts[i].from, n, shorts[i].max);
        text[len] = '\0';
        jpp_is_str(text, shorts[i].text, "text");
    }

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
