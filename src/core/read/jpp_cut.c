
#include "jpp_cut.h"


static const char *const  jpp_cut_names[JPP_CUTS] = {
    JPP_CUT_LIST(JPP_LIST_TEXT)
};


const char *
jpp_cut_name(uint64_t frame)
{
    return frame - JPP_CUT_FRAME < JPP_CUTS
           ? jpp_cut_names[frame - JPP_CUT_FRAME] : NULL;
}
