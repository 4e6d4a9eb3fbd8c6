/*
 * The change of mixtures without bilinear scores: a row's keys are at most three groups, whose dp
 * and r are there (group_changes.c), and the other tokens enter through sums of u' and of du,
 *     dy   = sum over A of dp (sum of u') + p (sum of du),    y' = y + dy,
 *     dy  += sum over the other groups of r (sum of u' - count y').
 */
#include "difference.h"

#include <stdint.h>

/* Context: `columns` of values, head by head `width` each; others, changed: are the values of other
 * tokens than a row's own, and their changes, wanted as sums? */
typedef struct {
    const Heads *heads;
    const Record *record;
    const ApMat *mixed; /* of the record */
    Difference *e;
    size_t width, columns;
    bool others, changed;
} Mix;

/* Column c of those that a worker sums: where in the values, and whose pattern. */
typedef struct {
    size_t c, at, pattern;
} MixColumn;

/* A group's values in a column, summed over its keys: moved = u', changed = du.  The arguments
 * of those names are scratch; changed may be NULL where it is not asked for. */
typedef struct {
    mpfr_srcptr moved, changed;
} GroupValue;

static GroupValue group_value(const Mix *mix, const Worker *worker, int g, size_t row,
                              MixColumn column, mpfr_ptr moved, mpfr_ptr changed)
{
    const Difference *e = mix->e;
    size_t bias = layout_bias_row(mix->heads->layout), key = g == BIAS ? bias : row;
    GroupValue one = {ap_at(&e->moved, key, column.at), ap_at(&e->value, key, column.at)};
    GroupValue all = {ap_at(&worker->sum, 1, column.c), ap_at(&worker->sum, 2, column.c)};
    if (g != OTHER) {
        return one;
    }
    if (row == bias) {
        return all;
    }
    limbs_sub(moved, all.moved, one.moved);
    if (changed != NULL) {
        limbs_sub(changed, all.changed, one.changed);
    }
    return (GroupValue){moved, changed};
}

/* e.mixed[row, column] */
static void mix_entry(const Mix *mix, Worker *worker, const RowGroups *groups, size_t row,
                      MixColumn column)
{
    Difference *e = mix->e;
    mpfr_srcptr p = ap_at(&mix->record->group, row, column.pattern * GROUPS);
    mpfr_srcptr moving = ap_at(&e->group, row, column.pattern * GROUPS);
    mpfr_ptr dy = ap_at(&e->mixed, row, column.at), y = ap_at(&worker->temp, 0, 0),
             t = ap_at(&worker->temp, 0, 1), moved = ap_at(&worker->temp, 0, 2),
             changed = ap_at(&worker->temp, 0, 3);
    mpfr_set_zero(dy, 1);
    for (int g = 0; g < GROUPS; g++) {
        if (groups_in_limit(groups, g)) {
            GroupValue u = group_value(mix, worker, g, row, column, moved, changed);
            limbs_mul(t, moving + g, u.moved);
            limbs_add(dy, dy, t);
            limbs_mul(t, p + g, u.changed);
            limbs_add(dy, dy, t);
        }
    }
    limbs_add(y, ap_at(mix->mixed, row, column.at), dy);
    for (int g = 0; !e->limit && g < GROUPS; g++) {
        if (groups_left_out(groups, g)) {
            GroupValue u = group_value(mix, worker, g, row, column, moved, NULL);
            mpfr_mul_ui(t, y, groups->count[g], MPFR_RNDN);
            limbs_sub(t, u.moved, t);
            limbs_mul(t, t, moving + g);
            limbs_add(dy, dy, t);
        }
    }
}

/* sum[1] and sum[2] += row's moved values, and (where they are asked for) their changes. */
static void add_row(Worker *worker, const Mix *mix, Columns columns, size_t row)
{
    for (size_t c = 0, at = columns.first; c < columns.count; c++, at++) {
        mpfr_ptr moved = ap_at(&worker->sum, 1, c), changed = ap_at(&worker->sum, 2, c);
        limbs_add(moved, moved, ap_at(&mix->e->moved, row, at));
        if (mix->changed) {
            limbs_add(changed, changed, ap_at(&mix->e->value, row, at));
        }
    }
}

static void mix_row(Worker *worker, const Mix *mix, Columns columns, size_t row)
{
    const Score *score = &mix->heads->bundle->score;
    bool shared = heads_share_pattern(score);
    size_t b = columns.first / mix->width;
    RowGroups groups = groups_of_row(mix->heads, mix->heads->first + b, row);
    for (size_t c = 0, at = columns.first; c < columns.count; c++, at++) {
        if (score->extra != NULL && at / mix->width != b) {
            b = at / mix->width;
            groups = groups_of_row(mix->heads, mix->heads->first + b, row);
        }
        MixColumn column = {c, at, shared ? 0 : at / mix->width};
        mix_entry(mix, worker, &groups, row, column);
    }
}

static void mix_columns(Evaluator *ev, Worker *worker, const void *context, size_t i)
{
    const Mix *mix = context;
    const Layout *layout = mix->heads->layout;
    Columns columns = groups_columns(mix->columns, i);
    size_t bias = layout_bias_row(layout);
    bool earlier = mix->heads->bundle->score.visible == VISIBLE_EARLIER;
    (void)ev;
    ap_zero(&worker->sum);
    for (size_t j = 0; mix->others && !earlier && j < layout->n; j++) {
        add_row(worker, mix, columns, layout_token_row(layout, j));
    }
    for (size_t row = 0; row < mix->e->stream.rows; row++) {
        if (mix->others && earlier && row != bias) {
            add_row(worker, mix, columns, row);
        }
        mix_row(worker, mix, columns, row);
    }
}

void difference_group_mix(Evaluator *ev, const Heads *heads, const Record *record, PartKind part,
                          Difference *e)
{
    Heads some = heads_of_part(heads, part);
    Mix mix = {.heads = &some, .record = record, .e = e};
    mix.mixed = &record->part[record_part(record, part)].mixed;
    mix.width = heads_part_width(&heads->bundle->value, part);
    mix.columns = some.count * mix.width;
    mix.others = groups_see_others(&some, !e->limit);
    mix.changed = groups_see_others(&some, false);
    evaluator_each(ev, groups_column_blocks(mix.columns), e->stream.rows * mix.columns, mix_columns,
                   &mix);
}
