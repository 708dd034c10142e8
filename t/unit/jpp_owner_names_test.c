
/* The names of owners: each once, clean, and no more than there is room for. */


#include "jpp_test_main.h"
#include "jpp_owner_names.h"
#include "jpp_test_golden.h"


static uint32_t
jpp_name(const char *server, const char *location)
{
    jpp_owner_raw_t  raw[JPP_ROOTS] = {
        { server, strlen(server) }, { location, strlen(location) }, { "", 0 }
    };

    return jpp_owner_name(raw);
}


static void
jpp_note_name(uint32_t owner, const char *what)
{
    jpp_note_of(what, jpp_owner_names(owner), names[JPP_ROOT_SERVER],
                names[JPP_ROOT_LOCATION], names[JPP_ROOT_UPSTREAM]);
}


JPP_TEST(jpp_owner_names_test_names)
{
    int              fds[2];
    FILE            *dump;
    char             name[300] = { 0 }, text[JPP_OWNER_NAME];
    uint32_t         i, a, b;
    jpp_err_t        err = { 0 };
    jpp_owner_raw_t  raw[JPP_ROOTS] = {
        { "one", 3 }, { "/a", 2 }, { "back", 4 }
    };

    jpp_ok(jpp_owner_names_count() == 0
           && jpp_owner_append(-1, &err) == JPP_OK, "no names");

    a = jpp_name("one", "/a");
    b = jpp_name("one", "/b");

    jpp_ok(a >= JPP_OWNERS_FIXED && b == a + 1, "two owners");
    jpp_is_u64(jpp_name("one", "/a"), a, "the same");
    jpp_ok(jpp_name("/a", "one") != a, "the reverse");

    i = jpp_owner_name(raw);
    jpp_ok(i != a, "an upstream makes another");

    jpp_owner_place(a, (jpp_owner_raw_t) { "a\tb.conf", 8 }, 41);
    jpp_note_name(a, "one");
    jpp_note_name(b, "another");
    jpp_note_name(i, "one with an upstream");
    jpp_note_name(JPP_OWNER_LOOP, "nobody");
    jpp_note_name(5000, "no number");
    jpp_note_name(jpp_owner_names_count(), "the next one");
    jpp_note_name(jpp_name("a\tb\nc", "\x7f\x01"), "control bytes");
    jpp_shows_notes("names of owners");

    jpp_ok(pipe(fds) == 0 && jpp_owner_append(fds[1], &err) == JPP_ERR_SYS
           && strcmp(err.text, "cannot write the owners of the dump: Illegal "
                               "seek") == 0,
           "no dump: %s", err.text);
    close(fds[0]);
    close(fds[1]);

    dump = tmpfile();
    jpp_ok(pwrite(fileno(dump), "a dump\n", 7, 0) == 7
           && jpp_owner_append(fileno(dump), &err) == JPP_OK
           && pread(fileno(dump), name, sizeof(name) - 1, 0) > 0,
           "a dump that jemalloc has written through another descriptor");
    jpp_shows(name, "has the owners behind it");
    fclose(dump);

    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    i = jpp_name(name, "");
    jpp_is_u64(strlen(jpp_owner_names(i).names[JPP_ROOT_SERVER]),
               JPP_OWNER_NAME - 1, "a name that is too long");
    jpp_is_u64(jpp_name(name, ""), i, "is the same again");

    /* no part of an escape, or of a character, is left at the end */

    memset(name, '\x01', sizeof(name));
    jpp_is_u64(jpp_owner_text(text, name, sizeof(name)), 252, "escapes");
    jpp_is_str(text + 244, "\\x01\\x01", "that are whole");

    for (i = 0; i < sizeof(name) - 2; i += 2) {
        memcpy(name + i, "\xc3\xa9", 2);
    }

    jpp_is_u64(jpp_owner_text(text, name, sizeof(name)), 254, "characters");
}


JPP_TEST(jpp_owner_names_test_bound)
{
    char      name[32];
    uint32_t  i, n, first;

    first = jpp_name("many", "/0");

    for (i = 0, n = 0; i < 10000; i++) {
        jpp_print(name, "/%u", i);
        n += jpp_name("many", name) == JPP_OWNER_OTHERS;
    }

    jpp_is_u64(jpp_owner_names_count(), JPP_OWNER_NAMES, "as many as fit in");
    jpp_ok(n > 8000, "%u are other ones", n);
    jpp_is_u64(jpp_name("many", "/0"), first, "what has a number keeps it");
}
