/*
 * Quotients of eight numbers (private to lanes_eight.c; x86-64 alone), by long division.
 *
 *     I = sum_k q_k 2^(49 (steps - 1 - k)),   0 < (a / b) 2^(49 steps) - I < 3,
 *
 * with mantissas a and b in [1/2, 1), which have digits of 52 bits.  A step takes q_k from doubles:
 * with what is left, R in (0, 3 b), and x = (R / b) 2^49, from the three highest digits of R and
 * the two highest of b,
 *
 *     q_k = x - 3/2 rounded to an integer,   R = 2^49 R - q_k b.
 *
 * x is off by five roundings of 2^-53 at most, of less than 3 2^49: by less than 0.95.  So what a
 * step leaves is more than 1 - 0.95 units of q_k, and less than 2 + 0.95.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_LANES_DIVIDE_H
#define HEADPROOF_REFERENCE_PRODUCT_LANES_DIVIDE_H

#include "ifma_block.h"
#include "lanes_memory.h"

enum {
    QUOTIENT_DIGIT = 52,
    QUOTIENT_DIGITS = (64 * LIMBS_MOST + QUOTIENT_DIGIT - 1) / QUOTIENT_DIGIT,
    STEP_BITS = 49,
    STEPS_MOST = (64 * LIMBS_MOST + 16 + STEP_BITS) / STEP_BITS
};

/* Digits of 0.limbs, which fill the highest. */
EIGHT void highest_digits(__m512i *digit, const __m512i *limb, const int N, const int digits)
{
    UNROLL
    for (int k = 0; k < digits; k++) {
        const int at = N - 1 - QUOTIENT_DIGIT * k / 64;
        const unsigned off = (unsigned)(QUOTIENT_DIGIT * k % 64);
        __m512i word = _mm512_slli_epi64(limb[at], off);
        if (off + QUOTIENT_DIGIT > 64 && at > 0) {
            word = _mm512_or_si512(word, _mm512_srli_epi64(limb[at - 1], 64 - off));
        }
        digit[digits - 1 - k] = _mm512_srli_epi64(word, 64 - QUOTIENT_DIGIT);
    }
}

/* A digit as a double, by the double whose last bit is 1: 2^52 + digit. */
EIGHT __m512d as_double(__m512i digit)
{
    const __m512d two52 = _mm512_set1_pd(0x1p52);
    __m512i both = _mm512_or_si512(digit, _mm512_castpd_si512(two52));
    return _mm512_sub_pd(_mm512_castsi512_pd(both), two52);
}

/* x - 3/2 rounded, 0 <= that < 2^52. */
EIGHT __m512i as_integer(__m512d x)
{
    __m512d sum = _mm512_add_pd(_mm512_sub_pd(x, _mm512_set1_pd(1.5)), _mm512_set1_pd(0x1p52));
    return _mm512_and_si512(_mm512_castpd_si512(sum), all(IFMA_MASK));
}

/* left = 2^49 left - q b: of digits + 1 digits, b of one less. */
EIGHT void take_multiple(__m512i *left, __m512i q, const __m512i *b, const int digits)
{
    const unsigned over = QUOTIENT_DIGIT - STEP_BITS;
    __m512i carry = zero(), below = zero();
    UNROLL
    for (int j = 0; j <= digits; j++) {
        __m512i product = zero(), up = _mm512_slli_epi64(left[j], STEP_BITS);
        product = j < digits ? _mm512_madd52lo_epu64(product, q, b[j]) : product;
        product = j > 0 ? _mm512_madd52hi_epu64(product, q, b[j - 1]) : product;
        up = _mm512_or_si512(_mm512_and_si512(up, all(IFMA_MASK)), below);
        below = _mm512_srli_epi64(left[j], over);
        __m512i sum = _mm512_add_epi64(_mm512_sub_epi64(up, product), carry);
        left[j] = _mm512_and_si512(sum, all(IFMA_MASK));
        carry = _mm512_srai_epi64(sum, QUOTIENT_DIGIT);
    }
}

/* limb[size] = I of so many steps. */
EIGHT void join_steps(__m512i *limb, const __m512i *q, const int steps, const int size)
{
    __m512i carry = zero();
    UNROLL
    for (int l = 0; l < size; l++) {
        limb[l] = zero();
    }
    UNROLL
    for (int i = 0; i < steps; i++) {
        const int at = STEP_BITS * i / 64;
        const unsigned off = (unsigned)(STEP_BITS * i % 64);
        __m512i digit = _mm512_add_epi64(q[steps - 1 - i], carry);
        carry = _mm512_srli_epi64(digit, STEP_BITS);
        if (i + 1 < steps) {
            digit = _mm512_and_si512(digit, all(((uint64_t)1 << STEP_BITS) - 1));
        }
        limb[at] = _mm512_or_si512(limb[at], _mm512_slli_epi64(digit, off));
        if (at + 1 < size && off > 0) {
            limb[at + 1] = _mm512_or_si512(limb[at + 1], _mm512_srli_epi64(digit, 64 - off));
        }
    }
}

/* limb[n + 1] = a / b cut off, the highest bit on top, exponent = that of it; operands of N limbs.
 * Returns the lanes in which what is cut off does not matter for n limbs rounded to nearest. */
EIGHT __mmask8 divide_eight(__m512i *limb, __m512i *exponent, const Eight *a, const Eight *b,
                            const int N, const int n)
{
    const int digits = (64 * N + QUOTIENT_DIGIT - 1) / QUOTIENT_DIGIT;
    const int steps =
        (64 * n + 16 + STEP_BITS) / STEP_BITS; /* at least 17 bits more than n limbs */
    __m512i left[QUOTIENT_DIGITS + 1], by[QUOTIENT_DIGITS], q[STEPS_MOST];
    const __m512d down = _mm512_set1_pd(0x1p-52), up = _mm512_set1_pd(0x1p52);
    highest_digits(left, a->limb, N, digits);
    highest_digits(by, b->limb, N, digits);
    left[digits] = zero();
    __m512d divisor = _mm512_fmadd_pd(as_double(by[digits - 2]), down, as_double(by[digits - 1]));
    __m512d inverse = _mm512_div_pd(_mm512_set1_pd(0x1p49), divisor);
    UNROLL
    for (int k = 0; k < steps; k++) {
        __m512d x = _mm512_fmadd_pd(as_double(left[digits]), up, as_double(left[digits - 1]));
        x = _mm512_fmadd_pd(as_double(left[digits - 2]), down, x);
        q[k] = as_integer(_mm512_mul_pd(x, inverse));
        if (k + 1 < steps) {
            take_multiple(left, q[k], by, digits);
        }
    }
    join_steps(limb, q, steps, n + 1);
    __m512i by_bits = _mm512_lzcnt_epi64(limb[n]), rest = _mm512_sub_epi64(all(64), by_bits);
    UNROLL
    for (int l = n; l >= 0; l--) {
        __m512i below = l > 0 ? _mm512_srlv_epi64(limb[l - 1], rest) : zero();
        limb[l] = _mm512_or_si512(_mm512_sllv_epi64(limb[l], by_bits), below);
    }
    *exponent = _mm512_sub_epi64(_mm512_sub_epi64(a->exponent, b->exponent), by_bits);
    *exponent = _mm512_add_epi64(*exponent, all((uint64_t)(64 * (n + 1) - STEP_BITS * steps)));
    __m512i to_tie = _mm512_sub_epi64(all((uint64_t)1 << 63), limb[0]);
    return _mm512_cmpgt_epu64_mask(to_tie, _mm512_sllv_epi64(all(3), by_bits));
}

#endif
