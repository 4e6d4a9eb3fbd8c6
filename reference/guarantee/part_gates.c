/*
 * Norms of gated heads' weights, and the imitation that their terms make.
 *
 * Each bundle is one term of the imitation: the same W1, W2 and biases, a gate, a shift and a value
 * of its own.  In place a head's gate is minus the column that it writes.
 */
#include "matrix.h"
#include "part.h"

#include <math.h>
#include <stdlib.h>

static bool same_weight(const HeadWeight *a, const HeadWeight *b)
{
    return a->data == b->data && a->ld == b->ld && a->head_stride == b->head_stride;
}

/* Have all heads of a term one shift? */
static bool one_shift(const Bundle *bundle)
{
    const double *shift = bundle->score.gate_shift;
    bool same = true;
    for (size_t h = 1; shift != NULL && h < bundle->heads; h++) {
        same = same && shift[h] == shift[0];
    }
    return same;
}

/* A bundle that is a term of a fused network, beside the first. */
static bool is_fused(const Bundle *bundle, const Bundle *first)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    return score->gate.data != NULL && same_weight(&score->gate, &first->score.gate) &&
           value->d_head == 1 && value->diagonal == 0 && value->v.data != NULL &&
           same_weight(&value->v, &first->value.v) && score->gate_bias == first->score.gate_bias &&
           value->inner_bias == first->value.inner_bias &&
           same_weight(&value->o, &first->value.o) && value->bias == NULL &&
           bundle->heads == first->heads;
}

static bool is_in_place(const Bundle *bundle, const Bundle *first)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    return score->gate.data == NULL && score->gate_unit == -1 && score->gate_bias == NULL &&
           value->unit == -1 && value->diagonal == 0 && value->bias == NULL &&
           bundle->heads == first->heads && score->read.first == value->write.first &&
           score->read.count == value->write.count && score->read.count == bundle->heads;
}

static bool reads_alike(const Bundle *bundle, const Bundle *first)
{
    return bundle->score.read.first == bundle->value.read.first &&
           bundle->score.read.count == bundle->value.read.count &&
           bundle->value.read.first == first->value.read.first &&
           bundle->value.write.first == first->value.write.first &&
           bundle->value.write.count == first->value.write.count;
}

/* A head beside them that carries the bias b2 alone. */
static bool is_bias(const Bundle *bundle, const Layout *layout)
{
    return part_of_heads(bundle) == PART_LINEAR && value_width(&bundle->value) == 0 &&
           bundle->value.bias != NULL && bundle->value.diagonal == 0 &&
           bank_of(layout, bundle->value.write) == BANK_CONTENT;
}

/* Are the bundles known, with values of sum 1?  Their reach and gate; *b2: the bias beside them. */
static bool read_terms(GateBound *gates, const double **b2, const Sublayer *sublayer,
                       const Layout *layout)
{
    const Bundle *first = sublayer->bundles;
    bool known = part_of_heads(first) == PART_GATES;
    size_t terms = 0;
    double sum = 0, sizes = 0, largest = 0;
    for (size_t b = 0; b < sublayer->bundle_count && known; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        if (is_bias(bundle, layout) && !gates->in_place && *b2 == NULL) {
            *b2 = bundle->value.bias;
            continue;
        }
        double gate = bundle->score.gate_scale, value = bundle->value.scale, before = sum;
        known = part_of_heads(bundle) == PART_GATES && gate > 0 && one_shift(bundle) &&
                reads_alike(bundle, first) &&
                (gates->in_place ? is_in_place(bundle, first) : is_fused(bundle, first));
        terms++;
        sum += value;
        /* Knuth's sum, without an error. */
        known = known && value - (sum - before) == 0 && before - (sum - (sum - before)) == 0;
        sizes += fabs(value);
        largest = fmax(largest, gate);
    }
    gates->reach = number(terms == 1 ? sizes : sizes * (1 + 0x1p-48));
    gates->gate = number(largest);
    return known && sum == 1;
}

/* a W2; without W2, of gates that write hidden columns, a. */
static void times_out(Matrix *out, const Matrix *a, const Matrix *w2)
{
    if (w2->entry == NULL) {
        matrix_copy(out, a);
    } else {
        matrix_product(out, a, w2, false);
    }
}

/* (G24): what a network does to a change of the stream if its activation is x/2. */
static void through_norms(GateBound *gates, const Reader *first, const Matrix *w2, bool folded)
{
    Matrix through, biases, of_bias_row;
    times_out(&through, &first->token, w2);
    times_out(&biases, &first->bias, w2);
    times_out(&of_bias_row, &first->bias_row, w2);
    if (!folded && gates->to == BANK_CONTENT) {
        matrix_add_diagonal(&through, 2);
    }
    gates->through = product(half, matrix_norm(&through));
    gates->b1_through = product(half, matrix_norm(&biases));
    gates->product_bias_row = matrix_norm(&of_bias_row);
    matrix_clear(&through);
    matrix_clear(&biases);
    matrix_clear(&of_bias_row);
}

/* W [d, hidden], the first factor of gated heads, a column each. */
static Doubles columns_of(HeadWeight weight, size_t d, size_t hidden)
{
    return (Doubles){weight.data, d, hidden, weight.ld, weight.head_stride};
}

/* (G28): gates W_g beside values W1, b1, as tokens read them. */
static void apart_norms(GateBound *gates, const Bundle *bundle, const LayerNorm *norm,
                        const Reader *values)
{
    const Score *score = &bundle->score;
    Reader gate;
    Matrix w;
    matrix_take(&w, columns_of(score->gate, score->read.count, bundle->heads));
    reader_make(&gate, w, NULL, norm);
    gates->column_bias_row = matrix_largest_column(&gate.bias_row);
    gates->gate_slope =
        product(product(quarter, gates->gate), product(gates->reach, matrix_norm(&gate.token)));
    gates->value_column = matrix_largest_column(&values->token);
    gates->value_entry = matrix_largest_column(&values->bias);
    gates->swing = product(half, gates->reach);
    reader_clear(&gate);
}

static void fused_norms(GateBound *gates, const Bundle *bundle, const double *b2,
                        const LayerNorm *norm)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    size_t hidden = bundle->heads, columns = value->write.count;
    Reader first;
    Matrix w1, w2 = {0}, out;
    matrix_take(&w1, columns_of(value->v, score->read.count, hidden));
    reader_make(&first, w1, value->inner_bias, norm);
    if (value->o.data != NULL) {
        matrix_take(&w2, (Doubles){value->o.data, hidden, columns, value->o.head_stride, 1});
    }
    matrix_take(&out, (Doubles){b2, 1, columns, columns, 1});
    through_norms(gates, &first, &w2, norm->kind != NORMALIZATION_NONE);
    gates->w1 = matrix_norm(&first.token);
    gates->w1_bias_row = matrix_norm(&first.bias_row);
    gates->column_bias_row = matrix_largest_column(&first.bias_row);
    gates->w2 = w2.entry != NULL ? matrix_norm(&w2) : one;
    gates->b1 = matrix_norm(&first.bias);
    gates->b2 = matrix_norm(&out);
    if (!bundle_gate_is_value(bundle) || value->inner_bias != score->gate_bias) {
        apart_norms(gates, bundle, norm, &first);
    }
    reader_clear(&first);
    matrix_clear(&w2);
    matrix_clear(&out);
}

bool gates_make(GateBound *gates, const PartOf *of)
{
    const Sublayer *sublayer = of->sublayer;
    const Layout *layout = of->layout;
    const Bundle *first = sublayer->bundles;
    const double *b2 = NULL;
    gates->in_place = first->score.gate.data == NULL;
    bool known = read_terms(gates, &b2, sublayer, layout);
    gates->bank = bank_of(layout, first->value.read);
    gates->to = bank_of(layout, first->value.write);
    Bank written = first->value.o.data != NULL ? BANK_CONTENT : BANK_HIDDEN;
    bool normed = sublayer->norm.kind != NORMALIZATION_NONE;
    bool content = gates->bank == BANK_CONTENT && gates->to == written;
    bool placed = gates->in_place ? gates->bank != BANKS && !normed : content;
    if (!known || !placed) {
        return false;
    }
    gates->swing = number(of->imitation_swing);
    if (gates->in_place) {
        gates->w1 = gates->w2 = gates->w1_bias_row = gates->column_bias_row =
            gates->product_bias_row = one;
    } else {
        fused_norms(gates, first, b2, &sublayer->norm);
    }
    return true;
}
