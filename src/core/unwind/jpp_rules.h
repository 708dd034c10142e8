
/*
 * Compact rules, and the cache of them: what nearly every frame needs, in one
 * word, so that neither a thread nor a signal handler sees half an entry.
 *
 *     return address 48, where rbp is stored 3, CFA - rsp 13, in words
 *
 * The middle field is 0 where the caller's rbp is still in the register, and
 * otherwise its words above CFA - 64.  The last one is never 0, but in a
 * special rule, of which the middle one is the kind (jpp_rule_kind_t).
 *
 * Only frames that were left by a call are kept: there are few return
 * addresses, and an interrupted instruction does not come back soon.
 *
 * [signal] No lock, no memory but the table; readers and writers in any
 * number.  Of two that store at once one may be lost.
 */


#ifndef _JPP_RULES_H_INCLUDED_
#define _JPP_RULES_H_INCLUDED_


#include <stdbool.h>
#include <stdint.h>

#include "jpp_mapped.h"


#define JPP_RULES_WORDS    8192

#define JPP_RULE_BITS      16
#define JPP_RULE_RBP       13
#define JPP_RULE_CFA_MAX   8191
#define JPP_RULE_RBP_LOW   64

#define jpp_rule_cfa(rule)      ((uintptr_t) ((rule) & JPP_RULE_CFA_MAX) * 8)
#define jpp_rule_has_rbp(rule)  (jpp_rule_kind(rule) != 0)
#define jpp_rule_rbp(rule)      (jpp_rule_kind(rule) * 8)

#define jpp_rule_special(kind)     ((uint32_t) (kind) << JPP_RULE_RBP)
#define jpp_rule_is_special(rule)  (((rule) & JPP_RULE_CFA_MAX) == 0)
#define jpp_rule_kind(rule)                                                   \
    ((rule) >> JPP_RULE_RBP & (JPP_RULE_KINDS - 1))


typedef enum {
    JPP_RULE_FRAME = 1,       /* rbp is at CFA - 16, and CFA is rbp + 16 */
    JPP_RULE_OUTERMOST,       /* there is no caller */
    JPP_RULE_COMPLETE,        /* needs all registers, or an expression */
    JPP_RULE_NONE,            /* the object does not say */
    JPP_RULE_ODD,             /* what it says cannot be read */
    JPP_RULE_OBJECT,          /* the address lies in no object: never kept */
    JPP_RULE_NOBODY,          /* an address of 0 is no frame: never kept */
    JPP_RULE_KINDS            /* what three bits can say */
} jpp_rule_kind_t;


typedef struct {
    uint64_t          words[JPP_RULES_WORDS];
} jpp_rules_t;


/* [signal] The rule for the instruction at ADDRESS of OBJECT, from its
   call-frame information; never 0.  That of a frame is the one before its
   return address. */
uint32_t jpp_rule_make(const jpp_mapped_code_t *object, uintptr_t address);


/* Inline, because only machines with an unwinder have words of 64 bits that
   are read and written at once. */

/* [signal] The word where the rule for PC is, if it is kept.  Low bits of code
   addresses are as good as any hash of them. */
static inline uint64_t
jpp_rules_word(const jpp_rules_t *rules, uintptr_t pc)
{
    return __atomic_load_n(&rules->words[pc % JPP_RULES_WORDS],
                           __ATOMIC_RELAXED);
}


/* [signal] Does WORD have the rule for PC? */
static inline bool
jpp_rules_is_for(uint64_t word, uintptr_t pc)
{
    return (word ^ (uint64_t) pc << JPP_RULE_BITS) - 1
           < ((uint64_t) 1 << JPP_RULE_BITS) - 1;
}


/* [signal] The rule for PC, 0: it is not there. */
static inline uint32_t
jpp_rules_get(const jpp_rules_t *rules, uintptr_t pc)
{
    uint64_t  word;

    word = jpp_rules_word(rules, pc);

    if (!jpp_rules_is_for(word, pc)) {
        word = jpp_rules_word(rules, pc ^ 1);
    }

    return jpp_rules_is_for(word, pc)
           ? (uint32_t) word & ((1u << JPP_RULE_BITS) - 1) : 0;
}


/* [signal] Keep RULE for PC, which has 48 bits; what had its place moves to
   the one beside it. */
static inline void
jpp_rules_put(jpp_rules_t *rules, uintptr_t pc, uint32_t rule)
{
    uint64_t  word;

    word = (uint64_t) pc << JPP_RULE_BITS | rule;

    __atomic_store_n(&rules->words[(pc ^ 1) % JPP_RULES_WORDS],
                     jpp_rules_word(rules, pc), __ATOMIC_RELAXED);
    __atomic_store_n(&rules->words[pc % JPP_RULES_WORDS], word,
                     __ATOMIC_RELAXED);
}


#endif /* _JPP_RULES_H_INCLUDED_ */
