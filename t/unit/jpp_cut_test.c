
#include "jpp_test_main.h"
#include "jpp_cut.h"
#include "jpp_test_dump.h"


JPP_TEST(jpp_cut_test_names)
{
    unsigned  cut;

    static const char *const  names[] = {
        "[cut: JIT code]", "[cut: no call-frame information]",
        "[cut: unknown call-frame information]", "[cut: outside the stack]",
        "[cut: the thread takes no signal]",
        "[cut: the thread did not answer in time]"
    };

    for (cut = 0; cut < JPP_CUTS; cut++) {
        jpp_is_u64(jpp_cut_frame((jpp_cut_t) cut), 0x101 + cut,
                   "the frame of %s, which dumps have for ever", names[cut]);
        jpp_is_str(jpp_cut_name(0x101 + cut), names[cut], "its name");
    }

    jpp_ok(jpp_cut_name(0) == NULL, "0 is none");
    jpp_ok(jpp_cut_name(0x100) == NULL, "nor is what is below");
    jpp_ok(jpp_cut_name(0x101 + JPP_CUTS) == NULL, "and above");
    jpp_ok(jpp_cut_name(UINT64_MAX) == NULL, "and far above");
}


/* A stack with its reason behind it, read by every format and back again. */

JPP_TEST(jpp_cut_test_formats)
{
    size_t                 i;
    jpp_vec_t             *out;
    jpp_code_t             rc;
    jpp_capture_t          capture;
    jpp_report_options_t   options;

    static const char  dump[] =
        JPP_TEST_HEAD("1024")
        "@ 0x401000 0x402000 0x101\n"
        "  t*: 1: 65536 [0: 0]\n"
        "  t0: 1: 65536 [0: 0]\n"
        "@ 0x7f0000001000 0x104\n"
        "  t*: 1: 65536 [0: 0]\n"
        "  t0: 1: 65536 [0: 0]\n"
        JPP_TEST_MAPS;

    static const struct {
        const char    *args;
        const char    *line;
    } rows[] = {
        { "format=folded&symbolize=0",
          "[cut: JIT code];prog+0x1fff;prog+0xfff 65536\n" },
        { "format=folded&symbolize=0", "[cut: outside the stack] 65536\n" },
        { "format=top&symbolize=0&sort=cum", " [cut: JIT code]\n" },
        { "format=text", " @ 0x401000 0x402000 0x101\n" },
        { "format=text", " @ 0x104\n" },
        { "format=jemalloc", "@ 0x401000 0x402000 0x101\n" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_test_anew();

        capture = jpp_test_capture(dump, sizeof(dump) - 1);
        options = jpp_test_options(rows[i].args);
        rc = jpp_test_report_into(&out, &capture, 1, &options);

        jpp_is_u64(rc, JPP_OK, "%s", rows[i].args);
        jpp_ok(rc == JPP_OK
               && memmem(out->data, out->len, rows[i].line,
                         strlen(rows[i].line)) != NULL,
               "has %s", rows[i].line);
    }
}
