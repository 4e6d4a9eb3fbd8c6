/*
 * Sums of eight numbers at once (private to the files of reference/product/ that do eight at a
 * time; x86-64 alone).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_LANES_ADD_H
#define HEADPROOF_REFERENCE_PRODUCT_LANES_ADD_H

#include "lanes_memory.h"

/* One limb more than a sum's operands have is shifted by fewer than LANES. */
enum { ADDEND_LIMBS = LANES - 1 };

/* Numbers of so many limbs, the least significant first, the highest bit of the last one set. */
typedef struct {
    __m512i exponent;
    const __m512i *limb;
    __mmask8 negative;
} Addend;

EIGHT Addend addend(const Eight *x)
{
    return (Addend){x->exponent, x->limb, x->negative};
}

/* a += b + carry in lanes; returns what is carried out. */
EIGHT __mmask8 add_limbs(__m512i *a, const __m512i *b, const int size, __mmask8 carry)
{
    UNROLL
    for (int i = 0; i < size; i++) {
        __m512i sum = _mm512_add_epi64(a[i], b[i]);
        __mmask8 out = _mm512_cmplt_epu64_mask(sum, b[i]);
        a[i] = _mm512_mask_add_epi64(sum, carry, sum, all(1));
        carry = out | (carry & _mm512_testn_epi64_mask(a[i], a[i]));
    }
    return carry;
}

/* a = -a in lanes `which`. */
EIGHT void negate(__m512i *a, const int size, const __mmask8 which)
{
    __mmask8 carry = which;
    UNROLL
    for (int i = 0; i < size; i++) {
        a[i] = _mm512_mask_xor_epi64(a[i], which, a[i], all(UINT64_MAX));
        a[i] = _mm512_mask_add_epi64(a[i], carry, a[i], all(1));
        carry &= _mm512_testn_epi64_mask(a[i], a[i]);
    }
}

/* The highest bit of a to the top: by how many bits.  Zeros stay. */
EIGHT __m512i normalise(__m512i *a, const int size)
{
    __m512i by = zero();
    UNROLL
    for (int step = 1; step < size; step++) {
        __mmask8 empty = _mm512_testn_epi64_mask(a[size - 1], a[size - 1]);
        if (empty == 0) {
            break;
        }
        UNROLL
        for (int i = size - 1; i >= 0; i--) {
            a[i] = _mm512_mask_mov_epi64(a[i], empty, i > 0 ? a[i - 1] : zero());
        }
        by = _mm512_mask_add_epi64(by, empty, by, all(64));
    }
    __m512i left = _mm512_lzcnt_epi64(a[size - 1]), right = _mm512_sub_epi64(all(64), left);
    UNROLL
    for (int i = size - 1; i >= 0; i--) {
        __m512i below = i > 0 ? _mm512_srlv_epi64(a[i - 1], right) : zero();
        a[i] = _mm512_or_si512(_mm512_sllv_epi64(a[i], left), below);
    }
    return _mm512_add_epi64(by, left);
}

/* Where a sum of one sign is carried out, all is a bit lower. */
EIGHT void carry_out(__m512i *x, const int size, __m512i *lost, __m512i *exponent,
                     const __mmask8 over)
{
    *lost = _mm512_mask_or_epi64(*lost, over, *lost, _mm512_and_si512(x[0], all(1)));
    UNROLL
    for (int i = 0; i < size; i++) {
        __m512i above = i + 1 < size ? _mm512_slli_epi64(x[i + 1], 63) : all((uint64_t)1 << 63);
        x[i] = _mm512_mask_or_epi64(x[i], over, _mm512_srli_epi64(x[i], 1), above);
    }
    *exponent = _mm512_mask_add_epi64(*exponent, over, *exponent, all(1));
}

/* y = 0 in some lanes, negative in some of these. */
EIGHT void set_zeros(Eight *y, __mmask8 none, __mmask8 negative)
{
    y->exponent = _mm512_mask_mov_epi64(y->exponent, none, all((uint64_t)__MPFR_EXP_ZERO));
    y->negative = (y->negative & (__mmask8)~none) | (negative & none);
}

/* y = a + b, operands of N limbs, result of n.  What is lost of the smaller is taken as almost one
 * unit of the last limb, as in limbs.c. */
EIGHT void add_numbers(Eight *y, Addend a, Addend b, const int N, const int n)
{
    const int size = N + 1;
    __m512i x[ADDEND_LIMBS + 1] = {zero()}, z[ADDEND_LIMBS + 1] = {zero()}, exponent;
    __mmask8 swap = _mm512_cmplt_epi64_mask(a.exponent, b.exponent);
    UNROLL
    for (int i = 0; i < N; i++) {
        x[i + 1] = _mm512_mask_mov_epi64(a.limb[i], swap, b.limb[i]);
        z[i + 1] = _mm512_mask_mov_epi64(b.limb[i], swap, a.limb[i]);
    }
    exponent = _mm512_max_epi64(a.exponent, b.exponent);
    __m512i lost = shift_down(z, size, _mm512_abs_epi64(_mm512_sub_epi64(a.exponent, b.exponent)));
    __mmask8 differ = a.negative ^ b.negative;
    UNROLL
    for (int i = 0; i < size; i++) {
        z[i] = _mm512_mask_xor_epi64(z[i], differ, z[i], all(UINT64_MAX));
    }
    __mmask8 whole = _mm512_testn_epi64_mask(lost, lost);
    __mmask8 carried = add_limbs(x, z, size, differ & whole);
    __mmask8 over = (__mmask8)~differ & carried, below = differ & (__mmask8)~carried;
    if (over != 0) {
        carry_out(x, size, &lost, &exponent, over);
    }
    if (below != 0) { /* the other was larger, and nothing lost */
        negate(x, size, below);
    }
    if (differ != 0) {
        exponent = _mm512_sub_epi64(exponent, normalise(x, size));
    }
    __mmask8 none = _mm512_testn_epi64_mask(x[size - 1], x[size - 1]);
    y->negative = ((swap & b.negative) | ((__mmask8)~swap & a.negative)) ^ below;
    y->exponent = exponent;
    round_to(y, x, size, lost, n);
    set_zeros(y, none, a.negative & b.negative);
}

#endif
