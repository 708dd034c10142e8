
/* Archives: what is written is read again, by tar(1) as well. */


#include "jpp_test_arena.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"

#include <sys/wait.h>


static jpp_arena_t  jpp_arena;


static jpp_vec_t *
jpp_tar_test_archive(void)
{
    jpp_vec_t   *out;
    jpp_sink_t   sink;

    static char     large[5000];
    static uint8_t  buffer[JPP_SINK_BUFFER];

    jpp_arena_fresh(&jpp_arena, JPP_TEST_CAP);

    out = jpp_vec_create(&jpp_arena);
    memset(large, 'x', sizeof(large));

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_sink_to_vec, out);
    jpp_tar_add(&sink, "a", 1000000000, "one", 3);
    jpp_tar_add(&sink, "b/empty", -5, "", 0);
    jpp_tar_add(&sink, "b/block", 1000000000, large, 512);
    jpp_tar_add(&sink, "large", 1000000000, large, sizeof(large));
    jpp_tar_end(&sink);
    (void) jpp_sink_flush(&sink);

    return out;
}


/* Name, length and time of each member; and the error. */

static void
jpp_tar_test_note(const uint8_t *data, size_t len)
{
    jpp_tar_t   tar;
    jpp_code_t  rc;

    jpp_tar_init(&tar, data, len);

    while ((rc = jpp_tar_next(&tar, &err)) == JPP_OK && tar.data != NULL) {
        jpp_note("%s: %zu, at %" PRId64, tar.name, tar.len, tar.time);
    }

    jpp_note("%s", rc == JPP_OK ? "the end" : err.text);
}


JPP_TEST(jpp_tar_test_members)
{
    FILE       *listing;
    char        line[256];
    size_t      i;
    jpp_vec_t  *out;

    out = jpp_tar_test_archive();
    jpp_tar_test_note(out->data, out->len);

    listing = fopen("build/t/jpp_tar_test.tar", "w");
    (void) fwrite(out->data, 1, out->len, listing);
    (void) fclose(listing);

    listing = popen("TZ=UTC tar -tvf build/t/jpp_tar_test.tar 2>&1", "r");

    for (i = 0; fgets(line, sizeof(line), listing) != NULL; i++) {
        line[strcspn(line, "\n")] = '\0';
        jpp_note("%s", line);
    }

    jpp_is_u64((uint64_t) pclose(listing), 0, "tar reads it");
    (void) unlink("build/t/jpp_tar_test.tar");

    jpp_shows_notes("an archive, by us and by tar");
}


JPP_TEST(jpp_tar_test_damaged)
{
    size_t      len, i, wrong;
    uint8_t     other[520];
    jpp_vec_t  *out;
    jpp_tar_t   tar;
    jpp_code_t  rc;

    out = jpp_tar_test_archive();

    for (len = 0, wrong = 0; len < out->len - 1024; len++) {
        jpp_tar_init(&tar, out->data, len);

        do {
            rc = jpp_tar_next(&tar, &err);
        } while (rc == JPP_OK && tar.data != NULL);

        wrong += rc != JPP_ERR_CUT;
    }

    jpp_is_u64(wrong, 0, "cut at any byte, it is cut");

    /* all but the last blank behind the sum */

    for (i = 0, wrong = 0; i < 265; i += i == 154 ? 2 : 1) {
        out->data[i] ^= 0x40;
        jpp_tar_init(&tar, out->data, out->len);
        wrong += jpp_tar_next(&tar, &err) != JPP_ERR_INPUT;
        out->data[i] ^= 0x40;
    }

    jpp_is_u64(wrong, 0, "another byte of a header is seen");

    memset(other, '.', sizeof(other));
    jpp_tar_test_note(other, sizeof(other));
    jpp_tar_test_note(out->data, 600);
    jpp_shows_notes("no archive, and half of one");
}
