/*
 * Eight exponentials in fixed point (private to reference/product/).
 *
 * x = n ln 2 + r, 0 < r < 0.6932, and r = i1 2^-8 + i2 2^-16 + i3 2^-24 + s:
 * exp(x) = 2^n exp(i1 2^-8) exp(i2 2^-16) exp(i3 2^-24) exp(s), the first three from tables, the
 * last by its series, s < 2^-24.  Numbers are digits of 52 bits, the most significant first.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_VEXP_LANES_H
#define HEADPROOF_REFERENCE_PRODUCT_VEXP_LANES_H

#include <stddef.h>
#include <stdint.h>

enum { VEXP_LANES = 8, VEXP_DIGITS = 20, VEXP_TERMS = 37, VEXP_TABLE = 256 };

typedef struct {
    size_t digits; /* D, of fractions */
    size_t terms;  /* highest power of s */
    /* table[t][d][i]: digit d of exp(i 2^(-8 (t + 1))) less its integer part, which is 1 as far as
     * r reaches: i1 <= 177. */
    uint64_t table[3][VEXP_DIGITS][VEXP_TABLE];
    uint64_t inverse_factorial[VEXP_TERMS + 1][VEXP_DIGITS]; /* from 1 / 2! on */
    uint64_t ln2[VEXP_DIGITS + 1];
} ExpTables;

/* |x|, an integer digit and D + 1 of fraction; bit `lane` of negative is its sign.  Results: 2^n
 * times limbs, the least significant first, whose unit is 2^(-52 D). */
typedef struct {
    _Alignas(64) uint64_t x[VEXP_DIGITS + 2][VEXP_LANES];
    _Alignas(64) uint64_t limb[VEXP_DIGITS + 1][VEXP_LANES];
    _Alignas(64) int64_t n[VEXP_LANES];
    unsigned negative;
} ExpLanes;

#endif
