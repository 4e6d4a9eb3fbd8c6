/*
 * VectorOperations of doubles: the loops over the keys of a row, and over the entries of a key.
 *
 * Every tier does the same operations in the same order, so they have the same bits.
 */
#include "../../numbers/tier.h"
#include "../vectors.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

/* In sums side by side, so that additions need not wait for each other. */
enum { SUMS = 8 };

/* Below this share of |v|^2 + |y|^2, the square of v - y is that of a near pair. */
#define NEAR_SQUARE 0x1p-20

INLINE double together(const double *sum, double rest)
{
    for (size_t i = 0; i < SUMS; i++) {
        rest += sum[i];
    }
    return rest;
}

static double sum(const double *a, size_t count)
{
    double sum[SUMS] = {0}, rest = 0;
    size_t c = 0;
    for (; c + SUMS <= count; c += SUMS) {
#pragma omp simd
        for (size_t i = 0; i < SUMS; i++) {
            sum[i] += a[c + i];
        }
    }
    for (; c < count; c++) {
        rest += a[c];
    }
    return together(sum, rest);
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum[SUMS] = {0}, rest = 0;
    size_t c = 0;
    for (; c + SUMS <= count; c += SUMS) {
#pragma omp simd
        for (size_t i = 0; i < SUMS; i++) {
            double product = a[c + i] * b[c + i];
            sum[i] += a[c + i] != 0 ? product : 0;
        }
    }
    for (; c < count; c++) {
        rest += a[c] != 0 ? a[c] * b[c] : 0;
    }
    return together(sum, rest);
}

static double distance(const double *a, const double *b, size_t count)
{
    double sum[SUMS] = {0}, rest = SQUARES_LOST;
    size_t c = 0;
    for (; c + SUMS <= count; c += SUMS) {
#pragma omp simd
        for (size_t i = 0; i < SUMS; i++) {
            sum[i] += (a[c + i] - b[c + i]) * (a[c + i] - b[c + i]);
        }
    }
    for (; c < count; c++) {
        rest += (a[c] - b[c]) * (a[c] - b[c]);
    }
    return sqrt(together(sum, rest));
}

static void multiply(double *c, const double *a, const double *b, size_t count)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        double product = a[j] * b[j];
        c[j] = a[j] != 0 ? product : 0;
    }
}

static double largest(const double *a, const double *b, size_t count)
{
    double most = 0;
#pragma omp simd reduction(max : most)
    for (size_t j = 0; j < count; j++) {
        double here = a[j] != 0 ? b[j] : 0;
        most = here > most ? here : most;
    }
    return most;
}

static void add_scaled(double *y, double weight, const double *v, size_t count)
{
#pragma omp simd
    for (size_t c = 0; c < count; c++) {
        y[c] += weight * v[c];
    }
}

/* The product and both squares are off by at most (width + 8) 2^-52 (|v| + |y|)^2 together, and
 * (|v| + |y|)^2 is at most twice |v|^2 + |y|^2 (C39). */
static bool distances(double *product, const double *square, double own, size_t width, size_t count)
{
    const double off = 0x1p-51 * (double)(width + 8);
    double least = 1;
#pragma omp simd reduction(min : least)
    for (size_t j = 0; j < count; j++) {
        double both = square[j] + own, apart = both - 2 * product[j];
        double more = apart - NEAR_SQUARE * both;
        least = more < least ? more : least;
        product[j] = sqrt((apart > 0 ? apart : 0) + off * both + SQUARES_LOST);
    }
    return least >= 0;
}

const VectorOperations TIER(vectors) = {sum,        dot,      multiply, largest,
                                        add_scaled, distance, distances};
