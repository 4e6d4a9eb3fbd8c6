/*
 * Neighbours in memory of an operand's entries, in vectors (private to reference/product/wide/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_READ_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_READ_H

#include "../operand.h"
#include "memory.h"

/* Exponents and signs of some headers.  False where they are not alike, of `count` limbs one behind
 * the other. */
INLINE bool read_headers(Lanes *x, mpfr_srcptr from, size_t lanes, const int count)
{
    const uint64_t *header = (const uint64_t *)(const void *)from;
    Words precision = load_part(header, HEADER, 0, lanes),
          sign = load_part(header, HEADER, 1, lanes);
    x->exponent = load_part(header, HEADER, 2, lanes);
    x->negative = is_not_zero(sign & all((uint64_t)1 << NEGATIVE_BIT));
    Mask differ = not(have_limbs_beside(from, lanes, count)) |
                  not(equal(precision, all((uint64_t)mpfr_get_prec(from))));
    return !any(differ & first_lanes(lanes));
}

/* Limbs, the highest ones of LIMBS_MOST. */
INLINE void read_limbs(Lanes *x, mpfr_srcptr from, size_t lanes, const int count)
{
    const uint64_t *limb = mpfr_custom_get_significand(from);
    UNROLL
    for (int l = 0; l < LIMBS_MOST; l++) {
        int from_limb = l - (LIMBS_MOST - count);
        x->limb[l] = from_limb < 0 ? zero() : load_part(limb, count, from_limb, lanes);
    }
}

/* Up to four limbs.  False: not alike. */
INLINE bool read_numbers(Lanes *x, mpfr_srcptr from, size_t lanes)
{
    const size_t count = ((size_t)mpfr_get_prec(from) + 63) / 64;
    bool alike = false;
#define READ(count)                                                                                \
    case count:                                                                                    \
        alike = read_headers(x, from, lanes, count);                                               \
        if (alike) {                                                                               \
            read_limbs(x, from, lanes, count);                                                     \
        }                                                                                          \
        break;
    switch (count) {
        READ(1)
        READ(2)
        READ(3)
        READ(4)
    default: break;
    }
#undef READ
    return alike;
}

/* As read_lanes; called with the constant LANES where there are so many. */
INLINE bool read_some(Lanes *x, const Operand *o, size_t at, size_t lanes)
{
    bool alike = read_numbers(x, o->entry + at, lanes);
    Words above = x->exponent + all(EXPONENT_LIMIT - 1);
    Mask plain = below(above, all(2 * (uint64_t)EXPONENT_LIMIT - 1));
    Mask none = equal(x->exponent, all((uint64_t)__MPFR_EXP_ZERO)) | not(first_lanes(lanes));
    plain &= not(none);
    UNROLL
    for (int l = 0; l < LIMBS_MOST; l++) {
        x->limb[l] = keep(plain, x->limb[l]);
    }
    x->exponent = select(none, all((uint64_t)LINE_ZERO), x->exponent);
    x->negative &= plain;
    return alike && every(plain | none);
}

/* x = up to LANES neighbours of an operand's MPFR numbers, from `at` on, those that are 0 or beyond
 * `lanes` with limbs of 0 and an exponent below all others.  False: not done, they are no few limbs
 * one behind the other, or one is no plain number. */
static inline bool read_lanes(Lanes *x, const Operand *o, size_t at, size_t lanes)
{
    return lanes >= LANES ? read_some(x, o, at, LANES) : read_some(x, o, at, lanes);
}

/* Doubles: 0.[lead zeros]mantissa in the scale of x / 2; a denormal's mantissa begins with
 * zeros. */
typedef struct {
    Words mantissa, lead;
    Mask negative;
} Doubles;

INLINE Doubles doubles_of(Words word, Words line_exponent)
{
    Words fraction = word & all(((uint64_t)1 << 52) - 1);
    Words biased = (word >> 52) & all(0x7ff);
    Mask normal = not(equal(biased, zero()));
    Mask nonzero = not(equal(word << 1, zero()));
    fraction = select(normal, fraction | all((uint64_t)1 << 52), fraction);
    Words exponent = larger(biased, all(1)) - all(1022 + 1);
    return (Doubles){(fraction << 11), line_exponent - exponent, (nonzero & less(word, zero()))};
}

/* Digit d of each one's alpha, to digit[d]. */
INLINE void double_digits(Words *digit, const Doubles *from, const bool fits, const size_t digits)
{
    Words flip = keep(from->negative, all(DIGIT_MASK));
    Words carry = keep(fits ? from->negative : all_lanes(false), all(1));
    UNROLL
    for (size_t d = digits; d-- > 0;) {
        /* A shift by what is below 0, or above 63, gives 0. */
        Words down = from->lead + all(64 - DIGIT * (uint64_t)(d + 1));
        Words up = zero() - down;
        Words bits = shift_right(from->mantissa, down) | shift_left(from->mantissa, up);
        bits = ((bits & all(DIGIT_MASK)) ^ flip) + carry;
        carry = bits >> DIGIT;
        digit[d] = bits & all(DIGIT_MASK);
    }
    digit[0] = digit[0] ^ all((uint64_t)1 << (DIGIT - 1));
}

/* Asks for doubles at a depth well behind `position`: lines side by side are far apart in
 * memory from one depth to the next, and the CPU does not see what comes. */
static inline void fetch_ahead(const Operand *o, size_t line, size_t position)
{
    enum { AHEAD = 24 };
    if (o->number != NULL && position + AHEAD < o->depth) {
        __builtin_prefetch(o->number + o->line_at[line] + o->depth_at[position + AHEAD]);
    }
}

#endif
