/*
 * Norms of matrices of doubles, from above.
 *
 * With G = W^T W, or W W^T if that is smaller, symmetric: |W|^2 = |G| and |G|^2 = |G^2|, in
 * 2-norms. What gemm_square makes of a square is off by at most 1.01 (k + 1) 2^-53 |G|_F^2 in the
 * Frobenius norm, so
 *     |G_0| <= |G^_0| + d_0,   |G^_s|^2 <= |G^_(s+1)| + d_(s+1),   |G^_last| <= |G^_last|_F    (C2)
 * and the last step overestimates |W| by n^(1/(4 2^last)) at most.
 */
#include "norm.h"
#include "point.h"

#include "../product/gemm.h"

#include <stdlib.h>

enum { SQUARINGS = 5 };

/* The exponent of the largest entry; 0 for zeros. */
static int largest_exponent(const double *w, size_t rows, size_t columns, size_t ld, double *most)
{
    int exponent = 0;
    *most = 0;
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            *most = bound_max(*most, fabs(w[r * ld + c]));
        }
    }
    if (*most > 0 && *most < INFINITY) {
        (void)frexp(*most, &exponent);
    }
    return exponent;
}

/* x 2^-exponent, exactly but for what underflows, as two factors, neither out of range. */
typedef struct {
    double first, second;
} PowerOfTwo;

static PowerOfTwo inverse_power(int exponent)
{
    return (PowerOfTwo){ldexp(1, -(exponent / 2)), ldexp(1, exponent / 2 - exponent)};
}

static double scaled_by(double x, PowerOfTwo power)
{
    return x * power.first * power.second;
}

double norm_frobenius(const double *w, size_t rows, size_t columns, size_t ld)
{
    double most, sum = 0;
    int exponent = largest_exponent(w, rows, columns, ld, &most);
    PowerOfTwo power = inverse_power(exponent);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            double scaled = scaled_by(w[r * ld + c], power);
            sum += scaled * scaled;
        }
    }
    return most == 0 ? 0 : most < INFINITY ? bound_up(ldexp(bound_up(sqrt(sum)), exponent)) : most;
}

double norm_vector(const double *v, size_t count, size_t stride)
{
    return norm_frobenius(v, count, 1, stride);
}

/* g = g^T, whose upper half is there. */
static void symmetrise(double *g, size_t n)
{
    for (size_t r = 0; r < n; r++) {
        for (size_t c = 0; c < r; c++) {
            g[r * n + c] = g[c * n + r];
        }
    }
}

static double product_error(size_t k)
{
    return 1.01 * (double)(k + 1) * 0x1p-53;
}

/* At least |g|, g symmetric and scratch of its size, both overwritten. */
static double symmetric_norm(double *g, double *scratch, size_t n, int squarings)
{
    double most, f = norm_frobenius(g, n, n, n);
    int exponent = largest_exponent(&f, 1, 1, 1, &most);
    if (squarings == 0 || f == 0 || !(f < INFINITY)) {
        return f;
    }
    PowerOfTwo power = inverse_power(exponent);
    for (size_t i = 0; i < n * n; i++) {
        g[i] = scaled_by(g[i], power);
    }
    gemm_square(scratch, n, g, n, false, n, n);
    symmetrise(scratch, n);
    double square = symmetric_norm(scratch, g, n, squarings - 1) + product_error(n);
    return bound_up(ldexp(sqrt(bound_up(square)), exponent));
}

double norm_symmetric(double *g, double *scratch, size_t n, int squarings)
{
    symmetrise(g, n);
    return symmetric_norm(g, scratch, n, squarings);
}

double norm_spectral(const double *w, size_t rows, size_t columns, size_t ld)
{
    double most, f = norm_frobenius(w, rows, columns, ld);
    bool wide = columns > rows;
    size_t n = wide ? rows : columns, k = wide ? columns : rows;
    int exponent = largest_exponent(w, rows, columns, ld, &most);
    if (n <= 1 || f == 0 || !(f < INFINITY)) {
        return f;
    }
    double *scaled = malloc(rows * columns * sizeof *scaled), *g = malloc(n * n * sizeof *g),
           *scratch = malloc(n * n * sizeof *scratch);
    double norm = INFINITY;
    if (scaled != NULL && g != NULL && scratch != NULL) {
        PowerOfTwo power = inverse_power(exponent);
        for (size_t r = 0; r < rows; r++) {
            for (size_t c = 0; c < columns; c++) {
                scaled[r * columns + c] = scaled_by(w[r * ld + c], power);
            }
        }
        double own = ldexp(f, -exponent);
        gemm_square(g, n, scaled, columns, !wide, n, k);
        norm = norm_symmetric(g, scratch, n, SQUARINGS) + product_error(k) * own * own;
        norm = fmin(f, bound_up(ldexp(sqrt(bound_up(norm)), exponent)));
    }
    free(scaled);
    free(g);
    free(scratch);
    return norm;
}

void norm_memory_is_short(const Radius *r)
{
#pragma omp atomic write
    r->ev->failed = true;
}

MatrixNorms norm_both(const Radius *r, const double *w, size_t rows, size_t columns, size_t ld)
{
    MatrixNorms norms = {norm_spectral(w, rows, columns, ld), norm_frobenius(w, rows, columns, ld)};
    if (norms.spectral > norms.frobenius) {
        norm_memory_is_short(r);
    }
    return norms;
}

MatrixNorms norm_of(const Radius *r, NormKey matrix)
{
    MatrixNorms norms = {INFINITY, INFINITY};
    if (norm_table_find(&norms, r->ev->norms, &matrix)) {
        return norms;
    }
    size_t rows = matrix.rows, columns = matrix.columns;
    const HeadWeight parts = {matrix.data, matrix.ld, matrix.stride};
    double *whole = NULL;
    if (matrix.parts > 1) {
        bool below = matrix.are == PARTS_BELOW;
        whole = below ? point_below(&parts, matrix.parts, rows, columns)
                      : point_beside(&parts, matrix.parts, rows, columns);
        *(below ? &rows : &columns) *= matrix.parts;
    }
    if (matrix.parts <= 1 || whole != NULL) {
        norms = norm_both(r, whole != NULL ? whole : matrix.data, rows, columns,
                          whole != NULL ? columns : matrix.ld);
        norm_table_keep(r->ev->norms, &matrix, &norms);
    } else {
        norm_memory_is_short(r);
    }
    free(whole);
    return norms;
}
