
#include "jpp_fuzz.h"
#include "jpp_message.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t                 bytes[JPP_MESSAGE_REPLY];
    jpp_message_reply_t     reply;
    jpp_message_question_t  question;

    if (jpp_message_question_unpack(&question, data, size)) {
        jpp_message_question_pack(&question, bytes);

        if (!jpp_message_question_unpack(&question, bytes, size)) {
            abort();
        }
    }

    if (jpp_message_reply_unpack(&reply, data, size)) {
        jpp_message_reply_pack(&reply, bytes);

        if (!jpp_message_reply_unpack(&reply, bytes, size)
            || strlen(reply.err.text) >= JPP_ERR_TEXT)
        {
            abort();
        }
    }

    return 0;
}
