/*
 * Integers, one a lane, rounded at once: what store_limbs does to one.
 */
#include "round.h"

#include "../internal.h"

/* Integers, the most significant limb first, and zeros enough after the last. */
typedef struct {
    Words limb[TILE_LIMBS + ROUND_LIMBS + 2];
    size_t count;
} Integers;

/* Moves lanes whose first limb is 0 up by one; returns them. */
INLINE Mask skip_zero_limb(Integers *x)
{
    Mask skipped = is_zero(x->limb[0]);
    for (size_t i = 0; any(skipped) && i < x->count; i++) {
        x->limb[i] = select(skipped, x->limb[i + 1], x->limb[i]);
    }
    return skipped;
}

/* Limbs [0, count) shifted to the left by `up` bits; what is cut off: its highest limb, and the or
 * of all others. */
INLINE void shift(Words *to, Words *rest, Words *lower, const Integers *x, Words up, size_t count)
{
    const Words down = all(64) - up; /* a shift by 64 gives 0 */
    for (size_t i = 0; i <= count; i++) {
        Words word = shift_left(x->limb[i], up) | shift_right(x->limb[i + 1], down);
        *(i < count ? &to[i] : rest) = word;
    }
    *lower = shift_left(x->limb[count + 1], up);
    for (size_t i = count + 2; i < x->count; i++) {
        *lower = (*lower) | x->limb[i];
    }
}

/* Rounds the limbs, whose last bit is `1 << spare` of the last limb; returns the lanes that a carry
 * left, as 1000... */
INLINE Mask round_limbs(Words *limb, size_t count, unsigned spare, Words rest, Words lower)
{
    const Words ulp = all((uint64_t)1 << spare), top = all((uint64_t)1 << 63);
    Words last = limb[count - 1], half = top;
    if (spare != 0) { /* what is cut off begins in the last limb */
        lower = lower | rest;
        rest = last & all(((uint64_t)1 << spare) - 1);
        last = last - rest;
        half = all((uint64_t)1 << (spare - 1));
    }
    Mask tie = equal(rest, half);
    Mask up = below(half, rest);
    up |= tie & (not(equal(lower, zero())) | is_not_zero(last & ulp));
    last = select(up, last + ulp, last);
    limb[count - 1] = last;
    Mask carry = up & equal(last, zero());
    for (size_t i = count - 1; any(carry) && i-- > 0;) {
        limb[i] = select(carry, limb[i] + all(1), limb[i]);
        carry &= equal(limb[i], zero());
    }
    limb[0] = select(carry, top, limb[0]);
    return carry;
}

unsigned round_integers(int64_t *exponent, mp_limb_t *const *to, const uint64_t (*limb)[LANES],
                        size_t limbs, mpfr_prec_t precision)
{
    size_t count = ((size_t)precision + 63) / 64;
    PRODUCT_CHECK(count <= ROUND_LIMBS && limbs <= TILE_LIMBS);
    Integers x;
    x.count = limbs;
    Words out[ROUND_LIMBS], turned[ROUND_LIMBS], rest, lower;
    for (size_t i = 0; i < limbs; i++) {
        x.limb[i] = load(limb[limbs - 1 - i]);
    }
    for (size_t i = limbs; i < limbs + count + 2; i++) {
        x.limb[i] = zero();
    }
    Mask skipped = skip_zero_limb(&x);
    Mask done = is_not_zero(x.limb[0]);
    Words up = leading_zeros(x.limb[0]);
    shift(out, &rest, &lower, &x, up, count);
    Mask carry = round_limbs(out, count, (unsigned)(64 * count - (size_t)precision), rest, lower);
    Words place = all(64 * limbs) - up;
    place = select(skipped, place - all(64), place);
    place = select(carry, place + all(1), place);
    store(exponent, place);
    for (size_t i = 0; i < ROUND_LIMBS; i++) {
        turned[i] = i < count ? out[count - 1 - i] : zero();
    }
    for (size_t first = 0; first < count; first += LANES) {
        size_t left = count - first;
        turn(turned + first);
        for (size_t lane = 0; lane < LANES; lane++) {
            store_some(to[lane] + first, turned[first + lane], left < LANES ? left : LANES);
        }
    }
    return bits_of(done);
}
