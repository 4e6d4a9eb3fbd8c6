/*
 * Patterns of heads without bilinear scores: a row sees at most three groups of keys with one
 * score each, itself, the other tokens and the bias row.  A group of k keys with content score s,
 * the gate or 0, and coefficient c of Omega has in the softmax
 *     k e^(s - shift) e^(-Omega (best - c))   over the sum of that over the groups,
 * where shift is max(gate, 0), best the largest c: keys that share a score are exponentiated once.
 */
#include "heads.h"

#include "../evaluator/evaluator.h"

#include <stdint.h>

/* Context of what is done row by row; product: x g. */
typedef struct {
    const Heads *heads;
    const ApMat *product;
    Record *record;
} Softmax;

/* score[row] = a (x g + c) + t, c and t on the token rows, gate[row] = exp(-|that|). */
static void gate_row(Worker *worker, const void *context, size_t row)
{
    const Softmax *softmax = context;
    const Heads *heads = softmax->heads;
    mpfr_ptr gate = ap_at(&softmax->record->gate, row, 0),
             g = ap_at(&softmax->record->score, row, 0);
    heads_gate_row(worker, heads, g, ap_at(softmax->product, row, 0),
                   row != layout_bias_row(heads->layout));
    for (size_t b = 0; b < heads->count; b++) {
        limbs_below_zero(gate + b, g + b);
    }
    vexp(worker->exp, gate, gate, heads->count);
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

/* weight = the groups' sums for a gate that is far, less a shift of A's own largest, or of what is
 * larger. */
static void far_sums(Worker *worker, const RowGroups *groups, mpfr_srcptr score, bool limit,
                     mpfr_ptr weight, size_t step)
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
            shift_raise(worker->ev, shift, content[groups->gated[g]],
                        groups->best - groups->coefficient[g]);
        }
    }
    for (int g = 0; g < GROUPS; g++) {
        int gap = groups->best - groups->coefficient[g];
        mpfr_ptr z = weight + (size_t)g * step;
        mpfr_set_zero(z, 1);
        if (groups->count[g] > 0 && !(limit && gap > 0)) {
            limbs_sub(d, content[groups->gated[g]], shift);
            shift_exp(worker, z, d, gap);
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

void groups_far_weights(Worker *worker, const RowGroups *groups, mpfr_srcptr score, bool limit,
                        mpfr_ptr weight, size_t step)
{
    far_sums(worker, groups, score, limit, weight, step);
    divide_groups(worker, groups, weight, step);
}

void groups_each_run(Worker *worker, const Heads *heads, size_t row, GroupNear *near,
                     GroupWork *work, const void *context)
{
    bool alike = heads->bundle->score.extra == NULL;
    for (size_t b = 0; b < heads->count;) {
        const RowGroups groups = groups_of_row(heads, heads->first + b, row);
        size_t left = heads->count - b, most = left < WORKER_COLUMNS ? left : WORKER_COLUMNS,
               are = near(context, row, b, alike ? most : 1);
        const HeadRun at = {&groups, row, b, are > 0 ? are : 1};
        work(worker, context, &at, are > 0);
        b += at.count;
    }
}

static mpfr_ptr weight_of(const Softmax *softmax, const HeadRun *at, int g)
{
    size_t first = (size_t)g * softmax->heads->count + at->first;
    return ap_at(&softmax->record->group, at->row, first);
}

/* e^(content - shift), shift = max(gate, 0), of keys that are gated and of others: 1, or its size
 * below that. */
static void contents(Evaluator *ev, const Record *record, const HeadRun *at, mpfr_ptr gated,
                     mpfr_ptr other)
{
    mpfr_srcptr score = ap_at(&record->score, at->row, at->first),
                decayed = ap_at(&record->gate, at->row, at->first);
    for (size_t c = 0; c < at->count; c++) {
        bool positive = mpfr_sgn(score + c) > 0;
        limbs_set((positive ? other : gated) + c, decayed + c);
        limbs_set((positive ? gated : other) + c, evaluator_decay(ev, 0));
    }
}

/* z = count e^(content - shift) e^(-Omega gap), the sum of a group's exponentials; e^(-Omega gap)
 * is 0 in the limit, and so is a group without keys.  false: it is 0. */
static bool group_sums(Worker *worker, const HeadRun *at, bool limit, int g, mpfr_srcptr content,
                       mpfr_ptr z)
{
    const RowGroups *groups = at->groups;
    mpfr_ptr number = ap_at(&worker->temp, 0, 0);
    unsigned long keys = groups->count[g];
    int gap = groups->best - groups->coefficient[g];
    bool none = keys == 0 || (gap > 0 && limit);
    mpfr_set_ui(number, keys, MPFR_RNDN);
    if (!none && gap > 0 && keys > 1) {
        lanes_mul(z, numbers_row(content), numbers_same(number), at->count);
        lanes_mul(z, numbers_row(z), numbers_same(evaluator_decay(worker->ev, gap)), at->count);
    } else if (!none && (gap > 0 || keys > 1)) {
        lanes_mul(z, numbers_row(content),
                  numbers_same(gap > 0 ? evaluator_decay(worker->ev, gap) : number), at->count);
    }
    if (none) {
        lanes_zero(z, at->count);
    } else if (gap == 0 && keys == 1) {
        lanes_set(z, content, at->count);
    }
    return !none;
}

/* weight_of(g) = the softmax over the row's groups, the weight of one key of each, of gates that
 * are near; the content score of tokens is the gate's, of the own row too when it is a token, else
 * 0. */
static void near_weights(Worker *worker, const Softmax *softmax, const HeadRun *at)
{
    mpfr_ptr content[2] = {ap_at(&worker->lane, 0, 0), ap_at(&worker->lane, 1, 0)};
    mpfr_ptr total = ap_at(&worker->lane, 2, 0), number = ap_at(&worker->temp, 0, 0);
    bool has[GROUPS];
    contents(worker->ev, softmax->record, at, content[true], content[false]);
    lanes_zero(total, at->count);
    for (int g = 0; g < GROUPS; g++) {
        mpfr_ptr z = weight_of(softmax, at, g);
        has[g] = group_sums(worker, at, softmax->heads->limit, g, content[at->groups->gated[g]], z);
        if (has[g]) {
            lanes_add(total, numbers_row(total), numbers_row(z), at->count);
        }
    }
    for (int g = 0; g < GROUPS; g++) {
        mpfr_ptr p = weight_of(softmax, at, g);
        if (has[g]) {
            lanes_div(p, numbers_row(p), numbers_row(total), at->count);
        }
        if (has[g] && at->groups->count[g] > 1) {
            mpfr_set_ui(number, at->groups->count[g], MPFR_RNDN);
            lanes_div(p, numbers_row(p), numbers_same(number), at->count);
        }
    }
}

static size_t near_gates(const void *context, size_t row, size_t first, size_t most)
{
    const Softmax *softmax = context;
    mpfr_srcptr score = ap_at(&softmax->record->score, row, first);
    size_t near = 0;
    while (near < most && shift_is_near(score + near)) {
        near++;
    }
    return near;
}

static void set_weights(Worker *worker, const void *context, const HeadRun *at, bool near)
{
    const Softmax *softmax = context;
    const Heads *heads = softmax->heads;
    if (near) {
        near_weights(worker, softmax, at);
    } else {
        groups_far_weights(worker, at->groups, ap_at(&softmax->record->score, at->row, at->first),
                           heads->limit, weight_of(softmax, at, SELF), heads->count);
    }
}

static void softmax_row(Worker *worker, const void *context, size_t row)
{
    const Softmax *softmax = context;
    groups_each_run(worker, softmax->heads, row, near_gates, set_weights, softmax);
}

void groups_softmax(const Heads *heads, const ApMat *x, ApMat *product, Record *record)
{
    Evaluator *ev = heads->ev;
    Heads patterns = heads_patterns(heads);
    Softmax softmax = {&patterns, product, record};
    heads_gate_product(heads, x, product);
    evaluator_each(ev, x->rows, x->rows * patterns.count, gate_row, &softmax);
    evaluator_each(ev, x->rows, x->rows * patterns.count * GROUPS, softmax_row, &softmax);
}
