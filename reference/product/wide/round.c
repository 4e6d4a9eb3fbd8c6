/*
 * Integers, one a lane, rounded at once: what store_limbs does to one.
 */
#include "round.h"

#include "../internal.h"
#include "memory.h"

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

/* Limbs [0, count) shifted to the left by `up` bits, the least significant first; what is cut off:
 * its highest limb, and the or of all others. */
INLINE void shift(Words *to, Words *rest, Words *lower, const Integers *x, Words up, size_t count)
{
    const Words down = all(64) - up; /* a shift by 64 gives 0 */
    for (size_t i = 0; i <= count; i++) {
        Words word = shift_left(x->limb[i], up) | shift_right(x->limb[i + 1], down);
        *(i < count ? &to[count - 1 - i] : rest) = word;
    }
    *lower = shift_left(x->limb[count + 1], up);
    for (size_t i = count + 2; i < x->count; i++) {
        *lower = (*lower) | x->limb[i];
    }
}

/* Takes the lowest `spare` bits of the last limb into what is cut off, if there are any. */
INLINE void cut_spare(Words *last, Words *rest, Words *lower, unsigned spare)
{
    if (spare != 0) {
        *lower = (*lower) | ((*rest) << (64 - spare));
        *rest = ((*last) << (64 - spare)) | ((*rest) >> spare);
        *last = ((*last) >> spare) << spare;
    }
}

unsigned round_integers(int64_t *exponent, mp_limb_t *const *to, const uint64_t (*limb)[LANES],
                        size_t limbs, mpfr_prec_t precision)
{
    size_t count = ((size_t)precision + 63) / 64;
    PRODUCT_CHECK(count <= ROUND_LIMBS && limbs <= TILE_LIMBS);
    Integers x;
    x.count = limbs;
    Words out[ROUND_LIMBS] = {zero()}, rest, lower;
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
    unsigned spare = (unsigned)(64 * count - (size_t)precision);
    cut_spare(&out[0], &rest, &lower, spare);
    Mask carry = round_words(out, (int)count, all((uint64_t)1 << spare), rest, lower);
    Words place = all(64 * limbs) - up;
    place = select(skipped, place - all(64), place);
    place = select(carry, place + all(1), place);
    store(exponent, place);
    for (size_t first = 0; first < count; first += LANES) {
        size_t left = count - first;
        turn(out + first);
        for (size_t lane = 0; lane < LANES; lane++) {
            store_some(to[lane] + first, out[first + lane], left < LANES ? left : LANES);
        }
    }
    return bits_of(done);
}
