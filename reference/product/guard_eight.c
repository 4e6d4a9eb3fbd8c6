/*
 * Guards of eight entries of C at a time: what guard.c does to one, a lane each.
 */
#include "guard_eight.h"

#include "ifma_block.h"

#ifdef __x86_64__

#include "lanes_memory.h"

/* Guards of eight entries that need `needed` and sum to s; of lines of zeros: the least. */
EIGHT __m128i guards_of(__m512d needed, __m512d s, __mmask8 zeros)
{
    __m512i bits = _mm512_castpd_si512(_mm512_div_pd(needed, s));
    __m512i guard = _mm512_sub_epi64(_mm512_srli_epi64(bits, 52), all(1022));
    __mmask8 none = _mm512_cmp_pd_mask(s, _mm512_setzero_pd(), _CMP_LE_OQ);
    guard = _mm512_max_epi64(guard, all((uint64_t)GUARD_MIN));
    guard = _mm512_mask_mov_epi64(guard, none, all(GUARD_NEVER));
    guard = _mm512_mask_mov_epi64(guard, zeros, all((uint64_t)GUARD_MIN));
    return _mm512_cvtepi64_epi16(guard);
}

EIGHTS static size_t measure_row(const Plan *plan, const GuardRow *row, const float *s,
                                 size_t *weak)
{
    const Operand *b = &plan->b;
    const size_t n = plan->n - plan->n % LANES;
    const __mmask8 spread = plan->a.spread[row->i] ? ALL : 0,
                   zero_line = plan->a.exponent[row->i] == LINE_ZERO ? ALL : 0;
    const __m512d from_b = _mm512_set1_pd(row->from_b), scale = _mm512_set1_pd(row->scale);
    int16_t *guard = plan->guard + row->i * plan->n;
    for (size_t j = 0; j < n; j += LANES) {
        __m512d sum = _mm512_cvtps_pd(_mm256_loadu_ps(s + j));
        __m512d needed = _mm512_mul_pd(from_b, _mm512_loadu_pd(b->sum + j));
        needed = _mm512_mul_pd(_mm512_add_pd(_mm512_set1_pd(row->from_a), needed), scale);
        __m512i exponent = _mm512_loadu_si512(b->exponent + j);
        __mmask8 zeros = zero_line | _mm512_cmpeq_epi64_mask(exponent, all((uint64_t)LINE_ZERO));
        _mm_storeu_si128((__m128i_u *)(guard + j), guards_of(needed, sum, zeros));
        __mmask8 small = _mm512_cmp_pd_mask(sum, _mm512_set1_pd(row->weak), _CMP_LT_OQ);
        if (small != 0) {
            __m128i bytes = _mm_loadl_epi64((const __m128i_u *)(const void *)(b->spread + j));
            __m512i lines = _mm512_cvtepu8_epi64(bytes);
            small &= spread | _mm512_test_epi64_mask(lines, lines);
            *weak += (size_t)__builtin_popcount(small);
        }
    }
    return n;
}

size_t guard_eights(const Plan *plan, const GuardRow *row, const float *s, size_t *weak)
{
    return ifma_has() ? measure_row(plan, row, s, weak) : 0;
}

#else

size_t guard_eights(const Plan *plan, const GuardRow *row, const float *s, size_t *weak)
{
    (void)plan, (void)row, (void)s, (void)weak;
    return 0;
}

#endif
