
#include "jpp_test_arena.h"
#include "jpp_test_main.h"


JPP_TEST(jpp_markup_test)
{
    jpp_sink_t   sink;

    static const char  text[] = "a<b>&\"c'\n\x7f\033[1m \303\251 </script>";

    jpp_test_sink(&sink, &arena);
    jpp_markup_text(&sink, text, sizeof(text));
    jpp_is_str(jpp_test_text(&sink),
               "a&lt;b&gt;&amp;&quot;c&#39;???[1m \303\251 &lt;/script&gt;?",
               "text is nothing but text, and a NUL too");

    jpp_test_sink(&sink, &arena);
    jpp_markup_printf(&sink, "<b>%s</b> %d %" PRId64 " %u %zu %" PRIu64 " %%"
                      "<i>%s", "a<b\n\033\303", -1, INT64_MIN, UINT32_MAX,
                      SIZE_MAX, UINT64_MAX, "");
    jpp_is_str(jpp_test_text(&sink),
               "<b>a&lt;b\n\x3f\x3f</b> -1 -9223372036854775808 4294967295 "
               "18446744073709551615 18446744073709551615 %<i>",
               "the format is markup, and strings are text");
}
