/*
 * The change of bilinear scores: for a query q and a key k that change by dq and dk,
 *     ds = (q + dq) dk + dq k,
 * one product of twice the width, [q + dq, 2^s dq] and [dk, 2^-s k], where s brings k to dk's size:
 * a product's rows and columns are scaled by their largest entries.  Of mixed heads these two terms
 * are formed for the keys of A alone; what moved scores of the others need is left for
 * key_changes.c.
 */
#include "difference.h"

/* The exponent of the largest of a head's columns; the least of all where they are zeros. */
static mpfr_exp_t largest_exponent(const ApMat *x, size_t first, size_t width)
{
    mpfr_exp_t largest = mpfr_get_emin();
    for (size_t i = 0; i < x->rows; i++) {
        mpfr_exp_t own = ap_exponent(ap_at(x, i, first), width);
        largest = own > largest ? own : largest;
    }
    return largest;
}

/* Context of both_row: s, and where the head's columns are, of queries and of keys. */
typedef struct {
    const Record *record;
    const Difference *e;
    size_t first, key, width;
    long scale;
} Both;

static Both both_of(const Head *head)
{
    const Score *score = &head->heads->bundle->score;
    size_t width = score_query_width(score);
    Both both = {head->record, head->e, head->b * width, score_own(score, head->b), width, 0};
    mpfr_exp_t key = largest_exponent(&head->record->key, both.key, width);
    mpfr_exp_t change = largest_exponent(&head->e->key, both.key, width);
    bool both_are = key > mpfr_get_emin() && change > mpfr_get_emin();
    both.scale = both_are ? key - change : 0;
    return both;
}

static void both_row(Worker *worker, const void *context, size_t row)
{
    const Both *both = context;
    const Difference *e = both->e;
    size_t width = both->width;
    mpfr_srcptr change = ap_at(&e->query, row, both->first);
    mpfr_ptr queries = ap_at(&e->both_queries, row, 0), keys = ap_at(&e->both_keys, row, 0),
             up = ap_at(&worker->temp, 0, 0), down = ap_at(&worker->temp, 0, 1);
    lanes_add(queries, numbers_row(ap_at(&both->record->query, row, both->first)),
              numbers_row(change), width);
    mpfr_set_ui_2exp(up, 1, both->scale, MPFR_RNDN);
    mpfr_set_ui_2exp(down, 1, -both->scale, MPFR_RNDN);
    lanes_mul(queries + width, numbers_row(change), numbers_same(up), width);
    lanes_set(keys, ap_at(&e->key, row, both->key), width);
    lanes_mul(keys + width, numbers_row(ap_at(&both->record->key, row, both->key)),
              numbers_same(down), width);
}

static bool are_zeros(const ApMat *x, size_t first, size_t width)
{
    bool zeros = true;
    for (size_t i = 0; zeros && i < x->rows; i++) {
        zeros = numbers_are_zero(ap_at(x, i, first), width);
    }
    return zeros;
}

void difference_queries(const Heads *heads, const Record *record, Difference *e)
{
    Evaluator *ev = heads->ev;
    size_t width = score_query_width(&heads->bundle->score);
    const MixedTerms moved[] = {{&e->both_queries, &e->key}, {&e->query, &record->key}};
    heads_queries(heads, e->input, false, &e->query, &e->key);
    if (score_is_mixed(&heads->bundle->score)) {
        evaluator_add(ev, &e->both_queries, &record->query, &e->query, 0, width);
        heads_limit_scores(heads, moved, 2, &e->both_keys, &e->group);
        evaluator_add(ev, &e->both_keys, &record->key, &e->key, 0, width);
    }
}

/* ds of the keys of A. */
static void limit_row(Worker *worker, const void *context, size_t row)
{
    const Head *of = context;
    const Heads *heads = of->heads;
    const Score *score = &heads->bundle->score;
    const Difference *e = of->e;
    size_t seen = heads_gaps(heads, of->h, row, worker->gap);
    mpfr_ptr less = ap_at(&worker->temp, 0, 0);
    for (size_t j = 0; j < seen; j++) {
        mpfr_ptr ds = ap_at(&e->pattern, row, j);
        if (worker->gap[j] != 0) {
            continue;
        }
        if (j == row || j == layout_bias_row(heads->layout)) {
            limbs_set(ds, ap_at(&e->group, row, j == row ? of->b : heads->count + of->b));
        } else {
            heads_mixed_score(worker, ds, score, of->h, ap_at(&e->both_queries, row, 0),
                              ap_at(&e->key, j, 0));
            heads_mixed_score(worker, less, score, of->h, ap_at(&e->query, row, 0),
                              ap_at(&of->record->key, j, 0));
            limbs_add(ds, ds, less);
        }
    }
}

void difference_key_scores(const Head *head)
{
    const Heads *heads = head->heads;
    Difference *e = head->e;
    Evaluator *ev = heads->ev;
    size_t rows = e->stream.rows, width = 2 * score_query_width(&heads->bundle->score);
    if (score_is_mixed(&heads->bundle->score)) {
        evaluator_each(ev, rows, rows * rows, limit_row, head);
        return;
    }
    const Both both = both_of(head);
    /* As in the first layer: ds = 0. */
    bool stay =
        are_zeros(&e->query, both.first, both.width) && are_zeros(&e->key, both.key, both.width);
    for (size_t i = 0; stay && i < rows; i++) {
        lanes_zero(ap_at(&e->pattern, i, 0), bilinear_block(heads, i - i % PATTERN_ROWS).keys);
    }
    if (stay) {
        return;
    }
    evaluator_each(ev, rows, rows * width, both_row, &both);
    for (size_t first = 0; first < rows; first += PATTERN_ROWS) {
        RowBlock block = bilinear_block(heads, first);
        ProductView keys = product_block(&e->both_keys, 0, 0, block.keys, width);
        evaluator_product(ev, product_block(&e->pattern, first, 0, block.count, block.keys),
                          product_block(&e->both_queries, first, 0, block.count, width),
                          product_transposed(keys), false);
    }
}
