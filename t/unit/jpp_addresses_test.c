
#include "jpp_test_dump.h"
#include "jpp_test_main.h"


/* addresses of one library, and the slots of a table that is half full */
#define JPP_ADDRESSES   8192
#define JPP_SLOTS_BITS  14

/* an address of 16 digits whose bytes are those of twelve digits */
#define JPP_LOOKALIKE   0x6463626164636261


/* Neighbours share most of their digits, but not their slots. */

static void
jpp_addresses_test_spread(uint64_t base)
{
    size_t             n_text, n_value;
    uint64_t           i;
    jpp_address_t     *slots;
    jpp_addresses_t    addresses = { 0 };
    jpp_address_key_t  key;
    char               text[JPP_ADDRESS_DIGITS + 8];
    static bool        by_text[1 << JPP_SLOTS_BITS];
    static bool        by_value[1 << JPP_SLOTS_BITS];

    memset(by_text, 0, sizeof(by_text));
    memset(by_value, 0, sizeof(by_value));

    slots = malloc(sizeof(jpp_address_t));
    addresses.slots = slots;
    addresses.shift = 64 - JPP_SLOTS_BITS;
    n_text = 0;
    n_value = 0;

    for (i = 0; i < JPP_ADDRESSES; i++) {
        jpp_print(text, "%012" PRIx64, base + i * 16);

        key = jpp_address_key(text);
        by_text[jpp_addresses_first(&addresses, &key) - slots] = true;

        key = jpp_address_value(base + i * 16);
        by_value[jpp_addresses_first(&addresses, &key) - slots] = true;
    }

    for (i = 0; i < 1 << JPP_SLOTS_BITS; i++) {
        n_text += by_text[i];
        n_value += by_value[i];
    }

    /* of as many at random, 0.79 would have a slot for themselves */

    jpp_ok(strlen(text) != JPP_ADDRESS_DIGITS || n_text > JPP_ADDRESSES / 2,
           "%#" PRIx64 ": %zu first slots of %d keys by text", base, n_text,
           JPP_ADDRESSES);
    jpp_ok(n_value > JPP_ADDRESSES / 2, "%#" PRIx64 ": %zu first slots of %d "
           "keys by value", base, n_value, JPP_ADDRESSES);

    free(slots);
}


static uint32_t
jpp_addresses_varint_of(jpp_addresses_t *addresses,
    const jpp_address_key_t *key, uint64_t address)
{
    uint32_t  varint;

    return jpp_addresses_add(addresses, jpp_addresses_slot(addresses, key),
                             key, address, true, &varint)
           ? varint : 0;
}


/* A key by value is never one by text. */

static void
jpp_addresses_test_lookalike(bool is_text_first)
{
    uint32_t            text, value;
    jpp_dump_t          dump;
    jpp_profile_t       profile;
    jpp_addresses_t     addresses;
    jpp_address_key_t   by_text, by_value;
    jpp_read_options_t  options = { .n_allocator = 0 };

    jpp_test_anew();

    jpp_dump_init(&dump, NULL, 0);

    dump.maps = jpp_vec_create(&arena);

    jpp_ok(jpp_parser_init(&jpp_parser_heap, &profile, &arena)
           && jpp_addresses_init(&addresses, &profile, &dump, &options),
           "a table");

    by_text = jpp_address_key("abcdabcdabcd");
    by_value = jpp_address_value(JPP_LOOKALIKE);

    text = is_text_first
           ? jpp_addresses_varint_of(&addresses, &by_text, 0xabcdabcdabcd) : 0;
    value = jpp_addresses_varint_of(&addresses, &by_value, JPP_LOOKALIKE);
    text = is_text_first ? text
           : jpp_addresses_varint_of(&addresses, &by_text, 0xabcdabcdabcd);

    jpp_ok((text & ~JPP_ADDRESS_FLAGS) != (value & ~JPP_ADDRESS_FLAGS),
           "an address of 16 digits that looks like the text of another");
    jpp_is_u64(jpp_addresses_slot(&addresses, &by_text)->varint, text,
               "it is found by its text");
    jpp_is_u64(jpp_addresses_slot(&addresses, &by_value)->varint, value,
               "and the other by its value");
}


JPP_TEST(jpp_addresses_test)
{
    /* twelve digits; fewer, of a program at a fixed address; more */

    jpp_addresses_test_spread(0x7f1234000000);
    jpp_addresses_test_spread(0x400000);
    jpp_addresses_test_spread(0xffffffff81000000);

    jpp_addresses_test_lookalike(true);
    jpp_addresses_test_lookalike(false);
}
