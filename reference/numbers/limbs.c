/*
 * Sums, differences and products of numbers of a few whole limbs, rounded to nearest: the common
 * counts of limbs, for which loops unroll.
 */
#include "limbs.h"

#include "limbs_number.h"

#include <stdint.h>
#include <string.h>

/* x[size] shifted to the left until its highest bit is set: by how many bits.  x is not 0. */
INLINE mpfr_exp_t normalise(mp_limb_t *x, const size_t size)
{
    size_t empty = 0;
    while (x[size - 1 - empty] == 0) {
        empty++;
    }
    if (empty > 0) {
        for (size_t i = size; i-- > 0;) {
            x[i] = i >= empty ? x[i - empty] : 0;
        }
    }
    unsigned zeros = (unsigned)__builtin_clzll(x[size - 1]);
    UNROLL
    for (size_t i = size - 1; i > 0; i--) {
        x[i] = x[i] << zeros | x[i - 1] >> 1 >> (63 - zeros);
    }
    x[0] <<= zeros;
    return (mpfr_exp_t)(64 * empty + zeros);
}

/* out = x, its first limb at out[size - 1]. */
INLINE void align(mp_limb_t *out, const size_t size, const Number *x, const size_t count)
{
    UNROLL
    for (size_t i = 0; i < size; i++) {
        out[i] = i + count < size ? 0 : x->limb[i + count - size];
    }
}

/* out = x 2^-down; returns what is lost of it. */
INLINE mp_limb_t align_down(mp_limb_t *out, const size_t size, const Number *x, const size_t count,
                            unsigned long down)
{
    mp_limb_t zeros_above[2 * (LIMBS_MOST + 1)], lost = 0;
    align(zeros_above, size, x, count);
    UNROLL
    for (size_t i = size; i < 2 * size; i++) {
        zeros_above[i] = 0;
    }
    if (down >= 64 * size) {
        UNROLL
        for (size_t i = 0; i < size; i++) {
            out[i] = 0;
        }
        return 1;
    }
    size_t limbs = down / 64;
    unsigned bits = (unsigned)(down % 64);
    for (size_t i = 0; i < limbs; i++) {
        lost |= zeros_above[i];
    }
    lost |= zeros_above[limbs] << 1 << (63 - bits) & -(mp_limb_t)(bits != 0);
    const mp_limb_t *from = zeros_above + limbs;
    UNROLL
    for (size_t i = 0; i + 1 < size; i++) {
        out[i] = from[i] >> bits | from[i + 1] << 1 << (63 - bits);
    }
    out[size - 1] = from[size - 1] >> bits;
    return lost;
}

/* y = x + z of one sign, x's exponent not below z's. */
INLINE void add_magnitudes(mpfr_ptr y, const Number *x, const Number *z, const size_t nx,
                           const size_t nz, const size_t n, const size_t size)
{
    mp_limb_t a[LIMBS_MOST + 1], b[LIMBS_MOST + 1];
    align(a, size, x, nx);
    mp_limb_t lost = align_down(b, size, z, nz, (unsigned long)(x->exponent - z->exponent));
    mp_limb_t carry = 0;
    UNROLL
    for (size_t i = 0; i < size; i++) {
        Wide sum = (Wide)a[i] + b[i] + carry;
        a[i] = (mp_limb_t)sum;
        carry = (mp_limb_t)(sum >> 64);
    }
    if (carry != 0) {
        lost |= a[0] & 1;
        UNROLL
        for (size_t i = 0; i + 1 < size; i++) {
            a[i] = a[i] >> 1 | a[i + 1] << 63;
        }
        a[size - 1] = a[size - 1] >> 1 | carry << 63;
    }
    put_rounded(y, a, size, lost, x->exponent + (mpfr_exp_t)carry, x->negative, n);
}

/* y = x - z in magnitude, with x's sign; the same.  What is lost of z is taken as almost one unit
 * of the last limb.  Then no more than one bit cancels, so that y's last bit is far above it. */
INLINE void subtract_magnitudes(mpfr_ptr y, const Number *x, const Number *z, const size_t nx,
                                const size_t nz, const size_t n, const size_t size)
{
    mp_limb_t a[LIMBS_MOST + 1], b[LIMBS_MOST + 1], any = 0;
    bool negative = x->negative;
    align(a, size, x, nx);
    mp_limb_t lost = align_down(b, size, z, nz, (unsigned long)(x->exponent - z->exponent));
    mp_limb_t borrow = lost != 0;
    UNROLL
    for (size_t i = 0; i < size; i++) {
        Wide left = (Wide)a[i] - b[i] - borrow;
        a[i] = (mp_limb_t)left;
        borrow = (mp_limb_t)(left >> 64) & 1;
        any |= a[i];
    }
    if (any == 0) {
        mpfr_set_zero(y, 1);
        return;
    }
    if (borrow != 0) { /* z was larger, and nothing lost */
        mp_limb_t carry = 1;
        UNROLL
        for (size_t i = 0; i < size; i++) {
            a[i] = ~a[i] + carry;
            carry = carry != 0 && a[i] == 0;
        }
        negative = !negative;
    }
    mpfr_exp_t exponent = x->exponent - normalise(a, size);
    put_rounded(y, a, size, lost, exponent, negative, n);
}

/* y = a + b, or with b's sign turned; na, nb, n limbs. */
INLINE void add_limbs(mpfr_ptr y, const Number *a, const Number *b, const size_t na,
                      const size_t nb, const size_t n, const size_t size)
{
    bool swap = a->exponent < b->exponent;
    Number x = swap ? *b : *a, z = swap ? *a : *b;
    const size_t nx = na == nb ? na : swap ? nb : na, nz = na == nb ? na : swap ? na : nb;
    if (x.negative == z.negative) {
        add_magnitudes(y, &x, &z, nx, nz, n, size);
    } else {
        subtract_magnitudes(y, &x, &z, nx, nz, n, size);
    }
}

/* Counts of limbs that precisions of x, of e and of results have together. */
#define EACH_COUNTS(CASE)                                                                          \
    CASE(1, 1, 1)                                                                                  \
    CASE(2, 2, 2)                                                                                  \
    CASE(3, 3, 3)                                                                                  \
    CASE(4, 4, 4)                                                                                  \
    CASE(2, 3, 2)                                                                                  \
    CASE(3, 2, 2)                                                                                  \
    CASE(3, 3, 2)                                                                                  \
    CASE(2, 3, 3)                                                                                  \
    CASE(3, 2, 3)                                                                                  \
    CASE(2, 4, 2)                                                                                  \
    CASE(4, 2, 2)                                                                                  \
    CASE(4, 4, 2)                                                                                  \
    CASE(2, 4, 4)                                                                                  \
    CASE(4, 2, 4)

static inline size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* false: of other counts, and not done. */
static bool add_numbers(mpfr_ptr y, const Number *a, const Number *b)
{
#define ADD(na, nb, n)                                                                             \
    case COUNTS(na, nb, n):                                                                        \
        add_limbs(y, a, b, na, nb, n, larger(larger(na, nb), n) + 1);                              \
        return true;
    switch (COUNTS(a->count, b->count, (size_t)mpfr_get_prec(y) / 64)) {
        EACH_COUNTS(ADD)
    default: return false;
    }
#undef ADD
}

void limbs_add(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b)
{
    if (is_plain(a) && is_plain(b) && has_room(y)) {
        Number x = number_of(a), z = number_of(b);
        if (add_numbers(y, &x, &z)) {
            return;
        }
    }
    mpfr_add(y, a, b, MPFR_RNDN);
}

void limbs_sub(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b)
{
    if (is_plain(a) && is_plain(b) && has_room(y)) {
        Number x = number_of(a), z = number_of(b);
        z.negative = !z.negative;
        if (add_numbers(y, &x, &z)) {
            return;
        }
    }
    mpfr_sub(y, a, b, MPFR_RNDN);
}

/* y = a b; na, nb, n < na + nb limbs. */
INLINE void multiply_limbs(mpfr_ptr y, const Number *a, const Number *b, const size_t na,
                           const size_t nb, const size_t n)
{
    mp_limb_t product[2 * LIMBS_MOST];
    multiply_few(product, a->limb, b->limb, na, nb);
    const size_t size = na + nb;
    mpfr_exp_t exponent = a->exponent + b->exponent;
    if (product[size - 1] >> 63 == 0) {
        UNROLL
        for (size_t i = size - 1; i > 0; i--) {
            product[i] = product[i] << 1 | product[i - 1] >> 63;
        }
        product[0] <<= 1;
        exponent--;
    }
    put_rounded(y, product, size, 0, exponent, a->negative != b->negative, n);
}

static bool multiply_numbers(mpfr_ptr y, const Number *a, const Number *b)
{
#define MULTIPLY(na, nb, n)                                                                        \
    case COUNTS(na, nb, n): multiply_limbs(y, a, b, na, nb, n); return true;
    switch (COUNTS(a->count, b->count, (size_t)mpfr_get_prec(y) / 64)) {
        EACH_COUNTS(MULTIPLY)
    default: return false;
    }
#undef MULTIPLY
}

void limbs_mul(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b)
{
    if (is_plain(a) && is_plain(b) && has_room(y)) {
        Number x = number_of(a), z = number_of(b);
        if (multiply_numbers(y, &x, &z)) {
            return;
        }
    }
    mpfr_mul(y, a, b, MPFR_RNDN);
}

/* y = a, with that sign. */
static inline void set_signed(mpfr_ptr y, mpfr_srcptr a, bool negative)
{
    size_t n = (size_t)mpfr_get_prec(y) / 64;
    if (!is_plain(a) || !has_room(y)) {
        mpfr_setsign(y, a, negative, MPFR_RNDN);
        return;
    }
    Number x = number_of(a);
    if (x.count <= n) {
        mp_limb_t *to = mpfr_custom_get_significand(y);
        if (to != x.limb) {
            align(to, n, &x, x.count);
        }
        put(y, negative, x.exponent);
    } else {
        put_rounded(y, x.limb, x.count, 0, x.exponent, negative, n);
    }
}

void limbs_set(mpfr_ptr y, mpfr_srcptr a)
{
    set_signed(y, a, mpfr_signbit(a) != 0);
}

void limbs_below_zero(mpfr_ptr y, mpfr_srcptr a)
{
    set_signed(y, a, true);
}

void limbs_set_d(mpfr_ptr y, double d)
{
    enum { MANTISSA = 52, BIAS = 1022, EXPONENTS = 0x7ff };
    uint64_t word;
    memcpy(&word, &d, sizeof word);
    unsigned exponent = (unsigned)(word >> MANTISSA) & EXPONENTS;
    if (exponent == 0 || exponent == EXPONENTS || !has_room(y)) {
        mpfr_set_d(y, d, MPFR_RNDN);
        return;
    }
    size_t n = (size_t)mpfr_get_prec(y) / 64;
    mp_limb_t *to = mpfr_custom_get_significand(y);
    for (size_t i = 0; i + 1 < n; i++) {
        to[i] = 0;
    }
    to[n - 1] = (mp_limb_t)1 << 63 | word << (64 - MANTISSA) >> 1;
    put(y, word >> 63 != 0, (mpfr_exp_t)exponent - BIAS);
}

bool limbs_greater(mpfr_srcptr a, mpfr_srcptr b)
{
    if (!is_plain(a) || !is_plain(b) || mpfr_get_prec(a) != mpfr_get_prec(b)) {
        return mpfr_cmp(a, b) > 0;
    }
    Number x = number_of(a), z = number_of(b);
    if (x.negative != z.negative) {
        return z.negative;
    }
    if (x.exponent != z.exponent) {
        return (x.exponent > z.exponent) != x.negative;
    }
    size_t i = x.count - 1;
    while (i > 0 && x.limb[i] == z.limb[i]) {
        i--;
    }
    return x.negative ? x.limb[i] < z.limb[i] : x.limb[i] > z.limb[i];
}
