
/*
 * Packs a ledger into bytes, and unpacks it.  The grammar:
 *
 *     file := magic:8 facts row*
 *
 * The facts and rows are as in memory: nothing but numbers of 4 and 8 bytes,
 * and texts.
 */


#include "jpp_ledger.h"


/* to be changed with the structures */
#define JPP_LEDGER_MAGIC  "jppLdgr2"

#define JPP_LEDGER_BUFFER  512


_Static_assert(sizeof(jpp_ledger_facts_t) % 8 == 0
               && sizeof(jpp_ledger_row_t) % 8 == 0,
               "what follows is aligned");


jpp_code_t
jpp_ledger_save(const jpp_ledger_t *ledger, const jpp_ledger_facts_t *facts,
    int fd, jpp_err_t *err)
{
    uint8_t     buffer[JPP_LEDGER_BUFFER];
    jpp_sink_t  sink;

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_write, &fd);

    jpp_sink_write(&sink, JPP_LEDGER_MAGIC, 8);
    jpp_sink_write(&sink, facts, sizeof(jpp_ledger_facts_t));
    jpp_sink_write(&sink, ledger->rows->data, ledger->rows->len);

    return jpp_sink_flush(&sink) == 0
           ? JPP_OK : jpp_write_failed(err, sink.error, "its ledger");
}


static bool
jpp_ledger_is_valid(const jpp_ledger_row_t *row)
{
    return row->kind < JPP_LEDGER_KINDS && row->how < JPP_LEDGER_HOWS
           && row->name_len <= JPP_LEDGER_NAME;
}


jpp_code_t
jpp_ledger_load(jpp_ledger_read_t *ledger, const char *data, size_t len,
    jpp_err_t *err)
{
    size_t  i, head;

    head = 8 + sizeof(jpp_ledger_facts_t);

    memset(ledger, 0, sizeof(jpp_ledger_read_t));

    if (len < head || memcmp(data, JPP_LEDGER_MAGIC, 8) != 0
        || (len - head) % sizeof(jpp_ledger_row_t) != 0)
    {
        return jpp_err_set(err, JPP_ERR_INPUT,
                           "what it sent is no ledger, or one of another "
                           "version of this module");
    }

    memcpy(&ledger->facts, data + 8, sizeof(jpp_ledger_facts_t));

    ledger->facts.why[JPP_LEDGER_WHY - 1] = '\0';
    jpp_ascii_clean(ledger->facts.why);

    ledger->rows = (const jpp_ledger_row_t *) (const void *) (data + head);
    ledger->n = (len - head) / sizeof(jpp_ledger_row_t);

    for (i = 0; i < ledger->n; i++) {
        if (!jpp_ledger_is_valid(&ledger->rows[i])) {
            ledger->n = 0;

            return jpp_err_set(err, JPP_ERR_INPUT,
                               "its ledger has a row that cannot be");
        }
    }

    return JPP_OK;
}
