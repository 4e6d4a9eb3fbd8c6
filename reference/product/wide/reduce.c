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

/* Of one prime; with a constant `count` all powers are in registers. */
static inline __attribute__((always_inline)) void residues_of(double *residue,
                                                              const WidePlanes *digits,
                                                              const double *power, size_t count,
                                                              double q, double reciprocal)
{
    const double *digit = digits->number;
    size_t pitch = digits->pitch;
#pragma omp simd
    for (size_t e = 0; e < digits->count; e++) {
        double x = digit[e] * power[0];
        for (size_t d = 1; d < count; d++) {
            x = ADD_PRODUCT(x, digit[d * pitch + e], power[d]);
        }
        double rounded = (x * reciprocal + shift) - shift;
        residue[e] = ADD_PRODUCT(x, -q, rounded);
    }
}

void wide_residues(const WidePlanes *residues, const WidePlanes *digits, const Split *split,
                   const Basis *basis)
{
    for (size_t t = 0; t < basis->primes; t++) {
        double *residue = residues->number + t * residues->pitch;
        const double *power = split->power + t * split->digits;
        double q = basis->q[t], reciprocal = basis->reciprocal[t];
        switch (split->digits) {
        case 1: residues_of(residue, digits, power, 1, q, reciprocal); break;
        case 2: residues_of(residue, digits, power, 2, q, reciprocal); break;
        case 3: residues_of(residue, digits, power, 3, q, reciprocal); break;
        case 4: residues_of(residue, digits, power, 4, q, reciprocal); break;
        default: residues_of(residue, digits, power, split->digits, q, reciprocal); break;
        }
    }
}
