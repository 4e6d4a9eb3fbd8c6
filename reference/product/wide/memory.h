/*
 * Numbers side by side, between memory and vectors (private to reference/product/wide/).
 *
 * In memory they are structures of some words each, one behind the other: headers of four words,
 * and limbs.  In vectors every word of the structure is a vector of its own, a number a lane.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_MEMORY_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_MEMORY_H

#include "../lanes.h"
#include "words.h"

/* Numbers in rows have more limbs than those that are read one by one. */
enum { LANE_LIMBS = 6 };

/* Limbs, the least significant first. */
typedef struct {
    Words limb[LANE_LIMBS], exponent;
    Mask negative;
} Lanes;

/* Limbs that are shifted at once, at most. */
enum { SHIFTED_MOST = 8 };

/* MPFR's header of a number in words, and the bit that -1 has there, whatever is beside it. */
enum { HEADER = 4, NEGATIVE_BIT = 31 };
_Static_assert(sizeof(__mpfr_struct) == HEADER * sizeof(uint64_t) &&
                   offsetof(__mpfr_struct, _mpfr_sign) == sizeof(uint64_t) &&
                   sizeof(mpfr_sign_t) == sizeof(uint32_t) &&
                   offsetof(__mpfr_struct, _mpfr_exp) == 2 * sizeof(uint64_t),
               "MPFR's numbers look otherwise");

/* Few whole limbs, one behind the other? */
static inline bool is_row(mpfr_srcptr first, size_t count)
{
    const mp_limb_t *limb = mpfr_custom_get_significand(first);
    const mp_limb_t *last = mpfr_custom_get_significand(first + count - 1);
    mpfr_prec_t bits = mpfr_get_prec(first);
    bool few = bits % 64 == 0 && bits <= 64 * LANE_LIMBS;
    return few && last == limb + (count - 1) * (size_t)(bits / 64);
}

/* The lanes in which a header has its limbs behind those of the first, `count` each. */
INLINE Mask have_limbs_beside(mpfr_srcptr from, size_t lanes, const int count)
{
    static const uint64_t places[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint64_t *header = (const uint64_t *)(const void *)from;
    Words limbs = load(places) * (uint64_t)(sizeof(mp_limb_t) * (size_t)count);
    limbs = limbs + all((uint64_t)(uintptr_t)mpfr_custom_get_significand(from));
    return equal(load_part(header, HEADER, 3, lanes), limbs);
}

/* Exponents and signs of headers, one behind the other. */
INLINE void load_headers(Lanes *x, mpfr_srcptr from)
{
    Words sign;
    load_middle(&sign, &x->exponent, (const uint64_t *)(const void *)from);
    x->negative = is_not_zero(sign & all((uint64_t)1 << NEGATIVE_BIT));
}

INLINE void store_headers(mpfr_ptr to, const Lanes *x)
{
    Words sign = select(x->negative, all(UINT64_MAX), all(1));
    store_middle((uint64_t *)(void *)to, sign, x->exponent);
}

/* The lanes whose numbers are 0: of an exponent that MPFR gives nothing else. */
INLINE Mask are_zero(const Lanes *x)
{
    return equal(x->exponent, all((uint64_t)__MPFR_EXP_ZERO));
}

/* x = numbers of `count` limbs, in n >= count; returns the lanes that are plain, or 0. */
INLINE Mask load_row(Lanes *x, mpfr_srcptr from, const int count, const int n)
{
    const uint64_t *limb = mpfr_custom_get_significand(from);
    load_headers(x, from);
    UNROLL
    for (int l = 0; l < n; l++) {
        x->limb[l] = l < n - count ? zero() : load_part(limb, count, l - (n - count), LANES);
    }
    Words above = x->exponent + all((uint64_t)LIMBS_EXPONENT - 1);
    return below(above, all(2 * (uint64_t)LIMBS_EXPONENT - 1)) | are_zero(x);
}

/* x = one number in every lane. */
INLINE Mask load_same(Lanes *x, mpfr_srcptr from, const int count, const int n)
{
    const mp_limb_t *limb = mpfr_custom_get_significand(from);
    x->exponent = all((uint64_t)mpfr_custom_get_exp(from));
    x->negative = all_lanes(mpfr_signbit(from) != 0);
    UNROLL
    for (int l = 0; l < n; l++) {
        x->limb[l] = l < n - count ? zero() : all(limb[l - (n - count)]);
    }
    return all_lanes(is_near(from) || mpfr_zero_p(from));
}

/* Numbers of fewer than n limbs have zeros below. */
INLINE Mask load_numbers(Lanes *x, const Numbers *from, size_t i, const int n)
{
    mpfr_srcptr first = from->first + i * from->step;
    int count = (int)(mpfr_get_prec(first) / 64);
#define LOAD(count) from->step == 0 ? load_same(x, first, count, n) : load_row(x, first, count, n)
    if (count == n) {
        return LOAD(n);
    }
    if (n > 2 && count == 2) {
        return LOAD(2);
    }
    if (n > 3 && count == 3) {
        return LOAD(3);
    }
    *x = (Lanes){.exponent = zero()};
    return all_lanes(false);
#undef LOAD
}

INLINE void store_numbers(mpfr_ptr to, const Lanes *x, const int n)
{
    store_headers(to, x);
    store_parts(mpfr_custom_get_significand(to), x->limb, n);
}

/* The 52 bits from bit `low` on, an end of digits of limbs, whose last may reach beyond them. */
INLINE Words digit_from(const Words *limb, const int size, const int low)
{
    const int at = low / 64;
    const unsigned off = (unsigned)low % 64;
    Words bits = limb[at] >> off;
    if (off + DIGIT > 64 && at + 1 < size) {
        bits = bits | (limb[at + 1] << (64 - off));
    }
    return bits & all(DIGIT_MASK);
}

/* x shifted up by up to 64 bits, and what is lost of it is. */
INLINE void shift_up(Words *x, const int size, Words up)
{
    const Words down = all(64) - up; /* a shift by 64 gives 0 */
    UNROLL
    for (int i = size - 1; i >= 0; i--) {
        Words under = i > 0 ? shift_right(x[i - 1], down) : zero();
        x[i] = shift_left(x[i], up) | under;
    }
}

/* x shifted down by so many bits; returns what is lost of it. */
INLINE Words shift_down(Words *x, const int size, Words down)
{
    Words lost = zero(), limbs = down >> 6;
    UNROLL
    for (int step = 1; step < SHIFTED_MOST; step *= 2) {
        Mask moves = is_not_zero(limbs & all((uint64_t)step));
        if (any(moves)) {
            UNROLL
            for (int i = 0; i < size; i++) {
                lost = i < step ? select(moves, lost | x[i], lost) : lost;
                x[i] = select(moves, i + step < size ? x[i + step] : zero(), x[i]);
            }
        }
    }
    Mask near = below(limbs, all(SHIFTED_MOST));
    Words right = (down & all(63)), left = all(64) - right;
    lost = lost | shift_left(x[0], left); /* a shift by 64 gives 0 */
    lost = select(near, lost, all(1));
    UNROLL
    for (int i = 0; i < size; i++) {
        Words from_above = i + 1 < size ? shift_left(x[i + 1], left) : zero();
        x[i] = keep(near, shift_right(x[i], right) | from_above);
    }
    return lost;
}

/* Rounds n limbs, whose last bit is `ulp` of the first one, to nearest, ties to even: rest is what
 * lies below that, half of it the highest bit, and a little more where lost is not 0.  Returns the
 * lanes that a carry left, as 1000... */
INLINE Mask round_words(Words *limb, const int n, Words ulp, Words rest, Words lost)
{
    const Words half = all((uint64_t)1 << 63);
    Mask carry = below(half, rest);
    carry |= equal(rest, half) & (is_not_zero(lost) | is_not_zero(limb[0] & ulp));
    UNROLL
    for (int i = 0; i < n; i++) {
        limb[i] = select(carry, limb[i] + (i == 0 ? ulp : all(1)), limb[i]);
        carry &= is_zero(limb[i]);
    }
    limb[n - 1] = select(carry, half, limb[n - 1]);
    return carry;
}

/* y = 0.x 2^exponent and a little more where lost is not 0, rounded to n < size limbs. */
INLINE void round_to(Lanes *y, const Words *x, const int size, Words lost, const int n)
{
    UNROLL
    for (int i = 0; i < size - n - 1; i++) {
        lost = lost | x[i];
    }
    UNROLL
    for (int i = 0; i < n; i++) {
        y->limb[i] = x[size - n + i];
    }
    Mask carry = round_words(y->limb, n, all(1), x[size - n - 1], lost);
    y->exponent = select(carry, y->exponent + all(1), y->exponent);
}

#endif
