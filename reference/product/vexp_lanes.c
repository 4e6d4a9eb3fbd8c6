/*
 * Eight exponentials at once in fixed point on AVX-512 IFMA.
 */
#include "vexp_lanes.h"

#include "internal.h"

#ifdef __x86_64__

#include "wide.h"

#include <math.h>

#define INLINE WIDE_INLINE

enum { DIGIT = 52, MOST = VEXP_DIGITS + 2 };
#define MASK (((uint64_t)1 << DIGIT) - 1)

INLINE __m512i all(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* Columns to digits, in place; returns what leaves the first. */
INLINE __m512i carry(__m512i *x, const int count)
{
    __m512i out = _mm512_setzero_si512();
#pragma GCC unroll 22
    for (int w = count - 1; w >= 0; w--) {
        __m512i sum = _mm512_add_epi64(x[w], out);
        out = _mm512_srai_epi64(sum, DIGIT);
        x[w] = _mm512_and_si512(sum, all(MASK));
    }
    return out;
}

/* Columns 0 to n of a b, fractions of n digits: column w has the weight 2^(-52 (w + 1)).  What
 * falls beyond them is less than 2^-44 of the last digit. */
INLINE void columns(__m512i *x, const __m512i *a, const __m512i *b, const int n)
{
    __m512i low[MOST]; /* apart, so that half as many additions wait for each other */
#pragma GCC unroll 22
    for (int w = 0; w <= n; w++) {
        x[w] = _mm512_setzero_si512();
        low[w] = _mm512_setzero_si512();
    }
#pragma GCC unroll 22
    for (int i = 0; i < n; i++) {
#pragma GCC unroll 22
        for (int j = 0; j < n; j++) {
            if (i + j <= n) {
                x[i + j] = _mm512_madd52hi_epu64(x[i + j], a[i], b[j]);
            }
            if (i + j + 1 <= n) {
                low[i + j + 1] = _mm512_madd52lo_epu64(low[i + j + 1], a[i], b[j]);
            }
        }
    }
#pragma GCC unroll 22
    for (int w = 0; w <= n; w++) {
        x[w] = _mm512_add_epi64(x[w], low[w]);
    }
}

/* out = a b + c, cut off after n digits: 0 <= exact - out < 2^(-52 n) (1 + 2^-44).  The sum is
 * below 1.  out may be a, b or c; c may be NULL. */
INLINE void multiply_add(__m512i *out, const __m512i *a, const __m512i *b, const __m512i *c,
                         const int n)
{
    __m512i x[MOST];
    columns(x, a, b, n);
#pragma GCC unroll 22
    for (int w = 0; c != NULL && w < n; w++) {
        x[w] = _mm512_add_epi64(x[w], c[w]);
    }
    carry(x, n + 1);
#pragma GCC unroll 22
    for (int w = 0; w < n; w++) {
        out[w] = x[w];
    }
}

/* b = coefficients + s b on n digits. */
INLINE void step(__m512i *b, const __m512i *s, const uint64_t *coefficient, const int n)
{
    __m512i c[MOST];
#pragma GCC unroll 22
    for (int w = 0; w < n; w++) {
        c[w] = all(coefficient[w]);
    }
    multiply_add(b, s, b, c, n);
}

WIDE static void horner_step(__m512i *b, const __m512i *s, const uint64_t *coefficient, size_t n)
{
    switch (n) {
    case 1: step(b, s, coefficient, 1); break;
    case 2: step(b, s, coefficient, 2); break;
    case 3: step(b, s, coefficient, 3); break;
    case 4: step(b, s, coefficient, 4); break;
    case 5: step(b, s, coefficient, 5); break;
    case 6: step(b, s, coefficient, 6); break;
    case 7: step(b, s, coefficient, 7); break;
    case 8: step(b, s, coefficient, 8); break;
    case 9: step(b, s, coefficient, 9); break;
    case 10: step(b, s, coefficient, 10); break;
    case 11: /* one digit more, at most, than needed, and none that is not there */
    case 12: step(b, s, coefficient, 12); break;
    case 13:
    case 14: step(b, s, coefficient, 14); break;
    case 15: step(b, s, coefficient, 15); break;
    case 16: step(b, s, coefficient, 16); break;
    case 17:
    case 18: step(b, s, coefficient, 18); break;
    default: step(b, s, coefficient, VEXP_DIGITS); break;
    }
}

/* n, and r = x - n ln 2 as a fraction of `digits` digits, cut off. */
INLINE void reduce_argument(__m512i *r, ExpLanes *lanes, const ExpTables *tables, const int digits)
{
    const __m512i zero = _mm512_setzero_si512();
    for (int lane = 0; lane < VEXP_LANES; lane++) {
        double size = (double)lanes->x[0][lane] + (double)lanes->x[1][lane] * 0x1p-52;
        double x = lanes->negative >> lane & 1 ? -size : size;
        /* A little less than x / ln 2, so that r > 0 whatever the rounding. */
        lanes->n[lane] = (int64_t)floor(x * 0x1.71547652b82fep0 - 0x1p-20);
    }
    __m512i n = _mm512_load_si512(lanes->n), t[MOST];
    __m512i n_size = _mm512_abs_epi64(n);
    __mmask8 n_negative = _mm512_cmplt_epi64_mask(n, zero);
#pragma GCC unroll 22
    for (int w = 0; w < digits + 2; w++) {
        t[w] = w > 0 ? _mm512_madd52lo_epu64(zero, n_size, all(tables->ln2[w - 1])) : zero;
        if (w <= digits) {
            t[w] = _mm512_madd52hi_epu64(t[w], n_size, all(tables->ln2[w]));
        }
        t[w] = _mm512_mask_sub_epi64(t[w], (__mmask8)~n_negative, zero, t[w]);
        __m512i x = _mm512_load_si512(lanes->x[w]);
        x = _mm512_mask_sub_epi64(x, (__mmask8)lanes->negative, zero, x);
        t[w] = _mm512_add_epi64(t[w], x);
    }
    carry(t, digits + 2);
#pragma GCC unroll 22
    for (int w = 0; w < digits; w++) {
        r[w] = t[w + 1];
    }
}

/* g = exp(s) - 1 = s + s (s B), B = 1 / 2! + s / 3! + ...; the term s^k needs 24 k bits less. */
INLINE void series(__m512i *g, const __m512i *s, const ExpTables *tables, const int digits)
{
    __m512i b[MOST];
#pragma GCC unroll 22
    for (int w = 0; w < digits; w++) {
        b[w] = _mm512_setzero_si512();
    }
    for (size_t k = tables->terms; k >= 2; k--) {
        size_t bits = (size_t)digits * DIGIT, less = 24 * k;
        size_t n = (bits > less ? (bits - less + DIGIT - 1) / DIGIT : 0) + 1;
        horner_step(b, s, tables->inverse_factorial[k], n < (size_t)digits ? n : (size_t)digits);
    }
    multiply_add(b, s, b, NULL, digits);
    multiply_add(g, s, b, s, digits);
}

INLINE void look_up(__m512i *f, const uint64_t (*table)[VEXP_TABLE], __m512i index,
                    const int digits)
{
#pragma GCC unroll 22
    for (int w = 0; w < digits; w++) {
        f[w] = _mm512_i64gather_epi64(index, table[w], 8);
    }
}

INLINE void to_limbs(ExpLanes *lanes, const __m512i *x, const int count)
{
    __m512i word = _mm512_setzero_si512();
    unsigned filled = 0;
    int at = 0;
#pragma GCC unroll 22
    for (int w = count - 1; w >= 0; w--) {
        word = _mm512_or_si512(word, _mm512_sll_epi64(x[w], _mm_cvtsi64_si128(filled)));
        filled += DIGIT;
        if (filled >= 64) {
            filled -= 64;
            _mm512_store_si512(lanes->limb[at++], word);
            word = _mm512_srl_epi64(x[w], _mm_cvtsi64_si128(DIGIT - filled));
        }
    }
    _mm512_store_si512(lanes->limb[at], word);
}

INLINE void exp_of_digits(ExpLanes *lanes, const ExpTables *tables, const int digits)
{
    __m512i s[MOST], g[MOST], f[MOST], h[MOST], x[MOST];
    reduce_argument(s, lanes, tables, digits);
    __m512i first = _mm512_srli_epi64(s[0], DIGIT - 8);
    __m512i second = _mm512_and_si512(_mm512_srli_epi64(s[0], DIGIT - 16), all(255));
    __m512i third = _mm512_and_si512(_mm512_srli_epi64(s[0], DIGIT - 24), all(255));
    s[0] = _mm512_and_si512(s[0], all(MASK >> 24));
    series(g, s, tables, digits);
    /* (1 + f) (1 + h) = 1 + f + h + f h, three times. */
    look_up(h, tables->table[2], third, digits);
#pragma GCC unroll 22
    for (int t = 0; t < 2; t++) {
        const __m512i *by = t == 0 ? g : f;
        if (t == 1) {
            look_up(f, tables->table[1], second, digits);
        }
        columns(x, h, by, digits);
#pragma GCC unroll 22
        for (int w = 0; w < digits; w++) {
            x[w] = _mm512_add_epi64(x[w], _mm512_add_epi64(h[w], by[w]));
        }
        carry(x, digits + 1);
#pragma GCC unroll 22
        for (int w = 0; w < digits; w++) {
            h[w] = x[w];
        }
    }
    look_up(f, tables->table[0], first, digits);
    columns(x, h, f, digits);
#pragma GCC unroll 22
    for (int w = 0; w < digits; w++) {
        x[w] = _mm512_add_epi64(x[w], _mm512_add_epi64(f[w], h[w]));
    }
    __m512i out = carry(x, digits + 1);
#pragma GCC unroll 22
    for (int w = digits; w > 0; w--) {
        x[w] = x[w - 1];
    }
    x[0] = _mm512_add_epi64(all(1), out);
    to_limbs(lanes, x, digits + 1);
}

WIDE void vexp_lanes(ExpLanes *lanes, const ExpTables *tables)
{
    switch (tables->digits) {
    case 3: exp_of_digits(lanes, tables, 3); break;
    case 4: exp_of_digits(lanes, tables, 4); break;
    case 5: exp_of_digits(lanes, tables, 5); break;
    case 10: exp_of_digits(lanes, tables, 10); break;
    case 15: exp_of_digits(lanes, tables, 15); break;
    default: exp_of_digits(lanes, tables, VEXP_DIGITS); break;
    }
}

#else

void vexp_lanes(ExpLanes *lanes, const ExpTables *tables)
{
    (void)lanes;
    (void)tables;
    PRODUCT_CHECK(!"built for another CPU");
}

#endif
