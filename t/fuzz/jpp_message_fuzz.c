
/*
 * Any bytes in place of those of a message, but for its head, which says what
 * version it is: whatever that is by now.
 */

#include "jpp_fuzz.h"
#include "jpp_message.h"


#define JPP_MESSAGE_HEAD  8


static void
jpp_message_of(uint8_t *bytes, size_t len, const uint8_t *data, size_t size)
{
    len -= JPP_MESSAGE_HEAD;

    memcpy(bytes + JPP_MESSAGE_HEAD, data, size < len ? size : len);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t                 bytes[JPP_MESSAGE_REPLY];
    jpp_message_reply_t     reply = { 0 };
    jpp_message_question_t  question = { 0 };

    jpp_message_question_pack(&question, bytes);
    jpp_message_of(bytes, JPP_MESSAGE_QUESTION, data, size);

    if (jpp_message_question_unpack(&question, bytes, JPP_MESSAGE_QUESTION)) {
        jpp_message_question_pack(&question, bytes);

        if (!jpp_message_question_unpack(&question, bytes,
                                         JPP_MESSAGE_QUESTION))
        {
            abort();
        }
    }

    jpp_message_reply_pack(&reply, bytes);
    jpp_message_of(bytes, JPP_MESSAGE_REPLY, data, size);

    if (jpp_message_reply_unpack(&reply, bytes, JPP_MESSAGE_REPLY)) {
        jpp_message_reply_pack(&reply, bytes);

        if (!jpp_message_reply_unpack(&reply, bytes, JPP_MESSAGE_REPLY)
            || strlen(reply.err.text) >= JPP_ERR_TEXT)
        {
            abort();
        }
    }

    return 0;
}
