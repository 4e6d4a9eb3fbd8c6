/*
 * The change of mixtures without bilinear scores: a row's keys are at most three groups, whose dp
 * and r are there (group_changes.c), and the other tokens enter through sums of u' and of du,
 *     dy   = sum over A of dp (sum of u') + p (sum of du),    y' = y + dy,
 *     dy  += sum over the other groups of r (sum of u' - count y').
 */
#include "difference.h"

/* Context; changed: are changes of the values of other tokens than a row's own wanted as sums? */
typedef struct {
    const Heads *heads;
    const Record *record;
    const ApMat *mixed; /* of the record */
    Difference *e;
    bool changed;
} Mix;

/* A group's values in some columns, summed over its keys: moved = u', changed = du.  The arguments
 * of those names are scratch; changed may be NULL where it is not asked for. */
typedef struct {
    mpfr_srcptr moved, changed;
} GroupValue;

/* A row in some columns, which share its groups of keys. */
typedef struct {
    const Mix *mix;
    Worker *worker;
    RowGroups groups;
    size_t row;
    const GroupColumns *at;
} MixRow;

static GroupValue group_value(const MixRow *of, int g, mpfr_ptr moved, mpfr_ptr changed)
{
    const Mix *mix = of->mix;
    const Worker *worker = of->worker;
    const Difference *e = mix->e;
    const GroupColumns *at = of->at;
    size_t row = of->row, bias = layout_bias_row(mix->heads->layout), key = g == BIAS ? bias : row;
    GroupValue one = {ap_at(&e->moved, key, at->at), ap_at(&e->value, key, at->at)};
    GroupValue all = {ap_at(&worker->sum, 1, at->c), ap_at(&worker->sum, 2, at->c)};
    if (g != OTHER) {
        return one;
    }
    if (row == bias) {
        return all;
    }
    lanes_sub(moved, numbers_row(all.moved), numbers_row(one.moved), at->count);
    if (changed != NULL) {
        lanes_sub(changed, numbers_row(all.changed), numbers_row(one.changed), at->count);
    }
    return (GroupValue){moved, changed};
}

/* sum += a b, the first of its terms a product alone, and nothing where b is. */
static void add_product(Worker *worker, mpfr_ptr sum, Numbers a, mpfr_srcptr b, size_t count,
                        bool *first)
{
    mpfr_ptr t = ap_at(&worker->lane, 0, 0);
    if (numbers_are_zero(b, count)) {
        return;
    }
    lanes_mul(*first ? sum : t, a, numbers_row(b), count);
    if (!*first) {
        lanes_add(sum, numbers_row(sum), numbers_row(t), count);
    }
    *first = false;
}

/* dy = sum over A of dp (sum of u') + p (sum of du) */
static void mix_limit(const MixRow *of, mpfr_ptr dy)
{
    Worker *worker = of->worker;
    const GroupColumns *at = of->at;
    mpfr_ptr moved = ap_at(&worker->lane, 1, 0), changed = ap_at(&worker->lane, 2, 0);
    bool first = true;
    for (int g = 0; g < GROUPS; g++) {
        if (groups_in_limit(&of->groups, g)) {
            GroupValue u = group_value(of, g, moved, changed);
            Numbers moving = groups_weights(&of->mix->e->group, of->row, g, at);
            Numbers p = groups_weights(&of->mix->record->group, of->row, g, at);
            add_product(worker, dy, moving, u.moved, at->count, &first);
            add_product(worker, dy, p, u.changed, at->count, &first);
        }
    }
    lanes_zero(dy, first ? at->count : 0);
}

/* dy += sum over the other groups of r (sum of u' - count y') */
static void mix_leaks(const MixRow *of, mpfr_ptr dy)
{
    const Mix *mix = of->mix;
    Worker *worker = of->worker;
    const GroupColumns *at = of->at;
    mpfr_ptr t = ap_at(&worker->lane, 0, 0), moved = ap_at(&worker->lane, 1, 0),
             y = ap_at(&worker->lane, 3, 0), count = ap_at(&worker->temp, 0, 0);
    lanes_add(y, numbers_row(ap_at(mix->mixed, of->row, at->at)), numbers_row(dy), at->count);
    for (int g = 0; g < GROUPS; g++) {
        if (groups_left_out(&of->groups, g)) {
            GroupValue u = group_value(of, g, moved, NULL);
            Numbers r = groups_weights(&mix->e->group, of->row, g, at);
            mpfr_set_ui(count, of->groups.count[g], MPFR_RNDN);
            lanes_mul(t, numbers_row(y), numbers_same(count), at->count);
            lanes_sub(t, numbers_row(u.moved), numbers_row(t), at->count);
            lanes_mul(t, numbers_row(t), r, at->count);
            lanes_add(dy, numbers_row(dy), numbers_row(t), at->count);
        }
    }
}

/* sum[1] and sum[2] += row's moved values, and (where they are asked for) their changes. */
static void add_row(Worker *worker, const void *context, Columns columns, size_t row)
{
    const Mix *mix = context;
    mpfr_ptr moved = ap_at(&worker->sum, 1, 0), changed = ap_at(&worker->sum, 2, 0);
    lanes_add(moved, numbers_row(moved), numbers_row(ap_at(&mix->e->moved, row, columns.first)),
              columns.count);
    if (mix->changed) {
        lanes_add(changed, numbers_row(changed),
                  numbers_row(ap_at(&mix->e->value, row, columns.first)), columns.count);
    }
}

/* e.mixed[row] */
static void mix_row(Worker *worker, const void *context, size_t row, const GroupColumns *at)
{
    const Mix *mix = context;
    const Heads *heads = mix->heads;
    const MixRow of = {mix, worker, groups_of_row(heads, heads->first + at->pattern, row), row, at};
    mpfr_ptr dy = ap_at(&mix->e->mixed, row, at->at);
    mix_limit(&of, dy);
    if (!mix->e->limit) {
        mix_leaks(&of, dy);
    }
}

void difference_group_mix(const Heads *heads, const Record *record, PartKind part, Difference *e)
{
    const Heads some = heads_of_part(heads, part);
    const Mix mix = {heads, record, &record->part[record_part(record, part)].mixed, e,
                     groups_see_others(&some, false)};
    groups_mix_rows(heads, part, groups_see_others(&some, !e->limit) ? add_row : NULL, mix_row,
                    &mix);
}
