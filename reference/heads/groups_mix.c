/*
 * Patterns without bilinear scores applied to values: a row's mixture is
 *     p_self u_self + p_other (sum of the other tokens' u) + p_bias u_bias,
 * and the other tokens enter through their column sum.
 */
#include "heads.h"

#include <stdint.h>

bool groups_see_others(const Heads *heads, bool leaks)
{
    size_t rows = layout_rows(heads->layout);
    size_t patterns = heads->bundle->score.extra != NULL ? heads->count : 1;
    for (size_t b = 0; b < patterns; b++) {
        for (size_t row = 0; row < rows; row++) {
            RowGroups groups = groups_of_row(heads, heads->first + b, row);
            if (groups.count[OTHER] > 0 && (leaks || groups.coefficient[OTHER] == groups.best)) {
                return true;
            }
        }
    }
    return false;
}

Columns groups_columns(size_t columns, size_t i)
{
    size_t first = i * WORKER_COLUMNS, left = columns - first;
    return (Columns){first, left < WORKER_COLUMNS ? left : WORKER_COLUMNS};
}

size_t groups_column_blocks(size_t columns)
{
    return (columns + WORKER_COLUMNS - 1) / WORKER_COLUMNS;
}

GroupColumns groups_run(const Heads *heads, size_t patterns, size_t width, Columns columns,
                        size_t c)
{
    const Score *score = &heads->bundle->score;
    size_t at = columns.first + c, left = columns.count - c, of_head = width - at % width;
    GroupColumns run = {c, at, left, 0, patterns, false};
    if (!heads_share_pattern(score)) {
        run.pattern = at / width;
        run.each = width == 1 && score->extra == NULL;
        run.count = run.each || of_head > left ? left : of_head;
    }
    return run;
}

void groups_each_row(Worker *worker, const Heads *heads, Columns columns, GroupRow *add,
                     GroupRow *mix, const void *context)
{
    const Layout *layout = heads->layout;
    size_t bias = layout_bias_row(layout);
    bool earlier = heads->bundle->score.visible == VISIBLE_EARLIER;
    ap_zero(&worker->sum);
    for (size_t j = 0; add != NULL && !earlier && j < layout->n; j++) {
        add(worker, context, columns, layout_token_row(layout, j));
    }
    for (size_t row = 0; row < layout_rows(layout); row++) {
        if (add != NULL && earlier && row != bias) {
            add(worker, context, columns, row);
        }
        mix(worker, context, columns, row);
    }
}

/* Context: `columns` of u are mixed, head by head `width` each, by `patterns`; others: are the
 * values of other tokens than a row's own wanted as sums? */
typedef struct {
    const Heads *heads;
    const ApMat *group, *u;
    ApMat *mixed;
    size_t width, columns, patterns;
    bool others;
} Mix;

/* out += the other tokens' part of mixed[row], where they have any; sum: as in mix_row. */
static void mix_others(Worker *worker, const Mix *mix, const GroupColumns *at, size_t row,
                       mpfr_ptr out)
{
    mpfr_ptr t = ap_at(&worker->lane, 0, 0), product = ap_at(&worker->temp, 0, 0);
    Numbers weight = groups_weights(mix->group, row, OTHER, at);
    Numbers sum = numbers_row(ap_at(&worker->sum, 0, at->c));
    bool any = false;
    for (size_t c = 0; c < (at->each ? at->count : 1); c++) {
        any = any || !mpfr_zero_p(weight.first + c);
    }
    if (any && row != layout_bias_row(mix->heads->layout)) {
        lanes_sub(t, sum, numbers_row(ap_at(mix->u, row, at->at)), at->count);
        sum = numbers_row(t);
    }
    if (any) {
        lanes_add_mul(out, weight, sum, at->count, product);
    }
}

/* mixed[row] = the pattern's row applied to u; sum: the column sums over the tokens that row
 * sees, itself included. */
static void mix_row(Worker *worker, const void *context, Columns columns, size_t row)
{
    const Mix *mix = context;
    size_t bias = layout_bias_row(mix->heads->layout);
    mpfr_ptr product = ap_at(&worker->temp, 0, 0);
    for (size_t c = 0; c < columns.count;) {
        GroupColumns at = groups_run(mix->heads, mix->patterns, mix->width, columns, c);
        mpfr_ptr out = ap_at(mix->mixed, row, at.at);
        lanes_mul(out, groups_weights(mix->group, row, SELF, &at),
                  numbers_row(ap_at(mix->u, row, at.at)), at.count);
        mix_others(worker, mix, &at, row, out);
        if (row != bias && bias != SIZE_MAX &&
            !numbers_are_zero(ap_at(mix->u, bias, at.at), at.count)) {
            lanes_add_mul(out, groups_weights(mix->group, row, BIAS, &at),
                          numbers_row(ap_at(mix->u, bias, at.at)), at.count, product);
        }
        c += at.count;
    }
}

/* sum += u[row] */
static void add_row(Worker *worker, const void *context, Columns columns, size_t row)
{
    const Mix *mix = context;
    mpfr_ptr sum = ap_at(&worker->sum, 0, 0);
    lanes_add(sum, numbers_row(sum), numbers_row(ap_at(mix->u, row, columns.first)), columns.count);
}

static void mix_columns(Worker *worker, const void *context, size_t i)
{
    const Mix *mix = context;
    groups_each_row(worker, mix->heads, groups_columns(mix->columns, i),
                    mix->others ? add_row : NULL, mix_row, mix);
}

void groups_mix(const Heads *heads, PartKind part, Record *record)
{
    Evaluator *ev = heads->ev;
    RecordPart *values = &record->part[record_part(record, part)];
    Heads some = heads_of_part(heads, part);
    Mix mix = {.heads = &some, .group = &record->group, .u = &values->value};
    mix.mixed = &values->mixed;
    mix.width = heads_part_width(&heads->bundle->value, part);
    mix.columns = some.count * mix.width;
    mix.patterns = heads_patterns(heads).count;
    mix.others = groups_see_others(&some, !heads->limit);
    evaluator_each(ev, groups_column_blocks(mix.columns), mix.u->rows * mix.columns, mix_columns,
                   &mix);
}
