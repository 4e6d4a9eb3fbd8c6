/*
 * The change of patterns without bilinear scores: a row's keys are at most three groups, and of
 * their scores only those that are gated change, all by the same ds.  With P and Q the limit's
 * weight of the gated and of the other keys of A, P + Q = 1,
 *     1 + E = P e^(ds) + Q,   dp = p Q expm1(ds) / (1 + E) if gated, else -p P expm1(ds) / (1 + E).
 */
#include "change.h"
#include "shift.h"

#include <stdint.h>

static bool in_limit(const RowGroups *groups, int g)
{
    return groups->count[g] > 0 && groups->coefficient[g] == groups->best;
}

static bool left_out(const RowGroups *groups, int g)
{
    return groups->count[g] > 0 && groups->coefficient[g] != groups->best;
}

/* change.score[row] = ds = a e g (biases do not change), and change.gate[row], change.grown[row]: of
 * that, where it is near. */
static void gate_row(RefRun *run, RunThread *thread, const void *context, size_t row)
{
    const Heads *heads = context;
    const Score *score = heads->score;
    RunChange *change = run->change;
    for (size_t b = 0; b < heads->count; b++) {
        mpfr_ptr ds = ap_at(&change->score, row, b);
        mpfr_set_zero(ds, 1);
        if (score->kind == SCORE_GATE) {
            mpfr_mul_si(ds, ap_at(&change->product, row, b), groups_gate_factor(score), MPFR_RNDN);
            if (score->gate_scale != 1) {
                mpfr_mul_d(ds, ds, score->gate_scale, MPFR_RNDN);
            }
        }
        change_note(thread, ds);
        if (shift_is_near(ds)) {
            change_exponentials(run, thread, ap_at(&change->gate, row, b),
                                ap_at(&change->grown, row, b), ds);
        }
    }
}

/* What is at hand of one row of one head: weight of the limit's and changed, [GROUPS]; score and decayed,
 * the gate and exp(-|gate|); ds, its change, and m and grown, expm1 and exp of that. */
typedef struct {
    const RowGroups *groups;
    mpfr_srcptr weight, score, decayed, ds, m, grown;
    mpfr_ptr changed;
} HeadRow;

/* changed = dp of the groups of A. */
static void limit_row(RunThread *thread, const HeadRow *at)
{
    const RowGroups *groups = at->groups;
    mpfr_ptr p = ap_at(&thread->temp, 0, 0), q = ap_at(&thread->temp, 0, 1),
             f = ap_at(&thread->temp, 0, 2), t = ap_at(&thread->temp, 0, 3);
    mpfr_set_zero(p, 1);
    mpfr_set_zero(q, 1);
    for (int g = 0; g < GROUPS; g++) {
        if (in_limit(groups, g)) {
            mpfr_ptr part = groups->gated[g] ? p : q;
            if (groups->count[g] == 1) {
                mpfr_add(part, part, at->weight + g, MPFR_RNDN);
            } else {
                mpfr_mul_ui(t, at->weight + g, groups->count[g], MPFR_RNDN);
                mpfr_add(part, part, t, MPFR_RNDN);
            }
        }
    }
    if (mpfr_zero_p(p) || mpfr_zero_p(q)) {
        mpfr_set_zero(f, 1); /* all of A moves together: no weight changes */
    } else {
        mpfr_mul(f, p, at->grown, MPFR_RNDN);
        mpfr_add(f, f, q, MPFR_RNDN);
        mpfr_div(f, at->m, f, MPFR_RNDN);
    }
    mpfr_mul(q, q, f, MPFR_RNDN);
    mpfr_mul(p, p, f, MPFR_RNDN);
    mpfr_neg(p, p, MPFR_RNDN);
    for (int g = 0; g < GROUPS; g++) {
        if (in_limit(groups, g)) {
            mpfr_mul(at->changed + g, at->weight + g, groups->gated[g] ? q : p, MPFR_RNDN);
        }
    }
}

/* changed = r of the groups that the limit leaves out. */
static void leak_row(RefRun *run, RunThread *thread, const HeadRow *at)
{
    const RowGroups *groups = at->groups;
    mpfr_ptr moved = ap_at(&thread->temp, 0, 0), total = ap_at(&thread->temp, 0, 1),
             t = ap_at(&thread->temp, 0, 2);
    /* e^(s') of a gated key and of another, both less max(gate, 0). */
    bool positive = mpfr_sgn(at->score) > 0;
    mpfr_srcptr gated = positive ? at->grown : moved;
    mpfr_srcptr other = positive ? at->decayed : run_decay(run, 0);
    mpfr_mul(moved, at->decayed, at->grown, MPFR_RNDN);
    mpfr_set_zero(total, 1);
    for (int g = 0; g < GROUPS; g++) {
        int gap = groups->best - groups->coefficient[g];
        mpfr_srcptr s = groups->gated[g] ? gated : other;
        if (groups->count[g] == 0) {
            continue;
        }
        if (gap > 0) { /* e^(s') e^(-Omega gap) at first */
            mpfr_mul(at->changed + g, s, run_decay(run, gap), MPFR_RNDN);
            s = at->changed + g;
        }
        if (groups->count[g] > 1) {
            mpfr_mul_ui(t, s, groups->count[g], MPFR_RNDN);
            s = t;
        }
        mpfr_add(total, total, s, MPFR_RNDN);
    }
    for (int g = 0; g < GROUPS; g++) {
        if (left_out(groups, g)) {
            mpfr_div(at->changed + g, at->changed + g, total, MPFR_RNDN);
            change_note_leak(thread, at->changed + g);
        }
    }
}

/* All weights anew, of the gate after its change: for changes that are far, beside which nothing
 * cancels. */
static void far_limit(RefRun *run, RunThread *thread, const HeadRow *at, mpfr_srcptr score)
{
    mpfr_ptr weight = ap_at(&thread->temp, 0, 5);
    groups_far_weights(run, thread, at->groups, score, true, weight);
    for (int g = 0; g < GROUPS; g++) {
        if (in_limit(at->groups, g)) {
            mpfr_sub(at->changed + g, weight + g, at->weight + g, MPFR_RNDN);
        }
    }
}

static void far_leak(RefRun *run, RunThread *thread, const HeadRow *at, mpfr_srcptr score)
{
    mpfr_ptr weight = ap_at(&thread->temp, 0, 5);
    groups_far_weights(run, thread, at->groups, score, false, weight);
    for (int g = 0; g < GROUPS; g++) {
        if (left_out(at->groups, g)) {
            mpfr_set(at->changed + g, weight + g, MPFR_RNDN);
            change_note_leak(thread, at->changed + g);
        }
    }
}

/* at->changed = dp of A's groups, r of the others. */
static void change_row(RefRun *run, RunThread *thread, const HeadRow *at)
{
    mpfr_ptr score = ap_at(&thread->temp, 0, 8);
    bool others = false;
    for (int g = 0; g < GROUPS; g++) {
        others = others || left_out(at->groups, g);
    }
    mpfr_add(score, at->score, at->ds, MPFR_RNDN);
    if (shift_is_near(at->ds)) {
        limit_row(thread, at);
    } else {
        far_limit(run, thread, at, score);
    }
    if (others && shift_is_near(at->ds) && shift_is_near(at->score)) {
        leak_row(run, thread, at);
    } else if (others) {
        far_leak(run, thread, at, score);
    }
}

static void softmax_row(RefRun *run, RunThread *thread, const void *context, size_t row)
{
    const Heads *heads = context;
    RunChange *change = run->change;
    RowGroups groups = groups_of_row(run, heads->score, heads->first, row);
    for (size_t b = 0; b < heads->count; b++) {
        if (b > 0 && heads->score->extra != NULL) {
            groups = groups_of_row(run, heads->score, heads->first + b, row);
        }
        HeadRow at = {.groups = &groups,
                      .weight = ap_at(&run->scratch.group, row, b * GROUPS),
                      .score = ap_at(&run->scratch.score, row, b),
                      .decayed = ap_at(&run->scratch.gate, row, b),
                      .ds = ap_at(&change->score, row, b),
                      .m = ap_at(&change->gate, row, b),
                      .grown = ap_at(&change->grown, row, b),
                      .changed = ap_at(&change->group, row, b * GROUPS)};
        change_row(run, thread, &at);
    }
}

void change_groups_softmax(RefRun *run, const Heads *heads)
{
    RunChange *change = run->change;
    size_t rows = run->stream.rows;
    if (heads->score->kind == SCORE_GATE) {
        groups_gate_product(run, heads, &change->stream, &change->product);
    }
    run_each(run, rows, rows * heads->count, gate_row, heads);
    run_each(run, rows, rows * heads->count * GROUPS, softmax_row, heads);
}

/* Column c of those that a thread sums: where in the scratch, and whose pattern. */
typedef struct {
    size_t c, at, pattern;
} MixColumn;

/* A group's values in a column, summed over its keys: moved = u', changed = du.  The arguments
 * of those names are scratch; changed may be NULL where it is not asked for. */
typedef struct {
    mpfr_srcptr moved, changed;
} GroupValue;

static GroupValue group_value(const RefRun *run, const RunThread *thread, int g, size_t row,
                              MixColumn column, mpfr_ptr moved, mpfr_ptr changed)
{
    const RunChange *change = run->change;
    size_t bias = layout_bias_row(&run->model->layout), key = g == BIAS ? bias : row;
    GroupValue one = {ap_at(&change->moved, key, column.at), ap_at(&change->value, key, column.at)};
    GroupValue all = {ap_at(&thread->sum, 1, column.c), ap_at(&thread->sum, 2, column.c)};
    if (g != OTHER) {
        return one;
    }
    if (row == bias) {
        return all;
    }
    mpfr_sub(moved, all.moved, one.moved, MPFR_RNDN);
    if (changed != NULL) {
        mpfr_sub(changed, all.changed, one.changed, MPFR_RNDN);
    }
    return (GroupValue){moved, changed};
}

/* change.mixed[row, column] */
static void mix_entry(RefRun *run, RunThread *thread, const RowGroups *groups, size_t row,
                      MixColumn column)
{
    RunChange *change = run->change;
    mpfr_srcptr p = ap_at(&run->scratch.group, row, column.pattern * GROUPS);
    mpfr_srcptr moving = ap_at(&change->group, row, column.pattern * GROUPS);
    mpfr_ptr dy = ap_at(&change->mixed, row, column.at), y = ap_at(&thread->temp, 0, 0),
             t = ap_at(&thread->temp, 0, 1), moved = ap_at(&thread->temp, 0, 2),
             changed = ap_at(&thread->temp, 0, 3);
    mpfr_set_zero(dy, 1);
    for (int g = 0; g < GROUPS; g++) {
        if (in_limit(groups, g)) {
            GroupValue u = group_value(run, thread, g, row, column, moved, changed);
            mpfr_mul(t, moving + g, u.moved, MPFR_RNDN);
            mpfr_add(dy, dy, t, MPFR_RNDN);
            mpfr_mul(t, p + g, u.changed, MPFR_RNDN);
            mpfr_add(dy, dy, t, MPFR_RNDN);
        }
    }
    mpfr_add(y, ap_at(&run->scratch.mixed, row, column.at), dy, MPFR_RNDN);
    for (int g = 0; g < GROUPS; g++) {
        if (left_out(groups, g)) {
            GroupValue u = group_value(run, thread, g, row, column, moved, NULL);
            mpfr_mul_ui(t, y, groups->count[g], MPFR_RNDN);
            mpfr_sub(t, u.moved, t, MPFR_RNDN);
            mpfr_mul(t, t, moving + g, MPFR_RNDN);
            mpfr_add(dy, dy, t, MPFR_RNDN);
        }
    }
}

/* sum[1] and sum[2] += row's moved values, and (where they are asked for) their changes. */
static void add_row(const RunChange *change, RunThread *thread, const Mix *mix, Columns columns,
                    size_t row)
{
    for (size_t c = 0, at = columns.first; c < columns.count; c++, at++) {
        mpfr_ptr moved = ap_at(&thread->sum, 1, c), changed = ap_at(&thread->sum, 2, c);
        mpfr_add(moved, moved, ap_at(&change->moved, row, at), MPFR_RNDN);
        if (mix->changed) {
            mpfr_add(changed, changed, ap_at(&change->value, row, at), MPFR_RNDN);
        }
    }
}

static void mix_row(RefRun *run, RunThread *thread, const Mix *mix, Columns columns, size_t row)
{
    const Score *score = mix->heads->score;
    bool shared = groups_share_pattern(score);
    size_t b = columns.first / mix->width;
    RowGroups groups = groups_of_row(run, score, mix->heads->first + b, row);
    for (size_t c = 0, at = columns.first; c < columns.count; c++, at++) {
        if (score->extra != NULL && at / mix->width != b) {
            b = at / mix->width;
            groups = groups_of_row(run, score, mix->heads->first + b, row);
        }
        MixColumn column = {c, at, shared ? 0 : at / mix->width};
        mix_entry(run, thread, &groups, row, column);
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
        add_row(run->change, thread, mix, columns, layout_token_row(layout, j));
    }
    for (size_t row = 0; row < run->stream.rows; row++) {
        if (mix->others && score->visible == VISIBLE_EARLIER && row != bias) {
            add_row(run->change, thread, mix, columns, row);
        }
        mix_row(run, thread, mix, columns, row);
    }
}

void change_groups_mix(RefRun *run, const Heads *heads, size_t width)
{
    Mix mix = {heads, width, groups_see_others(run, heads, true),
               groups_see_others(run, heads, false)};
    groups_each_columns(run, &mix, mix_columns);
}
