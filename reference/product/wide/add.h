/*
 * Sums of numbers, one a lane (private to reference/product/wide/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_ADD_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_ADD_H

#include "memory.h"

/* A sum has one limb more than its operands. */
enum { ADDEND_LIMBS = SHIFTED_MOST - 1 };

/* Numbers of so many limbs, the least significant first, the highest bit of the last one set. */
typedef struct {
    Words exponent;
    const Words *limb;
    Mask negative;
} Addend;

INLINE Addend addend(const Lanes *x)
{
    return (Addend){x->exponent, x->limb, x->negative};
}

/* a += b + carry in lanes; returns what is carried out. */
INLINE Mask add_limbs(Words *a, const Words *b, const int size, Mask carry)
{
    UNROLL
    for (int i = 0; i < size; i++) {
        Words sum = a[i] + b[i];
        Mask out = below(sum, b[i]);
        a[i] = select(carry, sum + all(1), sum);
        carry = out | (carry & is_zero(a[i]));
    }
    return carry;
}

/* a = -a in lanes `which`. */
INLINE void negate(Words *a, const int size, const Mask which)
{
    Mask carry = which;
    UNROLL
    for (int i = 0; i < size; i++) {
        a[i] = select(which, a[i] ^ all(UINT64_MAX), a[i]);
        a[i] = select(carry, a[i] + all(1), a[i]);
        carry &= is_zero(a[i]);
    }
}

/* The highest bit of a to the top: by how many bits.  Zeros stay. */
INLINE Words normalise(Words *a, const int size)
{
    Words by = zero();
    UNROLL
    for (int step = 1; step < size; step++) {
        Mask empty = is_zero(a[size - 1]);
        if (!any(empty)) {
            break;
        }
        UNROLL
        for (int i = size - 1; i >= 0; i--) {
            a[i] = select(empty, i > 0 ? a[i - 1] : zero(), a[i]);
        }
        by = select(empty, by + all(64), by);
    }
    Words left = leading_zeros(a[size - 1]);
    shift_up(a, size, left);
    return by + left;
}

/* Where a sum of one sign is carried out, all is a bit lower. */
INLINE void carry_out(Words *x, const int size, Words *lost, Words *exponent, const Mask over)
{
    *lost = select(over, (*lost) | (x[0] & all(1)), *lost);
    UNROLL
    for (int i = 0; i < size; i++) {
        Words above = i + 1 < size ? (x[i + 1] << 63) : all((uint64_t)1 << 63);
        x[i] = select(over, (x[i] >> 1) | above, x[i]);
    }
    *exponent = select(over, (*exponent) + all(1), *exponent);
}

/* y = 0 in some lanes, negative in some of these. */
INLINE void set_zeros(Lanes *y, Mask none, Mask negative)
{
    y->exponent = select(none, all((uint64_t)__MPFR_EXP_ZERO), y->exponent);
    y->negative = (y->negative & not(none)) | (negative & none);
}

/* y = a + b, operands of N limbs, result of n.  What is lost of the smaller is taken as almost one
 * unit of the last limb, as in limbs.c. */
INLINE void add_numbers(Lanes *y, Addend a, Addend b, const int N, const int n)
{
    const int size = N + 1;
    Words x[ADDEND_LIMBS + 1] = {zero()}, z[ADDEND_LIMBS + 1] = {zero()}, exponent;
    Mask swap = less(a.exponent, b.exponent);
    UNROLL
    for (int i = 0; i < N; i++) {
        x[i + 1] = select(swap, b.limb[i], a.limb[i]);
        z[i + 1] = select(swap, a.limb[i], b.limb[i]);
    }
    exponent = select(swap, b.exponent, a.exponent);
    Words other = select(swap, a.exponent, b.exponent);
    Words lost = shift_down(z, size, exponent - other);
    Mask differ = a.negative ^ b.negative;
    UNROLL
    for (int i = 0; i < size; i++) {
        z[i] = select(differ, z[i] ^ all(UINT64_MAX), z[i]);
    }
    Mask whole = is_zero(lost);
    Mask carried = add_limbs(x, z, size, differ & whole);
    Mask over = not(differ) & carried, turned = differ & not(carried);
    if (any(over)) {
        carry_out(x, size, &lost, &exponent, over);
    }
    if (any(turned)) { /* the other was larger, and nothing lost */
        negate(x, size, turned);
    }
    if (any(differ)) {
        exponent = exponent - normalise(x, size);
    }
    Mask none = is_zero(x[size - 1]);
    y->negative = ((swap & b.negative) | (not(swap) & a.negative)) ^ turned;
    y->exponent = exponent;
    round_to(y, x, size, lost, n);
    set_zeros(y, none, a.negative & b.negative);
}

#endif
