/*
 * The difference e = r(T') - r(T_infinity) carried through a layer beside the limit.
 */
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
    size_t heads = s->gate.columns;
    change->term = calloc(rows * columns + 1, sizeof *change->term);
    return change->term != NULL && ap_init(&change->stream, rows, columns, bits) &&
           ap_init(&change->delta, rows, columns, bits) &&
           ap_init(&change->sum, rows, columns, bits) &&
           ap_init(&change->product, rows, heads, bits) &&
           ap_init(&change->score, rows, heads, bits) &&
           ap_init(&change->gate, rows, heads, bits) &&
           ap_init(&change->grown, rows, heads, bits) &&
           ap_init(&change->value, rows, value, bits) &&
           ap_init(&change->mixed, rows, value, bits) &&
           ap_init(&change->moved, rows, value, bits) &&
           ap_init(&change->query, rows, query, bits) && ap_init(&change->key, rows, query, bits) &&
           ap_init(&change->moved_query, rows, query, bits) &&
           ap_init(&change->group, rows, heads * GROUPS, bits) &&
           ap_init(&change->pattern, rows, keys, bits) && ap_init(&change->leak, rows, keys, bits);
}

RefRun *change_open(const Model *model, const double *x, const double *bias_row_content,
                    double omega, mpfr_prec_t bits, bool reproducible, const RunTape *tape)
{
    if (has_direct(model)) {
        fprintf(stderr, "headproof: bug: %s:%d: the change of a direct operation\n", __FILE__,
                __LINE__);
        abort();
    }
    RefRun *run =
        run_open(model, x, bias_row_content, INFINITY, bits, REF_STRUCTURED, reproducible);
    if (run == NULL) {
        return NULL;
    }
    run->omega = omega;
    run->change = calloc(1, sizeof *run->change);
    if (run->change == NULL || !change_init(run->change, run)) {
        ref_run_clear(run);
        return NULL;
    }
    if (tape != NULL) {
        run_release_scratch(run);
        run->tape = tape;
    }
    change_end_layer(run);
    return run;
}

void change_clear(RunChange *change)
{
    if (change == NULL) {
        return;
    }
    ApMat *const mats[] = {&change->stream,  &change->delta, &change->sum,     &change->gate,
                           &change->product, &change->score, &change->grown,   &change->value,
                           &change->mixed,   &change->moved, &change->query,   &change->moved_query,
                           &change->key,     &change->group, &change->pattern, &change->leak};
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

mpfr_exp_t change_largest(const RefRun *run)
{
    mpfr_exp_t largest = mpfr_get_emin();
    for (int t = 0; t < run->threads; t++) {
        largest = run->thread[t].largest > largest ? run->thread[t].largest : largest;
    }
    return largest;
}

void change_note(RunThread *thread, mpfr_srcptr d)
{
    if (mpfr_regular_p(d) && mpfr_get_exp(d) > thread->largest) {
        thread->largest = mpfr_get_exp(d);
    }
}

void change_note_leak(RunThread *thread, mpfr_srcptr r)
{
    change_note(thread, r);
    if (mpfr_zero_p(r)) {
        thread->largest = mpfr_get_emax();
    }
}

void change_exponentials(RefRun *run, RunThread *thread, mpfr_ptr m, mpfr_ptr g, mpfr_srcptr ds)
{
    ap_expm1(thread->expm1, m, ds);
    if (mpfr_cmp_d(m, -0.5) < 0) {
        run_exp(run, thread, g, ds, 1);
    } else {
        mpfr_add_ui(g, m, 1, MPFR_RNDN);
    }
}

/* moved = value + its change, in some columns. */
static void move_row(RefRun *run, RunThread *thread, const void *context, size_t row)
{
    const Columns *columns = context;
    RunChange *change = run->change;
    (void)thread;
    for (size_t c = columns->first; c < columns->first + columns->count; c++) {
        mpfr_add(ap_at(&change->moved, row, c), ap_at(&run->scratch.value, row, c),
                 ap_at(&change->value, row, c), MPFR_RNDN);
    }
}

void change_mix(RefRun *run, const Heads *heads, size_t b, size_t width)
{
    bool bilinear = heads->score->kind == SCORE_BILINEAR;
    Columns columns = {bilinear ? b * width : 0, bilinear ? width : heads->count * width};
    size_t rows = run->stream.rows;
    run_each(run, rows, rows * columns.count, move_row, &columns);
    if (bilinear) {
        change_bilinear_mix(run, heads, b, width);
    } else {
        change_groups_mix(run, heads, width);
    }
}
