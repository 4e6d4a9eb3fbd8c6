/*
 * Norms of matrices of doubles, from above.
 *
 * With G = W^T W, or W W^T if that is smaller, symmetric: |W|^2 = |G| and |G|^2 = |G^2|, in
 * 2-norms. What gemm_square makes of a square is off by at most 1.01 (k + 1) 2^-53 |G|_F^2 in the
 * Frobenius norm, so
 *     |G_0| <= |G^_0| + d_0,   |G^_s|^2 <= |G^_(s+1)| + d_(s+1),   |G^_last| <= |G^_last|_F    (C2)
 * and the last step overestimates |W| by n^(1/(4 2^last)) at most.  Large squares are made of
 * floats: 1.01 (k' + 4) 2^-24 there, k' terms at a time.
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

/* *exponent: of the largest entry. */
static double frobenius(const double *w, size_t rows, size_t columns, size_t ld, int *exponent)
{
    double most, sum = 0;
    *exponent = largest_exponent(w, rows, columns, ld, &most);
    PowerOfTwo power = inverse_power(*exponent);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            double scaled = scaled_by(w[r * ld + c], power);
            sum += scaled * scaled;
        }
    }
    return most == 0 ? 0 : most < INFINITY ? bound_up(ldexp(bound_up(sqrt(sum)), *exponent)) : most;
}

double norm_frobenius(const double *w, size_t rows, size_t columns, size_t ld)
{
    int exponent;
    return frobenius(w, rows, columns, ld, &exponent);
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

/* Squares of so many rows are made of floats. */
enum { LARGE = 512 };

/* The upper half of c = A A^T or A^T A, as gemm_square, A's entries at most 1; returned: how far it
 * may be off, in the Frobenius norm, over |A|_F^2.  Infinite: memory is short. */
static double square(double *c, const double *a, size_t lda, bool turned, size_t n, size_t k)
{
    if (n < LARGE) {
        gemm_square(c, n, a, lda, turned, n, k);
        return 1.01 * (double)(k + 1) * 0x1p-53;
    }
    bool made = gemm_square_coarse(c, n, a, lda, turned, n, k);
    return made ? 1.01 * (GEMM_COARSE + 4) * 0x1p-24 : INFINITY;
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
    double off = square(scratch, g, n, false, n, n);
    if (!(off < INFINITY)) {
        return off;
    }
    symmetrise(scratch, n);
    double norm = symmetric_norm(scratch, g, n, squarings - 1) + off;
    return bound_up(ldexp(sqrt(bound_up(norm)), exponent));
}

double norm_symmetric(double *g, double *scratch, size_t n, int squarings)
{
    symmetrise(g, n);
    return symmetric_norm(g, scratch, n, squarings);
}

/* f and exponent: the Frobenius norm, and the exponent of the largest entry. */
static double spectral(const NormKey *w, double f, int exponent)
{
    bool wide = w->columns > w->rows;
    size_t n = wide ? w->rows : w->columns, k = wide ? w->columns : w->rows;
    if (n <= 1 || f == 0 || !(f < INFINITY)) {
        return f;
    }
    double *scaled = malloc(w->rows * w->columns * sizeof *scaled), *g = malloc(n * n * sizeof *g),
           *scratch = malloc(n * n * sizeof *scratch);
    double norm = INFINITY;
    if (scaled != NULL && g != NULL && scratch != NULL) {
        PowerOfTwo power = inverse_power(exponent);
        for (size_t r = 0; r < w->rows; r++) {
            for (size_t c = 0; c < w->columns; c++) {
                scaled[r * w->columns + c] = scaled_by(w->data[r * w->ld + c], power);
            }
        }
        double own = ldexp(f, -exponent), off = square(g, scaled, w->columns, !wide, n, k);
        if (off < INFINITY) {
            norm = norm_symmetric(g, scratch, n, SQUARINGS) + off * own * own;
            norm = bound_up(ldexp(sqrt(bound_up(norm)), exponent));
            norm = norm < INFINITY ? fmin(f, norm) : norm;
        }
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
    int exponent;
    double f = frobenius(w, rows, columns, ld, &exponent);
    MatrixNorms norms = {spectral(&(NormKey){w, rows, columns, ld, .parts = 1}, f, exponent), f};
    if (norms.spectral > norms.frobenius) {
        norm_memory_is_short(r);
    }
    return norms;
}

/* Parts that lie as one matrix are one: T' has the network of T as heads. */
static void join(NormKey *matrix)
{
    bool below = matrix->are == PARTS_BELOW && matrix->stride == matrix->rows * matrix->ld;
    bool beside = matrix->are == PARTS_BESIDE && matrix->stride == matrix->columns;
    if (matrix->parts > 1 && (below || beside)) {
        *(below ? &matrix->rows : &matrix->columns) *= matrix->parts;
        *matrix = (NormKey){matrix->data, matrix->rows, matrix->columns, matrix->ld, .parts = 1};
    }
}

MatrixNorms norm_of(const Radius *r, NormKey matrix)
{
    MatrixNorms norms = {INFINITY, INFINITY};
    join(&matrix);
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
