
#include "jpp_cut.h"


static const char *const  jpp_cut_names[JPP_CUTS] = {
    [JPP_CUT_CODE]  = "[cut: JIT code]",
    [JPP_CUT_RULE]  = "[cut: no call-frame information]",
    [JPP_CUT_ODD]   = "[cut: unknown call-frame information]",
    [JPP_CUT_STACK] = "[cut: outside the stack]",
    [JPP_CUT_DEAF]  = "[cut: the thread takes no signal]",
    [JPP_CUT_LATE]  = "[cut: the thread did not answer in time]"
};


const char *
jpp_cut_name(uint64_t frame)
{
    return frame - JPP_CUT_FRAME < JPP_CUTS
           ? jpp_cut_names[frame - JPP_CUT_FRAME] : NULL;
}
