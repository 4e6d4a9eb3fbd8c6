/*
 * Patterns of heads with bilinear scores, key by key.
 */
#include "structured.h"

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

/* The row's exponentials without Omega, from its scores; 1 where it does not see. */
static void exponentials(RefRun *run, RunThread *thread, const Score *score, size_t row,
                         size_t keys)
{
    mpfr_ptr p = ap_at(&run->scratch.pattern, row, 0);
    for (size_t j = 0; j < keys; j++) {
        if (run_sees(run, score, row, j)) {
            note_score(run, thread, row, j, p + j);
        } else {
            mpfr_set_zero(p + j, 1);
        }
    }
    run_exp(run, thread, p, p, keys);
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

/* scratch.pattern[row] = softmax of the row's scores, content and Omega. */
static void softmax_row(RefRun *run, RunThread *thread, const void *context, size_t row)
{
    const Head *head = context;
    mpfr_ptr total = ap_at(&run->scratch.gate, row, head->b);
    mpfr_ptr z_best = ap_at(&thread->temp, 0, 2), z_rest = ap_at(&thread->temp, 0, 3);
    size_t keys = bilinear_block(run, head->score, row - row % PATTERN_ROWS).keys;
    int best, second;
    coefficients(run, head, row, &best, &second);
    exponentials(run, thread, head->score, row, keys);
    mpfr_set_zero(total, 1);
    mpfr_set_zero(z_best, 1);
    mpfr_set_zero(z_rest, 1);
    for (size_t j = 0; j < keys; j++) {
        mpfr_ptr p = ap_at(&run->scratch.pattern, row, j);
        int k = run_position(run, head->score, head->head, row, j);
        if (!run_sees(run, head->score, row, j)) {
            mpfr_set_zero(p, 1);
            continue;
        }
        if (run->record_gaps && (k == best || k == second)) {
            mpfr_ptr z = k == best ? z_best : z_rest;
            mpfr_add(z, z, p, MPFR_RNDN);
        }
        if (k != best) {
            mpfr_mul(p, p, run_factor(run, best - k), MPFR_RNDN);
        }
        mpfr_add(total, total, p, MPFR_RNDN);
    }
    run_note_gap(run, thread, best - second, z_best, z_rest);
    divide_by_sum(thread, ap_at(&run->scratch.pattern, row, 0), keys, total);
}

void bilinear_softmax(RefRun *run, const Heads *heads, size_t b)
{
    const RunScratch *s = &run->scratch;
    Head head = {heads->score, heads->first + b, b};
    size_t rows = run->stream.rows, width = structured_query_width(heads->score);
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
