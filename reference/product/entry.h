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

/* false: not finite.  doubles: are they that?  Where it is a constant, a loop that sees every entry
 * twice keeps it in registers. */
INLINE bool entry_load(Entry *x, const Operand *o, size_t line, size_t position, const bool doubles)
{
    size_t at = o->line_at[line] + o->depth_at[position];
    if (doubles) {
        entry_load_double(x, o->number[at]);
        return isfinite(o->number[at]);
    }
    entry_load_real(x, o->entry + at);
    return x->count != 0 || mpfr_zero_p(o->entry + at);
}

/* Room for the limbs of LARGEST_BITS. */
enum { ENTRY_LIMBS = LARGEST_BITS / 64 + 8 };

/* Digits of `width` <= 52 bits of 0.[lead zeros]limbs, the most significant first, cut off after
 * count of them, count * width < LARGEST_BITS + 64; digit d goes to out[d * stride]. */
static inline void entry_digits(uint64_t *out, size_t stride, size_t count, unsigned width,
                                const Entry *x, mpfr_exp_t lead)
{
    if (x->count == 0 || lead >= (mpfr_exp_t)(count * width)) {
        for (size_t d = 0; d < count; d++) {
            out[d * stride] = 0;
        }
        return;
    }
    /* The limbs in reading order after zeros, so that every digit lies in two words. */
    uint64_t word[ENTRY_LIMBS];
    size_t zeros = (size_t)lead / 64, words = (count * width - (size_t)lead) / 64 + 2;
    for (size_t i = 0; i <= zeros; i++) {
        word[i] = 0;
    }
    for (size_t i = 0; i < words; i++) {
        word[zeros + 1 + i] = i < x->count ? x->limb[x->count - 1 - i] : 0;
    }
    const uint64_t *from = word + zeros + 1;
    for (size_t d = 0; d < count; d++) {
        mpfr_exp_t first = (mpfr_exp_t)(d * width) - lead;
        const uint64_t *at = from + (first >> 6);
        unsigned offset = (unsigned)(first & 63);
        uint64_t bits = at[0] << offset | at[1] >> 1 >> (63 - offset);
        out[d * stride] = bits >> (64 - width);
    }
}

#endif
