
/*
 * Compact rules, and the cache of them: what nearly every frame needs, in one
 * word, so that neither a thread nor a signal handler sees half an entry.
 *
 * The address is multiplied by an odd number, modulo 2^47.  That loses
 * nothing: the upper 12 bits of the product are the place in the table, the
 * lower 35 are stored, and equal means the same address.  A rule has the
 * other 29 bits of the word:
 *
 *     kind 3, where rbp is stored 12 (below the CFA; 0: it is not),
 *     CFA's base 1 (0: rsp, 1: rbp), CFA's offset 13; distances in words
 *
 * A rule is for an instruction.  That of a frame that was left by a call is
 * the one before the return address.
 *
 * [signal] No lock, no memory but the table; readers and writers in any
 * number.  Of two that store at once one may be lost.
 */


#ifndef _JPP_RULES_H_INCLUDED_
#define _JPP_RULES_H_INCLUDED_


#include <stdbool.h>
#include <stdint.h>

#include "jpp_mapped.h"


#define JPP_RULES_SETS       4096
#define JPP_RULES_WAYS       2
#define JPP_RULES_ADDRESSES  47

#define JPP_RULE_BITS        29
#define JPP_RULE_KIND        26
#define JPP_RULE_RBP         14
#define JPP_RULE_RBP_MAX     4095
#define JPP_RULE_BASE        13
#define JPP_RULE_CFA_MAX     8191

#define jpp_rule_kind(rule)  ((uint64_t) (rule) >> JPP_RULE_KIND)
#define jpp_rule_rbp(rule)                                                    \
    ((uintptr_t) ((rule) >> JPP_RULE_RBP & JPP_RULE_RBP_MAX) * 8)
#define jpp_rule_on_rbp(rule)  (((rule) >> JPP_RULE_BASE & 1) != 0)
#define jpp_rule_cfa(rule)   ((uintptr_t) ((rule) & JPP_RULE_CFA_MAX) * 8)


typedef enum {
    JPP_RULE_EMPTY = 0,       /* nothing is known about this address */
    JPP_RULE_PLAIN,           /* the other fields say all */
    JPP_RULE_OUTERMOST,       /* there is no caller */
    JPP_RULE_COMPLETE,        /* needs all registers, or an expression */
    JPP_RULE_NONE,            /* the object does not say */
    JPP_RULE_ODD,             /* what it says cannot be read */
    JPP_RULE_KINDS
} jpp_rule_kind_t;


/* the rule at an instruction that returns: CFA is rsp + 8 */
#define JPP_RULE_RETURN  (JPP_RULE_PLAIN << JPP_RULE_KIND | 1)


typedef struct {
    uint64_t          words[JPP_RULES_SETS][JPP_RULES_WAYS];
} jpp_rules_t;


/* [signal] The rule for the instruction at ADDRESS of OBJECT, from its
   call-frame information. */
uint32_t jpp_rule_make(const jpp_mapped_code_t *object, uintptr_t address);


/* Inline, because only machines with an unwinder have words of 64 bits that
   are read and written at once. */

static inline uint64_t
jpp_rules_hash(uintptr_t address)
{
    return (uint64_t) address * (0x9e3779b97f4a7c15u << 17);
}


/*
 * [signal] The rule for ADDRESS, which is below 2^47.  Of kind
 * JPP_RULE_EMPTY, or JPP_RULE_KINDS and above: it is not there.
 */
static inline uint64_t
jpp_rules_get(const jpp_rules_t *rules, uintptr_t address)
{
    uint64_t         hash, tag, word;
    const uint64_t  *set;

    hash = jpp_rules_hash(address);
    tag = hash << 12;
    set = rules->words[hash >> 52];

    word = __atomic_load_n(&set[0], __ATOMIC_RELAXED) ^ tag;

    if (jpp_rule_kind(word) == JPP_RULE_PLAIN
        || word - 1 < ((uint64_t) JPP_RULE_KINDS << JPP_RULE_KIND) - 1)
    {
        return word;
    }

    return __atomic_load_n(&set[1], __ATOMIC_RELAXED) ^ tag;
}


/* [signal] Keep RULE for ADDRESS, which is below 2^47; the older of the set
   moves to the second place. */
static inline void
jpp_rules_put(jpp_rules_t *rules, uintptr_t address, uint32_t rule)
{
    uint64_t  hash, *set;

    hash = jpp_rules_hash(address);
    set = rules->words[hash >> 52];

    __atomic_store_n(&set[1], __atomic_load_n(&set[0], __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&set[0], hash << 12 | rule, __ATOMIC_RELAXED);
}


#endif /* _JPP_RULES_H_INCLUDED_ */
