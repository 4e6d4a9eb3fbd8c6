/*
 * Quotients of numbers of a few whole limbs, rounded to nearest: long division, a limb at a time.
 */
#include "limbs.h"

#include "limbs_number.h"

INLINE Wide wide_of(mp_limb_t high, mp_limb_t low)
{
    return (Wide)high << 32 << 32 | low; /* in two: 64 bits are all that the analyzer shifts */
}

/* The two highest limbs of a divisor, by which three limbs are divided, and their inverse
 * floor((2^192 - 1) / (high 2^64 + low)) - 2^64 (Moller and Granlund, Improved division by
 * invariant integers). */
typedef struct {
    mp_limb_t high, low, inverse;
} Divisor;

INLINE Divisor divisor_of(mp_limb_t high, mp_limb_t low)
{
    mp_limb_t v = (mp_limb_t)(wide_of(~high, ~(mp_limb_t)0) / high);
    mp_limb_t p = high * v + low;
    if (p < low) {
        v--;
        if (p >= high) {
            v--;
            p -= high;
        }
        p -= high;
    }
    Wide t = (Wide)v * low;
    p += (mp_limb_t)(t >> 64);
    if (p < (mp_limb_t)(t >> 64)) {
        v--;
        if (wide_of(p, (mp_limb_t)t) >= wide_of(high, low)) {
            v--;
        }
    }
    return (Divisor){high, low, v};
}

/* floor((u 2^64 + next) / d), u < d. */
INLINE mp_limb_t quotient_limb(Wide u, mp_limb_t next, const Divisor *divisor)
{
    Wide d = wide_of(divisor->high, divisor->low);
    Wide q = (Wide)divisor->inverse * (mp_limb_t)(u >> 64) + u;
    mp_limb_t q1 = (mp_limb_t)(q >> 64);
    Wide r = wide_of((mp_limb_t)u - q1 * divisor->high, next);
    r = r - (Wide)q1 * divisor->low - d;
    q1++;
    if ((mp_limb_t)(r >> 64) >= (mp_limb_t)q) {
        q1--;
        r += d;
    }
    return r >= d ? q1 + 1 : q1;
}

/* left = left 2^64 - q b, of n + 1 limbs; is it negative? */
INLINE bool subtract_multiple(mp_limb_t *left, mp_limb_t q, const mp_limb_t *b, const size_t n)
{
    mp_limb_t carry = 0, before = 0;
    UNROLL
    for (size_t i = 0; i < n; i++) {
        Wide x = (Wide)q * b[i] + carry;
        mp_limb_t limb = before;
        before = left[i];
        left[i] = limb - (mp_limb_t)x;
        carry = (mp_limb_t)(x >> 64) + (limb < (mp_limb_t)x);
    }
    return before < carry;
}

INLINE mp_limb_t add_limb_by_limb(mp_limb_t *to, const mp_limb_t *b, const size_t n)
{
    mp_limb_t carry = 0;
    UNROLL
    for (size_t i = 0; i < n; i++) {
        Wide sum = (Wide)to[i] + b[i] + carry;
        to[i] = (mp_limb_t)sum;
        carry = (mp_limb_t)(sum >> 64);
    }
    return carry;
}

/* y = a / b, all of n >= 2 limbs: the quotient limb by limb, one more than y has, and whether
 * anything is left. */
INLINE void divide_limbs(mpfr_ptr y, const Number *a, const Number *b, const size_t n)
{
    mp_limb_t left[LIMBS_MOST] = {0}, by[LIMBS_MOST] = {0}, quotient[LIMBS_MOST + 1];
    mp_limb_t borrow = 0, lost = 0;
    UNROLL
    for (size_t i = 0; i < n; i++) {
        by[i] = b->limb[i];
        Wide x = (Wide)a->limb[i] - by[i] - borrow;
        left[i] = (mp_limb_t)x;
        borrow = (mp_limb_t)(x >> 64) & 1;
    }
    bool one = borrow == 0; /* a >= b */
    if (!one) {
        UNROLL
        for (size_t i = 0; i < n; i++) {
            left[i] = a->limb[i];
        }
    }
    const Divisor divisor = divisor_of(by[n - 1], by[n - 2]);
    const Wide top = wide_of(by[n - 1], by[n - 2]);
    UNROLL
    for (size_t i = n + 1; i-- > 0;) {
        Wide u = wide_of(left[n - 1], left[n - 2]);
        mp_limb_t q = u < top ? quotient_limb(u, n > 2 ? left[n - 3] : 0, &divisor) : ~(mp_limb_t)0;
        bool negative = subtract_multiple(left, q, by, n);
        while (negative) {
            q--;
            negative = add_limb_by_limb(left, by, n) == 0;
        }
        quotient[i] = q;
    }
    UNROLL
    for (size_t i = 0; i < n; i++) {
        lost |= left[i];
    }
    if (one) {
        lost |= quotient[0] & 1;
        UNROLL
        for (size_t i = 0; i < n; i++) {
            quotient[i] = quotient[i] >> 1 | quotient[i + 1] << 63;
        }
        quotient[n] = quotient[n] >> 1 | (mp_limb_t)1 << 63;
    }
    put_rounded(y, quotient, n + 1, lost, a->exponent - b->exponent + one,
                a->negative != b->negative, n);
}

void limbs_div(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b)
{
    if (is_plain(a) && is_plain(b) && has_room(y)) {
        Number x = number_of(a), z = number_of(b);
        switch (COUNTS(x.count, z.count, (size_t)mpfr_get_prec(y) / 64)) {
        case COUNTS(2, 2, 2): divide_limbs(y, &x, &z, 2); return;
        case COUNTS(3, 3, 3): divide_limbs(y, &x, &z, 3); return;
        case COUNTS(4, 4, 4): divide_limbs(y, &x, &z, 4); return;
        default: break;
        }
    }
    mpfr_div(y, a, b, MPFR_RNDN);
}
