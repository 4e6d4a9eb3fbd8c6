/*
 * Patterns of heads without bilinear scores: a row sees at most three groups of keys with one
 * score each, itself, the other tokens and the bias row.
 */
#include "structured.h"

#include "../cases/fault.h"

#include <stdint.h>

void groups_gate_product(RefRun *run, const Score *score, size_t h, const ApMat *x, ApMat *product,
                         ApMat *gate)
{
    if (score->gate.data == NULL) {
        structured_columns(product, x, (Columns){score->read.first + h, 1});
    } else {
        structured_product(run, product, x, score->read,
                           score->gate.data + h * score->gate.head_stride, score->gate.ld, 1);
    }
    for (size_t i = 0; i < gate->rows; i++) {
        mpfr_mul_si(ap_at(gate, i, 0), ap_at(product, i, 0),
                    score->gate.data == NULL ? score->gate_unit : 1, MPFR_RNDN);
    }
}

/* scratch.product = x g of head h, scratch.gate = exp(a (x g + c)), c on the token rows. */
static void head_gate(RefRun *run, const Score *score, size_t h)
{
    ApMat *gate = &run->scratch.gate;
    size_t bias = layout_bias_row(&run->model->layout);
    if (score->kind != SCORE_GATE) {
        for (size_t i = 0; i < gate->rows; i++) {
            mpfr_set_ui(ap_at(gate, i, 0), 1, MPFR_RNDN);
        }
        return;
    }
    groups_gate_product(run, score, h, &run->stream, &run->scratch.product, gate);
    for (size_t i = 0; i < gate->rows; i++) {
        mpfr_ptr g = ap_at(gate, i, 0);
        if (score->gate_bias != NULL && FAULT("b1-on-the-bias-row", true, i != bias)) {
            mpfr_add_d(g, g, score->gate_bias[h], MPFR_RNDN);
        }
        mpfr_mul_d(g, g, score->gate_scale, MPFR_RNDN);
        ap_exp(run->exp, g, g);
    }
}

/* The tokens that row sees. */
static size_t visible_tokens(const RefRun *run, const Score *score, size_t row)
{
    const Layout *layout = &run->model->layout;
    size_t bias = layout_bias_row(layout);
    if (score->visible == VISIBLE_EARLIER) {
        return bias <= row ? row : row + 1;
    }
    return score->visible == VISIBLE_ALL ? layout->n : row != bias;
}

RowGroups groups_of_row(const RefRun *run, const Score *score, size_t h, size_t row)
{
    size_t bias = layout_bias_row(&run->model->layout);
    unsigned long tokens = (unsigned long)visible_tokens(run, score, row);
    int self = run_position(run, score, h, row, row);
    bool sees_bias = row != bias && bias != SIZE_MAX && run_sees(run, score, row, bias);
    RowGroups groups = {{1, tokens - 1, sees_bias},
                        {self, bias != SIZE_MAX ? score->position.token_token : 0,
                         sees_bias ? run_position(run, score, h, row, bias) : 0},
                        {true, true, false},
                        self};
    if (row == bias) {
        groups = (RowGroups){
            {1, tokens, 0}, {self, score->position.bias_token, 0}, {false, true, false}, self};
    }
    for (int g = 0; g < GROUPS; g++) {
        if (groups.count[g] > 0 && groups.coefficient[g] > groups.best) {
            groups.best = groups.coefficient[g];
        }
    }
    return groups;
}

/* For the plan: z[g], the content sums of the groups, by best and second coefficient. */
static void note_gap(RefRun *run, const RowGroups *groups, mpfr_ptr const z[GROUPS])
{
    int best = groups->best, second = best - RUN_MAX_GAP;
    for (int g = 0; g < GROUPS; g++) {
        int k = groups->coefficient[g];
        if (groups->count[g] > 0 && k != best && k > second) {
            second = k;
        }
    }
    mpfr_ptr z_best = ap_at(&run->scratch.temp, 0, 5), z_rest = ap_at(&run->scratch.temp, 0, 6);
    mpfr_set_zero(z_best, 1);
    mpfr_set_zero(z_rest, 1);
    for (int g = 0; g < GROUPS; g++) {
        int k = groups->coefficient[g];
        if (groups->count[g] > 0 && k == best) {
            mpfr_add(z_best, z_best, z[g], MPFR_RNDN);
        } else if (groups->count[g] > 0 && k == second) {
            mpfr_add(z_rest, z_rest, z[g], MPFR_RNDN);
        }
    }
    run_note_gap(run, best - second, z_best, z_rest);
}

/* scratch.group[row] = softmax over the row's groups, the weight of one key of each; the content
 * score of tokens is the gate's, of the own row too when it is a token, else 0. */
static void softmax_row(RefRun *run, const Score *score, size_t h, size_t row)
{
    RowGroups groups = groups_of_row(run, score, h, row);
    mpfr_srcptr e = ap_at(&run->scratch.gate, row, 0);
    mpfr_ptr z[GROUPS] = {ap_at(&run->scratch.temp, 0, 1), ap_at(&run->scratch.temp, 0, 2),
                          ap_at(&run->scratch.temp, 0, 3)};
    mpfr_ptr total = ap_at(&run->scratch.temp, 0, 4);
    for (int g = 0; g < GROUPS; g++) {
        mpfr_set_ui(z[g], groups.count[g], MPFR_RNDN);
        if (groups.gated[g]) {
            mpfr_mul(z[g], z[g], e, MPFR_RNDN);
        }
    }
    if (run->record_gaps) {
        note_gap(run, &groups, z);
    }
    mpfr_set_zero(total, 1);
    for (int g = 0; g < GROUPS; g++) {
        if (groups.count[g] > 0) {
            mpfr_mul(z[g], z[g], run_factor(run, groups.best - groups.coefficient[g]), MPFR_RNDN);
            mpfr_add(total, total, z[g], MPFR_RNDN);
        }
    }
    for (int g = 0; g < GROUPS; g++) {
        mpfr_ptr weight = ap_at(&run->scratch.group, row, (size_t)g);
        mpfr_div(weight, z[g], total, MPFR_RNDN);
        if (groups.count[g] > 1) {
            mpfr_div_ui(weight, weight, groups.count[g], MPFR_RNDN);
        }
    }
}

void groups_softmax(RefRun *run, const Score *score, size_t h)
{
    head_gate(run, score, h);
    for (size_t row = 0; row < run->stream.rows; row++) {
        softmax_row(run, score, h, row);
    }
}

/* mixed[row] = the pattern's row applied to u; sum: the column sums over the tokens that row
 * sees, itself included. */
static void mix_row(RefRun *run, size_t row, size_t width)
{
    const ApMat *u = &run->scratch.value, *group = &run->scratch.group;
    size_t bias = layout_bias_row(&run->model->layout);
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    for (size_t c = 0; c < width; c++) {
        mpfr_ptr out = ap_at(&run->scratch.mixed, row, c);
        mpfr_srcptr sum = ap_at(&run->scratch.sum, 0, c);
        mpfr_mul(out, ap_at(group, row, SELF), ap_at(u, row, c), MPFR_RNDN);
        if (row == bias) {
            mpfr_mul(t, ap_at(group, row, OTHER), sum, MPFR_RNDN);
        } else {
            mpfr_sub(t, sum, ap_at(u, row, c), MPFR_RNDN);
            mpfr_mul(t, t, ap_at(group, row, OTHER), MPFR_RNDN);
        }
        mpfr_add(out, out, t, MPFR_RNDN);
        if (row != bias && bias != SIZE_MAX) {
            mpfr_mul(t, ap_at(group, row, BIAS), ap_at(u, bias, c), MPFR_RNDN);
            mpfr_add(out, out, t, MPFR_RNDN);
        }
    }
}

/* sum += u[row] */
static void add_row(RefRun *run, size_t row, size_t width)
{
    for (size_t c = 0; c < width; c++) {
        mpfr_ptr sum = ap_at(&run->scratch.sum, 0, c);
        mpfr_add(sum, sum, ap_at(&run->scratch.value, row, c), MPFR_RNDN);
    }
}

void groups_mix(RefRun *run, const Score *score, size_t width)
{
    const Layout *layout = &run->model->layout;
    size_t bias = layout_bias_row(layout);
    ap_zero(&run->scratch.sum);
    for (size_t i = 0; score->visible != VISIBLE_EARLIER && i < layout->n; i++) {
        add_row(run, layout_token_row(layout, i), width);
    }
    for (size_t row = 0; row < run->stream.rows; row++) {
        if (score->visible == VISIBLE_EARLIER && row != bias) {
            add_row(run, row, width);
        }
        mix_row(run, row, width);
    }
}
