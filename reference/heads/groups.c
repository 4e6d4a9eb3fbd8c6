/*
 * Patterns of heads without bilinear scores: a row sees at most three groups of keys with one
 * score each, itself, the other tokens and the bias row.  A group of k keys with content score s,
 * the gate or 0, and coefficient c of Omega has in the softmax
 *     k e^(s - shift) e^(-Omega (best - c))   over the sum of that over the groups,
 * where shift is max(gate, 0), best the largest c: keys that share a score are exponentiated once.
 */
#include "../doubt.h"
#include "../shift.h"
#include "heads.h"

#include <stdint.h>

/* Context of what is done row by row; product: x g. */
typedef struct {
    const Heads *heads;
    const ApMat *product;
    Record *record;
} Softmax;

/* score[row] = a (x g + c) + t, c and t on the token rows, gate[row] = exp(-|that|). */
static void gate_row(Evaluator *ev, Worker *worker, const void *context, size_t row)
{
    const Softmax *softmax = context;
    const Heads *heads = softmax->heads;
    const Score *score = &heads->bundle->score;
    bool token = row != layout_bias_row(heads->layout);
    mpfr_ptr gate = ap_at(&softmax->record->gate, row, 0);
    for (size_t b = 0; b < heads->count; b++) {
        mpfr_ptr g = ap_at(&softmax->record->score, row, b);
        mpfr_mul_si(g, ap_at(softmax->product, row, b), heads_gate_factor(score), MPFR_RNDN);
        if (score->gate_bias != NULL && token) {
            mpfr_add_d(g, g, score->gate_bias[heads->first + b], MPFR_RNDN);
        }
        if (score->gate_scale != 1) {
            mpfr_mul_d(g, g, score->gate_scale, MPFR_RNDN);
        }
        if (score->gate_shift != NULL && token) {
            mpfr_add_d(g, g, score->gate_shift[heads->first + b], MPFR_RNDN);
        }
        mpfr_setsign(gate + b, g, 1, MPFR_RNDN);
    }
    evaluator_exp(ev, worker, gate, gate, heads->count);
}

static void gates(Evaluator *ev, const Softmax *softmax)
{
    const Heads *heads = softmax->heads;
    const Record *record = softmax->record;
    size_t rows = record->gate.rows;
    if (heads->bundle->score.kind == SCORE_GATE) {
        evaluator_each(ev, rows, rows * heads->count, gate_row, softmax);
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t b = 0; b < heads->count; b++) {
            mpfr_set_zero(ap_at(&record->score, i, b), 1);
            mpfr_set_ui(ap_at(&record->gate, i, b), 1, MPFR_RNDN);
        }
    }
}

/* The tokens that row sees. */
static size_t visible_tokens(const Heads *heads, size_t row)
{
    const Layout *layout = heads->layout;
    const Score *score = &heads->bundle->score;
    size_t bias = layout_bias_row(layout);
    if (score->visible == VISIBLE_EARLIER) {
        return bias <= row ? row : row + 1;
    }
    return score->visible == VISIBLE_ALL ? layout->n : row != bias;
}

RowGroups groups_of_row(const Heads *heads, size_t h, size_t row)
{
    const PositionScores *position = &heads->bundle->score.position;
    size_t bias = layout_bias_row(heads->layout);
    unsigned long tokens = (unsigned long)visible_tokens(heads, row);
    int self = heads_position(heads, h, row, row);
    bool sees_bias = row != bias && bias != SIZE_MAX && heads_see(heads, row, bias);
    RowGroups groups = {{1, tokens - 1, sees_bias},
                        {self, bias != SIZE_MAX ? position->token_token : 0,
                         sees_bias ? heads_position(heads, h, row, bias) : 0},
                        {true, true, false},
                        self};
    if (row == bias) {
        groups = (RowGroups){
            {1, tokens, 0}, {self, position->bias_token, 0}, {false, true, false}, self};
    }
    for (int g = 0; g < GROUPS; g++) {
        if (groups.count[g] > 0 && groups.coefficient[g] > groups.best) {
            groups.best = groups.coefficient[g];
        }
    }
    return groups;
}

/* The content of gated keys, and exp(-|that|). */
typedef struct {
    mpfr_srcptr score, decayed;
} Gate;

/* y = e^(content - shift) of group g's keys, shift = max(gate, 0): 1, or its size below that. */
static void content_exponential(const RowGroups *groups, int g, const Gate *gate, mpfr_ptr y)
{
    bool positive = mpfr_sgn(gate->score) > 0;
    if (groups->gated[g] == positive) {
        mpfr_set_ui(y, 1, MPFR_RNDN);
    } else {
        limbs_set(y, gate->decayed);
    }
}

/* z = the sum of the exponentials of coefficient k's contents: less max(gate, 0) where the gate is
 * near, else less their own largest.  Is that the gate? */
static bool content_sum(const RowGroups *groups, int k, const Gate *gate, mpfr_ptr z, mpfr_ptr t)
{
    bool far = !shift_is_near(gate->score), has[2] = {false, false};
    for (int g = 0; g < GROUPS; g++) {
        has[groups->gated[g]] |= groups->count[g] > 0 && groups->coefficient[g] == k;
    }
    bool top = has[true] && (mpfr_sgn(gate->score) > 0 || !has[false]);
    mpfr_set_zero(z, 1);
    for (int g = 0; g < GROUPS; g++) {
        if (groups->coefficient[g] != k || (far && groups->gated[g] != top)) {
            continue;
        }
        mpfr_set_ui(t, 1, MPFR_RNDN);
        if (!far) {
            content_exponential(groups, g, gate, t);
        }
        mpfr_mul_ui(t, t, groups->count[g], MPFR_RNDN);
        limbs_add(z, z, t);
    }
    return far && top;
}

/* For the plan: the content sums of the groups, by best and second coefficient. */
static void note_gap(Worker *worker, const RowGroups *groups, const Gate *gate)
{
    int best = groups->best, second = best - OMEGA_MAX_GAP;
    for (int g = 0; g < GROUPS; g++) {
        int k = groups->coefficient[g];
        if (groups->count[g] > 0 && k != best && k > second) {
            second = k;
        }
    }
    mpfr_ptr z_best = ap_at(&worker->temp, 0, 5), z_rest = ap_at(&worker->temp, 0, 6),
             t = ap_at(&worker->temp, 0, 0);
    bool gated_best = content_sum(groups, best, gate, z_best, t);
    bool gated_rest = content_sum(groups, second, gate, z_rest, t);
    if (mpfr_zero_p(z_rest)) {
        return;
    }
    mpfr_mul_si(t, gate->score, (long)gated_best - (long)gated_rest, MPFR_RNDN);
    worker_note_gap(worker, best - second, shift_bits_between(z_best, z_rest, t));
}

/* The gate against 0, where A has keys of both. */
static void note_doubt(const Evaluator *ev, Worker *worker, const RowGroups *groups,
                       const Gate *gate)
{
    bool has[2] = {false, false};
    for (int g = 0; g < GROUPS; g++) {
        has[groups->gated[g]] |= groups->count[g] > 0 && groups->coefficient[g] == groups->best;
    }
    if (has[false] && has[true]) {
        doubt_note(ev, worker, gate->score);
    }
}

/* z = count e^(content - shift) e^(-Omega gap), the sum of a group's exponentials; e^(-Omega gap)
 * is 0 in the limit. */
static void group_sum(Evaluator *ev, bool limit, const RowGroups *groups, int g, const Gate *gate,
                      mpfr_ptr z)
{
    int gap = groups->best - groups->coefficient[g];
    if (gap > 0 && limit) {
        mpfr_set_zero(z, 1);
        return;
    }
    content_exponential(groups, g, gate, z);
    if (groups->count[g] > 1) {
        mpfr_mul_ui(z, z, groups->count[g], MPFR_RNDN);
    }
    if (gap > 0) {
        limbs_mul(z, z, evaluator_decay(ev, gap));
    }
}

/* The same for a gate that is far: weight = the groups' sums, less a shift of A's own largest, or
 * of what is larger. */
static void far_sums(Evaluator *ev, Worker *worker, const RowGroups *groups, mpfr_srcptr score,
                     bool limit, mpfr_ptr weight, size_t step)
{
    mpfr_ptr content[2] = {ap_at(&worker->temp, 0, 0), ap_at(&worker->temp, 0, 1)},
             shift = ap_at(&worker->temp, 0, 2), d = ap_at(&worker->temp, 0, 3);
    bool first = true;
    mpfr_set_zero(content[false], 1);
    limbs_set(content[true], score);
    for (int g = 0; g < GROUPS; g++) {
        if (groups->count[g] > 0 && groups->coefficient[g] == groups->best &&
            (first || mpfr_cmp(content[groups->gated[g]], shift) > 0)) {
            limbs_set(shift, content[groups->gated[g]]);
            first = false;
        }
    }
    for (int g = 0; !limit && g < GROUPS; g++) {
        if (groups->count[g] > 0) {
            shift_raise(ev, shift, content[groups->gated[g]],
                        groups->best - groups->coefficient[g]);
        }
    }
    for (int g = 0; g < GROUPS; g++) {
        int gap = groups->best - groups->coefficient[g];
        mpfr_ptr z = weight + (size_t)g * step;
        mpfr_set_zero(z, 1);
        if (groups->count[g] > 0 && !(limit && gap > 0)) {
            limbs_sub(d, content[groups->gated[g]], shift);
            shift_exp(ev, worker, z, d, gap);
            mpfr_mul_ui(z, z, groups->count[g], MPFR_RNDN);
        }
    }
}

/* The groups' sums, over their sum and their counts: the weight of one key of each. */
static void divide_groups(Worker *worker, const RowGroups *groups, mpfr_ptr weight, size_t step)
{
    mpfr_ptr total = ap_at(&worker->temp, 0, 4);
    mpfr_set_zero(total, 1);
    for (size_t g = 0; g < GROUPS; g++) {
        limbs_add(total, total, weight + g * step);
    }
    for (size_t g = 0; g < GROUPS; g++) {
        limbs_div(weight + g * step, weight + g * step, total);
        if (groups->count[g] > 1) {
            mpfr_div_ui(weight + g * step, weight + g * step, groups->count[g], MPFR_RNDN);
        }
    }
}

void groups_far_weights(Evaluator *ev, Worker *worker, const RowGroups *groups, mpfr_srcptr score,
                        bool limit, mpfr_ptr weight, size_t step)
{
    far_sums(ev, worker, groups, score, limit, weight, step);
    divide_groups(worker, groups, weight, step);
}

/* weight[g step] = softmax over the row's groups, the weight of one key of each; the content score
 * of tokens is the gate's, of the own row too when it is a token, else 0. */
static void row_softmax(Evaluator *ev, Worker *worker, bool limit, const RowGroups *groups,
                        const Gate *gate, mpfr_ptr weight, size_t step)
{
    if (ev->observed) {
        note_gap(worker, groups, gate);
        note_doubt(ev, worker, groups, gate);
    }
    if (!shift_is_near(gate->score)) {
        groups_far_weights(ev, worker, groups, gate->score, limit, weight, step);
        return;
    }
    for (int g = 0; g < GROUPS; g++) {
        mpfr_ptr z = weight + (size_t)g * step;
        mpfr_set_zero(z, 1);
        if (groups->count[g] > 0) {
            group_sum(ev, limit, groups, g, gate, z);
        }
    }
    divide_groups(worker, groups, weight, step);
}

static void softmax_row(Evaluator *ev, Worker *worker, const void *context, size_t row)
{
    const Softmax *softmax = context;
    const Heads *heads = softmax->heads;
    const Record *record = softmax->record;
    RowGroups groups = groups_of_row(heads, heads->first, row);
    for (size_t b = 0; b < heads->count; b++) {
        if (b > 0 && heads->bundle->score.extra != NULL) {
            groups = groups_of_row(heads, heads->first + b, row);
        }
        Gate gate = {ap_at(&record->score, row, b), ap_at(&record->gate, row, b)};
        row_softmax(ev, worker, heads->limit, &groups, &gate, ap_at(&record->group, row, b),
                    heads->count);
    }
}

void groups_softmax(Evaluator *ev, const Heads *heads, const ApMat *x, ApMat *product,
                    Record *record)
{
    Heads patterns = heads_patterns(heads);
    Softmax softmax = {&patterns, product, record};
    if (heads->bundle->score.kind == SCORE_GATE) {
        heads_gate_product(ev, heads, x, product);
    }
    gates(ev, &softmax);
    evaluator_each(ev, x->rows, x->rows * patterns.count * GROUPS, softmax_row, &softmax);
}
