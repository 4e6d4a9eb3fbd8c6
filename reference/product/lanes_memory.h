/*
 * Eight numbers between memory and vectors (private to the files of reference/product/ that do
 * eight at a time; x86-64 alone).
 *
 * In memory they are eight structures of some words each, one behind the other: headers of four
 * words, and limbs.  In vectors every word of the structure is a vector of its own, a number a
 * lane.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_LANES_MEMORY_H
#define HEADPROOF_REFERENCE_PRODUCT_LANES_MEMORY_H

#include "lanes.h"

#include "../limbs_number.h"

#include <immintrin.h>
#include <stdint.h>

/* The instruction set is a function's, not the build's: see ifma_has. */
#define EIGHTS __attribute__((target("avx512f,avx512cd,avx512ifma")))
#define EIGHT static inline EIGHTS __attribute__((always_inline))

enum { LANES = 8, ALL = 0xff };

/* Limbs, the least significant first. */
typedef struct {
    __m512i limb[LIMBS_MOST], exponent;
    __mmask8 negative;
} Eight;

EIGHT __m512i all(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

EIGHT __m512i zero(void)
{
    return _mm512_setzero_si512();
}

/* Where lane `lane` of what select makes is when x[k] comes in: there (8 and more), at its place
 * already, or, of x[0], wherever it was.  It is entry `where` of x[which]. */
EIGHT long long pick(const int which, const int where, const int k, const int lane)
{
    return which == k ? LANES + where : which == 0 && k == 1 ? where : lane;
}

#define WHERE(lane) pick(OF(lane) / of, OF(lane) % of, k, lane)
#define PLACES                                                                                     \
    _mm512_set_epi64(WHERE(7), WHERE(6), WHERE(5), WHERE(4), WHERE(3), WHERE(2), WHERE(1), WHERE(0))

/* Word `part` of each of eight structures of `words` words, which x is. */
EIGHT __m512i take(const __m512i *x, const int words, const int part)
{
    const int of = LANES;
    __m512i y = x[0];
#define OF(lane) ((lane)*words + part)
    UNROLL
    for (int k = 1; k < words; k++) {
        y = _mm512_permutex2var_epi64(y, PLACES, x[k]);
    }
#undef OF
    return y;
}

/* Words 8 at to 8 at + 7 of eight structures of which x[part] is word `part`. */
EIGHT __m512i give(const __m512i *x, const int words, const int at)
{
    const int of = LANES;
    __m512i y = x[0];
#define OF(t) ((LANES * at + (t)) % words * LANES + (LANES * at + (t)) / words)
    UNROLL
    for (int k = 1; k < words; k++) {
        y = _mm512_permutex2var_epi64(y, PLACES, x[k]);
    }
#undef OF
    return y;
}

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
    return has_room(first) && last == limb + (count - 1) * (size_t)(mpfr_get_prec(first) / 64);
}

/* Words 0 to 3 of a and of b; 4 to 7. */
EIGHT __m512i low_halves(__m512i a, __m512i b)
{
    return _mm512_shuffle_i64x2(a, b, 0x44);
}

EIGHT __m512i high_halves(__m512i a, __m512i b)
{
    return _mm512_shuffle_i64x2(a, b, 0xee);
}

/* Exponents and signs of eight headers. */
EIGHT void load_headers(Eight *x, mpfr_srcptr from)
{
    const __m512i places = _mm512_set_epi64(13, 9, 5, 1, 14, 10, 6, 2);
    __m512i header[HEADER];
    UNROLL
    for (int k = 0; k < HEADER; k++) {
        header[k] = _mm512_loadu_si512((const char *)from + 64 * k);
    }
    __m512i first = _mm512_permutex2var_epi64(header[0], places, header[1]);
    __m512i second = _mm512_permutex2var_epi64(header[2], places, header[3]);
    x->exponent = low_halves(first, second);
    x->negative =
        _mm512_test_epi64_mask(high_halves(first, second), all((uint64_t)1 << NEGATIVE_BIT));
}

EIGHT void store_headers(mpfr_ptr to, const Eight *x)
{
    const __m512i even = _mm512_set_epi64(7, 9, 13, 4, 3, 8, 12, 0),
                  odd = _mm512_set_epi64(7, 11, 15, 4, 3, 10, 14, 0);
    __m512i sign = _mm512_mask_mov_epi64(all(1), x->negative, all(UINT64_MAX));
    __m512i half[2] = {low_halves(x->exponent, sign), high_halves(x->exponent, sign)};
    UNROLL
    for (int k = 0; k < HEADER; k++) {
        char *at = (char *)to + 64 * k;
        __m512i header = _mm512_loadu_si512(at);
        header = _mm512_permutex2var_epi64(header, k % 2 == 0 ? even : odd, half[k / 2]);
        _mm512_storeu_si512(at, header);
    }
}

/* The lanes whose numbers are 0: of an exponent that MPFR gives nothing else. */
EIGHT __mmask8 are_zero(const Eight *x)
{
    return _mm512_cmpeq_epi64_mask(x->exponent, all((uint64_t)__MPFR_EXP_ZERO));
}

/* x = numbers of `count` limbs, in n >= count; returns the lanes that are plain, or 0. */
EIGHT __mmask8 load_row(Eight *x, mpfr_srcptr from, const int count, const int n)
{
    __m512i limbs[LIMBS_MOST];
    const mp_limb_t *limb = mpfr_custom_get_significand(from);
    UNROLL
    for (int k = 0; k < count; k++) {
        limbs[k] = _mm512_loadu_si512(limb + LANES * k);
    }
    load_headers(x, from);
    UNROLL
    for (int l = 0; l < n; l++) {
        x->limb[l] = l < n - count ? zero() : take(limbs, count, l - (n - count));
    }
    __m512i above = _mm512_add_epi64(x->exponent, all((uint64_t)LIMBS_EXPONENT - 1));
    return _mm512_cmplt_epu64_mask(above, all(2 * (uint64_t)LIMBS_EXPONENT - 1)) | are_zero(x);
}

/* x = one number in every lane. */
EIGHT __mmask8 load_same(Eight *x, mpfr_srcptr from, const int count, const int n)
{
    const mp_limb_t *limb = mpfr_custom_get_significand(from);
    x->exponent = all((uint64_t)mpfr_custom_get_exp(from));
    x->negative = mpfr_signbit(from) != 0 ? ALL : 0;
    UNROLL
    for (int l = 0; l < n; l++) {
        x->limb[l] = l < n - count ? zero() : all(limb[l - (n - count)]);
    }
    return is_plain(from) || mpfr_zero_p(from) ? ALL : 0;
}

/* Numbers of fewer than n limbs have zeros below. */
EIGHT __mmask8 load(Eight *x, const Numbers *from, size_t i, const int n)
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
    *x = (Eight){.negative = 0};
    return 0;
#undef LOAD
}

EIGHT void store(mpfr_ptr to, const Eight *x, const int n)
{
    mp_limb_t *limb = mpfr_custom_get_significand(to);
    store_headers(to, x);
    UNROLL
    for (int k = 0; k < n; k++) {
        _mm512_storeu_si512(limb + LANES * k, give(x->limb, n, k));
    }
}

/* x shifted down by so many bits; returns what is lost of it. */
EIGHT __m512i shift_down(__m512i *x, const int size, __m512i down)
{
    __m512i lost = zero(), limbs = _mm512_srli_epi64(down, 6);
    UNROLL
    for (int step = 1; step < LANES; step *= 2) {
        __mmask8 moves = _mm512_test_epi64_mask(limbs, all((uint64_t)step));
        if (moves != 0) {
            UNROLL
            for (int i = 0; i < size; i++) {
                lost = i < step ? _mm512_mask_or_epi64(lost, moves, lost, x[i]) : lost;
                x[i] = _mm512_mask_mov_epi64(x[i], moves, i + step < size ? x[i + step] : zero());
            }
        }
    }
    __mmask8 far = _mm512_cmpge_epu64_mask(limbs, all(LANES));
    __m512i right = _mm512_and_si512(down, all(63)), left = _mm512_sub_epi64(all(64), right);
    lost = _mm512_or_si512(lost, _mm512_sllv_epi64(x[0], left)); /* a shift by 64 gives 0 */
    lost = _mm512_mask_mov_epi64(lost, far, all(1));
    UNROLL
    for (int i = 0; i < size; i++) {
        __m512i from_above = i + 1 < size ? _mm512_sllv_epi64(x[i + 1], left) : zero();
        x[i] = _mm512_maskz_or_epi64((__mmask8)~far, _mm512_srlv_epi64(x[i], right), from_above);
    }
    return lost;
}

/* y = 0.x 2^exponent and a little more where lost is not 0, rounded to n < size limbs. */
EIGHT void round_to(Eight *y, const __m512i *x, const int size, __m512i lost, const int n)
{
    const __m512i half = all((uint64_t)1 << 63);
    __m512i rest = x[size - n - 1];
    UNROLL
    for (int i = 0; i < size - n - 1; i++) {
        lost = _mm512_or_si512(lost, x[i]);
    }
    __mmask8 tie = _mm512_cmpeq_epi64_mask(rest, half);
    __mmask8 carry = _mm512_cmpgt_epu64_mask(rest, half);
    carry |=
        tie & (_mm512_test_epi64_mask(lost, lost) | _mm512_test_epi64_mask(x[size - n], all(1)));
    UNROLL
    for (int i = 0; i < n; i++) {
        __m512i limb = x[size - n + i];
        y->limb[i] = _mm512_mask_add_epi64(limb, carry, limb, all(1));
        carry &= _mm512_testn_epi64_mask(y->limb[i], y->limb[i]);
    }
    y->limb[n - 1] = _mm512_mask_mov_epi64(y->limb[n - 1], carry, half);
    y->exponent = _mm512_mask_add_epi64(y->exponent, carry, y->exponent, all(1));
}

#endif
