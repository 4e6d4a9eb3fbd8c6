/*
 * An operand's lines measured eight entries at a time: neighbours in memory, which are those of a
 * line, or the entries of eight lines at one depth.
 */
#include "operand_eight.h"

#include "ifma_block.h"

#ifdef __x86_64__

#include "operand_read.h"

#include <string.h>

/* Lines measured together, in eights. */
enum { EIGHTS_OF_LINES = 8 };

/* Exponents of the lowest bits that are set; LONG_MAX for zeros. */
EIGHT __m512i lowest_bits(const Eight *x)
{
    __m512i limb = x->limb[0], down = all(64 * LIMBS_MOST);
    UNROLL
    for (int l = 1; l < LIMBS_MOST; l++) {
        __mmask8 empty = _mm512_testn_epi64_mask(limb, limb);
        limb = _mm512_mask_mov_epi64(limb, empty, x->limb[l]);
        down = _mm512_mask_sub_epi64(down, empty, down, all(64));
    }
    __m512i bit = _mm512_and_si512(limb, _mm512_sub_epi64(zero(), limb));
    bit = _mm512_sub_epi64(all(63), _mm512_lzcnt_epi64(bit));
    __m512i exponent = _mm512_add_epi64(_mm512_sub_epi64(x->exponent, down), bit);
    return _mm512_mask_mov_epi64(all(LONG_MAX), _mm512_test_epi64_mask(limb, limb), exponent);
}

/* Magnitudes by 2^-exponent rounded toward zero to doubles, and to 0 far below the normal range. */
EIGHT __m512i scaled_sizes(const Eight *x, __m512i exponent)
{
    const __m512i limb = x->limb[LIMBS_MOST - 1];
    __m512i relative = _mm512_sub_epi64(x->exponent, exponent);
    __mmask8 there = _mm512_test_epi64_mask(limb, limb);
    there = _mm512_mask_cmpge_epi64_mask(there, relative, all((uint64_t)-500));
    __m512i fraction = _mm512_srli_epi64(_mm512_slli_epi64(limb, 1), 12);
    __m512i biased = _mm512_slli_epi64(_mm512_add_epi64(relative, all(1022)), 52);
    return _mm512_maskz_or_epi64(there, fraction, biased);
}

/* The same as floats, and to 0 where a product of two would be no normal one; returns the lanes
 * whose entries are so small and not 0. */
EIGHT __mmask8 put_sizes(float *to, const Eight *x, __m512i exponent, __m512i size, __mmask8 lanes)
{
    const __m512i limb = x->limb[LIMBS_MOST - 1];
    __m512i relative = _mm512_sub_epi64(x->exponent, exponent);
    __mmask8 there = _mm512_test_epi64_mask(limb, limb);
    __mmask8 near =
        _mm512_mask_cmpge_epi64_mask(there, relative, all((uint64_t)(int64_t)SIZE_EXPONENT));
    __m256 cut = _mm512_maskz_cvt_roundpd_ps(near, _mm512_castsi512_pd(size),
                                             _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    _mm512_mask_storeu_ps(to, lanes, _mm512_castps256_ps512(cut));
    return there & (__mmask8)~near;
}

/* A line whose entries are neighbours. */
EIGHTS static bool measure_line(Operand *o, mpfr_exp_t *low, size_t line)
{
    __m512i largest = all((uint64_t)LINE_ZERO), lowest = all(LONG_MAX);
    __m512d sum = _mm512_setzero_pd();
    Eight x;
    for (size_t l = 0; l < o->depth; l += LANES) {
        size_t left = o->depth - l;
        if (!read_eight(&x, o, o->line_at[line] + o->depth_at[l], left < LANES ? left : LANES)) {
            return false;
        }
        largest = _mm512_max_epi64(largest, x.exponent);
        lowest = _mm512_min_epi64(lowest, lowest_bits(&x));
    }
    o->exponent[line] = _mm512_reduce_max_epi64(largest);
    low[line] = _mm512_reduce_min_epi64(lowest);
    const __m512i exponent = all((uint64_t)o->exponent[line]);
    __mmask8 small = 0;
    for (size_t l = 0; l < o->depth; l += LANES) {
        size_t left = o->depth - l, lanes = left < LANES ? left : LANES;
        (void)read_eight(&x, o, o->line_at[line] + o->depth_at[l], lanes);
        __m512i size = scaled_sizes(&x, exponent);
        float *to = o->size + line * o->depth + l;
        small |= put_sizes(to, &x, exponent, size, first_lanes(lanes));
        sum = _mm512_add_pd(sum, _mm512_castsi512_pd(size));
    }
    o->sum[line] = _mm512_reduce_add_pd(sum);
    o->spread[line] = small != 0;
    return true;
}

/* What is known of lines that are neighbours, eights of them. */
typedef struct {
    __m512i largest[EIGHTS_OF_LINES], lowest[EIGHTS_OF_LINES];
    __m512d sum[EIGHTS_OF_LINES];
    __mmask8 small[EIGHTS_OF_LINES];
} Beside;

EIGHT bool take_exponents(Beside *known, const Operand *o, size_t position, size_t first,
                          size_t lines)
{
    const size_t at = o->depth_at[position];
    for (size_t i = 0; i < lines; i += LANES) {
        Eight x;
        size_t left = lines - i;
        fetch_ahead(o, first + i, position);
        if (!read_eight(&x, o, at + o->line_at[first + i], left < LANES ? left : LANES)) {
            return false;
        }
        known->largest[i / LANES] = _mm512_max_epi64(known->largest[i / LANES], x.exponent);
        known->lowest[i / LANES] = _mm512_min_epi64(known->lowest[i / LANES], lowest_bits(&x));
    }
    return true;
}

EIGHT void take_sizes(Beside *known, Operand *o, size_t position, size_t first, size_t lines)
{
    const size_t at = o->depth_at[position];
    float *to = o->size + position * o->lines + first;
    for (size_t i = 0; i < lines; i += LANES) {
        Eight x;
        size_t left = lines - i, lanes = left < LANES ? left : LANES;
        fetch_ahead(o, first + i, position);
        (void)read_eight(&x, o, at + o->line_at[first + i], lanes);
        const __m512i exponent = known->largest[i / LANES];
        __m512i size = scaled_sizes(&x, exponent);
        known->small[i / LANES] |= put_sizes(to + i, &x, exponent, size, first_lanes(lanes));
        known->sum[i / LANES] = _mm512_add_pd(known->sum[i / LANES], _mm512_castsi512_pd(size));
    }
}

/* Lines that are neighbours, row after row of them as they lie in memory. */
EIGHTS static bool measure_beside(Operand *o, mpfr_exp_t *low, size_t first, size_t lines)
{
    Beside known;
    for (size_t g = 0; g < EIGHTS_OF_LINES; g++) {
        known.largest[g] = all((uint64_t)LINE_ZERO);
        known.lowest[g] = all(LONG_MAX);
        known.sum[g] = _mm512_setzero_pd();
        known.small[g] = 0;
    }
    for (size_t l = 0; l < o->depth; l++) {
        if (!take_exponents(&known, o, l, first, lines)) {
            return false;
        }
    }
    for (size_t l = 0; l < o->depth; l++) {
        take_sizes(&known, o, l, first, lines);
    }
    memcpy(o->exponent + first, known.largest, lines * sizeof *o->exponent);
    memcpy(low + first, known.lowest, lines * sizeof *low);
    memcpy(o->sum + first, known.sum, lines * sizeof *o->sum);
    for (size_t i = 0; i < lines; i++) {
        o->spread[first + i] = (known.small[i / LANES] >> i % LANES & 1) != 0;
    }
    return true;
}

bool operand_measure_eights(Operand *o, mpfr_exp_t *low, size_t first, size_t lines)
{
    if (!o->beside || lines > EIGHTS_OF_LINES * LANES || !ifma_has()) {
        return false;
    }
    if (o->depth_major) {
        return measure_beside(o, low, first, lines);
    }
    bool plain = true;
    for (size_t i = 0; plain && i < lines; i++) {
        plain = measure_line(o, low, first + i);
    }
    return plain;
}

#else

bool operand_measure_eights(Operand *o, mpfr_exp_t *low, size_t first, size_t lines)
{
    (void)o, (void)low, (void)first, (void)lines;
    return false;
}

#endif
