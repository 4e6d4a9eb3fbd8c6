/*
 * The innermost loops on AVX-512 IFMA: blocks of multiply-adds of 52-bit digits, carries,
 * joins.
 */
#include "ifma_block.h"

#include "internal.h"

#ifdef __x86_64__

#include "wide.h"

#define INLINE WIDE_INLINE

/* ROWS rows, na x nb digits, the first `kept` columns.  Called with constants alone, so that the
 * loops over rows and digits unroll and the sums stay in registers. */
INLINE void multiply(IfmaTile *tile, size_t row, const int rows, const IfmaDigits *a,
                     const IfmaDigits *b, size_t depth, const int na, const int nb, const int kept)
{
    __m512i sum[4][2 * IFMA_BLOCK];
    const size_t base = a->first + b->first + 1;
    const uint64_t *pa = a->digit + row * a->digits + a->first;
    const uint64_t *pb = b->digit + b->first * IFMA_LANES;
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 10
        for (int w = 0; w < kept; w++) {
            sum[r][w] = _mm512_load_si512(tile->sum[row + (size_t)r][base + (size_t)w]);
        }
    }
    for (size_t l = 0; l < depth; l++) {
        __m512i digit[IFMA_BLOCK];
#pragma GCC unroll 5
        for (int j = 0; j < nb; j++) {
            digit[j] = _mm512_load_si512(pb + j * IFMA_LANES);
        }
#pragma GCC unroll 5
        for (int i = 0; i < na; i++) {
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++) {
                __m512i x = _mm512_set1_epi64((long long)pa[(size_t)r * a->digits + (size_t)i]);
#pragma GCC unroll 5
                for (int j = 0; j < nb; j++) {
                    if (i + j < kept) {
                        sum[r][i + j] = _mm512_madd52hi_epu64(sum[r][i + j], x, digit[j]);
                    }
                    if (i + j + 1 < kept) {
                        sum[r][i + j + 1] = _mm512_madd52lo_epu64(sum[r][i + j + 1], x, digit[j]);
                    }
                }
            }
        }
        pa += IFMA_ROWS * a->digits;
        pb += IFMA_LANES * b->digits;
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 10
        for (int w = 0; w < kept; w++) {
            _mm512_store_si512(tile->sum[row + (size_t)r][base + (size_t)w], sum[r][w]);
        }
    }
}

/* Four rows at once while their sums fit 32 registers, else two. */
INLINE void multiply_rows(IfmaTile *tile, const IfmaDigits *a, const IfmaDigits *b, size_t depth,
                          const int na, const int nb, const int kept)
{
    if (4 * kept + nb <= 30) {
        multiply(tile, 0, 4, a, b, depth, na, nb, kept);
    } else {
        multiply(tile, 0, 2, a, b, depth, na, nb, kept);
        multiply(tile, 2, 2, a, b, depth, na, nb, kept);
    }
}

/* The block's columns, as ifma_block_columns counts them. */
INLINE void multiply_cut(IfmaTile *tile, const IfmaDigits *a, const IfmaDigits *b, size_t depth,
                         const int na, const int nb, size_t kept)
{
    const int most = na > nb ? na : nb;
    size_t columns = ifma_block_columns((size_t)na, (size_t)nb, kept);
    if (columns == (size_t)most) {
        multiply_rows(tile, a, b, depth, na, nb, most);
    } else if (columns == (size_t)most + 1) {
        multiply_rows(tile, a, b, depth, na, nb, most + 1);
    } else {
        multiply_rows(tile, a, b, depth, na, nb, na + nb);
    }
}

/* One function for each count of a's digits. */
#define BLOCK_OF(na)                                                                               \
    WIDE static void block_##na(IfmaTile *tile, const IfmaDigits *a, const IfmaDigits *b,          \
                                size_t depth, size_t kept)                                         \
    {                                                                                              \
        switch (b->count) {                                                                        \
        case 1: multiply_cut(tile, a, b, depth, na, 1, kept); break;                               \
        case 2: multiply_cut(tile, a, b, depth, na, 2, kept); break;                               \
        case 3: multiply_cut(tile, a, b, depth, na, 3, kept); break;                               \
        case 4: multiply_cut(tile, a, b, depth, na, 4, kept); break;                               \
        default: multiply_cut(tile, a, b, depth, na, 5, kept); break;                              \
        }                                                                                          \
    }
BLOCK_OF(1)
BLOCK_OF(2)
BLOCK_OF(3)
BLOCK_OF(4)
BLOCK_OF(5)

/* The corner of a product cut off: two columns are left of it, at most. */
WIDE static void block_corner(IfmaTile *tile, const IfmaDigits *a, const IfmaDigits *b,
                              size_t depth)
{
    multiply_rows(tile, a, b, depth, 2, 2, 2);
}

void ifma_block(IfmaTile *tile, IfmaDigits a, IfmaDigits b, size_t depth, size_t kept)
{
    if (kept <= 2 && a.count >= 2 && b.count >= 2) {
        block_corner(tile, &a, &b, depth);
        return;
    }
    switch (a.count) {
    case 1: block_1(tile, &a, &b, depth, kept); break;
    case 2: block_2(tile, &a, &b, depth, kept); break;
    case 3: block_3(tile, &a, &b, depth, kept); break;
    case 4: block_4(tile, &a, &b, depth, kept); break;
    default: block_5(tile, &a, &b, depth, kept); break;
    }
}

WIDE void ifma_clear(IfmaTile *tile, size_t columns)
{
    for (size_t r = 0; r < IFMA_ROWS; r++) {
        wide_clear(tile->sum[r], columns);
    }
}

/* One row's sums; shift(x) is the part of x above its digit. */
INLINE __m512i carry_row(uint64_t (*sum)[IFMA_LANES], size_t columns, const bool has_sign)
{
    const __m512i mask = _mm512_set1_epi64((long long)IFMA_MASK);
    __m512i carry = _mm512_setzero_si512();
    for (size_t w = columns; w-- > 1;) {
        __m512i x = _mm512_add_epi64(_mm512_load_si512(sum[w]), carry);
        carry = has_sign ? _mm512_srai_epi64(x, 52) : _mm512_srli_epi64(x, 52);
        _mm512_store_si512(sum[w], _mm512_and_si512(x, mask));
    }
    __m512i top = _mm512_add_epi64(_mm512_load_si512(sum[0]), carry);
    _mm512_store_si512(sum[0], top);
    return top;
}

WIDE void ifma_carry(IfmaTile *tile, size_t columns)
{
    for (size_t r = 0; r < IFMA_ROWS; r++) {
        carry_row(tile->sum[r], columns, false);
    }
}

/* Digits below 2^52, the most significant first, to limbs. */
INLINE void join_row(uint64_t (*limb)[IFMA_LANES], uint64_t (*sum)[IFMA_LANES], size_t columns)
{
    __m512i word = _mm512_setzero_si512();
    size_t at = 0, filled = 0;
    for (size_t w = columns; w-- > 0;) {
        __m512i digit = _mm512_load_si512(sum[w]);
        word = _mm512_or_si512(word, _mm512_sll_epi64(digit, _mm_cvtsi64_si128((int)filled)));
        filled += 52;
        if (filled >= 64) {
            filled -= 64;
            _mm512_store_si512(limb[at++], word);
            word = _mm512_srl_epi64(digit, _mm_cvtsi64_si128((int)(52 - filled)));
        }
    }
    _mm512_store_si512(limb[at], word);
}

WIDE void ifma_finish(IfmaResult *result, IfmaTile *tile, size_t columns,
                      const int64_t (*a_correction)[IFMA_COLUMNS], const int64_t *b_correction)
{
    for (size_t r = 0; r < IFMA_ROWS; r++) {
        uint64_t(*sum)[IFMA_LANES] = tile->sum[r];
        for (size_t w = 0; w < columns; w++) {
            __m512i x = _mm512_sub_epi64(_mm512_load_si512(sum[w]),
                                         _mm512_load_si512(b_correction + w * IFMA_LANES));
            x = _mm512_sub_epi64(x, _mm512_set1_epi64(a_correction[r][w]));
            _mm512_store_si512(sum[w], x);
        }
        __m512i top = carry_row(sum, columns, true);
        __mmask8 negative = _mm512_cmplt_epi64_mask(top, _mm512_setzero_si512());
        result->negative[r] = negative;
        for (size_t w = 0; w < columns; w++) {
            __m512i x = _mm512_load_si512(sum[w]);
            _mm512_store_si512(sum[w],
                               _mm512_mask_sub_epi64(x, negative, _mm512_setzero_si512(), x));
        }
        carry_row(sum, columns, true);
        join_row(result->limb[r], sum, columns);
    }
}

bool ifma_has(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512ifma");
}

#else

bool ifma_has(void)
{
    return false;
}

#endif
