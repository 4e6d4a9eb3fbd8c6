/*
 * Vectors of eight 64-bit words (private to the files of reference/product/ that use AVX-512 IFMA;
 * x86-64 alone).  The instruction set is a function's, not the build's: call them where ifma_has().
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_H

#include <immintrin.h>

#define WIDE __attribute__((target("avx512f,avx512ifma")))
#define WIDE_INLINE WIDE static inline __attribute__((always_inline))

/* to[0] to to[count - 1], vectors, become 0: few, so that a call of memset, which compilers make of
 * such a loop where they can, would take longer. */
WIDE_INLINE void wide_clear(void *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        _mm512_store_si512((__m512i *)to + i, _mm512_setzero_si512());
        __asm__("" : : : "memory");
    }
}

/* Word j of x[i] becomes word i of x[j]. */
WIDE_INLINE void wide_transpose(__m512i *x)
{
    __m512i pair[8], four[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) { /* words j, j + 1 of x[i], x[i + 1] change places */
        pair[i] = _mm512_unpacklo_epi64(x[i], x[i + 1]);
        pair[i + 1] = _mm512_unpackhi_epi64(x[i], x[i + 1]);
    }
    /* Then pairs of words: 0 and 2 of every four; 1 and 3. */
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        int low = i / 2 * 4 + i % 2;
        four[low] = _mm512_shuffle_i64x2(pair[low], pair[low + 2], 0x88);
        four[low + 2] = _mm512_shuffle_i64x2(pair[low], pair[low + 2], 0xdd);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        x[i] = _mm512_shuffle_i64x2(four[i], four[i + 4], 0x88);
        x[i + 4] = _mm512_shuffle_i64x2(four[i], four[i + 4], 0xdd);
    }
}

#endif
