/*
 * The primitives of words.h in AVX2 with FMA.
 *
 * A product of two digits is that of two doubles, by fused multiply-adds that round toward zero:
 *
 *     h = a b + 2^104,   l = a b + (2^104 + 2^52 - h).
 *
 * h is in [2^104, 2^105), where doubles are multiples of 2^52: its lowest 52 bits are the high half
 * of a b.  The bracket is exact, and l is 2^52 plus the low half, in [2^52, 2^53), where doubles
 * are integers.  So what is added to sums is the bits of h and of l; those of 2^104 and of 2^52 are
 * taken away in advance, by sum_start.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_WORDS_AVX2_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_WORDS_AVX2_H

#include <immintrin.h>

enum { LANES = 4, TILE_ROWS = 4, REGISTERS = 16 };

typedef uint64_t Words __attribute__((vector_size(8 * LANES)));
typedef Words Mask; /* of all bits or of none */

INLINE Words all(uint64_t x)
{
    return (Words)_mm256_set1_epi64x((long long)x);
}

INLINE Words load(const void *from)
{
    return (Words)_mm256_loadu_si256((const __m256i_u *)from);
}

INLINE void store(void *to, Words x)
{
    _mm256_storeu_si256((__m256i_u *)to, (__m256i)x);
}

INLINE Words shift_left(Words x, Words by)
{
    return (Words)_mm256_sllv_epi64((__m256i)x, (__m256i)by);
}

INLINE Words shift_right(Words x, Words by)
{
    return (Words)_mm256_srlv_epi64((__m256i)x, (__m256i)by);
}

INLINE Words shift_right_signed(Words x, unsigned by)
{
    const uint64_t top = (uint64_t)1 << 63;
    return ((x ^ all(top)) >> by) - all(top >> by);
}

INLINE Mask mask_of(unsigned bits)
{
    const Words bit = {1, 2, 4, 8};
    return (Mask)_mm256_cmpeq_epi64((__m256i)(all(bits) & bit), (__m256i)bit);
}

INLINE unsigned bits_of(Mask m)
{
    return (unsigned)_mm256_movemask_pd((__m256d)m);
}

INLINE Mask not(Mask m)
{
    return ~m;
}

INLINE Mask equal(Words a, Words b)
{
    return (Mask)_mm256_cmpeq_epi64((__m256i)a, (__m256i)b);
}

INLINE Mask is_zero(Words x)
{
    return equal(x, (Words){0});
}

INLINE Mask is_not_zero(Words x)
{
    return ~is_zero(x);
}

INLINE Mask less(Words a, Words b)
{
    return (Mask)_mm256_cmpgt_epi64((__m256i)b, (__m256i)a);
}

INLINE Mask below(Words a, Words b)
{
    const Words top = all((uint64_t)1 << 63);
    return less(a ^ top, b ^ top);
}

INLINE Words select(Mask m, Words a, Words b)
{
    return (Words)_mm256_blendv_epi8((__m256i)b, (__m256i)a, (__m256i)m);
}

INLINE Words keep(Mask m, Words x)
{
    return m & x;
}

/* x below 2^32, or what is above it: 2 x + 1 is a double, whose exponent tells how long it is. */
INLINE Words leading_zeros(Words x)
{
    const Words two52 = all(0x433ULL << 52);
    Words high = x >> 32;
    Mask low = is_zero(high);
    Words part = select(low, x, high);
    __m256d odd = (__m256d)((part + part + all(1)) | two52);
    Words length = (Words)_mm256_sub_pd(odd, (__m256d)two52) >> 52;
    return select(low, all(64 + 1023), all(32 + 1023)) - length;
}

INLINE Words look_up(const void *table, Words index)
{
    return (Words)_mm256_i64gather_epi64(table, (__m256i)index, 8);
}

INLINE Words load_digits(const uint64_t *limb, size_t count, long lowest)
{
    Words bits = {word_from(limb, count, lowest + 3 * DIGIT),
                  word_from(limb, count, lowest + 2 * DIGIT),
                  word_from(limb, count, lowest + DIGIT), word_from(limb, count, lowest)};
    return bits & all(DIGIT_MASK);
}

INLINE void turn(Words *words)
{
    __m256i *x = (__m256i *)words;
    __m256i a = _mm256_unpacklo_epi64(x[0], x[1]), b = _mm256_unpackhi_epi64(x[0], x[1]);
    __m256i c = _mm256_unpacklo_epi64(x[2], x[3]), d = _mm256_unpackhi_epi64(x[2], x[3]);
    x[0] = _mm256_permute2x128_si256(a, c, 0x20);
    x[1] = _mm256_permute2x128_si256(b, d, 0x20);
    x[2] = _mm256_permute2x128_si256(a, c, 0x31);
    x[3] = _mm256_permute2x128_si256(b, d, 0x31);
}

INLINE Words load_some(const void *from, size_t lanes)
{
    return (Words)_mm256_maskload_epi64(from, (__m256i)mask_of((1U << lanes) - 1));
}

INLINE void store_some(void *to, Words x, size_t lanes)
{
    _mm256_maskstore_epi64(to, (__m256i)mask_of((1U << lanes) - 1), (__m256i)x);
}

INLINE Words load_part(const uint64_t *from, const int words, const int part, size_t lanes)
{
    Words x[LANES];
    if (words == LANES) {
        UNROLL
        for (size_t i = 0; i < LANES; i++) {
            x[i] = i < lanes ? load(from + LANES * i) : (Words){0};
        }
        turn(x);
        return x[part];
    }
    if (words == 1) {
        return lanes < LANES ? load_some(from, lanes) : load(from);
    }
    if (lanes >= LANES) {
        return (Words){from[part], from[part + words], from[part + 2 * words],
                       from[part + 3 * words]};
    }
    return (Words){lanes > 0 ? from[part] : 0, lanes > 1 ? from[part + words] : 0,
                   lanes > 2 ? from[part + 2 * words] : 0, 0};
}

INLINE void store_parts(uint64_t *to, const Words *x, const int words)
{
    if (words == LANES) {
        Words y[LANES] = {x[0], x[1], x[2], x[3]};
        turn(y);
        UNROLL
        for (int i = 0; i < LANES; i++) {
            store(to + LANES * i, y[i]);
        }
        return;
    }
    UNROLL
    for (int part = 0; part < words; part++) {
        UNROLL
        for (int lane = 0; lane < LANES; lane++) {
            to[lane * words + part] = x[part][lane];
        }
    }
}

/* The two words are neighbours, 16 bytes. */
INLINE void load_middle(Words *x1, Words *x2, const uint64_t *from)
{
    __m128i pair[LANES];
    UNROLL
    for (int i = 0; i < LANES; i++) {
        pair[i] = _mm_loadu_si128((const __m128i_u *)(from + 4 * i + 1));
    }
    __m256i even = _mm256_set_m128i(pair[2], pair[0]), odd = _mm256_set_m128i(pair[3], pair[1]);
    *x1 = (Words)_mm256_unpacklo_epi64(even, odd);
    *x2 = (Words)_mm256_unpackhi_epi64(even, odd);
}

INLINE void store_middle(uint64_t *to, Words x1, Words x2)
{
    __m256i even = _mm256_unpacklo_epi64((__m256i)x1, (__m256i)x2);
    __m256i odd = _mm256_unpackhi_epi64((__m256i)x1, (__m256i)x2);
    _mm_storeu_si128((__m128i_u *)(to + 1), _mm256_castsi256_si128(even));
    _mm_storeu_si128((__m128i_u *)(to + 5), _mm256_castsi256_si128(odd));
    _mm_storeu_si128((__m128i_u *)(to + 9), _mm256_extracti128_si256(even, 1));
    _mm_storeu_si128((__m128i_u *)(to + 13), _mm256_extracti128_si256(odd, 1));
}

INLINE Words factor_of(Words digit)
{
    const Words two52 = all(0x433ULL << 52);
    return (Words)_mm256_sub_pd((__m256d)(digit | two52), (__m256d)two52);
}

INLINE Words sum_start(size_t highs, size_t lows)
{
    return all(-(highs * (0x467ULL << 52) + lows * (0x433ULL << 52)));
}

INLINE void add_product(Words *high, Words *low, Words a, Words b)
{
    __m256d h = _mm256_fmadd_pd((__m256d)a, (__m256d)b, _mm256_set1_pd(0x1p104));
    if (high != NULL) {
        *high += (Words)h;
    }
    if (low != NULL) {
        __m256d rest = _mm256_sub_pd(_mm256_set1_pd(0x1p104 + 0x1p52), h);
        *low += (Words)_mm256_fmadd_pd((__m256d)a, (__m256d)b, rest);
    }
}

INLINE unsigned products_begin(void)
{
    unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | _MM_ROUND_TOWARD_ZERO);
    return mode;
}

INLINE void products_end(unsigned mode)
{
    _mm_setcsr(mode);
}

#endif
