/*
 * The largest eigenvalue of a symmetric matrix: guessed by Lanczos's method, proven by Cholesky's.
 */
#include "eigenvalue.h"

#include "../../memory/need.h"
#include "gemm.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define U 0x1p-53
#define TINY 0x1p-900

/* Bits that are kept of what is tried, beside those of its distance from what was found: no
 * rounding of BLAS is seen in them. */
enum { MORE_BITS = 6 };

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* Takes from w what lies along the first count rows of q. */
static void make_orthogonal(double *w, const double *q, size_t count, size_t n)
{
    for (size_t k = 0; k < count; k++) {
        double along = dot(w, q + k * n, n);
        for (size_t i = 0; i < n; i++) {
            w[i] -= along * q[k * n + i];
        }
    }
}

/* Has the tridiagonal matrix an eigenvalue above x? */
static bool has_above(const double *diagonal, const double *beside, size_t count, double x)
{
    double pivot = 1;
    for (size_t k = 0; k < count; k++) {
        pivot = diagonal[k] - x - (k > 0 ? beside[k - 1] * beside[k - 1] / pivot : 0);
        if (pivot >= 0) {
            return true;
        }
    }
    return false;
}

/* About the largest eigenvalue of g, which is at most `most` in size: Lanczos's method from a
 * vector of no particular direction.  No bound rests on it.  room: [vectors + 1, n] and [2,
 * vectors]. */
static double guess(const double *g, double *room, size_t n, double most, EigenvalueSearch search)
{
    const size_t vectors = search.vectors;
    double *q = room, *diagonal = q + (vectors + 1) * n, *beside = diagonal + vectors;
    double low = -most, high = most;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        q[i] = 1 + (double)(i * 7919 % 101) / 101;
    }
    double size = sqrt(dot(q, q, n));
    while (count < vectors && count < n && size > 0x1p-50 * most) {
        double *own = q + count * n, *next = own + n;
        for (size_t i = 0; i < n; i++) {
            own[i] /= size;
        }
        gemm_symmetric(next, g, own, n);
        diagonal[count++] = dot(own, next, n);
        make_orthogonal(next, q, count, n);
        make_orthogonal(next, q, count, n);
        size = beside[count - 1] = sqrt(dot(next, next, n));
    }
    const double enough = search.more / 8;
    for (int i = 0; i < 60 && high - low > enough * fmax(high, 0x1p-20 * most); i++) {
        double middle = low + (high - low) / 2;
        bool above = has_above(diagonal, beside, count, middle);
        low = above ? middle : low;
        high = above ? high : middle;
    }
    return high;
}

/* x rounded up to so many bits. */
static double rounded_up(double x, int bits)
{
    int exponent;
    double digits = frexp(x, &exponent);
    return ldexp(ceil(ldexp(digits, bits)), exponent - bits);
}

/* Is t I - g proven to have no negative eigenvalue, but for *slack?  Its diagonal is rounded, and
 * gemm_definite proves what it says. */
static bool proves(double *slack, double *g, const double *diagonal, size_t n, double t)
{
    double trace = 0;
    for (size_t r = 0; r < n; r++) {
        for (size_t c = 0; c < r; c++) {
            g[r * n + c] = -g[c * n + r];
        }
        g[r * n + r] = t - diagonal[r];
        trace += fabs(g[r * n + r]);
    }
    *slack = (2 * (double)n + 16) * U * trace + TINY;
    return gemm_definite(g, n);
}

double largest_eigenvalue(double *g, size_t n, double most, EigenvalueSearch search)
{
    double *room = need_room((search.vectors + 1) * n + 2 * search.vectors + n, sizeof *room);
    double *diagonal = room, bound = most, slack;
    double found = fmax(0, guess(g, room + n, n, most, search));
    for (size_t i = 0; i < n; i++) {
        diagonal[i] = g[i * n + i];
    }
    bool proven = false;
    for (double more = search.more; more < 1 && !proven; more *= 8) {
        double t = rounded_up(found + more * (found + 0x1p-8 * most), MORE_BITS - ilogb(more));
        proven = t < most && proves(&slack, g, diagonal, n, t);
        bound = proven ? fmin(most, (t + slack) * (1 + 4 * U)) : most;
    }
    free(room);
    return bound;
}

double eigenvalue_doubles(size_t n, EigenvalueSearch search)
{
    return (double)(search.vectors + 2) * (double)n;
}
