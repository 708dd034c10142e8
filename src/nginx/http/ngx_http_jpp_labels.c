
#include "ngx_http_jpp_labels.h"


jpp_label_t *
ngx_http_jpp_labels(jpp_arena_t *arena, const ngx_http_jpp_row_t *row)
{
    u_char       *index;
    jpp_label_t  *labels;

    index = jpp_arena_alloc(arena, NGX_INT_T_LEN + 1);
    labels = jpp_arena_alloc(arena, (NGX_HTTP_JPP_LABELS
                                     + NGX_HTTP_JPP_INHERITED)
                                    * sizeof(jpp_label_t));

    if (index == NULL || labels == NULL) {
        return NULL;
    }

    (void) ngx_sprintf(index, "%ui%Z", row->index);

    /* readers make series of string labels: a pid must not be one */

    labels[0].key = "worker";
    labels[0].str = (char *) index;
    labels[1].key = "pid";
    labels[1].num = row->pid;
    labels[2].key = "generation";
    labels[2].num = row->generation;
    labels[3].key = "origin";
    labels[3].str = "worker";

    /* inherited memory belongs to a generation, not to a worker */

    labels[4].key = "generation";
    labels[4].num = row->generation;
    labels[5].key = "origin";
    labels[5].str = "master";

    return labels;
}
