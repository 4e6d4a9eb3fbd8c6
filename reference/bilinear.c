/*
 * Patterns of heads with bilinear scores, key by key.
 */
#include "structured.h"

size_t bilinear_products(RefRun *run, const Score *score, size_t h, const ApMat *x, bool biased,
                         ApMat *query, ApMat *key)
{
    size_t width = score->d_head > 0 ? score->d_head : score->read.count;
    structured_product(run, query, x, score->read, score->q.data + h * score->q.head_stride,
                       score->q.ld, width);
    if (score->d_head > 0) {
        structured_product(run, key, x, score->read, score->k.data + h * score->k.head_stride,
                           score->k.ld, width);
    } else {
        structured_columns(key, x, score->read);
    }
    if (biased && score->q_bias != NULL) {
        structured_token_bias(run, query, score->q_bias + h * width, width);
    }
    if (biased && score->k_bias != NULL) {
        structured_token_bias(run, key, score->k_bias + h * width, width);
    }
    for (size_t i = 0; i < query->rows; i++) {
        for (size_t c = 0; c < width; c++) {
            run_apply_scale(ap_at(query, i, c), &score->scale, ap_at(&run->scratch.temp, 0, 0));
        }
    }
    return width;
}

void bilinear_coefficients(const RefRun *run, const Score *score, size_t h, size_t row, int *best,
                           int *second)
{
    *best = run_best_position(run, score, h, row);
    *second = *best - RUN_MAX_GAP;
    for (size_t j = 0; j < run->stream.rows; j++) {
        int k = run_position(run, score, h, row, j);
        *second = run_sees(run, score, row, j) && k < *best && k > *second ? k : *second;
    }
}

static void note_score(RefRun *run, size_t i, size_t j, mpfr_srcptr score)
{
    size_t bias = layout_bias_row(&run->model->layout);
    if (i != bias && j != bias && mpfr_cmpabs(score, run->score_max) > 0) {
        mpfr_abs(run->score_max, score, MPFR_RNDN);
    }
}

/* scratch.pattern[row] = softmax of the row's scores, content and Omega. */
static void softmax_row(RefRun *run, const Score *score, size_t h, size_t row, size_t width)
{
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0), total = ap_at(&run->scratch.gate, row, 0);
    mpfr_ptr z_best = ap_at(&run->scratch.temp, 0, 2), z_rest = ap_at(&run->scratch.temp, 0, 3);
    int best, second;
    bilinear_coefficients(run, score, h, row, &best, &second);
    mpfr_set_zero(total, 1);
    mpfr_set_zero(z_best, 1);
    mpfr_set_zero(z_rest, 1);
    for (size_t j = 0; j < run->stream.rows; j++) {
        mpfr_ptr p = ap_at(&run->scratch.pattern, row, j);
        int k = run_position(run, score, h, row, j);
        if (!run_sees(run, score, row, j)) {
            mpfr_set_zero(p, 1);
            continue;
        }
        ap_dot(p, ap_at(&run->scratch.query, row, 0), ap_at(&run->scratch.key, j, 0), width, t);
        note_score(run, row, j, p);
        ap_exp(run->exp, p, p);
        if (run->record_gaps && (k == best || k == second)) {
            mpfr_ptr z = k == best ? z_best : z_rest;
            mpfr_add(z, z, p, MPFR_RNDN);
        }
        mpfr_mul(p, p, run_factor(run, best - k), MPFR_RNDN);
        mpfr_add(total, total, p, MPFR_RNDN);
    }
    run_note_gap(run, best - second, z_best, z_rest);
    for (size_t j = 0; j < run->stream.rows; j++) {
        mpfr_ptr p = ap_at(&run->scratch.pattern, row, j);
        mpfr_div(p, p, total, MPFR_RNDN);
    }
}

void bilinear_softmax(RefRun *run, const Score *score, size_t h)
{
    size_t width = bilinear_products(run, score, h, &run->stream, true, &run->scratch.query,
                                     &run->scratch.key);
    for (size_t row = 0; row < run->stream.rows; row++) {
        softmax_row(run, score, h, row, width);
    }
}

void bilinear_mix(RefRun *run, const Score *score, size_t width)
{
    ApMat *mixed = &run->scratch.mixed;
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    for (size_t i = 0; i < mixed->rows; i++) {
        for (size_t c = 0; c < width; c++) {
            mpfr_set_zero(ap_at(mixed, i, c), 1);
        }
        for (size_t j = 0; j < mixed->rows; j++) {
            if (run_sees(run, score, i, j)) {
                ap_axpy(ap_at(mixed, i, 0), ap_at(&run->scratch.pattern, i, j),
                        ap_at(&run->scratch.value, j, 0), width, t);
            }
        }
    }
}
