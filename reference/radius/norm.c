/*
 * Norms of matrices of doubles, from above.
 *
 * With G = W^T W, or W W^T if that is smaller, symmetric: |W|^2 is G's largest eigenvalue.  What
 * gemm_square makes of G is off by at most 1.01 (k + 1) 2^-53 |W|_F^2 in the Frobenius norm; a
 * large G is made of floats, and off by 1.01 (TERMS + 4) 2^-24 |W|_F^2, TERMS terms at a time,
 * which are added as doubles.  The eigenvalue of that is what product/eigenvalue.c proves (C2).
 */
#include "norm.h"
#include "bounds.h"
#include "point.h"

#include "../../memory/need.h"
#include "../product/eigenvalue.h"
#include "../product/gemm.h"

#include <stdlib.h>

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

/* Where the squares of entries are added as they are, what underflows is nothing beside their sum;
 * *exponent: of the largest entry. */
static double frobenius(const double *w, size_t rows, size_t columns, size_t ld, int *exponent)
{
    double most = 0, sum = 0;
    for (size_t r = 0; r < rows; r++) {
        const double *row = w + r * ld;
#pragma omp simd reduction(+ : sum) reduction(max : most)
        for (size_t c = 0; c < columns; c++) {
            most = fabs(row[c]) > most ? fabs(row[c]) : most; /* NaN is seen in the sum */
            sum += row[c] * row[c];
        }
    }
    *exponent = 0;
    most = isnan(sum) ? INFINITY : most;
    if (most > 0 && most < INFINITY) {
        (void)frexp(most, exponent);
    }
    if (sum > SQUARES_LEAST && sum < INFINITY) {
        return bound_up(sqrt(sum));
    }
    PowerOfTwo power = inverse_power(*exponent);
    sum = 0;
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

/* Squares of so many rows are made of floats, so many terms at a time. */
enum { LARGE = 512, TERMS = 512 };

/* Of large ones a factorisation takes as long as the square. */
static EigenvalueSearch search_of(size_t n)
{
    return (EigenvalueSearch){n < LARGE ? 16 : 24, n < LARGE ? 0x1p-12 : 0x1p-10};
}

/* A matrix on its way into A A^T or A^T A, [n, n], whose sums have k terms: A is its entries times
 * a power of two, of magnitude 1 at most, |A|_F >= 1/2. */
typedef struct {
    const double *entry;
    size_t ld, n, k;
    bool transposed;
    PowerOfTwo power;
} Factor;

/* rows x columns of it from (row, column) on, as A's. */
static void scale_floats(float *out, const Factor *a, size_t row, size_t column, size_t rows,
                         size_t columns)
{
    for (size_t r = 0; r < rows; r++) {
        const double *from = &a->entry[(row + r) * a->ld + column];
        for (size_t c = 0; c < columns; c++) {
            out[r * columns + c] = (float)scaled_by(from[c], a->power);
        }
    }
}

/* The upper half of c.  Two entries' roundings to floats and the sum of doubles are the 4 of the
 * bound for the 1 of gemm_square_float; numbers below 2^-126, which may become 0, are in the
 * 1.01. */
static void square_of_floats(double *c, const Factor *a)
{
    const size_t n = a->n;
    float *part = need_room(n * TERMS, sizeof *part), *sum = need_room(n * n, sizeof *sum);
    for (size_t first = 0; first < a->k; first += TERMS) {
        size_t terms = a->k - first < TERMS ? a->k - first : TERMS;
        size_t rows = a->transposed ? terms : n, columns = a->transposed ? n : terms;
        scale_floats(part, a, a->transposed ? first : 0, a->transposed ? 0 : first, rows, columns);
        gemm_square_float(sum, (GemmFloats){part, columns, a->transposed}, n, terms);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i; j < n; j++) {
                c[i * n + j] = (first == 0 ? 0 : c[i * n + j]) + (double)sum[i * n + j];
            }
        }
    }
    free(part);
    free(sum);
}

static void square_of_doubles(double *c, const Factor *a)
{
    size_t rows = a->transposed ? a->k : a->n, columns = a->transposed ? a->n : a->k;
    double *scaled = need_room(rows * columns, sizeof *scaled);
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < columns; i++) {
            scaled[r * columns + i] = scaled_by(a->entry[r * a->ld + i], a->power);
        }
    }
    gemm_square(c, a->n, scaled, columns, a->transposed, a->n, a->k);
    free(scaled);
}

/* The upper half of c; returned: how far it may be off, in the Frobenius norm, over |A|_F^2. */
static double square(double *c, const Factor *a)
{
    bool large = a->n >= LARGE;
    (large ? square_of_floats : square_of_doubles)(c, a);
    return 1.01 * (large ? (TERMS + 4) * 0x1p-24 : (double)(a->k + 1) * 0x1p-53);
}

/* f and exponent: the Frobenius norm, and the exponent of the largest entry. */
static double spectral(const NormKey *w, double f, int exponent)
{
    bool wide = w->columns > w->rows;
    size_t n = wide ? w->rows : w->columns, k = wide ? w->columns : w->rows;
    if (n <= 1 || f == 0 || !(f < INFINITY)) {
        return f;
    }
    double *g = need_room(n * n, sizeof *g), own = ldexp(f, -exponent);
    double off = square(g, &(Factor){w->data, w->ld, n, k, !wide, inverse_power(exponent)});
    double norm = largest_eigenvalue(g, n, own * own, search_of(n));
    free(g);
    return fmin(f, bound_up(ldexp(sqrt(bound_up(norm + off * own * own)), exponent)));
}

static MatrixNorms norms_of(const NormKey *whole)
{
    int exponent;
    double f = frobenius(whole->data, whole->rows, whole->columns, whole->ld, &exponent);
    bool coarse =
        whole->coarse && whole->rows >= REF_COARSE_LEAST && whole->columns >= REF_COARSE_LEAST;
    return (MatrixNorms){coarse ? f : spectral(whole, f, exponent), f};
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
    matrix.coarse = r->ev->coarse;
    if (norm_table_find(&norms, r->ev->norms, &matrix)) {
        return norms;
    }
    NormKey whole = matrix;
    double *copy = NULL;
    if (matrix.parts > 1) {
        const HeadWeight parts = {matrix.data, matrix.ld, matrix.stride};
        copy = point_whole(&parts, matrix.parts, matrix.rows, matrix.columns, matrix.are);
        *(matrix.are == PARTS_BELOW ? &whole.rows : &whole.columns) *= matrix.parts;
        whole.data = copy;
        whole.ld = whole.columns;
    }
    norms = norms_of(&whole);
    norm_table_keep(r->ev->norms, &matrix, &norms);
    free(copy);
    return norms;
}

double norm_doubles(NormKey matrix)
{
    join(&matrix);
    double rows = (double)matrix.rows, columns = (double)matrix.columns;
    double parts = (double)matrix.parts;
    bool below = matrix.are == PARTS_BELOW;
    double n = fmin(below ? rows * parts : rows, below ? columns : columns * parts);
    double whole = parts > 1 ? rows * columns * parts : 0;
    double made = n >= LARGE ? 0.5 * n * n + TERMS / 2.0 * n : rows * columns * parts;
    return whole + n * n + fmax(made, eigenvalue_doubles((size_t)n, search_of((size_t)n)));
}
