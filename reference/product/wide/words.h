/*
 * Vectors of 64-bit words, a number a lane: all that the sources in this room know of a processor
 * (private to reference/product/wide/).
 *
 * These sources are compiled once for every tier (../../tier.h), each time over that tier's
 * primitives.  Besides +, -, &, |, ^, ~ and shifts by one count for all lanes, which the compiler
 * knows of vectors, they are:
 *
 *     all(x)                         x in every lane
 *     load(from), store(to, x)       LANES words of memory
 *     shift_left(x, by), shift_right(x, by)      each lane by a count of its own; 0 from 64 on
 *     shift_right_signed(x, by)      two's complement, all lanes by one count
 *     leading_zeros(x)               64 of 0
 *     equal(a, b), less(a, b), below(a, b)       lanes with a = b, a < b signed and unsigned
 *     is_zero(x), is_not_zero(x)
 *     select(m, a, b), keep(m, x)    a where m has the lane, else b; x, else 0
 *     mask_of(bits), bits_of(m)      lanes as bits, the first one the lowest
 *     not(m)                         besides which masks have &, | and ^
 *     look_up(table, index)          table[index] of each lane
 *     load_some(from, lanes)         the first lanes alone; 0 in the others
 *     load_part(from, words, part, lanes)        word `part` of each of some structures of so many
 *                                    words, one behind the other; 0 in the other lanes
 *     store_parts(to, x, words)      LANES structures, x[part] being word `part` of each
 *     load_middle(&x1, &x2, from), store_middle(to, x1, x2)     words 1 and 2 of LANES structures
 *                                    of four words
 *     factor_of(digit)               a digit below 2^52 as add_product takes it
 *     add_product(&high, &low, a, b) adds the halves of a b: its high 52 bits and its low ones; to
 *                                    NULL: none
 *     sum_start(highs, lows)         what a sum begins with, to which so many halves will be added
 *     products_begin(), products_end()   around add_product, and around nothing that rounds
 *
 * and, for products of digits, which take vectors of AVX2 or more:
 *
 *     load_digits(limb, count, lowest)   digits of a number of so many limbs: that of the last lane
 *                                    begins at bit `lowest`, the others above it
 *     store_some(to, x, lanes)       the first lanes alone
 *     turn(x)                        word j of x[i] becomes word i of x[j], LANES of them
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_WORDS_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_WORDS_H

#include "../../numbers/limbs_number.h"
#include "../digits.h"

#include <stdint.h>
#include <string.h>

#define DIGIT_MASK (((uint64_t)1 << DIGIT) - 1)

#define TIER_IS_avx512 1
#define TIER_IS_avx2 2
#define TIER_IS_portable 3
#define TIER_NUMBER_OF(tier) TIER_IS_##tier
#define TIER_NUMBER(tier) TIER_NUMBER_OF(tier)
#define PORTABLE (TIER_NUMBER(HEADPROOF_TIER) == TIER_IS_portable)

#if TIER_NUMBER(HEADPROOF_TIER) == TIER_IS_avx512
#include "words_avx512.h"
#elif TIER_NUMBER(HEADPROOF_TIER) == TIER_IS_avx2
#include "words_avx2.h"
#else
#include "words_c.h"
#endif

#if TIER_NUMBER(HEADPROOF_TIER) != TIER_IS_avx2 /* which multiplies in doubles */
INLINE Words factor_of(Words digit)
{
    return digit;
}

INLINE Words sum_start(size_t highs, size_t lows)
{
    (void)highs, (void)lows;
    return (Words){0};
}

INLINE unsigned products_begin(void)
{
    return 0;
}

INLINE void products_end(unsigned mode)
{
    (void)mode;
}

#endif

typedef double Reals __attribute__((vector_size(8 * LANES)));
typedef float Floats __attribute__((vector_size(4 * LANES)));

INLINE Words zero(void)
{
    return (Words){0};
}

INLINE bool any(Mask m)
{
    return bits_of(m) != 0;
}

INLINE bool every(Mask m)
{
    return bits_of(m) == (1U << LANES) - 1;
}

/* Pairs of na and of nb digits whose places add to w. */
INLINE size_t pairs_of(const int w, const int na, const int nb)
{
    const int first = w < nb ? 0 : w - nb + 1, end = w < na ? w + 1 : na;
    return first < end ? (size_t)(end - first) : 0;
}

INLINE Words larger(Words a, Words b)
{
    return select(less(a, b), b, a);
}

INLINE Words smaller(Words a, Words b)
{
    return select(less(a, b), a, b);
}

/* The first `lanes` of them; all, where there are not so many. */
INLINE Mask first_lanes(size_t lanes)
{
    return mask_of(lanes < LANES ? (1U << lanes) - 1 : (1U << LANES) - 1);
}

/* A digit as a double: 2^52 + digit, less 2^52, exactly. */
INLINE Reals real_of(Words digit)
{
    const Words two52 = all((uint64_t)0x433 << 52);
    return (Reals)(digit | two52) - (Reals)two52;
}

INLINE Reals all_reals(double x)
{
    return x - (Reals){0};
}

/* So many numbers of `size` bytes, copied by one instruction where they are LANES. */
INLINE void copy_lanes(void *to, const void *from, size_t lanes, const size_t size)
{
    if (lanes < LANES) {
        memcpy(to, from, lanes * size);
    } else {
        memcpy(to, from, LANES * size);
    }
}

INLINE Mask all_lanes(bool yes)
{
    return mask_of(yes ? (1U << LANES) - 1 : 0);
}

#endif
