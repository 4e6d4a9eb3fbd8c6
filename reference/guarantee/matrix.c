/*
 * Matrices of doubles that stand for exact ones.
 *
 * Every operation on entries is a double's, off by at most u = 2^-53 of its result, or 2^-1074
 * where that underflows.  Errors are counted in Frobenius norms, with twice what they can be, so
 * that the counting's own roundings are paid for; TINY pays for all that underflows.
 */
#include "matrix.h"

#include "../../memory/need.h"
#include "../product/eigenvalue.h"
#include "../product/gemm.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define U 0x1p-53
#define TINY 0x1p-900

/* At least a 2-norm whose squares are summed here, of entries below 2: n + 2 roundings, upward. */
static double rounded_root(double squares, size_t n)
{
    return sqrt(squares) * (1 + ((double)n + 4) * 2 * U) + TINY;
}

/* Of count numbers, a stride apart. */
static double norm_of(const double *x, size_t count, size_t stride)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        squares += x[i * stride] * x[i * stride];
    }
    return squares == 0 ? (count > 0 ? TINY : 0) : rounded_root(squares, count);
}

/* The Frobenius norm of what is kept; 0 of zeros. */
static double kept_norm(const Matrix *m)
{
    bool zeros = true;
    for (size_t i = 0; i < m->rows * m->columns && zeros; i++) {
        zeros = m->entry[i] == 0;
    }
    return zeros ? 0 : norm_of(m->entry, m->rows * m->columns, 1);
}

void matrix_zeros(Matrix *m, size_t rows, size_t columns)
{
    size_t count;
    if (__builtin_mul_overflow(rows, columns, &count)) {
        need_is_short();
    }
    *m = (Matrix){need_zeros(count, sizeof *m->entry), rows, columns, 0, 0};
}

void matrix_clear(Matrix *m)
{
    free(m->entry);
    *m = (Matrix){0};
}

/* Nothing is known of the matrix. */
static void lose(Matrix *m)
{
    memset(m->entry, 0, m->rows * m->columns * sizeof *m->entry);
    m->exponent = 0;
    m->off = INFINITY;
}

/* Roundings of so much more; what is zero exactly stays so. */
static void add_off(Matrix *m, double more)
{
    m->off = m->off > 0 || more > 0 ? (m->off + more + TINY) * (1 + 8 * U) : 0;
}

/* The largest entry to [1/2, 1), by a power of two. */
void matrix_settle(Matrix *m)
{
    size_t count = m->rows * m->columns;
    double most = 0;
    bool finite = true;
    int exponent;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(m->entry[i]));
        finite = finite && isfinite(m->entry[i]);
    }
    if (!finite) {
        lose(m);
    }
    if (!finite || most == 0) {
        return;
    }
    (void)frexp(most, &exponent);
    for (size_t i = 0; i < count; i++) {
        m->entry[i] = ldexp(m->entry[i], -exponent);
    }
    m->off = ldexp(m->off, -exponent) + TINY;
    m->exponent += exponent;
}

void matrix_take(Matrix *m, Doubles from)
{
    matrix_zeros(m, from.rows, from.columns);
    for (size_t r = 0; from.data != NULL && r < from.rows; r++) {
        for (size_t c = 0; c < from.columns; c++) {
            m->entry[r * from.columns + c] = from.data[r * from.row + c * from.column];
        }
    }
    matrix_settle(m);
}

void matrix_copy(Matrix *m, const Matrix *from)
{
    matrix_zeros(m, from->rows, from->columns);
    memcpy(m->entry, from->entry, m->rows * m->columns * sizeof *m->entry);
    m->exponent = from->exponent;
    m->off = from->off;
}

void matrix_identity(Matrix *m, size_t n)
{
    matrix_zeros(m, n, n);
    matrix_add_diagonal(m, 1);
}

void matrix_product(Matrix *c, const Matrix *a, const Matrix *b, bool b_transposed)
{
    size_t k = a->columns, n = b_transposed ? b->rows : b->columns;
    assert((b_transposed ? b->columns : b->rows) == k);
    matrix_zeros(c, a->rows, n);
    gemm(c->entry, n, gemm_plain(a->entry, k), (GemmFactor){b->entry, b->columns, b_transposed},
         (GemmExtents){a->rows, n, k}, 0);
    double of_a = kept_norm(a), of_b = kept_norm(b);
    c->exponent = a->exponent + b->exponent;
    c->off = 2 * (1.01 * ((double)k + 1) * U * of_a * of_b) + TINY;
    c->off = (c->off + a->off * (of_b + b->off) + of_a * b->off) * (1 + 8 * U);
    if (!(c->off < INFINITY)) {
        lose(c);
    }
    matrix_settle(c);
}

/* The power of two that takes a matrix to another exponent; entries that are then too small to see
 * beside 1 may be lost. */
static int step_to(const Matrix *m, long exponent)
{
    enum { FAR = 2000 };
    long by = m->exponent - exponent;
    return by < -FAR ? -FAR : by > FAR ? FAR : (int)by;
}

static void move_to(Matrix *m, long exponent)
{
    int step = step_to(m, exponent);
    for (size_t i = 0; step != 0 && i < m->rows * m->columns; i++) {
        m->entry[i] = ldexp(m->entry[i], step);
    }
    m->off = step != 0 ? ldexp(m->off, step) + TINY : m->off;
    m->exponent = exponent;
}

bool matrix_is_zero(const Matrix *m)
{
    return m->off == 0 && kept_norm(m) == 0;
}

void matrix_add(Matrix *m, const Matrix *w, double factor)
{
    assert(m->rows == w->rows && m->columns == w->columns);
    if (matrix_is_zero(w)) {
        return;
    }
    if (matrix_is_zero(m)) {
        m->exponent = w->exponent;
    }
    long exponent = m->exponent > w->exponent ? m->exponent : w->exponent;
    int step = step_to(w, exponent);
    move_to(m, exponent);
    double norm = kept_norm(m) + fabs(factor) * (ldexp(kept_norm(w), step) + TINY),
           off = fabs(factor) * (ldexp(w->off, step) + TINY);
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        m->entry[i] += factor * ldexp(w->entry[i], step);
    }
    add_off(m, off + 4 * U * norm);
    matrix_settle(m);
}

void matrix_add_row(Matrix *m, const double *row, const Matrix *w)
{
    Matrix taken, product;
    if (row == NULL) {
        return;
    }
    matrix_take(&taken, (Doubles){row, 1, w->rows, w->rows, 1});
    matrix_product(&product, &taken, w, false);
    matrix_add(m, &product, 1);
    matrix_clear(&taken);
    matrix_clear(&product);
}

void matrix_add_diagonal(Matrix *m, long integer)
{
    if (integer == 0) {
        return;
    }
    if (matrix_is_zero(m)) {
        m->exponent = 0;
    }
    move_to(m, m->exponent > 0 ? m->exponent : 0);
    bool exact = true;
    double term = m->exponent > 1000 ? 0 : ldexp((double)integer, -(int)m->exponent);
    for (size_t r = 0; r < m->rows; r++) {
        double *entry = &m->entry[r * m->columns + r], sum = *entry + term;
        exact = exact && *entry == 0;
        *entry = sum;
    }
    if (!exact || m->exponent != 0) {
        add_off(m, 4 * U * (kept_norm(m) + sqrt((double)m->rows) * fabs(term)));
    }
    matrix_settle(m);
}

/* m times s: digits by a rounding an entry, the exponent exactly. */
static void scale(Matrix *m, Magnitude s)
{
    double norm = kept_norm(m);
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        m->entry[i] *= s.digits;
    }
    add_off(m, 2 * U * norm);
    m->exponent += s.exponent;
}

void matrix_place(Matrix *m, size_t first, const Matrix *part, Magnitude s)
{
    Matrix scaled;
    assert(m->columns == part->columns && m->exponent == 0);
    matrix_copy(&scaled, part);
    scale(&scaled, s);
    move_to(&scaled, 0);
    memcpy(m->entry + first * m->columns, scaled.entry,
           part->rows * part->columns * sizeof *m->entry);
    add_off(m, scaled.off);
    matrix_clear(&scaled);
}

/* Each row, or each column, times its own of `by`, which a power of two takes to at most 1: a
 * rounding an entry. */
static void scale_each(Matrix *m, const double *by, bool rows)
{
    size_t count = rows ? m->rows : m->columns;
    double most = 0, norm = kept_norm(m);
    int exponent = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(by[i]));
    }
    if (!isfinite(most)) {
        lose(m);
        return;
    }
    (void)frexp(most, &exponent);
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        m->entry[i] *= ldexp(by[rows ? i / m->columns : i % m->columns], -exponent);
    }
    add_off(m, 2 * U * norm);
    m->exponent += exponent;
}

/* (D + 2) roundings of the mean of a column's absolute values, D times squared and summed, and one
 * of each entry: (D + 4) u of the column's norm, twice. */
static void subtract_means(Matrix *m)
{
    double d = (double)m->rows, norm = kept_norm(m);
    for (size_t c = 0; c < m->columns; c++) {
        double sum = 0;
        for (size_t r = 0; r < m->rows; r++) {
            sum += m->entry[r * m->columns + c];
        }
        for (size_t r = 0; r < m->rows; r++) {
            m->entry[r * m->columns + c] -= sum / d;
        }
    }
    add_off(m, 2 * (d + 4) * U * norm);
}

void matrix_fold(Matrix *m, const LayerNorm *norm)
{
    if (norm->kind == NORMALIZATION_NONE) {
        return;
    }
    assert(norm->columns.count == m->rows);
    scale_each(m, norm->gamma, true);
    if (norm->kind == NORMALIZATION_LAYERNORM) {
        subtract_means(m);
    }
    matrix_settle(m);
}

static Magnitude in_unit(const Matrix *m, double x)
{
    return magnitude_of(x, m->exponent);
}

Magnitude matrix_frobenius(const Matrix *m)
{
    return in_unit(m, (kept_norm(m) + m->off) * (1 + 4 * U));
}

Magnitude matrix_largest_column(const Matrix *m)
{
    double most = 0;
    for (size_t c = 0; c < m->columns; c++) {
        most = fmax(most, norm_of(m->entry + c, m->rows, m->columns));
    }
    return kept_norm(m) == 0 ? in_unit(m, m->off) : in_unit(m, (most + m->off) * (1 + 4 * U));
}

/* Of few rows to the last digits. */
static EigenvalueSearch search_of(size_t n)
{
    return (EigenvalueSearch){80, n <= 128 ? 0x1p-42 : 0x1p-26};
}

Magnitude matrix_norm(const Matrix *m)
{
    bool wide = m->columns > m->rows;
    size_t n = wide ? m->rows : m->columns, k = wide ? m->columns : m->rows;
    double own = kept_norm(m);
    if (n <= 1 || own == 0 || !(m->off < INFINITY)) {
        return matrix_frobenius(m);
    }
    double *g = need_room(n * n, sizeof(double));
    gemm_square(g, n, m->entry, m->columns, !wide, n, k);
    double lost = 2 * 1.01 * ((double)k + 1) * U * own * own + TINY;
    double square = largest_eigenvalue(g, n, own * own * (1 + 4 * U) + lost, search_of(n));
    free(g);
    double norm = fmin(own, sqrt(square + lost) * (1 + 4 * U));
    return in_unit(m, (norm + m->off) * (1 + 4 * U));
}

Magnitude matrix_norm_scaled(const Matrix *m, const double *by)
{
    Matrix scaled;
    matrix_copy(&scaled, m);
    scale_each(&scaled, by, false);
    matrix_settle(&scaled);
    Magnitude norm = matrix_norm(&scaled);
    matrix_clear(&scaled);
    return norm;
}

Magnitude matrix_norm_of_product(const Matrix *a, const Matrix *b, bool b_transposed)
{
    Matrix product;
    matrix_product(&product, a, b, b_transposed);
    Magnitude norm = matrix_norm(&product);
    matrix_clear(&product);
    return norm;
}

Magnitude matrix_negative_part(const Matrix *m)
{
    size_t n = m->rows;
    double own = kept_norm(m);
    assert(m->rows == m->columns);
    if (own == 0 || !(m->off < INFINITY)) {
        return matrix_frobenius(m);
    }
    double *s = need_room(n * n, sizeof(double));
    for (size_t r = 0; r < n; r++) {
        for (size_t c = r; c < n; c++) {
            s[r * n + c] = -0.5 * (m->entry[r * n + c] + m->entry[c * n + r]);
        }
    }
    double negative = largest_eigenvalue(s, n, own, search_of(n));
    free(s);
    return in_unit(m, (negative + m->off + 2 * U * own) * (1 + 4 * U));
}

double matrix_entry_above(const Matrix *m)
{
    double kept = (m->entry[0] + m->off);
    kept += 4 * U * fabs(kept) + (m->off > 0 ? TINY : 0);
    int step = step_to(m, 0);
    if (kept == 0) {
        return 0;
    }
    if (kept > 0 && m->exponent > step) { /* farther than a step goes */
        return INFINITY;
    }
    double x = ldexp(kept, step);
    return (x < -0x1p1000 ? -0x1p1000 : x) + 0x1p-1000;
}
