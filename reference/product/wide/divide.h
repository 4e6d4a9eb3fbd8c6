/*
 * Quotients of numbers, one a lane (private to reference/product/wide/), by long division.
 *
 *     I = sum_k q_k 2^(47 (steps - 1 - k)),   0 < (a / b) 2^(47 steps) - I < 3,
 *
 * with mantissas a and b in [1/2, 1), which have digits of 52 bits.  A step takes q_k from doubles:
 * with what is left, R in (0, 3 b), and x = (R / b) 2^47, from the three highest digits of R and
 * the two highest of b,
 *
 *     q_k = x - 5/4 as an integer,   R = 2^47 R - q_k b.
 *
 * x is off by five roundings, in any direction, of 2^-52 and of less than 3 2^47: by less than
 * 0.48.  x - 5/4 is exact, and as an integer off by at most 1/2 to nearest, or by less than 1
 * downwards.  So what a step leaves is more than 5/4 - 1/2 - 0.48 units of q_k, and less than
 * 5/4 + 1 + 0.48.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_DIVIDE_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_DIVIDE_H

#include "memory.h"

enum {
    QUOTIENT_DIGITS = (64 * LANE_LIMBS + DIGIT - 1) / DIGIT,
    STEP_BITS = 47,
    STEPS_MOST = (64 * LANE_LIMBS + 16 + STEP_BITS) / STEP_BITS
};

/* Digits of 0.limbs, which fill the highest. */
INLINE void highest_digits(Words *digit, const Words *limb, const int N, const int digits)
{
    UNROLL
    for (int k = 0; k < digits; k++) {
        const int at = N - 1 - DIGIT * k / 64;
        const unsigned off = (unsigned)(DIGIT * k % 64);
        Words word = limb[at] << off;
        if (off + DIGIT > 64 && at > 0) {
            word = word | (limb[at - 1] >> (64 - off));
        }
        digit[digits - 1 - k] = word >> (64 - DIGIT);
    }
}

/* x - 5/4 as an integer, 0 <= that < 2^52. */
INLINE Words as_integer(Reals x)
{
    return (Words)((x - 1.25) + 0x1p52) & all(DIGIT_MASK);
}

/* left = 2^47 left - q b: of digits + 1 digits, b of one less; q and b as factors. */
INLINE void take_multiple(Words *left, Words q, const Words *b, const int digits)
{
    const unsigned over = DIGIT - STEP_BITS;
    Words product[QUOTIENT_DIGITS + 1], carry = zero(), under = zero();
    UNROLL
    for (int j = 0; j <= digits; j++) {
        product[j] = sum_start(j > 0, j < digits);
    }
    UNROLL
    for (int j = 0; j < digits; j++) {
        add_product(&product[j + 1], &product[j], q, b[j]);
    }
    UNROLL
    for (int j = 0; j <= digits; j++) {
        Words up = left[j] << STEP_BITS;
        up = (up & all(DIGIT_MASK)) | under;
        under = left[j] >> over;
        Words sum = (up - product[j]) + carry;
        left[j] = sum & all(DIGIT_MASK);
        carry = shift_right_signed(sum, DIGIT);
    }
}

/* limb[size] = I of so many steps. */
INLINE void join_steps(Words *limb, const Words *q, const int steps, const int size)
{
    Words carry = zero();
    UNROLL
    for (int l = 0; l < size; l++) {
        limb[l] = zero();
    }
    UNROLL
    for (int i = 0; i < steps; i++) {
        const int at = STEP_BITS * i / 64;
        const unsigned off = (unsigned)(STEP_BITS * i % 64);
        Words digit = q[steps - 1 - i] + carry;
        carry = digit >> STEP_BITS;
        if (i + 1 < steps) {
            digit = digit & all(((uint64_t)1 << STEP_BITS) - 1);
        }
        limb[at] = limb[at] | (digit << off);
        if (at + 1 < size && off > 0) {
            limb[at + 1] = limb[at + 1] | (digit >> (64 - off));
        }
    }
}

/* limb[n + 1] = a / b cut off, the highest bit on top, exponent = that of it; operands of n limbs.
 * Returns the lanes in which what is cut off does not matter for n limbs rounded to nearest. */
INLINE Mask divide_lanes(Words *limb, Words *exponent, const Lanes *a, const Lanes *b, const int n)
{
    const int digits = (64 * n + DIGIT - 1) / DIGIT;
    const int steps =
        (64 * n + 16 + STEP_BITS) / STEP_BITS; /* at least 17 bits more than n limbs */
    Words left[QUOTIENT_DIGITS + 1], by[QUOTIENT_DIGITS], q[STEPS_MOST];
    highest_digits(left, a->limb, n, digits);
    highest_digits(by, b->limb, n, digits);
    left[digits] = zero();
    Reals divisor = real_of(by[digits - 1]) + real_of(by[digits - 2]) * 0x1p-52;
    Reals inverse = 0x1p47 / divisor;
    UNROLL
    for (int d = 0; d < digits; d++) {
        by[d] = factor_of(by[d]);
    }
    UNROLL
    for (int k = 0; k < steps; k++) {
        Reals x = real_of(left[digits]) * 0x1p52 + real_of(left[digits - 1]);
        x = x + real_of(left[digits - 2]) * 0x1p-52;
        q[k] = as_integer(x * inverse);
        if (k + 1 < steps) {
            take_multiple(left, factor_of(q[k]), by, digits);
        }
    }
    join_steps(limb, q, steps, n + 1);
    Words by_bits = leading_zeros(limb[n]);
    shift_up(limb, n + 1, by_bits);
    *exponent = (a->exponent - b->exponent) - by_bits;
    *exponent = (*exponent) + all((uint64_t)(64 * (n + 1) - STEP_BITS * steps));
    Words to_tie = all((uint64_t)1 << 63) - limb[0];
    return below(shift_left(all(3), by_bits), to_tie);
}

#endif
