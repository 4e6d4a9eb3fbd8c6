/*
 * A number of a few whole limbs, and one of more limbs rounded into it (private to reference/).
 * Inline, because each is looked at for a few nanoseconds.
 *
 * A number is 0.limbs 2^exponent, the highest bit of its last limb set.  An operation has its exact
 * result, or so much of it that the rest decides rounding as one bit (`lost`), in an array of
 * limbs, and rounds that once.  Loops of counts that are constants unroll.
 */
#ifndef HEADPROOF_REFERENCE_NUMBERS_LIMBS_NUMBER_H
#define HEADPROOF_REFERENCE_NUMBERS_LIMBS_NUMBER_H

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>

enum { LIMBS_MOST = 4 };

/* Exponents of plain numbers are smaller, so that those of products and quotients are inside MPFR's
 * widest range, +-2^62.  They reach far: a plan follows e where it is as small as 2^(-2^41). */
#define LIMBS_EXPONENT ((mpfr_exp_t)1 << 60)

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 10")

__extension__ typedef unsigned __int128 Wide;

typedef struct {
    const mp_limb_t *limb;
    size_t count;
    mpfr_exp_t exponent;
    bool negative;
} Number;

INLINE Number number_of(mpfr_srcptr x)
{
    return (Number){mpfr_custom_get_significand(x), (size_t)mpfr_get_prec(x) / 64,
                    mpfr_custom_get_exp(x), mpfr_signbit(x) != 0};
}

/* Whole limbs, and few. */
INLINE bool has_room(mpfr_srcptr x)
{
    mpfr_prec_t bits = mpfr_get_prec(x);
    return bits % 64 == 0 && bits <= 64 * LIMBS_MOST;
}

/* A number of no extreme exponent; what is no number has one, and so has zero. */
INLINE bool is_near(mpfr_srcptr x)
{
    mpfr_exp_t exponent = mpfr_custom_get_exp(x);
    return exponent > -LIMBS_EXPONENT && exponent < LIMBS_EXPONENT;
}

/* The same, of few whole limbs. */
INLINE bool is_plain(mpfr_srcptr x)
{
    return has_room(x) && is_near(x);
}

INLINE void put(mpfr_ptr y, bool negative, mpfr_exp_t exponent)
{
    mpfr_custom_init_set(y, negative ? -MPFR_REGULAR_KIND : MPFR_REGULAR_KIND, exponent,
                         mpfr_get_prec(y), mpfr_custom_get_significand(y));
}

/* Rounds n limbs, whose last bit is `ulp` of the first one, to nearest, ties to even: rest is what
 * lies below that, half of it the highest bit, and a little more where lost is not 0.  Are they
 * carried over, to 1000...? */
INLINE bool round_limbs(mp_limb_t *limb, const size_t n, mp_limb_t ulp, mp_limb_t rest,
                        mp_limb_t lost)
{
    const mp_limb_t half = (mp_limb_t)1 << 63;
    bool up = rest > half || (rest == half && (lost != 0 || (limb[0] & ulp) != 0));
    mp_limb_t carry = up ? ulp : 0;
    UNROLL
    for (size_t i = 0; i < n; i++) {
        limb[i] += carry;
        carry = carry != 0 && limb[i] == 0;
    }
    limb[n - 1] = carry != 0 ? half : limb[n - 1];
    return carry != 0;
}

/* y = (-1)^negative 0.from 2^exponent, from[size - 1] with its highest bit set, and a little more
 * where lost is not 0; y has n < size limbs. */
INLINE void put_rounded(mpfr_ptr y, const mp_limb_t *from, const size_t size, mp_limb_t lost,
                        mpfr_exp_t exponent, bool negative, const size_t n)
{
    mp_limb_t *to = mpfr_custom_get_significand(y), rest = from[size - n - 1];
    UNROLL
    for (size_t i = 0; i + n + 1 < size; i++) {
        lost |= from[i];
    }
    UNROLL
    for (size_t i = 0; i < n; i++) {
        to[i] = from[size - n + i];
    }
    exponent += round_limbs(to, n, 1, rest, lost);
    put(y, negative, exponent);
}

/* to [na + nb] = a b. */
INLINE void multiply_few(mp_limb_t *to, const mp_limb_t *a, const mp_limb_t *b, const size_t na,
                         const size_t nb)
{
    UNROLL
    for (size_t j = 0; j < nb; j++) {
        mp_limb_t carry = 0;
        UNROLL
        for (size_t i = 0; i < na; i++) {
            Wide x = (Wide)a[i] * b[j] + carry + (j == 0 ? 0 : to[i + j]);
            to[i + j] = (mp_limb_t)x;
            carry = (mp_limb_t)(x >> 64);
        }
        to[na + j] = carry;
    }
}

/* The 64 bits of `count` limbs from bit `lowest` on, which may be negative; 0 is beyond both
 * ends. */
INLINE mp_limb_t word_from(const mp_limb_t *limb, size_t count, long lowest)
{
    const long at = lowest >> 6; /* downwards */
    const unsigned off = (unsigned)(lowest & 63);
    mp_limb_t low = at >= 0 && (size_t)at < count ? limb[at] : 0;
    mp_limb_t high = at >= -1 && (size_t)(at + 1) < count ? limb[at + 1] : 0;
    return low >> off | high << 1 << (63 - off);
}

/* Counts of limbs as one number. */
#define COUNTS(na, nb, n) ((na)*100 + (nb)*10 + (n))

#endif
