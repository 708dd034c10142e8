
/* The distinct return addresses of a capture, and their locations. */


#include "jpp_cut.h"
#include "jpp_dump.h"


#define JPP_ADDRESSES_BITS  14


static bool
jpp_addresses_resize(jpp_addresses_t *addresses, uint32_t shift)
{
    size_t              i, n;
    jpp_vec_t          *table;
    jpp_address_t      *from;
    jpp_address_key_t   key;

    table = jpp_vec_create(addresses->profile->arena);

    if (table == NULL
        || jpp_vec_push(table, (((size_t) 1 << (64 - shift)) + 1)
                               * sizeof(jpp_address_t))
           == NULL)
    {
        return false;
    }

    from = addresses->slots;
    n = addresses->table != NULL
        ? jpp_vec_count(addresses->table, jpp_address_t) - 1 : 0;

    addresses->slots = jpp_vec_items(table, jpp_address_t);
    addresses->shift = shift;

    for (i = 0; i < n; i++) {
        if (from[i].varint != 0) {
            key.high = from[i].high;
            key.low = from[i].low;

            *jpp_addresses_slot(addresses, &key) = from[i];
        }
    }

    jpp_vec_release(addresses->table);
    addresses->table = table;

    return true;
}


bool
jpp_addresses_init(jpp_addresses_t *addresses, jpp_profile_t *profile,
    const jpp_dump_t *dump, const jpp_read_options_t *options)
{
    memset(addresses, 0, sizeof(jpp_addresses_t));

    addresses->profile = profile;
    addresses->maps = dump->maps;
    addresses->allocator = options->allocator;
    addresses->n_allocator = options->n_allocator;

    return jpp_addresses_resize(addresses, 64 - JPP_ADDRESSES_BITS);
}


void
jpp_addresses_destroy(jpp_addresses_t *addresses)
{
    jpp_vec_release(addresses->table);
    addresses->table = NULL;
}


static bool
jpp_addresses_is_allocator(const jpp_addresses_t *addresses,
    const jpp_map_t *map, uint64_t address)
{
    const jpp_range_t  *range;

    if (map != NULL && map->is_allocator) {
        return true;
    }

    jpp_each(range, addresses->allocator, addresses->n_allocator) {
        if (address >= range->start && address < range->end) {
            return true;
        }
    }

    return false;
}


/* One that says why a stack was cut has its name from the start. */

static uint32_t
jpp_addresses_location(const jpp_addresses_t *addresses, uint32_t mapping,
    uint64_t call)
{
    uint32_t        id, string;
    const char     *name;
    jpp_profile_t  *profile;

    profile = addresses->profile;
    id = jpp_profile_location(profile, mapping, call);
    name = mapping == 0 ? jpp_cut_name(call + 1) : NULL;

    if (id == 0 || name == NULL) {
        return id;
    }

    string = jpp_profile_string(profile, name, strlen(name));

    if (string == 0) {
        return 0;
    }

    jpp_profile_location_at(profile, id)->function =
                           jpp_profile_function(profile, 0, string, string);

    return jpp_profile_location_at(profile, id)->function != 0 ? id : 0;
}


bool
jpp_addresses_add(jpp_addresses_t *addresses, jpp_address_t *slot,
    const jpp_address_key_t *key, uint64_t address, bool is_wanted,
    uint32_t *varint)
{
    uint8_t           bytes[JPP_VARINT_MAX] = { 0 };
    uint64_t          call;
    uint32_t          id, flag;
    const jpp_map_t  *map;

    /* half full at most: nearly every search ends at its first two slots */

    if (addresses->n >= 1ULL << (63 - addresses->shift)) {

        if (!jpp_addresses_resize(addresses, addresses->shift - 1)) {
            return false;
        }

        slot = jpp_addresses_slot(addresses, key);
    }

    /* the return address follows the call, perhaps in the next function */

    call = address - (address != 0);

    map = jpp_maps_find(addresses->maps, call);

    if (map != NULL) {
        call += map->shift;
    }

    flag = jpp_addresses_is_allocator(addresses, map, call)
           ? JPP_ADDRESS_ALLOCATOR : 0;
    id = 0;

    if (is_wanted || flag == 0) {

        id = jpp_addresses_location(addresses,
                                    map != NULL ? map->mapping : 0, call);

        if (id == 0 || id > JPP_ADDRESS_MAX_ID) {
            return false;
        }
    }

    if (slot->varint == 0) {
        slot->high = key->high;
        slot->low = key->low;

        addresses->n++;
    }

    (void) jpp_profile_push(bytes, id);

    slot->varint = bytes[0] | (uint32_t) bytes[1] << 8
                   | (uint32_t) bytes[2] << 16 | (uint32_t) bytes[3] << 24
                   | flag | key->flag;

    *varint = slot->varint;

    return true;
}


jpp_address_t *
jpp_addresses_slot(const jpp_addresses_t *addresses,
    const jpp_address_key_t *key)
{
    size_t          i, mask;
    jpp_address_t  *slots;

    slots = addresses->slots;
    mask = ((size_t) 1 << (64 - addresses->shift)) - 1;

    i = (size_t) (jpp_addresses_first(addresses, key) - slots);

    while (slots[i].varint != 0
           && (slots[i].high != key->high || slots[i].low != key->low))
    {
        i = (i + 1) & mask;
    }

    return &slots[i];
}
