/*
 * The change of patterns without bilinear scores: a row's keys are at most three groups, and of
 * their scores only those that are gated change, all by the same ds.  With P and Q the limit's
 * weight of the gated and of the other keys of A, P + Q = 1,
 *     1 + E = P e^(ds) + Q,   dp = p Q expm1(ds) / (1 + E) if gated, else -p P expm1(ds) / (1 + E).
 */
#include "change.h"
#include "structured.h"

#include <stdint.h>

static bool in_limit(const RowGroups *groups, int g)
{
    return groups->count[g] > 0 && groups->coefficient[g] == groups->best;
}

static bool left_out(const RowGroups *groups, int g)
{
    return groups->count[g] > 0 && groups->coefficient[g] != groups->best;
}

/* change.product = e g; change.gate and change.grown of ds = a e g: biases do not change. */
static void gate_change(RefRun *run, const Score *score, size_t h)
{
    RunChange *change = run->change;
    mpfr_ptr ds = ap_at(&change->temp, 0, 0);
    if (score->kind == SCORE_GATE) {
        groups_gate_product(run, score, h, &change->stream, &change->product, &change->gate);
    } else {
        ap_zero(&change->gate);
    }
    for (size_t i = 0; i < change->gate.rows; i++) {
        mpfr_mul_d(ds, ap_at(&change->gate, i, 0), score->gate_scale, MPFR_RNDN);
        change_note(change, ds);
        change_exponentials(run, ap_at(&change->gate, i, 0), ap_at(&change->grown, i, 0), ds);
    }
}

/* change.group[row] = dp of the groups of A; true when there are others. */
static bool limit_row(RefRun *run, const RowGroups *groups, size_t row)
{
    const RunChange *change = run->change;
    mpfr_srcptr m = ap_at(&change->gate, row, 0);
    mpfr_ptr p = ap_at(&change->temp, 0, 0), q = ap_at(&change->temp, 0, 1),
             f = ap_at(&change->temp, 0, 2), t = ap_at(&change->temp, 0, 3);
    bool others = false;
    mpfr_set_zero(p, 1);
    mpfr_set_zero(q, 1);
    for (int g = 0; g < GROUPS; g++) {
        if (in_limit(groups, g)) {
            mpfr_ptr part = groups->gated[g] ? p : q;
            mpfr_mul_ui(t, ap_at(&run->scratch.group, row, (size_t)g), groups->count[g], MPFR_RNDN);
            mpfr_add(part, part, t, MPFR_RNDN);
        }
        others = others || left_out(groups, g);
    }
    if (mpfr_zero_p(p) || mpfr_zero_p(q)) {
        mpfr_set_zero(f, 1); /* all of A moves together: no weight changes */
    } else {
        mpfr_mul(f, p, ap_at(&change->grown, row, 0), MPFR_RNDN);
        mpfr_add(f, f, q, MPFR_RNDN);
        mpfr_div(f, m, f, MPFR_RNDN);
    }
    mpfr_mul(q, q, f, MPFR_RNDN);
    mpfr_mul(p, p, f, MPFR_RNDN);
    (void)FAULT("difference-gate-sign", 0, mpfr_neg(p, p, MPFR_RNDN));
    for (int g = 0; g < GROUPS; g++) {
        if (in_limit(groups, g)) {
            mpfr_mul(ap_at(&change->group, row, (size_t)g),
                     ap_at(&run->scratch.group, row, (size_t)g), groups->gated[g] ? q : p,
                     MPFR_RNDN);
        }
    }
    return others;
}

/* change.group[row] = r of the groups that the limit leaves out. */
static void leak_row(RefRun *run, const RowGroups *groups, size_t row)
{
    RunChange *change = run->change;
    mpfr_ptr moved = ap_at(&change->temp, 0, 0), total = ap_at(&change->temp, 0, 1),
             t = ap_at(&change->temp, 0, 2);
    mpfr_mul(moved, ap_at(&run->scratch.gate, row, 0), ap_at(&change->grown, row, 0), MPFR_RNDN);
    mpfr_set_zero(total, 1);
    for (int g = 0; g < GROUPS; g++) {
        if (groups->count[g] > 0) {
            mpfr_srcptr decay = run_decay(run, groups->best - groups->coefficient[g]);
            mpfr_mul_ui(t, decay, groups->count[g], MPFR_RNDN);
            if (groups->gated[g]) {
                mpfr_mul(t, t, moved, MPFR_RNDN);
            }
            mpfr_add(total, total, t, MPFR_RNDN);
        }
    }
    for (int g = 0; g < GROUPS; g++) {
        if (left_out(groups, g)) {
            mpfr_ptr r = ap_at(&change->group, row, (size_t)g);
            mpfr_srcptr decay = run_decay(run, groups->best - groups->coefficient[g]);
            mpfr_div(r, decay, total, MPFR_RNDN);
            if (groups->gated[g]) {
                mpfr_mul(r, r, moved, MPFR_RNDN);
            }
            change_note(change, r);
        }
    }
}

void change_groups_softmax(RefRun *run, const Score *score, size_t h)
{
    gate_change(run, score, h);
    for (size_t row = 0; row < run->stream.rows; row++) {
        RowGroups groups = groups_of_row(run, score, h, row);
        if (limit_row(run, &groups, row)) {
            leak_row(run, &groups, row);
        }
    }
}

/* A group's values in column c, summed over its keys: moved = u', changed = du.  The arguments
 * that are not entries of a matrix are scratch. */
typedef struct {
    mpfr_srcptr moved, changed;
} GroupValue;

static GroupValue group_value(const RefRun *run, int g, size_t row, size_t c, mpfr_ptr moved,
                              mpfr_ptr changed)
{
    const RunChange *change = run->change;
    size_t bias = layout_bias_row(&run->model->layout), key = g == BIAS ? bias : row;
    GroupValue one = {ap_at(&change->moved, key, c), ap_at(&change->value, key, c)};
    GroupValue all = {ap_at(&change->column_sum, 0, c), ap_at(&change->column_sum, 1, c)};
    if (g != OTHER) {
        return one;
    }
    if (row == bias) {
        return all;
    }
    mpfr_sub(moved, all.moved, one.moved, MPFR_RNDN);
    mpfr_sub(changed, all.changed, one.changed, MPFR_RNDN);
    return (GroupValue){moved, changed};
}

/* change.mixed[row, c] */
static void mix_entry(RefRun *run, const RowGroups *groups, size_t row, size_t c)
{
    RunChange *change = run->change;
    mpfr_ptr dy = ap_at(&change->mixed, row, c), y = ap_at(&change->temp, 0, 0),
             t = ap_at(&change->temp, 0, 1), moved = ap_at(&change->temp, 0, 2),
             changed = ap_at(&change->temp, 0, 3);
    mpfr_set_zero(dy, 1);
    for (int g = 0; g < GROUPS; g++) {
        if (in_limit(groups, g)) {
            GroupValue u = group_value(run, g, row, c, moved, changed);
            mpfr_mul(t, ap_at(&change->group, row, (size_t)g), u.moved, MPFR_RNDN);
            mpfr_add(dy, dy, t, MPFR_RNDN);
            mpfr_mul(t, ap_at(&run->scratch.group, row, (size_t)g), u.changed, MPFR_RNDN);
            mpfr_add(dy, dy, t, MPFR_RNDN);
        }
    }
    mpfr_add(y, ap_at(&run->scratch.mixed, row, c), dy, MPFR_RNDN);
    for (int g = 0; g < GROUPS; g++) {
        if (left_out(groups, g)) {
            GroupValue u = group_value(run, g, row, c, moved, changed);
            mpfr_mul_ui(t, y, groups->count[g], MPFR_RNDN);
            mpfr_sub(t, u.moved, t, MPFR_RNDN);
            mpfr_mul(t, t, ap_at(&change->group, row, (size_t)g), MPFR_RNDN);
            mpfr_add(dy, dy, t, MPFR_RNDN);
        }
    }
}

/* column_sum += row's moved and changed values */
static void add_row(RunChange *change, size_t row, size_t width)
{
    for (size_t c = 0; c < width; c++) {
        mpfr_ptr moved = ap_at(&change->column_sum, 0, c),
                 changed = ap_at(&change->column_sum, 1, c);
        mpfr_add(moved, moved, ap_at(&change->moved, row, c), MPFR_RNDN);
        mpfr_add(changed, changed, ap_at(&change->value, row, c), MPFR_RNDN);
    }
}

void change_groups_mix(RefRun *run, const Score *score, size_t h, size_t width)
{
    const Layout *layout = &run->model->layout;
    RunChange *change = run->change;
    size_t bias = layout_bias_row(layout);
    ap_zero(&change->column_sum);
    for (size_t i = 0; score->visible != VISIBLE_EARLIER && i < layout->n; i++) {
        add_row(change, layout_token_row(layout, i), width);
    }
    for (size_t row = 0; row < run->stream.rows; row++) {
        RowGroups groups = groups_of_row(run, score, h, row);
        if (score->visible == VISIBLE_EARLIER && row != bias) {
            add_row(change, row, width);
        }
        for (size_t c = 0; c < width; c++) {
            mix_entry(run, &groups, row, c);
        }
    }
}
