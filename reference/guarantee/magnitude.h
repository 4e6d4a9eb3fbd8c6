/*
 * Numbers that are at least 0, rounded up: what a bound is made of.
 *
 * A magnitude has the 53 bits of a double and the exponent of a long, so that neither e^(-2 Omega)
 * nor a product of the gains of a hundred layers leaves its range.  Every operation is rounded up:
 * what it returns is at least the exact result for its operands, and at most 2^-51 of it more.
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_MAGNITUDE_H
#define HEADPROOF_REFERENCE_GUARANTEE_MAGNITUDE_H

#include <stdbool.h>
#include <stddef.h>

/* digits 2^exponent, digits in [1/2, 1); or 0, or INFINITY, where the exponent is 0. */
typedef struct {
    double digits;
    long exponent;
} Magnitude;

/* |x| 2^exponent; INFINITY where x is not a number. */
Magnitude magnitude_of(double x, long exponent);
Magnitude magnitude_of_size(size_t n);

Magnitude magnitude_sum(Magnitude a, Magnitude b);
Magnitude magnitude_product(Magnitude a, Magnitude b); /* 0 times INFINITY is 0 */
Magnitude magnitude_square(Magnitude a);
Magnitude magnitude_root(Magnitude a);
Magnitude magnitude_least(Magnitude a, Magnitude b);
Magnitude magnitude_most(Magnitude a, Magnitude b);
bool magnitude_above(Magnitude a, Magnitude b); /* a > b */

/* 1/sqrt(x), x > 0. */
Magnitude magnitude_inverse_root(double x);

/* e^(raised - 2 omega); raised: any number but NaN. */
Magnitude magnitude_exp(double raised, double omega);

/* As a double, which may be INFINITY. */
double magnitude_double(Magnitude a);

/* With so many significant digits, rounded up: "1.23457e-868", "0", "inf"; and its logarithm to the
 * base of ten, "-867.908", "" of 0. */
enum { MAGNITUDE_TEXT = 64 };
void magnitude_print(char text[MAGNITUDE_TEXT], Magnitude a, int digits);
void magnitude_print_log10(char text[MAGNITUDE_TEXT], Magnitude a, int digits);

#endif
