/*
 * Patterns of heads with bilinear scores, key by key: of s_ij = q_i . k_j + Omega c_ij the row's
 *     p_ij = e^(s_ij - shift_i) / sum over the keys j that i sees of that,
 * where shift_i is the row's largest s_ij less what Omega takes from it, and the patterns applied:
 * sum_j p_ij u_j.
 *
 * Mixed heads, which read a product out, have s_ij = (u_i w_h) . k_j, with u and k of all heads.
 * In the limit a row of theirs attends itself and the bias row: the scores toward these are a
 * product for all heads, (u_i k_j) W, and no others are formed.
 */
#include "heads.h"

#include "../evaluator/evaluator.h"

#include <limits.h>

/* Head heads->first + b of the block: pattern; shift and total [rows, .] in columns b. */
typedef struct {
    const Heads *heads;
    const Record *record;
    size_t b;
    ApMat *pattern, *shift, *total;
} Pattern;

RowBlock bilinear_block(const Heads *heads, size_t first)
{
    size_t rows = layout_rows(heads->layout), left = rows - first;
    RowBlock block = {first, left < PATTERN_ROWS ? left : PATTERN_ROWS, rows};
    if (heads->bundle->score.visible == VISIBLE_EARLIER) {
        block.keys = first + block.count;
    }
    return block;
}

int heads_best_position(const Heads *heads, size_t h, size_t i)
{
    int best = INT_MIN;
    for (size_t j = 0; j < layout_rows(heads->layout); j++) {
        int k = heads_position(heads, h, i, j);
        best = heads_see(heads, i, j) && k > best ? k : best;
    }
    return best;
}

size_t heads_gaps(const Heads *heads, size_t h, size_t i, int *gap)
{
    size_t rows = layout_rows(heads->layout), seen = 0;
    int best = KEY_HIDDEN;
    score_positions(heads->layout, &heads->bundle->score, h, i, gap);
    for (size_t j = 0; j < rows; j++) {
        best = gap[j] > best ? gap[j] : best;
        seen = gap[j] != KEY_HIDDEN ? j + 1 : seen;
    }
    for (size_t j = 0; j < rows; j++) {
        gap[j] = gap[j] != KEY_HIDDEN ? best - gap[j] : KEY_UNSEEN;
    }
    return seen;
}

/* A row of a head, its keys' gaps, how many leading keys hold all that it sees and how many it may
 * have, p[keys], its scores and then its pattern, its shift, and, of keys with a gap, the
 * distances from that where they are too large for an exponential without Omega, else 0. */
typedef struct {
    const Heads *heads;
    size_t row, seen, keys;
    const int *gap;
    mpfr_ptr p, shift, far;
} Row;

/* Of scores of keys other than the bias row's. */
static void note_scores(Worker *worker, const Row *row)
{
    mpfr_ptr most = worker->score_max;
    size_t bias = layout_bias_row(row->heads->layout);
    for (size_t j = 0; row->row != bias && j < row->seen; j++) {
        mpfr_srcptr s = row->p + j;
        bool below = mpfr_regular_p(s) && mpfr_get_exp(s) < mpfr_custom_get_exp(most);
        if (!below && row->gap[j] != KEY_UNSEEN && j != bias && mpfr_cmpabs(s, most) > 0) {
            mpfr_abs(most, s, MPFR_RNDN);
        }
    }
}

/* The largest score less what Omega takes from it, in the limit of A alone. */
static void find_shift(const Evaluator *ev, const Row *row)
{
    mpfr_srcptr s = row->p, most = NULL;
    for (size_t j = 0; j < row->seen; j++) {
        if (row->gap[j] == 0 && (most == NULL || limbs_greater(s + j, most))) {
            most = s + j;
        }
    }
    if (most != NULL) {
        limbs_set(row->shift, most);
    }
    for (size_t j = 0; !row->heads->limit && j < row->seen; j++) {
        if (row->gap[j] > 0) {
            shift_raise(ev, row->shift, s + j, row->gap[j]);
        }
    }
}

/* pattern = scores less the shift, 0 where they are far or the row does not see. */
static void shift_scores(Worker *worker, const Row *row)
{
    mpfr_ptr p = row->p;
    note_scores(worker, row);
    lanes_zero(p + row->seen, row->keys - row->seen);
    lanes_sub(p, numbers_row(p), numbers_same(row->shift), row->seen);
    for (size_t j = 0; j < row->seen; j++) {
        if (row->gap[j] == KEY_UNSEEN) {
            mpfr_set_zero(p + j, 1);
        } else if (row->gap[j] > 0) {
            mpfr_set_zero(row->far + j, 1);
            if (!shift_is_near(p + j)) {
                limbs_set(row->far + j, p + j);
                mpfr_set_zero(p + j, 1);
            }
        }
    }
}

/* p[j] /= total, which is their sum: times the inverse, but 1 exactly for one key alone. */
static void divide_by_sum(Worker *worker, mpfr_ptr p, size_t keys, mpfr_srcptr total)
{
    mpfr_ptr inverse = ap_at(&worker->temp, 0, 0);
    size_t alone = keys;
    for (size_t j = 0; j < keys && alone == keys; j++) {
        bool alike = mpfr_custom_get_exp(p + j) == mpfr_custom_get_exp(total);
        alone = alike && mpfr_equal_p(p + j, total) ? j : alone;
    }
    mpfr_ui_div(inverse, 1, total, MPFR_RNDN);
    lanes_mul(p, numbers_row(p), numbers_same(inverse), keys);
    if (alone < keys) {
        mpfr_set_ui(p + alone, 1, MPFR_RNDN);
    }
}

/* p, a content's exponential, times that of what Omega takes from it. */
static void apply_omega(Worker *worker, const Row *row, size_t j, mpfr_ptr p)
{
    if (row->heads->limit) {
        mpfr_set_zero(p, 1);
    } else if (mpfr_zero_p(row->far + j)) {
        limbs_mul(p, p, evaluator_decay(worker->ev, row->gap[j]));
    } else {
        shift_exp(worker, p, row->far + j, row->gap[j]);
    }
}

/* total = the row's sum of exponentials, with Omega's. */
static void sum_exponentials(Worker *worker, const Row *row, mpfr_ptr total)
{
    mpfr_ptr p = row->p;
    for (size_t j = 0; j < row->seen; j++) {
        if (row->gap[j] == KEY_UNSEEN) {
            mpfr_set_zero(p + j, 1);
        } else if (row->gap[j] > 0) {
            apply_omega(worker, row, j, p + j);
        }
    }
    lanes_sum(total, p, row->seen, ap_at(&worker->row, 1, 0));
}

/* The row's scores of the keys of A; 0 for the others. */
static void limit_scores(Worker *worker, const Record *record, size_t b, const Row *row)
{
    for (size_t j = 0; j < row->seen; j++) {
        mpfr_set_zero(row->p + j, 1);
        if (row->gap[j] == 0) {
            heads_limit_score(worker, row->heads, record, b, row->row, j, row->p + j);
        }
    }
}

/* pattern[row] = softmax of the row's scores, content and Omega, e^(s - shift) over their sum,
 * which is total[row]. */
static void softmax_row(Worker *worker, const void *context, size_t index)
{
    const Pattern *pattern = context;
    const Heads *heads = pattern->heads;
    mpfr_ptr total = ap_at(pattern->total, index, pattern->b);
    Row row = {.heads = heads,
               .row = index,
               .keys = bilinear_block(heads, index - index % PATTERN_ROWS).keys,
               .gap = worker->gap,
               .p = ap_at(pattern->pattern, index, 0),
               .shift = ap_at(pattern->shift, index, pattern->b),
               .far = ap_at(&worker->row, 0, 0)};
    row.seen = heads_gaps(heads, heads->first + pattern->b, index, worker->gap);
    if (heads_score_alone(heads)) {
        limit_scores(worker, pattern->record, pattern->b, &row);
    }
    find_shift(worker->ev, &row);
    shift_scores(worker, &row);
    vexp(worker->exp, row.p, row.p, row.seen);
    sum_exponentials(worker, &row, total);
    divide_by_sum(worker, row.p, row.seen, total);
}

void bilinear_softmax(const Heads *heads, size_t b, HeadsWork *work, Record *record)
{
    Evaluator *ev = heads->ev;
    Pattern pattern = {heads,          record,       b, &record->pattern[record_pattern(record, b)],
                       &record->score, &record->gate};
    size_t rows = record->query.rows, width = score_query_width(&heads->bundle->score);
    size_t key = score_own(&heads->bundle->score, b);
    bool alone = heads_score_alone(heads), mixed = score_is_mixed(&heads->bundle->score);
    if (mixed && !alone) {
        heads_mixed_query(heads, &record->query, b, &work->mixed, 0);
    }
    for (size_t first = 0; !alone && first < rows; first += PATTERN_ROWS) {
        RowBlock block = bilinear_block(heads, first);
        evaluator_product(
            ev, product_block(pattern.pattern, first, 0, block.count, block.keys),
            product_block(mixed ? &work->mixed : &record->query, first, key, block.count, width),
            product_transposed(product_block(&record->key, 0, key, block.keys, width)), false);
    }
    evaluator_each(ev, rows, rows * rows, softmax_row, &pattern);
}

void bilinear_mix(const Heads *heads, PartKind part, size_t b, Record *record)
{
    Evaluator *ev = heads->ev;
    const ApMat *pattern = &record->pattern[record_pattern(record, b)];
    RecordPart *values = &record->part[record_part(record, part)];
    size_t width = heads_part_width(&heads->bundle->value, part);
    for (size_t first = 0; first < pattern->rows; first += PATTERN_ROWS) {
        RowBlock block = bilinear_block(heads, first);
        evaluator_product(ev, product_block(&values->mixed, first, b * width, block.count, width),
                          product_block(pattern, first, 0, block.count, block.keys),
                          product_block(&values->value, 0, b * width, block.keys, width), false);
    }
}
