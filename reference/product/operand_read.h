/*
 * Eight neighbours in memory of an operand's entries, in vectors (private to the files of
 * reference/product/ that measure and pack eight at a time; x86-64 alone).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_OPERAND_READ_H
#define HEADPROOF_REFERENCE_PRODUCT_OPERAND_READ_H

#include "lanes_memory.h"
#include "operand.h"

/* The first `lanes` of eight. */
EIGHT __mmask8 first_lanes(size_t lanes)
{
    return (__mmask8)(lanes < LANES ? (1U << lanes) - 1 : ALL);
}

/* Vector `part` of `lanes` structures of `words` words; 0 behind them. */
EIGHT __m512i load_words(const void *from, size_t lanes, const int words, const int part)
{
    size_t filled = lanes * (size_t)words, before = (size_t)part * LANES;
    __mmask8 there = first_lanes(filled > before ? filled - before : 0);
    return _mm512_maskz_loadu_epi64(there, (const char *)from + 64 * part);
}

/* Exponents and signs of some headers.  False where they are not alike, of `count` limbs one behind
 * the other. */
EIGHT bool read_headers(Eight *x, mpfr_srcptr from, size_t lanes, const int count)
{
    const __m512i even = _mm512_set_epi64(14, 10, 6, 2, 12, 8, 4, 0),
                  odd = _mm512_set_epi64(15, 11, 7, 3, 13, 9, 5, 1);
    const __m512i place = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    __m512i header[HEADER];
    UNROLL
    for (int k = 0; k < HEADER; k++) {
        header[k] = load_words(from, lanes, HEADER, k);
    }
    __m512i first = _mm512_permutex2var_epi64(header[0], even, header[1]);
    __m512i second = _mm512_permutex2var_epi64(header[2], even, header[3]);
    __m512i precision = low_halves(first, second);
    x->exponent = high_halves(first, second);
    first = _mm512_permutex2var_epi64(header[0], odd, header[1]);
    second = _mm512_permutex2var_epi64(header[2], odd, header[3]);
    x->negative =
        _mm512_test_epi64_mask(low_halves(first, second), all((uint64_t)1 << NEGATIVE_BIT));
    __m512i limbs = _mm512_mullo_epi32(place, all(sizeof(mp_limb_t) * (uint64_t)count));
    limbs = _mm512_add_epi64(limbs, all((uint64_t)mpfr_custom_get_significand(from)));
    __mmask8 differ = _mm512_cmpneq_epi64_mask(high_halves(first, second), limbs) |
                      _mm512_cmpneq_epi64_mask(precision, all((uint64_t)mpfr_get_prec(from)));
    return (differ & first_lanes(lanes)) == 0;
}

/* Limbs, the highest ones of LIMBS_MOST. */
EIGHT void read_limbs(Eight *x, mpfr_srcptr from, size_t lanes, const int count)
{
    const mp_limb_t *limb = mpfr_custom_get_significand(from);
    __m512i words[LIMBS_MOST];
    UNROLL
    for (int k = 0; k < count; k++) {
        words[k] = load_words(limb, lanes, count, k);
    }
    UNROLL
    for (int l = 0; l < LIMBS_MOST; l++) {
        int from_limb = l - (LIMBS_MOST - count);
        x->limb[l] = from_limb < 0 ? zero() : take(words, count, from_limb);
    }
}

/* The same of doubles: their 53 bits in the highest limb; all are alike. */
EIGHT void read_doubles(Eight *x, const double *from, size_t lanes)
{
    __m512i word = load_words(from, lanes, 1, 0);
    __m512i fraction = _mm512_and_si512(word, all(((uint64_t)1 << 52) - 1));
    __m512i biased = _mm512_and_si512(_mm512_srli_epi64(word, 52), all(0x7ff));
    __mmask8 normal = _mm512_test_epi64_mask(biased, biased);
    fraction = _mm512_mask_or_epi64(fraction, normal, fraction, all((uint64_t)1 << 52));
    __m512i zeros = _mm512_lzcnt_epi64(fraction); /* 11, or a denormal's */
    UNROLL
    for (int l = 0; l < LIMBS_MOST; l++) {
        x->limb[l] = l < LIMBS_MOST - 1 ? zero() : _mm512_sllv_epi64(fraction, zeros);
    }
    __mmask8 finite = _mm512_cmpneq_epi64_mask(biased, all(0x7ff));
    __mmask8 none = _mm512_testn_epi64_mask(fraction, fraction);
    __m512i exponent = _mm512_sub_epi64(_mm512_max_epi64(biased, all(1)), zeros);
    exponent = _mm512_sub_epi64(exponent, all(1022 - 11));
    exponent = _mm512_mask_mov_epi64(all((uint64_t)__MPFR_EXP_NAN), finite, exponent);
    x->exponent = _mm512_mask_mov_epi64(exponent, none, all((uint64_t)__MPFR_EXP_ZERO));
    x->negative = _mm512_cmplt_epi64_mask(word, zero());
}

/* Up to four limbs.  False: not alike. */
EIGHT bool read_numbers(Eight *x, mpfr_srcptr from, size_t lanes)
{
    const size_t count = ((size_t)mpfr_get_prec(from) + 63) / 64;
    bool alike = false;
#define READ(count)                                                                                \
    case count:                                                                                    \
        alike = read_headers(x, from, lanes, count);                                               \
        if (alike) {                                                                               \
            read_limbs(x, from, lanes, count);                                                     \
        }                                                                                          \
        break;
    switch (count) {
        READ(1)
        READ(2)
        READ(3)
        READ(4)
    default: break;
    }
#undef READ
    return alike;
}

/* x = up to eight neighbours of an operand's entries, from `at` on, those that are 0 or beyond
 * `lanes` with limbs of 0 and an exponent below all others.  False: not done, they are no few limbs
 * one behind the other, or one is no plain number. */
static inline EIGHTS bool read_eight(Eight *x, const Operand *o, size_t at, size_t lanes)
{
    bool alike = true;
    if (o->number != NULL) {
        read_doubles(x, o->number + at, lanes);
    } else {
        alike = read_numbers(x, o->entry + at, lanes);
    }
    __m512i above = _mm512_add_epi64(x->exponent, all(EXPONENT_LIMIT - 1));
    __mmask8 plain = _mm512_cmplt_epu64_mask(above, all(2 * (uint64_t)EXPONENT_LIMIT - 1));
    __mmask8 none = _mm512_cmpeq_epi64_mask(x->exponent, all((uint64_t)__MPFR_EXP_ZERO)) |
                    (__mmask8)~first_lanes(lanes);
    plain &= (__mmask8)~none;
    UNROLL
    for (int l = 0; l < LIMBS_MOST; l++) {
        x->limb[l] = _mm512_maskz_mov_epi64(plain, x->limb[l]);
    }
    x->exponent = _mm512_mask_mov_epi64(x->exponent, none, all((uint64_t)LINE_ZERO));
    x->negative &= plain;
    return alike && (plain | none) == ALL;
}

/* Asks for eight doubles at a depth well behind `position`: lines side by side are far apart in
 * memory from one depth to the next, and the CPU does not see what comes. */
static inline void fetch_ahead(const Operand *o, size_t line, size_t position)
{
    enum { AHEAD = 24 };
    if (o->number != NULL && position + AHEAD < o->depth) {
        __builtin_prefetch(o->number + o->line_at[line] + o->depth_at[position + AHEAD]);
    }
}

#endif
