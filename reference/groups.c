/*
 * Patterns of heads without bilinear scores: a row sees at most three groups of keys with one
 * score each, itself, the other tokens and the bias row.
 */
#include "doubt.h"
#include "shift.h"
#include "structured.h"

#include <stdint.h>

bool groups_share_pattern(const Score *score)
{
    return score->kind == SCORE_NONE && score->extra == NULL;
}

void groups_gate_product(RefRun *run, const Heads *heads, const ApMat *x, ApMat *product)
{
    const Score *score = heads->score;
    if (score->gate.data == NULL) {
        structured_columns(product, 0, x,
                           (Columns){score->read.first + heads->first, heads->count});
    } else {
        structured_product(run, product, x, score->read, &score->gate, heads, 1);
    }
}

long groups_gate_factor(const Score *score)
{
    return score->gate.data == NULL ? score->gate_unit : 1;
}

/* scratch.score[row] = a (x g + c), c on the token rows, scratch.gate[row] = exp(-|that|);
 * scratch.product holds x g. */
static void gate_row(RefRun *run, RunThread *thread, const void *context, size_t row)
{
    const Heads *heads = context;
    const Score *score = heads->score;
    bool token = row != layout_bias_row(&run->model->layout);
    mpfr_ptr gate = ap_at(&run->scratch.gate, row, 0);
    for (size_t b = 0; b < heads->count; b++) {
        mpfr_ptr g = ap_at(&run->scratch.score, row, b);
        mpfr_mul_si(g, ap_at(&run->scratch.product, row, b), groups_gate_factor(score), MPFR_RNDN);
        if (score->gate_bias != NULL && token) {
            mpfr_add_d(g, g, score->gate_bias[heads->first + b], MPFR_RNDN);
        }
        if (score->gate_scale != 1) {
            mpfr_mul_d(g, g, score->gate_scale, MPFR_RNDN);
        }
        mpfr_setsign(gate + b, g, 1, MPFR_RNDN);
    }
    run_exp(run, thread, gate, gate, heads->count);
}

static void gates(RefRun *run, const Heads *heads)
{
    const ApMat *gate = &run->scratch.gate;
    doubt_prepare(run, heads);
    if (heads->score->kind == SCORE_GATE) {
        groups_gate_product(run, heads, &run->stream, &run->scratch.product);
        run_each(run, gate->rows, gate->rows * heads->count, gate_row, heads);
        return;
    }
    for (size_t i = 0; i < gate->rows; i++) {
        for (size_t b = 0; b < heads->count; b++) {
            mpfr_set_zero(ap_at(&run->scratch.score, i, b), 1);
            mpfr_set_ui(ap_at(gate, i, b), 1, MPFR_RNDN);
        }
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
        mpfr_set(y, gate->decayed, MPFR_RNDN);
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
        mpfr_add(z, z, t, MPFR_RNDN);
    }
    return far && top;
}

/* For the plan: the content sums of the groups, by best and second coefficient. */
static void note_gap(RunThread *thread, const RowGroups *groups, const Gate *gate)
{
    int best = groups->best, second = best - RUN_MAX_GAP;
    for (int g = 0; g < GROUPS; g++) {
        int k = groups->coefficient[g];
        if (groups->count[g] > 0 && k != best && k > second) {
            second = k;
        }
    }
    mpfr_ptr z_best = ap_at(&thread->temp, 0, 5), z_rest = ap_at(&thread->temp, 0, 6),
             t = ap_at(&thread->temp, 0, 0);
    bool gated_best = content_sum(groups, best, gate, z_best, t);
    bool gated_rest = content_sum(groups, second, gate, z_rest, t);
    if (mpfr_zero_p(z_rest)) {
        return;
    }
    mpfr_mul_si(t, gate->score, (long)gated_best - (long)gated_rest, MPFR_RNDN);
    run_note_gap(thread, best - second, shift_bits_between(z_best, z_rest, t));
}

/* The gate against 0, where A has keys of both. */
static void note_doubt(const RefRun *run, RunThread *thread, const RowGroups *groups,
                       const Gate *gate)
{
    bool has[2] = {false, false};
    for (int g = 0; g < GROUPS; g++) {
        has[groups->gated[g]] |= groups->count[g] > 0 && groups->coefficient[g] == groups->best;
    }
    if (has[false] && has[true]) {
        doubt_note(run, thread, gate->score);
    }
}

/* z = count e^(content - shift) e^(-Omega gap), the sum of a group's exponentials; e^(-Omega gap) is 0
 * in the limit. */
static void group_sum(RefRun *run, const RowGroups *groups, int g, const Gate *gate, mpfr_ptr z)
{
    int gap = groups->best - groups->coefficient[g];
    content_exponential(groups, g, gate, z);
    if (groups->count[g] > 1) {
        mpfr_mul_ui(z, z, groups->count[g], MPFR_RNDN);
    }
    if (gap > 0) {
        mpfr_mul(z, z, run_factor(run, gap), MPFR_RNDN);
    }
}

/* The same for a gate that is far: weight = the groups' sums, less a shift of A's own largest, or of
 * what is larger. */
static void far_sums(RefRun *run, RunThread *thread, const RowGroups *groups, mpfr_srcptr score,
                     bool limit, mpfr_ptr weight)
{
    mpfr_ptr content[2] = {ap_at(&thread->temp, 0, 0), ap_at(&thread->temp, 0, 1)},
             shift = ap_at(&thread->temp, 0, 2), d = ap_at(&thread->temp, 0, 3);
    bool first = true;
    mpfr_set_zero(content[false], 1);
    mpfr_set(content[true], score, MPFR_RNDN);
    for (int g = 0; g < GROUPS; g++) {
        if (groups->count[g] > 0 && groups->coefficient[g] == groups->best &&
            (first || mpfr_cmp(content[groups->gated[g]], shift) > 0)) {
            mpfr_set(shift, content[groups->gated[g]], MPFR_RNDN);
            first = false;
        }
    }
    for (int g = 0; !limit && g < GROUPS; g++) {
        if (groups->count[g] > 0) {
            shift_raise(run, shift, content[groups->gated[g]],
                        groups->best - groups->coefficient[g]);
        }
    }
    for (int g = 0; g < GROUPS; g++) {
        int gap = groups->best - groups->coefficient[g];
        mpfr_set_zero(weight + g, 1);
        if (groups->count[g] > 0 && !(limit && gap > 0)) {
            mpfr_sub(d, content[groups->gated[g]], shift, MPFR_RNDN);
            shift_exp(run, thread, weight + g, d, gap);
            mpfr_mul_ui(weight + g, weight + g, groups->count[g], MPFR_RNDN);
        }
    }
}

/* The groups' sums, over their sum and their counts: the weight of one key of each. */
static void divide_groups(RunThread *thread, const RowGroups *groups, mpfr_ptr weight)
{
    mpfr_ptr total = ap_at(&thread->temp, 0, 4);
    mpfr_set_zero(total, 1);
    for (int g = 0; g < GROUPS; g++) {
        mpfr_add(total, total, weight + g, MPFR_RNDN);
    }
    for (int g = 0; g < GROUPS; g++) {
        mpfr_div(weight + g, weight + g, total, MPFR_RNDN);
        if (groups->count[g] > 1) {
            mpfr_div_ui(weight + g, weight + g, groups->count[g], MPFR_RNDN);
        }
    }
}

void groups_far_weights(RefRun *run, RunThread *thread, const RowGroups *groups, mpfr_srcptr score,
                        bool limit, mpfr_ptr weight)
{
    far_sums(run, thread, groups, score, limit, weight);
    divide_groups(thread, groups, weight);
}

/* weight[g] = softmax over the row's groups, the weight of one key of each; the content score of
 * tokens is the gate's, of the own row too when it is a token, else 0. */
static void softmax(RefRun *run, RunThread *thread, const RowGroups *groups, const Gate *gate,
                    mpfr_ptr weight)
{
    if (run->record_gaps) {
        note_gap(thread, groups, gate);
        note_doubt(run, thread, groups, gate);
    }
    if (!shift_is_near(gate->score)) {
        groups_far_weights(run, thread, groups, gate->score, run->limit, weight);
        return;
    }
    for (int g = 0; g < GROUPS; g++) {
        mpfr_set_zero(weight + g, 1);
        if (groups->count[g] > 0) {
            group_sum(run, groups, g, gate, weight + g);
        }
    }
    divide_groups(thread, groups, weight);
}

static void softmax_row(RefRun *run, RunThread *thread, const void *context, size_t row)
{
    const Heads *heads = context;
    RowGroups groups = groups_of_row(run, heads->score, heads->first, row);
    for (size_t b = 0; b < heads->count; b++) {
        if (b > 0 && heads->score->extra != NULL) {
            groups = groups_of_row(run, heads->score, heads->first + b, row);
        }
        Gate gate = {ap_at(&run->scratch.score, row, b), ap_at(&run->scratch.gate, row, b)};
        softmax(run, thread, &groups, &gate, ap_at(&run->scratch.group, row, b * GROUPS));
    }
}

void groups_softmax(RefRun *run, const Heads *heads)
{
    size_t rows = run->stream.rows;
    gates(run, heads);
    run_each(run, rows, rows * heads->count * GROUPS, softmax_row, heads);
}

bool groups_see_others(const RefRun *run, const Heads *heads, bool leaks)
{
    size_t patterns = heads->score->extra != NULL ? heads->count : 1;
    for (size_t b = 0; b < patterns; b++) {
        for (size_t row = 0; row < run->stream.rows; row++) {
            RowGroups groups = groups_of_row(run, heads->score, heads->first + b, row);
            if (groups.count[OTHER] > 0 && (leaks || groups.coefficient[OTHER] == groups.best)) {
                return true;
            }
        }
    }
    return false;
}

Columns groups_columns(const Mix *mix, size_t i)
{
    size_t first = i * RUN_COLUMNS, left = mix->heads->count * mix->width - first;
    return (Columns){first, left < RUN_COLUMNS ? left : RUN_COLUMNS};
}

void groups_each_columns(RefRun *run, const Mix *mix, RunWork *work)
{
    size_t columns = mix->heads->count * mix->width;
    run_each(run, (columns + RUN_COLUMNS - 1) / RUN_COLUMNS, run->stream.rows * columns, work, mix);
}

/* mixed[row] = the pattern's row applied to u; sum: the column sums over the tokens that row
 * sees, itself included. */
static void mix_row(RefRun *run, RunThread *thread, const Mix *mix, Columns columns, size_t row)
{
    const ApMat *u = &run->scratch.value;
    size_t bias = layout_bias_row(&run->model->layout);
    bool shared = groups_share_pattern(mix->heads->score);
    mpfr_ptr t = ap_at(&thread->temp, 0, 0);
    for (size_t c = 0, at = columns.first; c < columns.count; c++, at++) {
        size_t pattern = shared ? 0 : at / mix->width;
        mpfr_srcptr group = ap_at(&run->scratch.group, row, pattern * GROUPS);
        mpfr_ptr out = ap_at(&run->scratch.mixed, row, at);
        mpfr_srcptr sum = ap_at(&thread->sum, 0, c);
        mpfr_mul(out, group + SELF, ap_at(u, row, at), MPFR_RNDN);
        if (!mpfr_zero_p(group + OTHER)) {
            if (row == bias) {
                mpfr_mul(t, group + OTHER, sum, MPFR_RNDN);
            } else {
                mpfr_sub(t, sum, ap_at(u, row, at), MPFR_RNDN);
                mpfr_mul(t, t, group + OTHER, MPFR_RNDN);
            }
            mpfr_add(out, out, t, MPFR_RNDN);
        }
        if (row != bias && bias != SIZE_MAX) {
            mpfr_mul(t, group + BIAS, ap_at(u, bias, at), MPFR_RNDN);
            mpfr_add(out, out, t, MPFR_RNDN);
        }
    }
}

/* sum += u[row] */
static void add_row(RefRun *run, RunThread *thread, Columns columns, size_t row)
{
    for (size_t c = 0; c < columns.count; c++) {
        mpfr_ptr sum = ap_at(&thread->sum, 0, c);
        mpfr_add(sum, sum, ap_at(&run->scratch.value, row, columns.first + c), MPFR_RNDN);
    }
}

static void mix_columns(RefRun *run, RunThread *thread, const void *context, size_t i)
{
    const Mix *mix = context;
    const Score *score = mix->heads->score;
    const Layout *layout = &run->model->layout;
    Columns columns = groups_columns(mix, i);
    size_t bias = layout_bias_row(layout);
    ap_zero(&thread->sum);
    for (size_t j = 0; mix->others && score->visible != VISIBLE_EARLIER && j < layout->n; j++) {
        add_row(run, thread, columns, layout_token_row(layout, j));
    }
    for (size_t row = 0; row < run->stream.rows; row++) {
        if (mix->others && score->visible == VISIBLE_EARLIER && row != bias) {
            add_row(run, thread, columns, row);
        }
        mix_row(run, thread, mix, columns, row);
    }
}

void groups_mix(RefRun *run, const Heads *heads, size_t width)
{
    Mix mix = {heads, width, groups_see_others(run, heads, !run->limit), false};
    groups_each_columns(run, &mix, mix_columns);
}
