/*
 * Decimals, exactly: text to a rational, a rational to the nearest double, a double to text.
 */
#ifndef HEADPROOF_HARNESS_BASE_DECIMAL_H
#define HEADPROOF_HARNESS_BASE_DECIMAL_H

#include <gmp.h>
#include <stddef.h>

typedef enum {
    DECIMAL_OK,
    DECIMAL_JUNK,     /* not [+-]digits[.digits][e[+-]digits], nor 2^[-]digits */
    DECIMAL_OVERFLOW, /* rounds beyond the largest double */
    DECIMAL_UNDERFLOW /* not zero, and below the smallest normal double */
} DecimalStatus;

/* What was expected in place of what ended so, which is not DECIMAL_OK. */
const char *decimal_expected(DecimalStatus status);

/* value = text, exactly.  value must have been initialised.  Magnitudes far
 * outside the doubles are refused by their exponent, before they take memory. */
DecimalStatus decimal_read(mpq_t value, const char *text) __attribute__((warn_unused_result));

/* *result = value, rounded once, to nearest even. */
DecimalStatus decimal_round(double *result, const mpq_t value) __attribute__((warn_unused_result));

#define DECIMAL_TEXT 32

/* The shortest of %.15g, %.16g, %.17g that reads back to value; text [DECIMAL_TEXT]. */
void decimal_print(char *text, double value);

#endif
