/*
 * The change of patterns with bilinear scores, key by key, from the change of those (key_scores.c),
 * and of the mixtures.
 */
#include "difference.h"

#include "../evaluator/evaluator.h"

/* A row's numbers in worker.temp, for as long as the row takes. */
enum {
    TEMP_INVERSE,  /* 1 / (1 + E) */
    TEMP_PRODUCT,  /* of a query and a key */
    TEMP_DISTANCE, /* of a score from a shift */
    TEMP_WEIGHT,   /* of a key of A at x + e */
    TEMP_E,        /* E */
    TEMP_ONE,      /* 1 + E, the sum over A of p_j e^(ds_j) */
    TEMP_TOTAL,    /* sum of exponentials */
    TEMP_LIMIT,    /* the largest s' of A */
    TEMP_ALL       /* that of all keys, less what Omega takes */
};

static mpfr_ptr temp(Worker *worker, size_t slot)
{
    return ap_at(&worker->temp, 0, slot);
}

/* A row, how many leading keys hold all that it sees, how many it may have, and their gaps. */
typedef struct {
    const Head *head;
    size_t row, seen, keys;
    const int *gap;
} HeadRow;

static HeadRow head_row(Worker *worker, const Head *head, size_t row)
{
    size_t keys = bilinear_block(head->heads, row - row % PATTERN_ROWS).keys;
    size_t seen = heads_gaps(head->heads, head->h, row, worker->gap);
    return (HeadRow){head, row, seen, keys, worker->gap};
}

/* Is key j one of A, or one of the others that count? */
static bool in_limit(const HeadRow *at, size_t j)
{
    return at->gap[j] == 0;
}

static bool left_out(const HeadRow *at, size_t j)
{
    return at->gap[j] > 0 && !at->head->e->limit;
}

/* The columns of a block of rows that hold all keys which the limit leaves out. */
static Columns columns_left_out(Evaluator *ev, const Head *head, RowBlock block)
{
    size_t from = block.keys, to = 0;
    for (size_t i = block.first; i < block.first + block.count; i++) {
        HeadRow at = head_row(&ev->worker[0], head, i);
        for (size_t j = 0; j < at.seen; j++) {
            if (left_out(&at, j)) {
                from = j < from ? j : from;
                to = j >= to ? j + 1 : to;
            }
        }
    }
    return (Columns){from, to > from ? to - from : 0};
}

/* leak = s + ds of the keys that the limit leaves out.  Of a mixed head these are all keys but two:
 * their scores have fewer bits, as they weigh less (evaluator_rough_product). */
static void moved_scores(Evaluator *ev, const Head *head)
{
    const Record *record = head->record;
    const Difference *e = head->e;
    const Score *score = &head->heads->bundle->score;
    size_t width = score_query_width(score), own = score_own(score, head->b);
    if (score_is_mixed(score)) {
        heads_mixed_query(head->heads, &e->both_queries, head->b, &head->e->both_queries, width);
    }
    for (size_t first = 0; first < e->stream.rows; first += PATTERN_ROWS) {
        RowBlock block = bilinear_block(head->heads, first);
        Columns out = columns_left_out(ev, head, block);
        ProductView leak = product_block(&e->leak, first, out.first, block.count, out.count);
        if (score_is_mixed(score)) {
            ProductView keys = product_block(&e->both_keys, out.first, 0, out.count, width);
            evaluator_rough_product(
                ev, leak, product_block(&e->both_queries, first, width, block.count, width),
                product_transposed(keys), heads_mixed_gap(score));
            continue;
        }
        for (size_t i = first; i < first + block.count; i++) {
            lanes_set(ap_at(&e->leak, i, out.first), ap_at(&e->pattern, i, out.first), out.count);
        }
        if (out.count > 0) {
            ProductView keys = product_block(&record->key, out.first, own, out.count, width);
            evaluator_product(
                ev, leak, product_block(&record->query, first, head->b * width, block.count, width),
                product_transposed(keys), true);
        }
    }
}

/* x = s + ds of key j of A. */
static void moved_score(Worker *worker, const HeadRow *at, size_t j, mpfr_ptr x)
{
    const Record *record = at->head->record;
    const Score *score = &at->head->heads->bundle->score;
    size_t width = score_query_width(score);
    if (score_is_mixed(score)) {
        heads_limit_score(worker, at->head->heads, record, at->head->b, at->row, j, x);
    } else {
        ap_dot(x, ap_at(&record->query, at->row, at->head->b * width),
               ap_at(&record->key, j, score_own(score, at->head->b)), width,
               temp(worker, TEMP_PRODUCT));
    }
    limbs_add(x, x, ap_at(&at->head->e->pattern, at->row, j));
}

/* Are A's ds near?  And the distances, put into leak[row], of the other keys' s', which are there,
 * from the limit's shift? */
typedef struct {
    bool limit, leaks;
} Near;

static Near row_near(const HeadRow *at)
{
    Near near = {true, true};
    for (size_t j = 0; j < at->seen; j++) {
        mpfr_srcptr ds = ap_at(&at->head->e->pattern, at->row, j);
        mpfr_ptr d = ap_at(&at->head->e->leak, at->row, j);
        if (in_limit(at, j)) {
            near.limit = near.limit && shift_is_near(ds);
        } else if (left_out(at, j)) {
            limbs_sub(d, d, ap_at(&at->head->record->score, at->row, at->head->b));
            near.leaks = near.leaks && shift_is_near(d);
        }
    }
    near.leaks = near.leaks && near.limit;
    return near;
}

/* e.pattern[row, j], which is ds, becomes expm1(ds) on A and 0 elsewhere; worker.row[j] =
 * e^(ds) on A.  sum = E. */
static void limit_exponentials(Worker *worker, const HeadRow *at, mpfr_ptr sum)
{
    mpfr_ptr m = ap_at(&at->head->e->pattern, at->row, 0), grown = ap_at(&worker->row, 0, 0),
             t = ap_at(&worker->row, 1, 0);
    mpfr_srcptr p = ap_at(at->head->pattern, at->row, 0);
    for (size_t j = 0; j < at->seen; j++) {
        if (!in_limit(at, j)) {
            mpfr_set_zero(m + j, 1);
        }
    }
    lanes_zero(m + at->seen, at->keys - at->seen);
    lanes_set(grown, m, at->seen);
    evaluator_exponentials(worker, m, grown, grown, at->seen);
    lanes_mul(t, numbers_row(p), numbers_row(m), at->seen);
    lanes_sum(sum, t, at->seen, t);
}

/* one = sum over A of p_j e^(ds_j), and e.pattern = dp, where E < -1/2. */
static void large_row(Worker *worker, const HeadRow *at, mpfr_ptr one)
{
    mpfr_set_zero(one, 1);
    for (size_t j = 0; j < at->seen; j++) {
        mpfr_ptr grown = ap_at(&worker->row, 0, j);
        if (in_limit(at, j)) {
            limbs_mul(grown, grown, ap_at(at->head->pattern, at->row, j));
            limbs_add(one, one, grown);
        }
    }
    for (size_t j = 0; j < at->seen; j++) {
        mpfr_ptr d = ap_at(&at->head->e->pattern, at->row, j);
        if (in_limit(at, j)) {
            limbs_div(d, ap_at(&worker->row, 0, j), one);
            limbs_sub(d, d, ap_at(at->head->pattern, at->row, j));
        }
    }
}

/* The same, of expm1(ds) there and its mean, E. */
static void small_row(Worker *worker, const HeadRow *at, mpfr_srcptr sum, mpfr_ptr one)
{
    mpfr_ptr inverse = temp(worker, TEMP_INVERSE), d = ap_at(&at->head->e->pattern, at->row, 0);
    mpfr_srcptr p = ap_at(at->head->pattern, at->row, 0);
    mpfr_add_ui(one, sum, 1, MPFR_RNDN);
    mpfr_ui_div(inverse, 1, one, MPFR_RNDN);
    lanes_sub(d, numbers_row(d), numbers_same(sum), at->seen); /* p is 0 outside A */
    lanes_mul(d, numbers_row(d), numbers_row(p), at->seen);
    lanes_mul(d, numbers_row(d), numbers_same(inverse), at->seen);
}

/* e.leak[row] /= total */
static void divide_leaks(const HeadRow *at, mpfr_srcptr total)
{
    for (size_t j = 0; j < at->seen; j++) {
        if (left_out(at, j)) {
            mpfr_ptr r = ap_at(&at->head->e->leak, at->row, j);
            limbs_div(r, r, total);
        }
    }
}

/* leak = r from the distances in it; one = sum over A of p_j e^(ds_j). */
static void near_leaks(Worker *worker, const HeadRow *at, mpfr_srcptr one)
{
    mpfr_ptr total = temp(worker, TEMP_TOTAL), t = temp(worker, TEMP_DISTANCE);
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < at->seen; j++) {
        mpfr_ptr r = ap_at(&at->head->e->leak, at->row, j);
        if (left_out(at, j)) {
            limbs_set(t, r);
            shift_exp(worker, r, t, at->gap[j]);
            limbs_add(total, total, r);
        }
    }
    limbs_mul(t, one, ap_at(&at->head->record->gate, at->row, at->head->b));
    limbs_add(total, total, t);
    divide_leaks(at, total);
}

/* worker.row = s' of all keys, of those left out from their distances in leak; all = the largest
 * less what Omega takes, limit = that of A. */
static void far_shifts(Worker *worker, const HeadRow *at, mpfr_ptr limit, mpfr_ptr all)
{
    bool first = true;
    mpfr_srcptr shift = ap_at(&at->head->record->score, at->row, at->head->b);
    for (size_t j = 0; j < at->seen; j++) {
        mpfr_ptr x = ap_at(&worker->row, 0, j);
        if (in_limit(at, j)) {
            moved_score(worker, at, j, x);
        } else if (left_out(at, j)) {
            limbs_add(x, ap_at(&at->head->e->leak, at->row, j), shift);
        }
        if (in_limit(at, j) && (first || mpfr_cmp(x, limit) > 0)) {
            limbs_set(limit, x);
            first = false;
        }
    }
    limbs_set(all, limit);
    for (size_t j = 0; j < at->seen; j++) {
        if (left_out(at, j)) {
            shift_raise(worker->ev, all, ap_at(&worker->row, 0, j), at->gap[j]);
        }
    }
}

/* leak = r: the softmax of all keys anew. */
static void far_leaks(Worker *worker, const HeadRow *at, mpfr_srcptr shift)
{
    mpfr_ptr d = temp(worker, TEMP_DISTANCE), y = temp(worker, TEMP_WEIGHT),
             total = temp(worker, TEMP_TOTAL);
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < at->seen; j++) {
        mpfr_ptr e = in_limit(at, j) ? y : ap_at(&at->head->e->leak, at->row, j);
        if (in_limit(at, j) || left_out(at, j)) {
            limbs_sub(d, ap_at(&worker->row, 0, j), shift);
            shift_exp(worker, e, d, at->gap[j]);
            limbs_add(total, total, e);
        }
    }
    divide_leaks(at, total);
}

/* e.pattern = dp, the softmax of A anew less that before, for changes that are far, beside which
 * nothing cancels. */
static void far_limit(Worker *worker, const HeadRow *at, mpfr_srcptr shift)
{
    mpfr_ptr d = temp(worker, TEMP_DISTANCE), total = temp(worker, TEMP_TOTAL);
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < at->keys; j++) {
        mpfr_ptr p = ap_at(&at->head->e->pattern, at->row, j);
        mpfr_set_zero(p, 1);
        if (j < at->seen && in_limit(at, j)) {
            limbs_sub(d, ap_at(&worker->row, 0, j), shift);
            shift_exp(worker, p, d, 0);
            limbs_add(total, total, p);
        }
    }
    for (size_t j = 0; j < at->seen; j++) {
        mpfr_ptr p = ap_at(&at->head->e->pattern, at->row, j);
        if (in_limit(at, j)) {
            limbs_div(p, p, total);
            limbs_sub(p, p, ap_at(at->head->pattern, at->row, j));
        }
    }
}

/* e.pattern[row] = dp on A, leak[row] = r elsewhere. */
static void softmax_row(Worker *worker, const void *context, size_t row)
{
    const Head *head = context;
    HeadRow at = head_row(worker, head, row);
    mpfr_ptr sum = temp(worker, TEMP_E), one = temp(worker, TEMP_ONE),
             limit = temp(worker, TEMP_LIMIT), all = temp(worker, TEMP_ALL);
    Near near = row_near(&at);
    if (!near.leaks) {
        far_shifts(worker, &at, limit, all);
        far_leaks(worker, &at, all);
    }
    if (!near.limit) {
        far_limit(worker, &at, limit);
        return;
    }
    limit_exponentials(worker, &at, sum);
    if (mpfr_cmp_d(sum, -0.5) < 0) {
        large_row(worker, &at, one);
    } else {
        small_row(worker, &at, sum, one);
    }
    if (near.leaks) {
        near_leaks(worker, &at, one);
    }
}

/* Of head heads->first + b. */
static Head head_of(const Heads *heads, const Record *record, size_t b, Difference *e)
{
    return (Head){.heads = heads,
                  .record = record,
                  .pattern = &record->pattern[record_pattern(record, b)],
                  .e = e,
                  .h = heads->first + b,
                  .b = b};
}

void difference_keys(const Heads *heads, const Record *record, size_t b, Difference *e)
{
    Evaluator *ev = heads->ev;
    Head head = head_of(heads, record, b, e);
    size_t rows = e->stream.rows;
    difference_key_scores(&head);
    moved_scores(ev, &head);
    evaluator_each(ev, rows, rows * rows, softmax_row, &head);
}

/* e.mixed[row] += what the keys that the limit leaves out add. */
static void leak_row(Worker *worker, const void *context, size_t row)
{
    const Head *head = context;
    const Difference *e = head->e;
    HeadRow at = head_row(worker, head, row);
    size_t first = head->b * head->width;
    mpfr_ptr dy = ap_at(&e->mixed, row, first), y = ap_at(&worker->sum, 0, 0),
             t = ap_at(&worker->sum, 1, 0);
    lanes_add(y, numbers_row(ap_at(head->mixed, row, first)), numbers_row(dy), head->width);
    for (size_t j = 0; j < at.seen; j++) {
        if (left_out(&at, j)) {
            lanes_sub(t, numbers_row(ap_at(&e->moved, j, first)), numbers_row(y), head->width);
            lanes_mul(t, numbers_row(t), numbers_same(ap_at(&e->leak, row, j)), head->width);
            lanes_add(dy, numbers_row(dy), numbers_row(t), head->width);
        }
    }
}

void difference_key_mix(const Heads *heads, const Record *record, PartKind part, size_t b,
                        Difference *e)
{
    Evaluator *ev = heads->ev;
    Head head = head_of(heads, record, b, e);
    size_t rows = e->stream.rows, width = heads_part_width(&heads->bundle->value, part);
    size_t at = b * width;
    head.mixed = &record->part[record_part(record, part)].mixed;
    head.width = width;
    for (size_t first = 0; first < rows; first += PATTERN_ROWS) {
        RowBlock block = bilinear_block(heads, first);
        size_t count = block.count, keys = block.keys;
        ProductView dy = product_block(&e->mixed, first, at, count, width);
        evaluator_product(ev, dy, product_block(&e->pattern, first, 0, count, keys),
                          product_block(&e->moved, 0, at, keys, width), false);
        evaluator_product(ev, dy, product_block(head.pattern, first, 0, count, keys),
                          product_block(&e->value, 0, at, keys, width), true);
    }
    evaluator_each(ev, rows, rows * (rows + width), leak_row, &head);
}
