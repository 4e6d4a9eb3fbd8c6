/*
 * The primitives of reference/product/wide/words.h as functions of arrays: those of one tier.
 */
#ifndef HEADPROOF_TESTS_NUMBERS_TIERED_WORDS_H
#define HEADPROOF_TESTS_NUMBERS_TIERED_WORDS_H

#include "../../reference/numbers/tier.h"

#include <stddef.h>
#include <stdint.h>

/* Operations on lanes: name; with vectors a and b, mask m, one count `by` and one word; what a lane
 * becomes, in C.  A mask becomes words of 0 and 1. */
#define WORD_OPERATIONS(OF)                                                                        \
    OF(add, a + b, a + b)                                                                          \
    OF(subtract, a - b, a - b)                                                                     \
    OF(both, a &b, a &b)                                                                           \
    OF(either, a | b, a | b)                                                                       \
    OF(differing, a ^ b, a ^ b)                                                                    \
    OF(complement, ~a, ~a)                                                                         \
    OF(up, a << by, a << by)                                                                       \
    OF(down, a >> by, a >> by)                                                                     \
    OF(all, all(word), word)                                                                       \
    OF(shift_left, shift_left(a, b), b < 64 ? a << b : 0)                                          \
    OF(shift_right, shift_right(a, b), b < 64 ? a >> b : 0)                                        \
    OF(shift_right_signed, shift_right_signed(a, by),                                              \
       a >> by | (a < TOP ? 0 : ~(UINT64_MAX >> by)))                                              \
    OF(leading_zeros, leading_zeros(a), zeros_before(a))                                           \
    OF(equal, ones(equal(a, b)), a == b)                                                           \
    OF(less, ones(less(a, b)), (a ^ TOP) < (b ^ TOP))                                              \
    OF(below, ones(below(a, b)), a < b)                                                            \
    OF(is_zero, ones(is_zero(a)), a == 0)                                                          \
    OF(is_not_zero, ones(is_not_zero(a)), a != 0)                                                  \
    OF(select, select(m, a, b), m ? a : b)                                                         \
    OF(keep, keep(m, a), m ? a : 0)                                                                \
    OF(not, ones(not(m)), !m)                                                                      \
    OF(both_masks, ones(m &equal(a, b)), m &&a == b)                                               \
    OF(either_mask, ones(m | equal(a, b)), m || a == b)                                            \
    OF(one_mask, ones(m ^ equal(a, b)), m != (a == b))                                             \
    OF(larger, larger(a, b), (a ^ TOP) < (b ^ TOP) ? b : a)                                        \
    OF(smaller, smaller(a, b), (a ^ TOP) < (b ^ TOP) ? a : b)                                      \
    OF(real_of, (Words)real_of(a &all(DIGITS_ONES)), bits_of_double((double)(a & DIGITS_ONES)))    \
    OF(all_reals, (Words)all_reals((double)word), bits_of_double((double)word))

#define TOP ((uint64_t)1 << 63)
#define DIGITS_ONES (((uint64_t)1 << 52) - 1)

typedef struct {
    const uint64_t *a, *b;
    unsigned m, by; /* m: a bit a lane */
    uint64_t word;
} WordOperands;

typedef void WordOperation(uint64_t *y, const WordOperands *x);

/* Which halves of products are added: to sums [2][lanes], or both to the first. */
typedef enum { HALVES_APART, HALVES_HIGH, HALVES_LOW, HALVES_TOGETHER, HALVES } Halves;

/* Vectors are arrays of `lanes` words. */
typedef struct {
    size_t lanes;
    WordOperation *const *operation;
    unsigned (*mask)(unsigned bits); /* its bits, above them any's, and above that every's */
    unsigned (*first_lanes)(size_t lanes);
    void (*load_some)(uint64_t *y, const uint64_t *from, size_t lanes);
    void (*load_part)(uint64_t *y, const uint64_t *from, int words, int part, size_t lanes);
    void (*store_parts)(uint64_t *to, const uint64_t *x, int words);
    void (*load_middle)(uint64_t *y, const uint64_t *from); /* y [2][lanes] */
    void (*store_middle)(uint64_t *to, const uint64_t *x);  /* x [2][lanes] */
    void (*look_up)(uint64_t *y, const uint64_t *table, const uint64_t *index);
    /* Of digits a, b [count][lanes]. */
    void (*products)(uint64_t *sums, const uint64_t *a, const uint64_t *b, size_t count,
                     Halves halves);
    /* NULL in C: */
    void (*store_some)(uint64_t *to, const uint64_t *x, size_t lanes);
    void (*turn)(uint64_t *x); /* [lanes][lanes] */
    void (*load_digits)(uint64_t *y, const uint64_t *limb, size_t count, long lowest);
} TieredWords;

TIER_TABLES(TieredWords, tiered_words);

#endif
