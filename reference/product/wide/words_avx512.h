/*
 * The primitives of words.h in AVX-512 with IFMA: an instruction or two each.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_WORDS_AVX512_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_WORDS_AVX512_H

#include <immintrin.h>

enum { LANES = 8, TILE_ROWS = 4, REGISTERS = 32 };

typedef uint64_t Words __attribute__((vector_size(8 * LANES)));
typedef __mmask8 Mask;

INLINE Words all(uint64_t x)
{
    return (Words)_mm512_set1_epi64((long long)x);
}

INLINE Words load(const void *from)
{
    return (Words)_mm512_loadu_si512(from);
}

INLINE void store(void *to, Words x)
{
    _mm512_storeu_si512(to, (__m512i)x);
}

INLINE Words shift_left(Words x, Words by)
{
    return (Words)_mm512_sllv_epi64((__m512i)x, (__m512i)by);
}

INLINE Words shift_right(Words x, Words by)
{
    return (Words)_mm512_srlv_epi64((__m512i)x, (__m512i)by);
}

INLINE Words shift_right_signed(Words x, unsigned by)
{
    return (Words)((__m512i)x >> by);
}

INLINE Words leading_zeros(Words x)
{
    return (Words)_mm512_lzcnt_epi64((__m512i)x);
}

INLINE Mask mask_of(unsigned bits)
{
    return (Mask)bits;
}

INLINE unsigned bits_of(Mask m)
{
    return m;
}

INLINE Mask not(Mask m)
{
    return (Mask)~m;
}

INLINE Mask equal(Words a, Words b)
{
    return _mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b);
}

INLINE Mask is_zero(Words x)
{
    return _mm512_testn_epi64_mask((__m512i)x, (__m512i)x);
}

INLINE Mask is_not_zero(Words x)
{
    return _mm512_test_epi64_mask((__m512i)x, (__m512i)x);
}

INLINE Mask less(Words a, Words b)
{
    return _mm512_cmplt_epi64_mask((__m512i)a, (__m512i)b);
}

INLINE Mask below(Words a, Words b)
{
    return _mm512_cmplt_epu64_mask((__m512i)a, (__m512i)b);
}

INLINE Words select(Mask m, Words a, Words b)
{
    return (Words)_mm512_mask_mov_epi64((__m512i)b, m, (__m512i)a);
}

INLINE Words keep(Mask m, Words x)
{
    return (Words)_mm512_maskz_mov_epi64(m, (__m512i)x);
}

INLINE Words look_up(const void *table, Words index)
{
    return (Words)_mm512_i64gather_epi64((__m512i)index, table, 8);
}

/* Eight limbs reach from the last digit to the first. */
INLINE Words load_digits(const uint64_t *limb, size_t count, long lowest)
{
    size_t base = lowest < 0 ? 0 : (size_t)lowest / 64;
    base = base < count ? base : count;
    size_t left = count - base;
    __mmask8 there = (__mmask8)(left < LANES ? (1U << left) - 1 : 0xff);
    __m512i word = _mm512_maskz_loadu_epi64(there, limb + base), eight = _mm512_set1_epi64(LANES);
    const __m512i up = _mm512_set_epi64(0, 52, 104, 156, 208, 260, 312, 364);
    __m512i bit = _mm512_add_epi64(_mm512_set1_epi64(lowest - 64 * (long)base), up);
    __m512i at = _mm512_srai_epi64(bit, 6), next = _mm512_add_epi64(at, _mm512_set1_epi64(1));
    __mmask8 low = _mm512_cmplt_epu64_mask(at, eight), high = _mm512_cmplt_epu64_mask(next, eight);
    Words offset = (Words)bit & all(63);
    Words bits = shift_right((Words)_mm512_maskz_permutexvar_epi64(low, at, word), offset) |
                 shift_left((Words)_mm512_maskz_permutexvar_epi64(high, next, word), 64 - offset);
    return bits & all(DIGIT_MASK);
}

/* Lane of what a chain of permutations makes when x[k] comes in: there (8 and more), at its place
 * already, or, of x[0], wherever it was.  It is entry `where` of x[which]. */
INLINE long long pick(const int which, const int where, const int k, const int lane)
{
    return which == k ? LANES + where : which == 0 && k == 1 ? where : lane;
}

#define WHERE(lane) pick(OF(lane) / LANES, OF(lane) % LANES, k, lane)
#define PLACES                                                                                     \
    _mm512_set_epi64(WHERE(7), WHERE(6), WHERE(5), WHERE(4), WHERE(3), WHERE(2), WHERE(1), WHERE(0))

/* Words 0 to 3 of a and of b; 4 to 7. */
INLINE __m512i low_halves(__m512i a, __m512i b)
{
    return _mm512_shuffle_i64x2(a, b, 0x44);
}

INLINE __m512i high_halves(__m512i a, __m512i b)
{
    return _mm512_shuffle_i64x2(a, b, 0xee);
}

/* Vector `at` of `lanes` structures of `words` words; 0 behind them. */
INLINE __m512i load_vector(const uint64_t *from, const int words, const int at, size_t lanes)
{
    if (__builtin_constant_p(lanes) && lanes >= LANES) {
        return _mm512_loadu_si512(from + LANES * at);
    }
    size_t filled = lanes * (size_t)words, before = (size_t)at * LANES;
    size_t count = filled > before ? filled - before : 0;
    __mmask8 there = (__mmask8)(count < LANES ? (1U << count) - 1 : 0xff);
    return _mm512_maskz_loadu_epi64(there, from + LANES * at);
}

INLINE Words load_part(const uint64_t *from, const int words, const int part, size_t lanes)
{
    __m512i y = load_vector(from, words, 0, lanes);
#define OF(lane) ((lane)*words + part)
    UNROLL
    for (int k = 1; k < words; k++) {
        y = _mm512_permutex2var_epi64(y, PLACES, load_vector(from, words, k, lanes));
    }
#undef OF
    return (Words)y;
}

INLINE void store_parts(uint64_t *to, const Words *x, const int words)
{
    UNROLL
    for (int at = 0; at < words; at++) {
        __m512i y = (__m512i)x[0];
#define OF(t) ((LANES * at + (t)) % words * LANES + (LANES * at + (t)) / words)
        UNROLL
        for (int k = 1; k < words; k++) {
            y = _mm512_permutex2var_epi64(y, PLACES, (__m512i)x[k]);
        }
#undef OF
        _mm512_storeu_si512(to + LANES * at, y);
    }
}

INLINE void load_middle(Words *x1, Words *x2, const uint64_t *from)
{
    const __m512i places = _mm512_set_epi64(13, 9, 5, 1, 14, 10, 6, 2);
    __m512i x[4];
    UNROLL
    for (int k = 0; k < 4; k++) {
        x[k] = _mm512_loadu_si512(from + LANES * k);
    }
    __m512i first = _mm512_permutex2var_epi64(x[0], places, x[1]);
    __m512i second = _mm512_permutex2var_epi64(x[2], places, x[3]);
    *x1 = (Words)high_halves(first, second);
    *x2 = (Words)low_halves(first, second);
}

INLINE void store_middle(uint64_t *to, Words x1, Words x2)
{
    const __m512i even = _mm512_set_epi64(7, 9, 13, 4, 3, 8, 12, 0),
                  odd = _mm512_set_epi64(7, 11, 15, 4, 3, 10, 14, 0);
    __m512i half[2] = {low_halves((__m512i)x2, (__m512i)x1), high_halves((__m512i)x2, (__m512i)x1)};
    UNROLL
    for (int k = 0; k < 4; k++) {
        __m512i x = _mm512_loadu_si512(to + LANES * k);
        x = _mm512_permutex2var_epi64(x, k % 2 == 0 ? even : odd, half[k / 2]);
        _mm512_storeu_si512(to + LANES * k, x);
    }
}

INLINE Words load_some(const void *from, size_t lanes)
{
    return (Words)load_vector(from, 1, 0, lanes);
}

INLINE void store_some(void *to, Words x, size_t lanes)
{
    _mm512_mask_storeu_epi64(to, (__mmask8)(lanes < LANES ? (1U << lanes) - 1 : 0xff), (__m512i)x);
}

/* Pairs of words change places, then pairs of pairs, then halves. */
INLINE void turn(Words *words)
{
    __m512i pair[LANES], four[LANES], *x = (__m512i *)words;
    UNROLL
    for (int i = 0; i < LANES; i += 2) {
        pair[i] = _mm512_unpacklo_epi64(x[i], x[i + 1]);
        pair[i + 1] = _mm512_unpackhi_epi64(x[i], x[i + 1]);
    }
    UNROLL
    for (int i = 0; i < LANES / 2; i++) {
        int low = i / 2 * 4 + i % 2;
        four[low] = _mm512_shuffle_i64x2(pair[low], pair[low + 2], 0x88);
        four[low + 2] = _mm512_shuffle_i64x2(pair[low], pair[low + 2], 0xdd);
    }
    UNROLL
    for (int i = 0; i < LANES / 2; i++) {
        x[i] = _mm512_shuffle_i64x2(four[i], four[i + 4], 0x88);
        x[i + 4] = _mm512_shuffle_i64x2(four[i], four[i + 4], 0xdd);
    }
}

INLINE void add_product(Words *high, Words *low, Words a, Words b)
{
    if (high != NULL) {
        *high = (Words)_mm512_madd52hi_epu64((__m512i)*high, (__m512i)a, (__m512i)b);
    }
    if (low != NULL) {
        *low = (Words)_mm512_madd52lo_epu64((__m512i)*low, (__m512i)a, (__m512i)b);
    }
}

#endif
