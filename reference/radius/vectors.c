/*
 * Vectors of doubles: the loops over the keys of a row, and over the entries of a key.
 *
 * Each operation is written once, and compiled twice on x86: for any machine, and for one with wide
 * vectors.  Both do the same operations in the same order, so they have the same bits.
 */
#include "vectors.h"

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

INLINE double sum_of(const double *a, size_t count)
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

INLINE double dot_of(const double *a, const double *b, size_t count)
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

INLINE double distance_of(const double *a, const double *b, size_t count)
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

INLINE void multiply_to(double *c, const double *a, const double *b, size_t count)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        double product = a[j] * b[j];
        c[j] = a[j] != 0 ? product : 0;
    }
}

INLINE double largest_of(const double *a, const double *b, size_t count)
{
    double most = 0;
#pragma omp simd reduction(max : most)
    for (size_t j = 0; j < count; j++) {
        double here = a[j] != 0 ? b[j] : 0;
        most = here > most ? here : most;
    }
    return most;
}

INLINE void add_scaled_to(double *y, double weight, const double *v, size_t count)
{
#pragma omp simd
    for (size_t c = 0; c < count; c++) {
        y[c] += weight * v[c];
    }
}

/* The product and both squares are off by at most (width + 8) 2^-52 (|v| + |y|)^2 together, and
 * (|v| + |y|)^2 is at most twice |v|^2 + |y|^2 (C39). */
INLINE bool distances_of(double *product, const double *square, double own, size_t width,
                         size_t count)
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

#ifdef __x86_64__

#define WIDE __attribute__((target("avx512f"))) static

WIDE double sum_wide(const double *a, size_t count)
{
    return sum_of(a, count);
}

WIDE double dot_wide(const double *a, const double *b, size_t count)
{
    return dot_of(a, b, count);
}

WIDE double distance_wide(const double *a, const double *b, size_t count)
{
    return distance_of(a, b, count);
}

WIDE void multiply_wide(double *c, const double *a, const double *b, size_t count)
{
    multiply_to(c, a, b, count);
}

WIDE double largest_wide(const double *a, const double *b, size_t count)
{
    return largest_of(a, b, count);
}

WIDE void add_scaled_wide(double *y, double weight, const double *v, size_t count)
{
    add_scaled_to(y, weight, v, count);
}

WIDE bool distances_wide(double *product, const double *square, double own, size_t width,
                         size_t count)
{
    return distances_of(product, square, own, width, count);
}

static bool is_wide(void)
{
    return __builtin_cpu_supports("avx512f");
}

#else

#define sum_wide sum_of
#define dot_wide dot_of
#define distance_wide distance_of
#define multiply_wide multiply_to
#define largest_wide largest_of
#define add_scaled_wide add_scaled_to
#define distances_wide distances_of

static bool is_wide(void)
{
    return false;
}

#endif

double vector_sum(const double *a, size_t count)
{
    return is_wide() ? sum_wide(a, count) : sum_of(a, count);
}

double vector_dot(const double *a, const double *b, size_t count)
{
    return is_wide() ? dot_wide(a, b, count) : dot_of(a, b, count);
}

double vector_distance(const double *a, const double *b, size_t count)
{
    return is_wide() ? distance_wide(a, b, count) : distance_of(a, b, count);
}

void vector_multiply(double *c, const double *a, const double *b, size_t count)
{
    if (is_wide()) {
        multiply_wide(c, a, b, count);
    } else {
        multiply_to(c, a, b, count);
    }
}

double vector_largest(const double *a, const double *b, size_t count)
{
    return is_wide() ? largest_wide(a, b, count) : largest_of(a, b, count);
}

void vector_add_scaled(double *y, double weight, const double *v, size_t count)
{
    if (is_wide()) {
        add_scaled_wide(y, weight, v, count);
    } else {
        add_scaled_to(y, weight, v, count);
    }
}

bool vector_distances(double *product, const double *square, double own, size_t width, size_t count)
{
    return is_wide() ? distances_wide(product, square, own, width, count)
                     : distances_of(product, square, own, width, count);
}
