
#include "jpp_recorded.h"


/* labels of a worker's samples and, behind them, of what it inherited */
#define JPP_RECORDED_LABELS     5
#define JPP_RECORDED_INHERITED  3


void
jpp_recorded_name(char name[JPP_TAR_NAME], const char *folder,
    const jpp_identity_t *who, const char *suffix)
{
    (void) snprintf(name, JPP_TAR_NAME, "%s/worker-%" PRIu32 "-pid-%" PRId64
                    "-generation-%" PRIu64 ".%s", folder, who->index, who->pid,
                    who->generation, suffix);
}


/* What is written as it was read is such a name. */

bool
jpp_recorded_named(const char *name, const char *folder, jpp_identity_t *who,
    const char *suffix)
{
    char         again[JPP_TAR_NAME];
    size_t       i;
    uint64_t     numbers[3];
    const char  *p, *end;

    static const char *const  before[] = {
        "/worker-", "-pid-", "-generation-"
    };

    end = name + strlen(name);
    p = jpp_scan_text(name, end, folder);

    for (i = 0; i < 3 && p != NULL; i++) {
        p = jpp_scan_text(p, end, before[i]);
        p = p != NULL ? jpp_scan_dec(p, &numbers[i]) : NULL;
    }

    if (p == NULL) {
        return false;
    }

    who->index = (uint32_t) numbers[0];
    who->pid = (int64_t) numbers[1];
    who->generation = numbers[2];

    jpp_recorded_name(again, folder, who, suffix);

    return strcmp(again, name) == 0;
}


bool
jpp_recorded_identify(jpp_capture_t *capture, const jpp_identity_t *who,
    const jpp_parser_t *parser, const char *file, jpp_arena_t *arena)
{
    char         *name, *index;
    size_t        skip;
    jpp_label_t  *labels;

    name = jpp_arena_printf(arena, "worker %d pid %d", (int) who->index,
                            (int) who->pid);
    index = jpp_arena_printf(arena, "%d", (int) who->index);
    labels = jpp_arena_alloc(arena, (JPP_RECORDED_LABELS
                                     + JPP_RECORDED_INHERITED)
                                    * sizeof(jpp_label_t));

    if (name == NULL || index == NULL || labels == NULL) {
        return false;
    }

    /*
     * parsers make series of string labels: a pid must not be one; inherited
     * memory belongs to a generation, not to a worker
     */

    const jpp_label_t  all[JPP_RECORDED_LABELS + JPP_RECORDED_INHERITED] = {
        { .key = "file", .str = file },
        { .key = "worker", .str = index },
        { .key = "pid", .num = who->pid },
        { .key = "generation", .num = (int64_t) who->generation },
        { .key = "origin", .str = "worker" },
        { .key = "file", .str = file },
        { .key = "generation", .num = (int64_t) who->generation },
        { .key = "origin", .str = "master" }
    };

    memcpy(labels, all, sizeof(all));
    skip = file == NULL;

    capture->labels = labels + skip;
    capture->n_labels = JPP_RECORDED_LABELS - skip - !parser->has_origins;
    capture->inherited_labels = labels + JPP_RECORDED_LABELS + skip;
    capture->n_inherited_labels = JPP_RECORDED_INHERITED - skip;
    capture->group = (uint32_t) who->generation;
    capture->source = (uint32_t) who->pid;
    capture->name = name;

    return true;
}
