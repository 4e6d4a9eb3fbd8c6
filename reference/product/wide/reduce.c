/*
 * Doubles reduced modulo a prime, by the vectors that a compiler makes of a loop.
 */
#include "wide.h"

/* Adding and taking away 1.5 2^52 rounds to an integer. */
void wide_reduce(double *x, size_t count, double q, double reciprocal)
{
    const double shift = 0x1.8p52;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        double rounded = (x[i] * reciprocal + shift) - shift;
        x[i] -= q * rounded;
    }
}
