/*
 * Norms of self-attending heads' weights: all heads of a sublayer weigh keys alike, so that only
 * the sum of their matrices matters.
 */
#include "matrix.h"
#include "part.h"

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
    *known = bundle->heads == 1 && value->unit == 0 && value->d_head == 0 && from != BANKS &&
             to != BANKS && part_of_heads(bundle) == PART_LINEAR;
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

static bool sum_make(Sum *sum, const Layout *layout, const Sublayer *sublayer, bool *known)
{
    *sum = (Sum){.layout = layout};
    sum->diagonal = calloc(layout->d + layout->hidden + 1, sizeof *sum->diagonal);
    bool ok = sum->diagonal != NULL;
    for (int a = 0; a < BANKS && ok; a++) {
        for (int b = 0; b < BANKS && ok; b++) {
            ok = matrix_zeros(&sum->weight[a][b], bank_columns(layout, (Bank)a),
                              bank_columns(layout, (Bank)b));
        }
        ok = ok && matrix_zeros(&sum->bias[a], 1, bank_columns(layout, (Bank)a));
    }
    *known = true;
    for (size_t b = 0; b < sublayer->bundle_count && ok && *known; b++) {
        add_head(sum, &sublayer->bundles[b], known);
    }
    for (int a = 0; a < BANKS && ok; a++) {
        matrix_settle(&sum->weight[a][BANK_CONTENT]);
        matrix_settle(&sum->weight[a][BANK_HIDDEN]);
        matrix_settle(&sum->bias[a]);
    }
    for (size_t c = 1; c < layout->d + layout->hidden && ok; c++) {
        *known = *known && (c == layout->d || sum->diagonal[c] == sum->diagonal[c - 1]);
    }
    return ok;
}

/* *norm = |w + integer I|. */
static bool norm_beside(Magnitude *norm, const Matrix *w, long integer)
{
    Matrix m = {0};
    if (integer == 0 || matrix_is_zero(w)) {
        *norm = integer == 0 ? matrix_norm(w) : magnitude_of((double)integer, 0);
        return true;
    }
    bool ok = matrix_copy(&m, w);
    if (ok) {
        matrix_add_diagonal(&m, integer);
        *norm = matrix_norm(&m);
    }
    matrix_clear(&m);
    return ok;
}

/* bias += beta W, then W is folded: what a norm before the sublayer makes of bank a's matrices.  W
 * as the bias row reads it is measured where it is right. */
static bool read_through(LinearBound *linear, Sum *sum, const LayerNorm *norm, Bank a)
{
    bool ok = true;
    for (int b = 0; b < BANKS && ok; b++) {
        Matrix *w = &sum->weight[a][b], beta = {0}, more = {0};
        linear->bias_row[a][b] = matrix_norm(w);
        if (norm->beta != NULL) {
            ok = matrix_take(&beta, (Doubles){norm->beta, 1, w->rows, w->rows, 1}) &&
                 matrix_product(&more, &beta, w, false);
            if (ok) {
                matrix_add(&sum->bias[b], &more, 1);
            }
        }
        matrix_clear(&beta);
        matrix_clear(&more);
        matrix_fold(w, norm);
        linear->read[a][b] = matrix_norm(w);
        linear->kept[a][b] = linear->read[a][b];
        if (!norm->tokens_only) {
            linear->bias_row[a][b] = linear->read[a][b];
        }
    }
    return ok;
}

/* Bank a as it is: V = W + diagonal, and I more for what the stream keeps. */
static bool read_plain(LinearBound *linear, const Sum *sum, Bank a)
{
    bool ok = true;
    long diagonal = sum->diagonal[bank_first(sum->layout, a)];
    for (int b = 0; b < BANKS && ok; b++) {
        bool own = (int)a == b;
        ok = norm_beside(&linear->read[a][b], &sum->weight[a][b], own ? diagonal : 0) &&
             norm_beside(&linear->kept[a][b], &sum->weight[a][b], own ? diagonal + 1 : 0);
        linear->bias_row[a][b] = linear->read[a][b];
    }
    return ok;
}

GuaranteeStatus linear_make(LinearBound *linear, const char **reason, const PartOf *of)
{
    const Layout *layout = of->layout;
    Sum sum;
    bool known = true, ok = sum_make(&sum, layout, of->sublayer, &known);
    const LayerNorm *norm = &of->sublayer->norm;
    Bank normed = norm->kind == NORMALIZATION_NONE ? BANKS : bank_of(layout, norm->columns);
    if (ok && normed != BANKS && sum.diagonal[bank_first(layout, normed)] != 0) {
        known = false;
    }
    for (int a = 0; a < BANKS && ok && known; a++) {
        ok = (Bank)a == normed ? read_through(linear, &sum, norm, (Bank)a)
                               : read_plain(linear, &sum, (Bank)a);
    }
    for (int b = 0; b < BANKS && ok; b++) {
        linear->bias[b] = matrix_norm(&sum.bias[b]);
    }
    sum_clear(&sum);
    if (ok && !known) {
        *reason = "self-attending heads of this form are outside of what is proven";
        return GUARANTEE_OUTSIDE;
    }
    return ok ? GUARANTEE_OK : GUARANTEE_NO_MEMORY;
}
