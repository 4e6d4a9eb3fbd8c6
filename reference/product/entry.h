/*
 * Entries of operands, decoded: exponents, and digits of any width (private to reference/product/).
 * Inline, because each entry is looked at a few times for a few nanoseconds.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_ENTRY_H
#define HEADPROOF_REFERENCE_PRODUCT_ENTRY_H

#include "../numbers/limbs_number.h"
#include "operand.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static_assert(GMP_NUMB_BITS == 64, "limbs of 64 bits");

/* No scaled entry keeps more fraction bits. */
#define LARGEST_BITS 20000

/* |x| = 0.limbs 2^exponent, the highest bit of limb[count - 1] set; count 0 for zero. */
typedef struct {
    const mp_limb_t *limb;
    size_t count;
    mpfr_exp_t exponent;
    bool negative;
    mp_limb_t own; /* a double's */
} Entry;

static inline void entry_load_double(Entry *x, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    uint64_t fraction = word & ((1ULL << 52) - 1);
    int biased = (int)(word >> 52 & 0x7ff);
    *x = (Entry){.limb = &x->own, .count = (word << 1) != 0, .negative = word >> 63 != 0};
    if (biased != 0) {
        x->own = (fraction | 1ULL << 52) << 11;
        x->exponent = biased - 1022;
    } else if (fraction != 0) { /* denormal: fraction 2^-1074 */
        int zeros = __builtin_clzll(fraction);
        x->own = fraction << zeros;
        x->exponent = -1010 - zeros;
    }
}

static inline void entry_load_real(Entry *x, mpfr_srcptr y)
{
    bool regular = mpfr_regular_p(y);
    x->limb = mpfr_custom_get_significand(y);
    x->count = regular ? ((size_t)mpfr_get_prec(y) + 63) / 64 : 0;
    x->exponent = regular ? mpfr_custom_get_exp(y) : 0;
    x->negative = mpfr_signbit(y) != 0;
}

/* Exponent of the lowest bit that is set; x is not 0. */
static inline mpfr_exp_t entry_lowest_bit(const Entry *x)
{
    size_t i = 0;
    while (x->limb[i] == 0) {
        i++;
    }
    return x->exponent - 64 * (mpfr_exp_t)(x->count - i) + __builtin_ctzll(x->limb[i]);
}

/* Entry number `at` in memory.  false: not finite. */
static inline bool entry_load(Entry *x, const Operand *o, size_t at)
{
    if (o->number != NULL) {
        entry_load_double(x, o->number[at]);
        return isfinite(o->number[at]);
    }
    entry_load_real(x, o->entry + at);
    return x->count != 0 || mpfr_zero_p(o->entry + at);
}

/* Digit d of `width` < 64 bits of 0.[lead zeros]limbs, the most significant being number 0. */
static inline uint64_t entry_digit(const Entry *x, mpfr_exp_t lead, size_t d, unsigned width)
{
    long lowest = 64 * (long)x->count + lead - (long)(width * (d + 1));
    return word_from(x->limb, x->count, lowest) & (((uint64_t)1 << width) - 1);
}

#endif
