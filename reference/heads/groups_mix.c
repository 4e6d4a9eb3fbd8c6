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

/* What goes over a part's `columns`, head by head `width` each, by `patterns`. */
typedef struct {
    const Heads *heads;
    GroupAdd *add;
    GroupMix *mix;
    const void *context;
    size_t width, columns, patterns;
} Pass;

/* Those that follow the first `c` of some columns. */
static GroupColumns columns_alike(const Pass *pass, Columns columns, size_t c)
{
    const Score *score = &pass->heads->bundle->score;
    size_t at = columns.first + c, left = columns.count - c, width = pass->width,
           of_head = width - at % width;
    GroupColumns alike = {c, at, left, 0, pass->patterns, false};
    if (!heads_share_pattern(score)) {
        alike.pattern = at / width;
        alike.each = width == 1 && score->extra == NULL;
        alike.count = alike.each || of_head > left ? left : of_head;
    }
    return alike;
}

/* Columns i WORKER_COLUMNS, ... of all. */
static void pass_rows(Worker *worker, const void *context, size_t i)
{
    const Pass *pass = context;
    const Layout *layout = pass->heads->layout;
    size_t bias = layout_bias_row(layout), first = i * WORKER_COLUMNS, left = pass->columns - first;
    bool earlier = pass->heads->bundle->score.visible == VISIBLE_EARLIER;
    const Columns columns = {first, left < WORKER_COLUMNS ? left : WORKER_COLUMNS};
    ap_zero(&worker->sum);
    for (size_t j = 0; pass->add != NULL && !earlier && j < layout->n; j++) {
        pass->add(worker, pass->context, columns, layout_token_row(layout, j));
    }
    for (size_t row = 0; row < layout_rows(layout); row++) {
        if (pass->add != NULL && earlier && row != bias) {
            pass->add(worker, pass->context, columns, row);
        }
        for (size_t c = 0; c < columns.count;) {
            const GroupColumns at = columns_alike(pass, columns, c);
            pass->mix(worker, pass->context, row, &at);
            c += at.count;
        }
    }
}

void groups_mix_rows(const Heads *heads, PartKind part, GroupAdd *add, GroupMix *mix,
                     const void *context)
{
    size_t width = heads_part_width(&heads->bundle->value, part),
           columns = heads_of_part(heads, part).count * width;
    const Pass pass = {heads, add, mix, context, width, columns, heads_patterns(heads).count};
    evaluator_each(heads->ev, (columns + WORKER_COLUMNS - 1) / WORKER_COLUMNS,
                   layout_rows(heads->layout) * columns, pass_rows, &pass);
}

/* u, whose mixtures are wanted. */
typedef struct {
    const Heads *heads;
    const ApMat *group, *u;
    ApMat *mixed;
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
static void mix_row(Worker *worker, const void *context, size_t row, const GroupColumns *at)
{
    const Mix *mix = context;
    size_t bias = layout_bias_row(mix->heads->layout);
    mpfr_ptr out = ap_at(mix->mixed, row, at->at);
    lanes_mul(out, groups_weights(mix->group, row, SELF, at),
              numbers_row(ap_at(mix->u, row, at->at)), at->count);
    mix_others(worker, mix, at, row, out);
    if (row != bias && bias != SIZE_MAX &&
        !numbers_are_zero(ap_at(mix->u, bias, at->at), at->count)) {
        lanes_add_mul(out, groups_weights(mix->group, row, BIAS, at),
                      numbers_row(ap_at(mix->u, bias, at->at)), at->count,
                      ap_at(&worker->temp, 0, 0));
    }
}

/* sum += u[row] */
static void add_row(Worker *worker, const void *context, Columns columns, size_t row)
{
    const Mix *mix = context;
    mpfr_ptr sum = ap_at(&worker->sum, 0, 0);
    lanes_add(sum, numbers_row(sum), numbers_row(ap_at(mix->u, row, columns.first)), columns.count);
}

void groups_mix(const Heads *heads, PartKind part, Record *record)
{
    RecordPart *values = &record->part[record_part(record, part)];
    const Heads some = heads_of_part(heads, part);
    const Mix mix = {heads, &record->group, &values->value, &values->mixed};
    groups_mix_rows(heads, part, groups_see_others(&some, !heads->limit) ? add_row : NULL, mix_row,
                    &mix);
}
