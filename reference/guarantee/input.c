/*
 * Every token of the vocabulary at every position: how long a row of X can be (G0), and all rows,
 * where they are few (G21).
 */
#include "input.h"

#include "../../memory/need.h"
#include "../product/gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Positions whose sums with all tokens are looked at together. */
enum { POSITIONS = 64 };

/* squares[r]: of row r. */
static void square_rows(double *squares, const Matrix *m)
{
    for (size_t r = 0; r < m->rows; r++) {
        squares[r] = 0;
        for (size_t c = 0; c < m->columns; c++) {
            double entry = m->entry[r * m->columns + c];
            squares[r] += entry * entry;
        }
    }
}

/* |e + p|^2 = |e|^2 + |p|^2 + 2 e.p, each sum of d terms: off by at most (2.1 d + 10) u of the two
 * squares; counted twice. */
static double largest_pair(const double *tokens, size_t count, const double *positions,
                           size_t width, const double *dots, size_t d)
{
    double slack = 1 + (5 * (double)d + 20) * 0x1p-53, most = 0;
    for (size_t p = 0; p < width; p++) {
        for (size_t v = 0; v < count; v++) {
            double both = tokens[v] + positions[p], lost = (slack - 1) * both;
            most = fmax(most, both + 2 * dots[p * count + v] + lost);
        }
    }
    return most;
}

/* all: the vocabulary's rows, then the positions'. */
static double largest_row(const Matrix *all, size_t vocabulary, const double *squares, double *dots)
{
    size_t d = all->columns, positions = all->rows - vocabulary;
    const double zero = 0;
    double most = 0;
    memset(dots, 0, vocabulary * sizeof *dots);
    if (positions == 0) {
        return largest_pair(squares, vocabulary, &zero, 1, dots, d);
    }
    for (size_t first = 0; first < positions; first += POSITIONS) {
        size_t width = positions - first < POSITIONS ? positions - first : POSITIONS;
        gemm(dots, vocabulary, gemm_plain(all->entry + (vocabulary + first) * d, d),
             gemm_transposed(all->entry, d), (GemmExtents){width, vocabulary, d}, 0);
        double largest =
            largest_pair(squares, vocabulary, squares + vocabulary + first, width, dots, d);
        most = fmax(most, largest);
    }
    return most;
}

/* A sum as X has it: to the nearest number of so many digits, ties to even; what is beyond all of
 * them stays. */
static double stored(double x, const GuaranteeInputs *inputs)
{
    int exponent, least = inputs->stored_least_exponent, digits = inputs->stored_digits;
    if (digits == 0 || !isfinite(x)) {
        return x;
    }
    (void)frexp(x, &exponent);
    int unit = (exponent > least ? exponent : least) - digits;
    double nearest = ldexp(rint(ldexp(x, -unit)), unit);
    return fabs(nearest) >= ldexp(1, 3 - least) ? x : nearest;
}

/* Each entry becomes at most 2^-digits of it longer, or, where it is small, 2^least_exponent. */
static Magnitude norm_stored(Magnitude norm, const GuaranteeInputs *inputs)
{
    if (inputs->stored_digits == 0) {
        return norm;
    }
    Magnitude longer = magnitude_of(1 + ldexp(1, -inputs->stored_digits), 0),
              small = magnitude_product(magnitude_root(magnitude_of_size(inputs->d)),
                                        magnitude_of(1, inputs->stored_least_exponent));
    return magnitude_sum(magnitude_product(norm, longer), small);
}

void guarantee_input_norm(Magnitude *norm, const GuaranteeInputs *inputs)
{
    size_t d = inputs->d, count = inputs->vocabulary, n = inputs->w_pos != NULL ? inputs->n : 0;
    Matrix all;
    matrix_zeros(&all, count + n, d);
    double *squares = need_room(count + n, sizeof *squares),
           *dots = need_room(count, POSITIONS * sizeof *dots);
    memcpy(all.entry, inputs->w_e, count * d * sizeof *all.entry);
    memcpy(all.entry + count * d, n > 0 ? inputs->w_pos : inputs->w_e, n * d * sizeof *all.entry);
    matrix_settle(&all);
    square_rows(squares, &all);
    double most = largest_row(&all, count, squares, dots);
    /* X has the sums rounded to doubles. */
    Magnitude root = magnitude_root(magnitude_of(most * (1 + 0x1p-50), 2 * all.exponent));
    Magnitude off = magnitude_of(sqrt((double)(2 * d)) * all.off, all.exponent);
    *norm = norm_stored(magnitude_sum(root, off), inputs);
    free(squares);
    free(dots);
    matrix_clear(&all);
}

bool inputs_are_few(const GuaranteeInputs *inputs)
{
    const double most = ROWS_MOST;
    double positions = inputs->w_pos != NULL ? (double)inputs->n : 1;
    return (double)inputs->vocabulary * positions * (double)inputs->d <= most;
}

/* A copy, squares and products with POSITIONS; where rows are few, they, X, their queries and keys,
 * and what heads make of them (spread.c). */
double guarantee_input_doubles(const GuaranteeInputs *inputs, size_t heads)
{
    double vocabulary = (double)inputs->vocabulary, d = (double)inputs->d,
           positions = inputs->w_pos != NULL ? (double)inputs->n : 0;
    double looked_at =
        inputs_are_few(inputs) ? (5 + (double)heads) * vocabulary * fmax(positions, 1) * d : 0;
    return fmax(vocabulary * POSITIONS + (vocabulary + positions) * (d + 1), looked_at);
}

/* x [d] = u of (G2), in place; returns at least how far it may be off.  With c = x - mean, off by
 * at most 4 (d + 4) u |x|, u is off by that over sqrt(s), twice, as s on the way is at least a
 * quarter of what it is here; and by d + 8 roundings of |u| < sqrt(d). */
static double normalise(double *x, size_t d, const LayerNorm *norm)
{
    const double unit = 0x1p-53, size = (double)d;
    double sum = 0, squares = 0, variance = 0;
    for (size_t c = 0; c < d; c++) {
        sum += x[c];
        squares += x[c] * x[c];
    }
    double mean = norm->kind == NORMALIZATION_LAYERNORM ? sum / size : 0,
           lost = 4 * (size + 4) * unit * sqrt(squares) * 1.001 + 0x1p-1000;
    for (size_t c = 0; c < d; c++) {
        x[c] -= mean;
        variance += x[c] * x[c];
    }
    double root = sqrt(variance / size + norm->eps);
    for (size_t c = 0; c < d; c++) {
        x[c] /= root;
    }
    bool known = squares < 0x1p900 && root > 0x1p-400 && lost < root / 4; /* nothing underflows */
    return known ? (2 * lost / root + 2 * (size + 8) * unit * sqrt(size)) * 1.001 : INFINITY;
}

void inputs_read(Matrix *rows, const GuaranteeInputs *inputs, const LayerNorm *norm)
{
    size_t d = inputs->d, positions = inputs->w_pos != NULL ? inputs->n : 1;
    double squares = 0;
    matrix_zeros(rows, inputs->vocabulary * positions, d);
    for (size_t r = 0; r < rows->rows; r++) {
        const double *token = inputs->w_e + r / positions * d;
        double *x = rows->entry + r * d;
        for (size_t c = 0; c < d; c++) {
            double position = inputs->w_pos != NULL ? inputs->w_pos[r % positions * d + c] : 0;
            x[c] = stored(token[c] + position, inputs); /* as X has it, rounded */
        }
        double off = norm->kind != NORMALIZATION_NONE ? normalise(x, d, norm) : 0;
        squares += off * off;
    }
    rows->off = squares > 0 ? sqrt(squares) * 1.001 : 0;
    matrix_settle(rows);
}
