/*
 * Numbers of a table as they are written: decimals of at most 17 significant digits, compared
 * exactly.  Doubles would not do: 6.3e-868 is below the smallest of them, and would equal 0.
 */
#ifndef HEADPROOF_HARNESS_BASE_NUMBER_H
#define HEADPROOF_HARNESS_BASE_NUMBER_H

#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

#define NUMBER_DIGITS 17

typedef enum {
    NUMBER_BLANK,
    NUMBER_ZERO,     /* "0", as a table writes a zero that is proven */
    NUMBER_FINITE,   /* also a zero in any other spelling */
    NUMBER_NONFINITE /* nan, inf */
} NumberKind;

typedef struct {
    NumberKind kind;
    /* Of a finite one: +-digits 10^(exponent - 16). */
    bool negative;
    uint64_t digits; /* 17 decimal digits, or 0 */
    long exponent;
    const char *text; /* as written; the caller's */
} Number;

/* False when text is neither blank nor a number of at most 17 significant digits. */
bool number_read(Number *number, const char *text) __attribute__((warn_unused_result));

/* Is |a - b| less than one unit of b's digit number `digits` (1 .. 17)?  Both finite and not 0. */
bool number_agrees(const Number *a, const Number *b, int digits);

/* The value, rounded to the nearest of value's precision; blank: NaN. */
void number_value(mpfr_ptr value, const Number *number);

/* Orders doubles, for qsort. */
int number_compare(const void *a, const void *b);

#endif
