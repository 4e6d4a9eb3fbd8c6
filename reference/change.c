#include "change.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool has_direct(const Model *model)
{
    for (size_t s = 0; s < model->sublayer_count; s++) {
        if (model->sublayers[s].bundle_count == 0) {
            return true;
        }
    }
    return false;
}

static bool change_init(RunChange *change, const RefRun *run)
{
    const RunScratch *s = &run->scratch;
    mpfr_prec_t bits = run->bits;
    size_t rows = run->stream.rows, columns = run->stream.columns;
    size_t value = s->value.columns, query = s->query.columns, keys = s->pattern.columns;
    change->largest = mpfr_get_emin();
    change->term = calloc(rows * columns + 1, sizeof *change->term);
    return change->term != NULL && ap_init(&change->stream, rows, columns, bits) &&
           ap_init(&change->delta, rows, columns, bits) &&
           ap_init(&change->sum, rows, columns, bits) && ap_init(&change->product, rows, 1, bits) &&
           ap_init(&change->gate, rows, 1, bits) && ap_init(&change->grown, rows, 1, bits) &&
           ap_init(&change->value, rows, value, bits) &&
           ap_init(&change->mixed, rows, value, bits) &&
           ap_init(&change->moved, rows, value, bits) &&
           ap_init(&change->column_sum, 2, value, bits) &&
           ap_init(&change->query, rows, query, bits) && ap_init(&change->key, rows, query, bits) &&
           ap_init(&change->moved_query, 1, query, bits) &&
           ap_init(&change->group, rows, 3, bits) && ap_init(&change->pattern, rows, keys, bits) &&
           ap_init(&change->temp, 1, CHANGE_TEMPS, bits);
}

RefRun *change_open(const Model *model, const double *x, const double *bias_row_content,
                    double omega, mpfr_prec_t bits, bool correct_rounding)
{
    if (has_direct(model)) {
        fprintf(stderr, "headproof: bug: %s:%d: the change of a direct operation\n", __FILE__,
                __LINE__);
        abort();
    }
    RefRun *run =
        run_open(model, x, bias_row_content, INFINITY, bits, REF_STRUCTURED, correct_rounding);
    if (run == NULL) {
        return NULL;
    }
    run->omega = omega;
    run->change = calloc(1, sizeof *run->change);
    if (run->change == NULL || !change_init(run->change, run)) {
        ref_run_clear(run);
        return NULL;
    }
    change_end_layer(run);
    return run;
}

RefRun *ref_difference_open(const Model *model, const double *x, const double *bias_row_content,
                            double omega, mpfr_prec_t bits)
{
    return change_open(model, x, bias_row_content, omega, bits, false);
}

void change_clear(RunChange *change)
{
    if (change == NULL) {
        return;
    }
    ApMat *const mats[] = {
        &change->stream, &change->delta,      &change->sum,     &change->product,
        &change->gate,   &change->grown,      &change->value,   &change->mixed,
        &change->moved,  &change->column_sum, &change->query,   &change->moved_query,
        &change->key,    &change->group,      &change->pattern, &change->temp};
    for (size_t i = 0; i < sizeof mats / sizeof *mats; i++) {
        ap_clear(mats[i]);
    }
    free(change->term);
    free(change);
}

void change_begin_layer(RunChange *change)
{
    for (size_t i = 0; i < change->stream.rows * change->stream.columns; i++) {
        change->term[i] = mpfr_get_emin();
    }
}

void change_begin(RunChange *change)
{
    ap_zero(&change->delta);
}

static void note_term(mpfr_exp_t *term, mpfr_srcptr d)
{
    if (mpfr_regular_p(d) && mpfr_get_exp(d) > *term) {
        *term = mpfr_get_exp(d);
    }
}

void change_end(RunChange *change)
{
    for (size_t i = 0; i < change->stream.rows * change->stream.columns; i++) {
        mpfr_ptr entry = change->stream.entry + i;
        note_term(&change->term[i], entry);
        note_term(&change->term[i], change->delta.entry + i);
        mpfr_add(entry, entry, change->delta.entry + i, MPFR_RNDN);
    }
}

void change_end_layer(RefRun *run)
{
    RunChange *change = run->change;
    for (size_t i = 0; i < change->stream.rows * change->stream.columns; i++) {
        mpfr_add(change->sum.entry + i, run->stream.entry + i, change->stream.entry + i, MPFR_RNDN);
    }
}

void change_note(RunChange *change, mpfr_srcptr d)
{
    if (mpfr_regular_p(d) && mpfr_get_exp(d) > change->largest) {
        change->largest = mpfr_get_exp(d);
    }
}

void change_exponentials(RefRun *run, mpfr_ptr m, mpfr_ptr g, mpfr_srcptr ds)
{
    ap_expm1(run->exp, m, ds);
    if (mpfr_cmp_d(m, -0.5) < 0) {
        ap_exp(run->exp, g, ds);
    } else {
        mpfr_add_ui(g, m, 1, MPFR_RNDN);
    }
}

void change_mix(RefRun *run, const Score *score, size_t h, size_t width)
{
    RunChange *change = run->change;
    for (size_t i = 0; i < change->moved.rows; i++) {
        for (size_t c = 0; c < width; c++) {
            mpfr_add(ap_at(&change->moved, i, c), ap_at(&run->scratch.value, i, c),
                     ap_at(&change->value, i, c), MPFR_RNDN);
        }
    }
    if (score->kind == SCORE_BILINEAR) {
        change_bilinear_mix(run, score, h, width);
    } else {
        change_groups_mix(run, score, h, width);
    }
}
