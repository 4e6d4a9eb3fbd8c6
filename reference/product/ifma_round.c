/*
 * Eight integers rounded at once: what store_limbs does to one.
 */
#include "ifma_round.h"

#include "internal.h"

#ifdef __x86_64__

#include "lanes_memory.h"
#include "wide.h"

/* Eight integers, the most significant limb first, and zeros enough after the last. */
typedef struct {
    __m512i limb[IFMA_LIMBS + IFMA_ROUND_LIMBS + 2];
    size_t count;
} Integers;

/* Moves lanes whose first limb is 0 up by one; returns them. */
EIGHT __mmask8 skip_zero_limb(Integers *x)
{
    __mmask8 skipped = _mm512_cmpeq_epi64_mask(x->limb[0], zero());
    for (size_t i = 0; skipped != 0 && i < x->count; i++) {
        x->limb[i] = _mm512_mask_mov_epi64(x->limb[i], skipped, x->limb[i + 1]);
    }
    return skipped;
}

/* Limbs [0, count) shifted to the left by `up` bits; what is cut off: its highest limb, and the or
 * of all others. */
EIGHT void shift(__m512i *to, __m512i *rest, __m512i *lower, const Integers *x, __m512i up,
                 size_t count)
{
    const __m512i down = _mm512_sub_epi64(all(64), up); /* a shift by 64 gives 0 */
    for (size_t i = 0; i <= count; i++) {
        __m512i word = _mm512_or_si512(_mm512_sllv_epi64(x->limb[i], up),
                                       _mm512_srlv_epi64(x->limb[i + 1], down));
        *(i < count ? &to[i] : rest) = word;
    }
    *lower = _mm512_sllv_epi64(x->limb[count + 1], up);
    for (size_t i = count + 2; i < x->count; i++) {
        *lower = _mm512_or_si512(*lower, x->limb[i]);
    }
}

/* Rounds the limbs, whose last bit is `1 << spare` of the last limb; returns the lanes that a carry
 * left, as 1000... */
EIGHT __mmask8 round_limbs(__m512i *limb, size_t count, unsigned spare, __m512i rest, __m512i lower)
{
    const __m512i ulp = all((uint64_t)1 << spare), top = all((uint64_t)1 << 63);
    __m512i last = limb[count - 1], half = top;
    if (spare != 0) { /* what is cut off begins in the last limb */
        lower = _mm512_or_si512(lower, rest);
        rest = _mm512_and_si512(last, all(((uint64_t)1 << spare) - 1));
        last = _mm512_sub_epi64(last, rest);
        half = all((uint64_t)1 << (spare - 1));
    }
    __mmask8 tie = _mm512_cmpeq_epi64_mask(rest, half);
    __mmask8 up = _mm512_cmpgt_epu64_mask(rest, half);
    up |= tie & (_mm512_cmpneq_epi64_mask(lower, zero()) | _mm512_test_epi64_mask(last, ulp));
    last = _mm512_mask_add_epi64(last, up, last, ulp);
    limb[count - 1] = last;
    __mmask8 carry = up & _mm512_cmpeq_epi64_mask(last, zero());
    for (size_t i = count - 1; carry != 0 && i-- > 0;) {
        limb[i] = _mm512_mask_add_epi64(limb[i], carry, limb[i], all(1));
        carry &= _mm512_cmpeq_epi64_mask(limb[i], zero());
    }
    limb[0] = _mm512_mask_mov_epi64(limb[0], carry, top);
    return carry;
}

EIGHTS unsigned ifma_round(int64_t *exponent, mp_limb_t *const *to,
                           const uint64_t (*limb)[IFMA_LANES], size_t limbs, mpfr_prec_t precision)
{
    size_t count = ((size_t)precision + 63) / 64;
    PRODUCT_CHECK(count <= IFMA_ROUND_LIMBS && limbs <= IFMA_LIMBS);
    Integers x;
    x.count = limbs;
    __m512i out[IFMA_ROUND_LIMBS], turned[IFMA_ROUND_LIMBS], rest, lower;
    for (size_t i = 0; i < limbs; i++) {
        x.limb[i] = _mm512_load_si512(limb[limbs - 1 - i]);
    }
    for (size_t i = limbs; i < limbs + count + 2; i++) {
        x.limb[i] = zero();
    }
    __mmask8 skipped = skip_zero_limb(&x);
    __mmask8 done = _mm512_cmpneq_epi64_mask(x.limb[0], zero());
    __m512i up = _mm512_lzcnt_epi64(x.limb[0]);
    shift(out, &rest, &lower, &x, up, count);
    __mmask8 carry =
        round_limbs(out, count, (unsigned)(64 * count - (size_t)precision), rest, lower);
    __m512i place = _mm512_sub_epi64(all(64 * limbs), up);
    place = _mm512_mask_sub_epi64(place, skipped, place, all(64));
    place = _mm512_mask_add_epi64(place, carry, place, all(1));
    _mm512_storeu_si512(exponent, place);
    for (size_t i = 0; i < IFMA_ROUND_LIMBS; i++) {
        turned[i] = i < count ? out[count - 1 - i] : zero();
    }
    wide_transpose(turned);
    for (size_t lane = 0; lane < IFMA_LANES; lane++) {
        _mm512_mask_storeu_epi64(to[lane], (__mmask8)((1U << count) - 1), turned[lane]);
    }
    return done;
}

/* y = the integers rounded to n limbs, of an exponent beside the row's; returns those done. */
EIGHT __mmask8 round_integers(Eight *y, const IfmaRow *row, const int n)
{
    __m512i top[LIMBS_MOST + 3], word[LIMBS_MOST + 1], lower = zero();
    UNROLL
    for (int i = 0; i < n + 3; i++) {
        top[i] = (size_t)i < row->limbs ? _mm512_load_si512(row->limb[row->limbs - 1 - (size_t)i])
                                        : zero();
    }
    for (size_t i = (size_t)n + 3; i < row->limbs; i++) {
        lower = _mm512_or_si512(lower, _mm512_load_si512(row->limb[row->limbs - 1 - i]));
    }
    __mmask8 skipped = _mm512_testn_epi64_mask(top[0], top[0]);
    lower = _mm512_mask_or_epi64(lower, (__mmask8)~skipped, lower, top[n + 2]);
    UNROLL
    for (int i = 0; i < n + 2; i++) {
        top[i] = _mm512_mask_mov_epi64(top[i], skipped, top[i + 1]);
    }
    __m512i up = _mm512_lzcnt_epi64(top[0]), down = _mm512_sub_epi64(all(64), up);
    UNROLL
    for (int i = 0; i <= n; i++) { /* the least significant first */
        word[n - i] =
            _mm512_or_si512(_mm512_sllv_epi64(top[i], up), _mm512_srlv_epi64(top[i + 1], down));
    }
    lower = _mm512_or_si512(lower, _mm512_sllv_epi64(top[n + 1], up));
    y->exponent = _mm512_sub_epi64(all(64 * (uint64_t)row->limbs), up);
    y->exponent = _mm512_mask_sub_epi64(y->exponent, skipped, y->exponent, all(64));
    round_to(y, word, n + 1, lower, n);
    return _mm512_test_epi64_mask(top[0], top[0]);
}

/* Are eight entries of n whole limbs each, one behind the other? */
EIGHT bool are_neighbours(mpfr_srcptr to, const int n)
{
    bool alike = true;
    const mp_limb_t *first = mpfr_custom_get_significand(to);
    UNROLL
    for (int lane = 0; lane < LANES; lane++) {
        alike &= mpfr_get_prec(to + lane) == 64 * n &&
                 mpfr_custom_get_significand(to + lane) == (void *)(first + lane * n);
    }
    return alike;
}

EIGHT bool round_row(mpfr_ptr to, const IfmaRow *row, const int n)
{
    Eight y;
    __m512i column = _mm512_loadu_si512(row->exponent);
    __mmask8 done = round_integers(&y, row, n);
    done &= _mm512_cmpneq_epi64_mask(column, all((uint64_t)LINE_ZERO));
    y.exponent = _mm512_add_epi64(y.exponent, _mm512_add_epi64(column, all((uint64_t)row->unit)));
    done &= _mm512_cmpgt_epi64_mask(y.exponent, all((uint64_t)row->range.emin)) &
            _mm512_cmplt_epi64_mask(y.exponent, all((uint64_t)row->range.emax));
    y.negative = (__mmask8)row->negative;
    if (done != ALL || !are_neighbours(to, n)) {
        return false;
    }
    store(to, &y, n);
    return true;
}

EIGHTS bool ifma_round_row(mpfr_ptr to, const IfmaRow *row)
{
    switch (mpfr_get_prec(to)) {
    case 64: return round_row(to, row, 1);
    case 128: return round_row(to, row, 2);
    case 192: return round_row(to, row, 3);
    case 256: return round_row(to, row, 4);
    default: return false;
    }
}

#else

bool ifma_round_row(mpfr_ptr to, const IfmaRow *row)
{
    (void)to, (void)row;
    return false;
}

unsigned ifma_round(int64_t *exponent, mp_limb_t *const *to, const uint64_t (*limb)[IFMA_LANES],
                    size_t limbs, mpfr_prec_t precision)
{
    (void)exponent;
    (void)to;
    (void)limb;
    (void)limbs;
    (void)precision;
    PRODUCT_CHECK(!"built for another CPU");
    return 0;
}

#endif
