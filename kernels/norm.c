/*
 * Layer norms, a row at a time: the mean, the variance, and what they make of the row.
 */
#include "norm.h"

#include "../memory/need.h"
#include "each.h"

#include <math.h>
#include <stdlib.h>

enum { PARTS = 16 };

/* A norm as the machine has it. */
typedef struct {
    bool centred;
    size_t count;
    const Scalar *gamma, *beta; /* [count]; beta NULL: none */
    Scalar eps;
    NumberFormat format; /* of the results */
} RowNorm;

/* The mean of what `of` makes of x and centre, column by column. */
static inline Scalar mean_of(const Scalar *x, size_t count, Scalar centre,
                             Scalar (*of)(Scalar x, Scalar centre))
{
    Scalar parts[PARTS] = {0};
    for (size_t first = 0; first < count; first += PARTS) {
        size_t here = count - first < PARTS ? count - first : PARTS;
        for (size_t p = 0; p < here; p++) {
            parts[p] += of(x[first + p], centre);
        }
    }
    for (size_t half = PARTS / 2; half > 0; half /= 2) {
        for (size_t p = 0; p < half; p++) {
            parts[p] += parts[p + half];
        }
    }
    return parts[0] / (Scalar)count;
}

static inline Scalar itself(Scalar x, Scalar centre)
{
    (void)centre;
    return x;
}

static inline Scalar squared(Scalar x, Scalar centre)
{
    return (x - centre) * (x - centre);
}

/* x [count] becomes its norm; beta: NULL on the bias row, too. */
static void norm_row(Scalar *x, const RowNorm *norm, const Scalar *beta)
{
    size_t count = norm->count;
    Scalar mean = norm->centred ? mean_of(x, count, 0, itself) : 0;
    Scalar variance = mean_of(x, count, mean, squared) + norm->eps;
    Scalar factor = isfinite(variance) ? 1 / SCALAR_SQRT(variance) : (Scalar)NAN;
    for (size_t c = 0; c < count; c++) {
        x[c] = (x[c] - mean) * factor * norm->gamma[c];
    }
    for (size_t c = 0; beta != NULL && c < count; c++) {
        x[c] += beta[c];
    }
    scalar_round(norm->format, x, count);
}

/* The rows of a stream, an item each. */
typedef struct {
    RowNorm norm;
    Scalar *x;
    size_t ld, bias_row;
    bool tokens_only;
} Normed;

static void norm_item(const void *context, size_t item, size_t thread)
{
    const Normed *rows = context;
    (void)thread;
    if (item != rows->bias_row) {
        norm_row(rows->x + item * rows->ld, &rows->norm, rows->norm.beta);
    } else if (!rows->tokens_only) {
        norm_row(rows->x + item * rows->ld, &rows->norm, NULL);
    }
}

void norm_rows(Scalar *x, const Pass *pass, const LayerNorm *norm)
{
    RowNorm row = {.centred = norm->kind == NORMALIZATION_LAYERNORM,
                   .count = norm->columns.count,
                   .gamma = weights_stored(pass->weights, norm->gamma),
                   .beta = weights_stored(pass->weights, norm->beta),
                   .eps = (Scalar)norm->eps,
                   .format = pass->formats->stream};
    Normed rows = {.norm = row,
                   .x = x + norm->columns.first,
                   .ld = pass->ld,
                   .bias_row = layout_bias_row(pass->layout),
                   .tokens_only = norm->tokens_only};
    each(layout_rows(pass->layout), pass->threads, norm_item, &rows);
}

/* from [count] as it is stored. */
static const Scalar *stored(Scalar *to, const double *from, size_t count, NumberFormat format)
{
    if (from == NULL) {
        return NULL;
    }
    scalar_store(format, from, to, count);
    return to;
}

void kernel_norm(const Formats *formats, double *rows, size_t count, size_t ld,
                 const LayerNorm *norm)
{
    size_t columns = norm->columns.count;
    Scalar *room = need_zeros(columns, 3 * sizeof *room);
    RowNorm row = {.centred = norm->kind == NORMALIZATION_LAYERNORM,
                   .count = columns,
                   .gamma = stored(room, norm->gamma, columns, formats->storage),
                   .beta = stored(room + columns, norm->beta, columns, formats->storage),
                   .eps = (Scalar)norm->eps,
                   .format = formats->stream};
    Scalar *x = room + 2 * columns;
    for (size_t r = 0; r < count; r++) {
        double *of = rows + r * ld + norm->columns.first;
        for (size_t c = 0; c < columns; c++) {
            x[c] = (Scalar)of[c];
        }
        norm_row(x, &row, row.beta);
        for (size_t c = 0; c < columns; c++) {
            of[c] = (double)x[c];
        }
    }
    free(room);
}
