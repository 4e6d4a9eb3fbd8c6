/*
 * Products, sums and scales of doubles, with what rounding loses, so that weights stay exact.
 */
#include "exact.h"

#include <limits.h>
#include <math.h>

/* x = *high + *low, 26 bits each (Veltkamp); |x| < 1. */
static void halve(double *high, double *low, double x)
{
    double shifted = 0x8000001p0 * x;
    *high = shifted - (shifted - x);
    *low = x - *high;
}

/* Dekker's product of the significands, so that only the last step can leave the range. */
bool exact_product(double *high, double *low, double a, double b)
{
    int exponent_a, exponent_b;
    double a1, a2, b1, b2;
    double x = frexp(a, &exponent_a), y = frexp(b, &exponent_b), product = x * y;
    halve(&a1, &a2, x);
    halve(&b1, &b2, y);
    double lost = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
    int exponent = exponent_a + exponent_b;
    *high = ldexp(product, exponent);
    *low = ldexp(lost, exponent);
    return ldexp(*high, -exponent) == product && ldexp(*low, -exponent) == lost;
}

/* Knuth's sum. */
bool exact_sum(double a, double b)
{
    double sum = a + b, of_b = sum - a;
    return a - (sum - of_b) == 0 && b - of_b == 0;
}

static long common_divisor(long a, long b)
{
    while (b != 0) {
        long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The scale is a double when it is, in lowest terms, an integer below 2^53 over a power of 2. */
bool exact_scale(double *value, Scale scale)
{
    double square_root = sqrt((double)scale.sqrt_den);
    *value = (double)scale.num / ((double)scale.den * square_root);
    long root = (long)square_root;
    if (root > LONG_MAX / root || root * root != scale.sqrt_den || scale.den > LONG_MAX / root) {
        return false;
    }
    long den = scale.den * root, divisor = common_divisor(scale.num, den);
    den /= divisor;
    return scale.num / divisor <= 1L << 53 && (den & (den - 1)) == 0;
}
