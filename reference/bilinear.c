/*
 * Patterns of heads with bilinear scores, key by key.
 */
#include "doubt.h"
#include "shift.h"
#include "structured.h"

#include <limits.h>

typedef struct {
    const Score *score;
    size_t head, b; /* the head, and its place in the block */
} Head;

size_t structured_query_width(const Score *score)
{
    return score->d_head > 0 ? score->d_head : score->read.count;
}

RowBlock bilinear_block(const RefRun *run, const Score *score, size_t first)
{
    size_t rows = run->stream.rows, left = rows - first;
    RowBlock block = {first, left < PATTERN_ROWS ? left : PATTERN_ROWS, rows};
    if (score->visible == VISIBLE_EARLIER) {
        block.keys = first + block.count;
    }
    return block;
}

typedef struct {
    const Score *score;
    ApMat *query;
    size_t columns;
} ScaledQuery;

static void scale_row(RefRun *run, RunThread *thread, const void *context, size_t row)
{
    const ScaledQuery *scaled = context;
    (void)run;
    for (size_t c = 0; c < scaled->columns; c++) {
        run_apply_scale(ap_at(scaled->query, row, c), &scaled->score->scale,
                        ap_at(&thread->temp, 0, 0));
    }
}

void bilinear_products(RefRun *run, const Heads *heads, const ApMat *x, bool biased, ApMat *query,
                       ApMat *key)
{
    const Score *score = heads->score;
    size_t width = structured_query_width(score), columns = heads->count * width;
    structured_product(run, query, x, score->read, &score->q, heads, width);
    if (score->d_head > 0) {
        structured_product(run, key, x, score->read, &score->k, heads, width);
    }
    for (size_t b = 0; score->d_head == 0 && b < heads->count; b++) {
        structured_columns(key, b * width, x, score->read);
    }
    if (biased && score->q_bias != NULL) {
        structured_token_bias(run, query, score->q_bias + heads->first * width, columns);
    }
    if (biased && score->k_bias != NULL) {
        structured_token_bias(run, key, score->k_bias + heads->first * width, columns);
    }
    ScaledQuery scaled = {score, query, columns};
    run_each(run, query->rows, query->rows * columns, scale_row, &scaled);
}

/* The largest coefficient of Omega in a row, and the largest below it. */
static void coefficients(const RefRun *run, const Head *head, size_t row, int *best, int *second)
{
    *best = run_best_position(run, head->score, head->head, row);
    *second = *best - RUN_MAX_GAP;
    for (size_t j = 0; j < run->stream.rows; j++) {
        int k = run_position(run, head->score, head->head, row, j);
        *second = run_sees(run, head->score, row, j) && k < *best && k > *second ? k : *second;
    }
}

static void note_score(const RefRun *run, RunThread *thread, size_t i, size_t j, mpfr_srcptr score)
{
    size_t bias = layout_bias_row(&run->model->layout);
    if (i != bias && j != bias && mpfr_cmpabs(score, thread->score_max) > 0) {
        mpfr_abs(thread->score_max, score, MPFR_RNDN);
    }
}

/* A row of a head, the leading keys that it may see, its shift, and its keys' distances from that
 * where they are too large for an exponential without Omega, else 0. */
typedef struct {
    const Head *head;
    size_t row, keys;
    int best, second; /* coefficients */
    mpfr_ptr shift, far;
} Row;

static bool sees(const RefRun *run, const Row *row, size_t j)
{
    return run_sees(run, row->head->score, row->row, j);
}

static int coefficient(const RefRun *run, const Row *row, size_t j)
{
    return run_position(run, row->head->score, row->head->head, row->row, j);
}

/* The largest score less what Omega takes from it, in the limit of A alone. */
static void find_shift(const RefRun *run, const Row *row)
{
    mpfr_srcptr s = ap_at(&run->scratch.pattern, row->row, 0);
    bool first = true;
    for (size_t j = 0; j < row->keys; j++) {
        if (sees(run, row, j) && coefficient(run, row, j) == row->best) {
            if (first || mpfr_cmp(s + j, row->shift) > 0) {
                mpfr_set(row->shift, s + j, MPFR_RNDN);
            }
            first = false;
        }
    }
    for (size_t j = 0; !run->limit && j < row->keys; j++) {
        if (sees(run, row, j) && coefficient(run, row, j) != row->best) {
            shift_raise(run, row->shift, s + j, row->best - coefficient(run, row, j));
        }
    }
}

/* pattern = scores less the shift, 0 where they are far or the row does not see. */
static void shift_scores(const RefRun *run, RunThread *thread, const Row *row)
{
    mpfr_ptr p = ap_at(&run->scratch.pattern, row->row, 0);
    bool top = true;
    for (size_t j = 0; j < row->keys; j++) {
        mpfr_set_zero(row->far + j, 1);
        if (!sees(run, row, j)) {
            mpfr_set_zero(p + j, 1);
            continue;
        }
        note_score(run, thread, row->row, j, p + j);
        mpfr_sub(p + j, p + j, row->shift, MPFR_RNDN);
        if (coefficient(run, row, j) != row->best) {
            if (!shift_is_near(p + j)) {
                mpfr_set(row->far + j, p + j, MPFR_RNDN);
                mpfr_set_zero(p + j, 1);
            }
        } else if (top && mpfr_zero_p(p + j)) {
            top = false; /* what the others compete with */
        } else {
            doubt_note(run, thread, p + j);
        }
    }
}

/* Contents alone: A's sum of exponentials over that of the second coefficient. */
static void note_gap(const RefRun *run, RunThread *thread, const Row *row)
{
    mpfr_ptr best = ap_at(&thread->temp, 0, 2), rest = ap_at(&thread->temp, 0, 3),
             apart = ap_at(&thread->temp, 0, 4);
    mpfr_srcptr p = ap_at(&run->scratch.pattern, row->row, 0);
    mpfr_srcptr far = NULL;
    mpfr_set_zero(best, 1);
    mpfr_set_zero(rest, 1);
    for (size_t j = 0; j < row->keys; j++) {
        int k = sees(run, row, j) ? coefficient(run, row, j) : INT_MIN;
        if (k == row->best) {
            mpfr_add(best, best, p + j, MPFR_RNDN);
        } else if (k == row->second && mpfr_zero_p(row->far + j)) {
            mpfr_add(rest, rest, p + j, MPFR_RNDN);
        } else if (k == row->second && (far == NULL || mpfr_cmp(row->far + j, far) > 0)) {
            far = row->far + j;
        }
    }
    mpfr_set_zero(apart, 1);
    if (far != NULL && (mpfr_sgn(far) > 0 || mpfr_zero_p(rest))) {
        mpfr_set_ui(rest, 1, MPFR_RNDN);
        mpfr_neg(apart, far, MPFR_RNDN);
    }
    if (!mpfr_zero_p(rest)) {
        run_note_gap(thread, row->best - row->second, shift_bits_between(best, rest, apart));
    }
}

/* p[j] /= total, which is their sum: times the inverse, but 1 exactly for one key alone. */
static void divide_by_sum(RunThread *thread, mpfr_ptr p, size_t keys, mpfr_srcptr total)
{
    mpfr_ptr inverse = ap_at(&thread->temp, 0, 0);
    mpfr_ui_div(inverse, 1, total, MPFR_RNDN);
    for (size_t j = 0; j < keys; j++) {
        if (mpfr_equal_p(p + j, total)) {
            mpfr_set_ui(p + j, 1, MPFR_RNDN);
        } else if (!mpfr_zero_p(p + j)) {
            mpfr_mul(p + j, p + j, inverse, MPFR_RNDN);
        }
    }
}

/* p, a content's exponential, times that of what Omega takes from it. */
static void apply_omega(RefRun *run, RunThread *thread, const Row *row, size_t j, mpfr_ptr p)
{
    int gap = row->best - coefficient(run, row, j);
    if (mpfr_zero_p(row->far + j)) {
        mpfr_mul(p, p, run_factor(run, gap), MPFR_RNDN);
    } else if (run->limit) {
        mpfr_set_zero(p, 1);
    } else {
        shift_exp(run, thread, p, row->far + j, gap);
    }
}

/* scratch.pattern[row] = softmax of the row's scores, content and Omega, e^(s - shift) over their
 * sum. */
static void softmax_row(RefRun *run, RunThread *thread, const void *context, size_t index)
{
    const Head *head = context;
    mpfr_ptr total = ap_at(&run->scratch.gate, index, head->b);
    mpfr_ptr p = ap_at(&run->scratch.pattern, index, 0);
    Row row = {.head = head,
               .row = index,
               .keys = bilinear_block(run, head->score, index - index % PATTERN_ROWS).keys,
               .shift = ap_at(&run->scratch.score, index, head->b),
               .far = ap_at(&thread->row, 0, 0)};
    coefficients(run, head, index, &row.best, &row.second);
    find_shift(run, &row);
    shift_scores(run, thread, &row);
    run_exp(run, thread, p, p, row.keys);
    if (run->record_gaps) {
        note_gap(run, thread, &row);
    }
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < row.keys; j++) {
        if (!sees(run, &row, j)) {
            mpfr_set_zero(p + j, 1);
            continue;
        }
        if (coefficient(run, &row, j) != row.best) {
            apply_omega(run, thread, &row, j, p + j);
        }
        mpfr_add(total, total, p + j, MPFR_RNDN);
    }
    divide_by_sum(thread, p, row.keys, total);
}

void bilinear_softmax(RefRun *run, const Heads *heads, size_t b)
{
    const RunScratch *s = &run->scratch;
    Head head = {heads->score, heads->first + b, b};
    size_t rows = run->stream.rows, width = structured_query_width(heads->score);
    doubt_prepare(run, &(Heads){heads->score, head.head, 1});
    for (size_t first = 0; first < rows; first += PATTERN_ROWS) {
        RowBlock block = bilinear_block(run, heads->score, first);
        run_product(run, product_block(&s->pattern, first, 0, block.count, block.keys),
                    product_block(&s->query, first, b * width, block.count, width),
                    product_transposed(product_block(&s->key, 0, b * width, block.keys, width)),
                    false);
    }
    run_each(run, rows, rows * rows, softmax_row, &head);
}

void bilinear_mix(RefRun *run, const Score *score, size_t b, size_t width)
{
    const RunScratch *s = &run->scratch;
    for (size_t first = 0; first < run->stream.rows; first += PATTERN_ROWS) {
        RowBlock block = bilinear_block(run, score, first);
        run_product(run, product_block(&s->mixed, first, b * width, block.count, width),
                    product_block(&s->pattern, first, 0, block.count, block.keys),
                    product_block(&s->value, 0, b * width, block.keys, width), false);
    }
}
