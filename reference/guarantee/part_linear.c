/*
 * Norms of self-attending heads' weights: all heads of a sublayer weigh keys alike, so that only
 * the sum of their matrices matters.
 */
#include "matrix.h"
#include "part.h"

#include "../../memory/need.h"

#include <stdlib.h>

/* The sum of the heads: matrices between banks, an integer diagonal of each bank, biases. */
typedef struct {
    const Layout *layout;
    Matrix weight[BANKS][BANKS];
    Matrix bias[BANKS];
    int *diagonal; /* [content and hidden columns] */
} Sum;

static size_t bank_columns(const Layout *layout, Bank bank)
{
    return bank == BANK_CONTENT ? layout->d : layout->hidden;
}

static size_t bank_first(const Layout *layout, Bank bank)
{
    return bank == BANK_CONTENT ? 0 : layout->d;
}

/* The bank that holds the columns, or BANKS. */
static Bank bank_with(const Layout *layout, Columns columns)
{
    size_t last = columns.first + columns.count, all = layout->d + layout->hidden;
    return last <= layout->d                           ? BANK_CONTENT
           : columns.first >= layout->d && last <= all ? BANK_HIDDEN
                                                       : BANKS;
}

static void sum_clear(Sum *sum)
{
    for (int a = 0; a < BANKS; a++) {
        for (int b = 0; b < BANKS; b++) {
            matrix_clear(&sum->weight[a][b]);
        }
        matrix_clear(&sum->bias[a]);
    }
    free(sum->diagonal);
}

/* Writes a block of a matrix, from that row and column on.  *known: nothing is there yet, so that
 * nothing is rounded. */
static void place(Matrix *to, size_t row, size_t column, Doubles block, bool *known)
{
    for (size_t r = 0; r < block.rows; r++) {
        for (size_t c = 0; c < block.columns; c++) {
            double *entry = &to->entry[(row + r) * to->columns + column + c];
            *known = *known && *entry == 0;
            *entry = block.data[r * block.row + c * block.column];
        }
    }
}

/* *known: the head is of a form that is. */
static void add_head(Sum *sum, const Bundle *bundle, bool *known)
{
    const Layout *layout = sum->layout;
    const Value *value = &bundle->value;
    Bank from = bank_with(layout, value->read), to = bank_with(layout, value->write);
    *known = bundle->heads == 1 && value->unit == 0 && value->bias_row == 0 && value->d_head == 0 &&
             from != BANKS && to != BANKS && part_of_heads(bundle) == PART_LINEAR;
    if (!*known) {
        return;
    }
    size_t row = value->read.first - bank_first(layout, from),
           column = value->write.first - bank_first(layout, to);
    const size_t read = value->read.count, written = value->write.count;
    if (value->v.data != NULL) {
        const Doubles v = {value->v.data, read, written, value->v.ld, 1};
        place(&sum->weight[from][to], row, column, v, known);
    }
    if (value->bias != NULL) {
        place(&sum->bias[to], 0, column, (Doubles){value->bias, 1, written, 0, 1}, known);
    }
    for (size_t c = 0; c < value->read.count; c++) {
        sum->diagonal[value->read.first + c] += value->diagonal;
    }
}

/* Returns whether all heads are of a form that is known. */
static bool sum_make(Sum *sum, const Layout *layout, const Sublayer *sublayer)
{
    *sum = (Sum){.layout = layout};
    sum->diagonal = need_zeros(layout->d + layout->hidden + 1, sizeof *sum->diagonal);
    for (int a = 0; a < BANKS; a++) {
        for (int b = 0; b < BANKS; b++) {
            matrix_zeros(&sum->weight[a][b], bank_columns(layout, (Bank)a),
                         bank_columns(layout, (Bank)b));
        }
        matrix_zeros(&sum->bias[a], 1, bank_columns(layout, (Bank)a));
    }
    bool known = true;
    for (size_t b = 0; b < sublayer->bundle_count && known; b++) {
        add_head(sum, &sublayer->bundles[b], &known);
    }
    for (int a = 0; a < BANKS; a++) {
        matrix_settle(&sum->weight[a][BANK_CONTENT]);
        matrix_settle(&sum->weight[a][BANK_HIDDEN]);
        matrix_settle(&sum->bias[a]);
    }
    for (size_t c = 1; c < layout->d + layout->hidden; c++) {
        known = known && (c == layout->d || sum->diagonal[c] == sum->diagonal[c - 1]);
    }
    return known;
}

/* |w + integer I|. */
static Magnitude norm_beside(const Matrix *w, long integer)
{
    Matrix m;
    if (integer == 0 || matrix_is_zero(w)) {
        return integer == 0 ? matrix_norm(w) : magnitude_of((double)integer, 0);
    }
    matrix_copy(&m, w);
    matrix_add_diagonal(&m, integer);
    Magnitude norm = matrix_norm(&m);
    matrix_clear(&m);
    return norm;
}

/* bias += beta W, then W is folded: what a norm before the sublayer makes of bank a's matrices.  W
 * as the bias row reads it is measured where it is right. */
static void read_through(LinearBound *linear, Sum *sum, const LayerNorm *norm, Bank a)
{
    for (int b = 0; b < BANKS; b++) {
        Matrix *w = &sum->weight[a][b];
        linear->bias_row[a][b] = matrix_norm(w);
        fold_factor(w, &sum->bias[b], norm);
        linear->read[a][b] = matrix_norm(w);
        linear->kept[a][b] = linear->read[a][b];
        if (!norm->tokens_only) {
            linear->bias_row[a][b] = linear->read[a][b];
        }
    }
}

/* Bank a as it is: V = W + diagonal, and I more for what the stream keeps. */
static void read_plain(LinearBound *linear, const Sum *sum, Bank a)
{
    long diagonal = sum->diagonal[bank_first(sum->layout, a)];
    for (int b = 0; b < BANKS; b++) {
        bool own = (int)a == b;
        linear->read[a][b] = norm_beside(&sum->weight[a][b], own ? diagonal : 0);
        linear->kept[a][b] = norm_beside(&sum->weight[a][b], own ? diagonal + 1 : 0);
        linear->bias_row[a][b] = linear->read[a][b];
    }
}

bool linear_make(LinearBound *linear, const PartOf *of)
{
    const Layout *layout = of->layout;
    Sum sum;
    bool known = sum_make(&sum, layout, of->sublayer);
    const LayerNorm *norm = &of->sublayer->norm;
    Bank normed = norm->kind == NORMALIZATION_NONE ? BANKS : bank_of(layout, norm->columns);
    if (normed != BANKS && sum.diagonal[bank_first(layout, normed)] != 0) {
        known = false;
    }
    for (int a = 0; a < BANKS && known; a++) {
        if ((Bank)a == normed) {
            read_through(linear, &sum, norm, (Bank)a);
        } else {
            read_plain(linear, &sum, (Bank)a);
        }
    }
    for (int b = 0; b < BANKS; b++) {
        linear->bias[b] = matrix_norm(&sum.bias[b]);
    }
    sum_clear(&sum);
    return known;
}
