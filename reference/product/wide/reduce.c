/*
 * Doubles taken apart into digits, and reduced modulo primes, by the vectors that a compiler makes
 * of a loop.
 */
#include "wide.h"

#include <math.h>
#include <stdint.h>

/* Without such an instruction fma is a call; what it is for is exact either way. */
#ifdef __FMA__
#define ADD_PRODUCT(c, a, b) fma(a, b, c)
#else
#define ADD_PRODUCT(c, a, b) ((c) + (a) * (b))
#endif

/* Adding and taking away 1.5 2^52 rounds to an integer. */
static const double shift = 0x1.8p52;

void wide_reduce(double *x, size_t count, double q, double reciprocal)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        double rounded = (x[i] * reciprocal + shift) - shift;
        x[i] = ADD_PRODUCT(x[i], -q, rounded);
    }
}

void wide_split(const WidePlanes *digits, size_t count, unsigned width)
{
    const double up = (double)(UINT64_C(1) << width);
    for (size_t d = 0; d + 1 < count; d++) {
        double *x = digits->number + d * digits->pitch, *rest = x + digits->pitch;
#pragma omp simd
        for (size_t e = 0; e < digits->count; e++) {
            double whole = (x[e] + shift) - shift;
            rest[e] = (x[e] - whole) * up;
            x[e] = whole;
        }
    }
}
