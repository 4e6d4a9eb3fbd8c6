/*
 * The largest eigenvalue of a symmetric matrix: guessed by Lanczos's method, proven by Cholesky's.
 */
#include "matrix.h"

#include "../../memory/need.h"
#include "../product/gemm.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define U 0x1p-53
#define TINY 0x1p-900

/* Steps of Lanczos's method at most; how wide Cholesky's blocks are; up to which size an eigenvalue
 * is looked for to the last digits. */
enum { STEPS = 80, BLOCK = 64, SMALL = 128 };

/* Does Cholesky's factorisation of a come to its end?  Then lambda_min(a) >= -3 (n + 80) u tr(a):
 * its factor R has R^T R = a + da, |da| <= g |R^T| |R| + g |a| entrywise with g = (n + 66) u
 * (Higham, Accuracy and Stability, 10.1: whatever the order of the sums; gemm's share is within
 * it), and the norm of |R^T| |R| is at most tr(R^T R).  a [n, n] is overwritten. */
static bool factorises(double *a, size_t n)
{
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t width = n - first < BLOCK ? n - first : BLOCK, rows = n - first;
        double *block = a + first * n + first;
        if (first > 0) { /* block = -(L L^T - block) */
            gemm(block, n, gemm_plain(a + first * n, n), gemm_transposed(a + first * n, n),
                 (GemmExtents){rows, width, first}, -1);
            for (size_t i = 0; i < rows; i++) {
                for (size_t c = 0; c < width; c++) {
                    block[i * n + c] = -block[i * n + c];
                }
            }
        }
        for (size_t c = 0; c < width; c++) {
            double pivot = block[c * n + c];
            for (size_t k = 0; k < c; k++) {
                pivot -= block[c * n + k] * block[c * n + k];
            }
            if (!(pivot > 0)) {
                return false;
            }
            pivot = sqrt(pivot);
            block[c * n + c] = pivot;
            for (size_t i = c + 1; i < rows; i++) {
                double sum = block[i * n + c];
                for (size_t k = 0; k < c; k++) {
                    sum -= block[i * n + k] * block[c * n + k];
                }
                block[i * n + c] = sum / pivot;
            }
        }
    }
    return true;
}

/* y = s x. */
static void multiply(double *y, const double *s, const double *x, size_t n)
{
    gemm(y, 1, gemm_plain(s, n), gemm_plain(x, 1), (GemmExtents){n, 1, n}, 0);
}

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
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

/* About the largest eigenvalue of s, which is at most `most` in size: Lanczos's method from a
 * vector of no particular direction.  No bound rests on it.  q [STEPS + 1, n]. */
static double guess(const double *s, double *q, size_t n, double most)
{
    double diagonal[STEPS], beside[STEPS], low = -most, high = most;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        q[i] = 1 + (double)(i * 7919 % 101) / 101;
    }
    double size = sqrt(dot(q, q, n));
    while (count < STEPS && count < n && size > 0x1p-50 * most) {
        double *own = q + count * n, *next = own + n;
        for (size_t i = 0; i < n; i++) {
            own[i] /= size;
        }
        multiply(next, s, own, n);
        diagonal[count++] = dot(own, next, n);
        make_orthogonal(next, q, count, n);
        make_orthogonal(next, q, count, n);
        size = beside[count - 1] = sqrt(dot(next, next, n));
    }
    for (int halving = 0; halving < 60; halving++) {
        double middle = low + (high - low) / 2;
        bool above = has_above(diagonal, beside, count, middle);
        low = above ? middle : low;
        high = above ? high : middle;
    }
    return high;
}

/* Is t I - s proven to have no negative eigenvalue, but for *slack? */
static bool proves(double *slack, const double *s, double *work, size_t n, double t)
{
    double trace = 0;
    for (size_t i = 0; i < n * n; i++) {
        work[i] = -s[i];
    }
    for (size_t i = 0; i < n; i++) {
        work[i * n + i] += t;
        trace += fabs(work[i * n + i]);
    }
    *slack = 3.1 * ((double)n + 80) * U * trace + TINY;
    return factorises(work, n);
}

double largest_eigenvalue(const double *s, size_t n, double most)
{
    double *q = need_room((STEPS + 2) * n, sizeof *q), *work = need_room(n * n, sizeof *work);
    double bound = most;
    double estimate = fmax(0, guess(s, q, n, most)), slack;
    bool proven = false;
    for (double step = n <= SMALL ? 0x1p-42 : 0x1p-26; step < 1 && !proven; step *= 8) {
        double t = fmin(most, estimate + step * (0.125 * most + estimate));
        proven = proves(&slack, s, work, n, t);
        bound = proven ? fmin(most, (t + slack) * (1 + 4 * U)) : most;
    }
    free(q);
    free(work);
    return bound;
}
