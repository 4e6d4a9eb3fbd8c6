/*
 * Exponentials in fixed point, LANES at once.
 */
#include "exp.h"

#include <math.h>

enum { MOST = VEXP_DIGITS + 2 };

/* Columns to digits, in place; returns what leaves the first. */
INLINE Words carry(Words *x, const int count)
{
    Words out = zero();
#pragma GCC unroll 22
    for (int w = count - 1; w >= 0; w--) {
        Words sum = x[w] + out;
        out = shift_right_signed(sum, DIGIT);
        x[w] = sum & all(DIGIT_MASK);
    }
    return out;
}

/* Columns 0 to n of a b, fractions of n digits: column w has the weight 2^(-52 (w + 1)).  What
 * falls beyond them is less than 2^-44 of the last digit. */
INLINE void columns(Words *x, const Words *a, const Words *b, const int n)
{
    Words low[MOST], fa[MOST],
        fb[MOST]; /* low: apart, so that fewer additions wait for each other */
#pragma GCC unroll 22
    for (int w = 0; w <= n; w++) {
        x[w] = sum_start(pairs_of(w, n, n), 0);
        low[w] = sum_start(0, pairs_of(w - 1, n, n));
        fa[w] = w < n ? factor_of(a[w]) : zero();
        fb[w] = w < n ? factor_of(b[w]) : zero();
    }
#pragma GCC unroll 22
    for (int i = 0; i < n; i++) {
#pragma GCC unroll 22
        for (int j = 0; j < n; j++) {
            const int w = i + j;
            if (w <= n) {
                add_product(&x[w], w < n ? &low[w + 1] : NULL, fa[i], fb[j]);
            }
        }
    }
#pragma GCC unroll 22
    for (int w = 0; w <= n; w++) {
        x[w] = x[w] + low[w];
    }
}

/* out = a b + c, cut off after n digits: 0 <= exact - out < 2^(-52 n) (1 + 2^-44).  The sum is
 * below 1.  out may be a, b or c. */
INLINE void multiply_add(Words *out, const Words *a, const Words *b, const Words *c, const int n)
{
    Words x[MOST];
    columns(x, a, b, n);
#pragma GCC unroll 22
    for (int w = 0; w < n; w++) {
        x[w] = x[w] + c[w];
    }
    carry(x, n + 1);
#pragma GCC unroll 22
    for (int w = 0; w < n; w++) {
        out[w] = x[w];
    }
}

/* b = coefficients + s b on n digits. */
INLINE void step(Words *b, const Words *s, const uint64_t *coefficient, const int n)
{
    Words c[MOST];
#pragma GCC unroll 22
    for (int w = 0; w < n; w++) {
        c[w] = all(coefficient[w]);
    }
    multiply_add(b, s, b, c, n);
}

/* More digits than 5: exponentials that plain C leaves to others have no code in that tier. */
static void long_step(Words *b, const Words *s, const uint64_t *coefficient, size_t n)
{
    if (EXP_DIGITS <= 5) {
        return;
    }
    switch (n) {
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

static void horner_step(Words *b, const Words *s, const uint64_t *coefficient, size_t n)
{
    switch (n) {
    case 1: step(b, s, coefficient, 1); break;
    case 2: step(b, s, coefficient, 2); break;
    case 3: step(b, s, coefficient, 3); break;
    case 4: step(b, s, coefficient, 4); break;
    case 5: step(b, s, coefficient, 5); break;
    default: long_step(b, s, coefficient, n); break;
    }
}

/* n, and r = x - n ln 2 as a fraction of `digits` digits, cut off. */
INLINE void reduce_argument(Words *r, ExpLanes *lanes, size_t first, const ExpTables *tables,
                            const int digits)
{
    for (size_t lane = first; lane < first + LANES; lane++) {
        double size = (double)lanes->x[0][lane] + (double)lanes->x[1][lane] * 0x1p-52;
        double x = lanes->negative >> lane & 1 ? -size : size;
        /* A little less than x / ln 2, so that r > 0 whatever the rounding. */
        lanes->n[lane] = (int64_t)floor(x * 0x1.71547652b82fep0 - 0x1p-20);
    }
    Words n = load(lanes->n + first), t[MOST];
    const Mask n_negative = less(n, zero()), negative = mask_of(lanes->negative >> first);
    const Words n_size = factor_of(select(n_negative, zero() - n, n));
#pragma GCC unroll 22
    for (int w = 0; w < digits + 2; w++) {
        t[w] = sum_start(w <= digits, w > 0);
    }
#pragma GCC unroll 22
    for (int w = 0; w <= digits; w++) {
        add_product(&t[w], &t[w + 1], n_size, factor_of(all(tables->ln2[w])));
    }
#pragma GCC unroll 22
    for (int w = 0; w < digits + 2; w++) {
        Words x = load(lanes->x[w] + first);
        x = select(negative, zero() - x, x);
        t[w] = x + select(n_negative, t[w], zero() - t[w]);
    }
    carry(t, digits + 2);
#pragma GCC unroll 22
    for (int w = 0; w < digits; w++) {
        r[w] = t[w + 1];
    }
}

/* g = exp(s) - 1 = s + s (s B), B = 1 / 2! + s / 3! + ...; the term s^k needs 24 k bits less. */
INLINE void series(Words *g, const Words *s, const ExpTables *tables, const int digits)
{
    static const uint64_t none[VEXP_DIGITS] = {0};
    Words b[MOST];
#pragma GCC unroll 22
    for (int w = 0; w < digits; w++) {
        b[w] = zero();
    }
    for (size_t k = tables->terms; k >= 2; k--) {
        size_t bits = (size_t)digits * DIGIT, less = 24 * k;
        size_t n = (bits > less ? (bits - less + DIGIT - 1) / DIGIT : 0) + 1;
        horner_step(b, s, tables->inverse_factorial[k], n < (size_t)digits ? n : (size_t)digits);
    }
    horner_step(b, s, none, (size_t)digits);
    multiply_add(g, s, b, s, digits);
}

INLINE void look_up_digits(Words *f, const uint64_t (*table)[VEXP_TABLE], Words index,
                           const int digits)
{
#pragma GCC unroll 22
    for (int w = 0; w < digits; w++) {
        f[w] = look_up(table[w], index);
    }
}

INLINE void to_limbs(ExpLanes *lanes, size_t first, const Words *x, const int count)
{
    Words word = zero();
    unsigned filled = 0;
    int at = 0;
#pragma GCC unroll 22
    for (int w = count - 1; w >= 0; w--) {
        word = word | (x[w] << filled);
        filled += DIGIT;
        if (filled >= 64) {
            filled -= 64;
            store(lanes->limb[at++] + first, word);
            word = x[w] >> (DIGIT - filled);
        }
    }
    store(lanes->limb[at] + first, word);
}

INLINE void exp_of_digits(ExpLanes *lanes, size_t first, const ExpTables *tables, const int digits)
{
    Words s[MOST], g[MOST], h[MOST], x[MOST], index[3], out = zero();
    reduce_argument(s, lanes, first, tables, digits);
    for (unsigned t = 0; t < 3; t++) {
        index[t] = (s[0] >> (DIGIT - 8 - 8 * t)) & all(255);
    }
    s[0] = s[0] & all(DIGIT_MASK >> 24);
    series(g, s, tables, digits);
    /* (1 + g) (1 + h) = 1 + g + h + g h, three times; one loop, for the compiler's sake. */
#pragma GCC unroll 1
    for (int t = 2; t >= 0; t--) {
        look_up_digits(h, tables->table[t], index[t], digits);
        columns(x, h, g, digits);
#pragma GCC unroll 22
        for (int w = 0; w < digits; w++) {
            x[w] = x[w] + (h[w] + g[w]);
        }
        out = carry(x, digits + 1);
#pragma GCC unroll 22
        for (int w = 0; w < digits; w++) {
            g[w] = x[w];
        }
    }
#pragma GCC unroll 22
    for (int w = digits; w > 0; w--) {
        x[w] = x[w - 1];
    }
    x[0] = all(1) + out;
    to_limbs(lanes, first, x, digits + 1);
}

static void long_exp(ExpLanes *lanes, size_t first, const ExpTables *tables)
{
    if (EXP_DIGITS <= 5) {
        return;
    }
    switch (tables->digits) {
    case 10: exp_of_digits(lanes, first, tables, 10); break;
    case 15: exp_of_digits(lanes, first, tables, 15); break;
    default: exp_of_digits(lanes, first, tables, VEXP_DIGITS); break;
    }
}

void exp_lanes(ExpLanes *lanes, size_t first, const ExpTables *tables)
{
    switch (tables->digits) {
    case 3: exp_of_digits(lanes, first, tables, 3); break;
    case 4: exp_of_digits(lanes, first, tables, 4); break;
    case 5: exp_of_digits(lanes, first, tables, 5); break;
    default: long_exp(lanes, first, tables); break;
    }
}
