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

/* Context: `columns` of u are mixed, head by head `width` each; others: are the values of other
 * tokens than a row's own wanted as sums? */
typedef struct {
    const Heads *heads;
    const ApMat *group, *u;
    ApMat *mixed;
    size_t width, columns;
    bool others;
} Mix;

/* mixed[row] = the pattern's row applied to u; sum: the column sums over the tokens that row
 * sees, itself included. */
static void mix_row(Worker *worker, const Mix *mix, Columns columns, size_t row)
{
    const ApMat *u = mix->u;
    size_t bias = layout_bias_row(mix->heads->layout);
    bool shared = heads_share_pattern(&mix->heads->bundle->score);
    mpfr_ptr t = ap_at(&worker->temp, 0, 0);
    for (size_t c = 0, at = columns.first; c < columns.count; c++, at++) {
        size_t pattern = shared ? 0 : at / mix->width;
        mpfr_srcptr group = ap_at(mix->group, row, pattern * GROUPS);
        mpfr_ptr out = ap_at(mix->mixed, row, at);
        mpfr_srcptr sum = ap_at(&worker->sum, 0, c);
        limbs_mul(out, group + SELF, ap_at(u, row, at));
        if (!mpfr_zero_p(group + OTHER)) {
            if (row == bias) {
                limbs_mul(t, group + OTHER, sum);
            } else {
                limbs_sub(t, sum, ap_at(u, row, at));
                limbs_mul(t, t, group + OTHER);
            }
            limbs_add(out, out, t);
        }
        if (row != bias && bias != SIZE_MAX) {
            limbs_mul(t, group + BIAS, ap_at(u, bias, at));
            limbs_add(out, out, t);
        }
    }
}

/* sum += u[row] */
static void add_row(Worker *worker, const Mix *mix, Columns columns, size_t row)
{
    for (size_t c = 0; c < columns.count; c++) {
        mpfr_ptr sum = ap_at(&worker->sum, 0, c);
        limbs_add(sum, sum, ap_at(mix->u, row, columns.first + c));
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
    for (size_t row = 0; row < mix->u->rows; row++) {
        if (mix->others && earlier && row != bias) {
            add_row(worker, mix, columns, row);
        }
        mix_row(worker, mix, columns, row);
    }
}

void groups_mix(Evaluator *ev, const Heads *heads, PartKind part, Record *record)
{
    RecordPart *values = &record->part[record_part(record, part)];
    Heads some = heads_of_part(heads, part);
    Mix mix = {.heads = &some, .group = &record->group, .u = &values->value};
    mix.mixed = &values->mixed;
    mix.width = heads_part_width(&heads->bundle->value, part);
    mix.columns = some.count * mix.width;
    mix.others = groups_see_others(&some, !heads->limit);
    evaluator_each(ev, groups_column_blocks(mix.columns), mix.u->rows * mix.columns, mix_columns,
                   &mix);
}
