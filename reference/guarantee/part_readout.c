/*
 * Norms of heads that read a gated network's product out of their scores, and the products that
 * they can read (docs/proof.md, (G29) to (G32)).
 */
#include "part.h"

#include "../../memory/need.h"

#include <math.h>
#include <stdlib.h>

/* Multiplications that norms of one output each may take. */
#define EACH_MOST 0x1p35

static bool is_weight(const HeadWeight *w, size_t head_stride)
{
    return w->data != NULL && w->head_stride == head_stride;
}

/* Heads that read products out, of a column each. */
static bool reads_out(const Bundle *bundle, const Layout *layout)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    bool power = score->scale.sqrt_den == 1 && (score->scale.num == 1 || score->scale.den == 1);
    return score_is_mixed(score) && is_weight(&score->k, 0) && is_weight(&score->mix, 1) &&
           score->rotary == NULL && power && value_is_sign(value) && value->o.data == NULL &&
           value->bias == NULL && value->inner_bias == NULL &&
           bank_of(layout, score->read) == BANK_CONTENT &&
           bank_of(layout, value->write) == BANK_CONTENT && bundle->heads == value->write.count;
}

/* What stands beside a pair: gives the bias row back what it wrote into itself. */
static bool gives_back(const Bundle *bundle, double value, int diagonal)
{
    const Value *back = &bundle->value;
    return bundle->score.kind == SCORE_NONE && value_width(back) == 0 && back->bias_row == value &&
           back->diagonal == diagonal;
}

/* c_j of (G31), by K - 1: Richardson's, in multiples of 2^-50, of sum 1. */
static const double coefficients[PAIRS_MOST][PAIRS_MOST] = {
    {1},
    {0x1.5555555555554p+0, -0x1.5555555555550p-2},
    {0x1.6c16c16c16c18p+0, -0x1.c71c71c71c720p-2, 0x1.6c16c16c16c00p-6}};

/* Are the pairs those of (G31), with tau and its double and so on? */
static bool read_pairs(ReadoutBound *readout, const Sublayer *sublayer, const Layout *layout)
{
    size_t pairs = sublayer->bundle_count / 2;
    bool known = pairs >= 1 && pairs <= PAIRS_MOST && sublayer->bundle_count == 2 * pairs;
    readout->pairs = pairs;
    for (size_t j = 0; j < pairs && known; j++) {
        const Bundle *bundle = &sublayer->bundles[2 * j], *first = sublayer->bundles;
        const Scale scale = bundle->score.scale;
        double tau = (double)scale.num / (double)scale.den;
        readout->tau = j == 0 ? tau : readout->tau;
        double value = 2 * coefficients[pairs - 1][j] / tau;
        bool hidden = first->score.query.count > 0;
        known = reads_out(bundle, layout) && tau == ldexp(readout->tau, (int)j) &&
                bundle->value.scale == value && bundle->score.mix.data == first->score.mix.data &&
                bundle->score.k.data == first->score.k.data &&
                gives_back(bundle + 1, value, j == 0 && hidden ? -1 : 0) &&
                (j == 0 || bundle[1].value.bias == NULL);
    }
    return known;
}

static void factor_make(Reader *factor, FactorBound *bound, Doubles w, const double *c,
                        const LayerNorm *norm)
{
    Matrix taken;
    matrix_take(&taken, w);
    reader_make(factor, taken, c, norm);
    bound->w = matrix_norm(&factor->token);
    bound->bias_row = matrix_norm(&factor->bias_row);
    bound->c = matrix_norm(&factor->bias);
    bound->column = matrix_largest_column(&factor->token);
    bound->entry = matrix_largest_column(&factor->bias);
}

/* (G29): of each output d with q = diag |W_d[:, d]|^(1/2), two roundings of each root included. */
static void make_each(ReadoutBound *readout, const Reader *gate, const Reader *up,
                      const HeadWeight *out)
{
    const Magnitude slack = {0.5 + 0x1p-51, 1};
    size_t hidden = gate->token.columns;
    double *q = need_room(hidden, sizeof *q);
    readout->each = need_zeros(readout->outputs, sizeof *readout->each);
    for (size_t d = 0; d < readout->outputs; d++) {
        OutputBound *own = &readout->each[d];
        double most = 0;
        for (size_t k = 0; k < hidden; k++) {
            q[k] = sqrt(fabs(out->data[k * out->ld + d]));
            most = fmax(most, q[k]);
        }
        own->gate = product(slack, matrix_norm_scaled(&gate->token, q));
        own->gate_bias = product(slack, matrix_norm_scaled(&gate->bias, q));
        own->up = product(slack, matrix_norm_scaled(&up->token, q));
        own->up_bias = product(slack, matrix_norm_scaled(&up->bias, q));
        own->root = product(slack, number(most));
    }
    free(q);
}

bool readout_make(ReadoutBound *readout, const PartOf *of)
{
    const Sublayer *sublayer = of->sublayer;
    const Score *score = &sublayer->bundles[0].score;
    const Bundle *gates = of->previous != NULL ? of->previous->bundles : NULL;
    size_t d = score->read.count, hidden = score->d_head, outputs = sublayer->bundles[0].heads;
    Reader gate, up;
    Matrix out, bias;
    readout->direct = score->query.count == 0;
    bool known = read_pairs(readout, sublayer, of->layout), fused = !readout->direct;
    known = known && (!fused || (bank_of(of->layout, score->query) == BANK_HIDDEN &&
                                 gates != NULL && of->before != NULL &&
                                 score_by_gate(&gates->score) && of->before->to == BANK_HIDDEN));
    if (!known) {
        return false;
    }
    const HeadWeight *of_gate = fused ? &gates->score.gate : &score->q;
    factor_make(&gate, &readout->gate,
                (Doubles){of_gate->data, d, hidden, of_gate->ld, fused ? of_gate->head_stride : 1},
                fused ? gates->score.gate_bias : score->q_bias, &sublayer->norm);
    factor_make(&up, &readout->up, (Doubles){score->k.data, d, hidden, score->k.ld, 1},
                score->k_bias, &sublayer->norm);
    matrix_take(&out, (Doubles){score->mix.data, hidden, outputs, score->mix.ld, 1});
    matrix_take(&bias, (Doubles){sublayer->bundles[1].value.bias, 1, outputs, outputs, 1});
    readout->outputs = outputs;
    readout->out = matrix_norm(&out);
    readout->out_column = matrix_largest_column(&out);
    readout->out_bias = matrix_norm(&bias);
    readout->reach = fused ? of->before->reach : one;
    if (2.0 * (double)outputs * (double)d * (double)d * (double)hidden <= EACH_MOST) {
        make_each(readout, &gate, &up, &score->mix);
    }
    reader_clear(&gate);
    reader_clear(&up);
    matrix_clear(&out);
    matrix_clear(&bias);
    return true;
}
