/*
 * One evaluation of one model in arbitrary precision, layer by layer.
 */
#include "run.h"

#include "change.h"
#include "structured.h"
#include "tape.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More bits than a precision has. */
enum { MOST_BITS = 1 << 21 };

/* Columns that size the scratch: of the widest block of heads (or of a direct operation), and of
 * the widest value of one head. */
typedef struct {
    size_t heads, value, query, head_value;
    bool pattern; /* a pattern per key is needed */
} Extents;

size_t run_block_columns(size_t rows, mpfr_prec_t bits)
{
    const double most = 1024, bytes = 0x1p26;
    double columns = bytes / ap_bytes((double)rows, 1, bits);
    return columns < 1 ? 1 : (size_t)(columns < most ? columns : most);
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void extents_of_bundle(Extents *extents, const Bundle *bundle, size_t rows, mpfr_prec_t bits)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    size_t block = structured_block(bundle, rows, bits), width = structured_value_width(value);
    size_t one = max_size(width, max_size(value->read.count, value->write.count));
    extents->heads = max_size(extents->heads, block);
    extents->value = max_size(extents->value, max_size(block * width, one));
    extents->head_value = max_size(extents->head_value, one);
    if (score->kind == SCORE_BILINEAR) {
        extents->query = max_size(extents->query, block * structured_query_width(score));
        extents->pattern = true;
    }
}

static Extents extents_of_model(const Model *model, mpfr_prec_t bits)
{
    Extents extents = {1, 1, 1, 1, false};
    size_t rows = layout_rows(&model->layout);
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            extents_of_bundle(&extents, &sublayer->bundles[b], rows, bits);
        }
        if (sublayer->bundle_count == 0) {
            extents.value = max_size(extents.value, direct_columns(&sublayer->direct, rows, bits));
        }
    }
    return extents;
}

/* The dense form sums scores that hold Omega itself: it keeps log2 Omega more bits. */
static mpfr_prec_t form_bits(double omega, mpfr_prec_t bits, RefForm form)
{
    int exponent = 0;
    if (form == REF_DENSE && isfinite(omega)) {
        frexp(omega, &exponent);
    }
    return form == REF_DENSE ? bits + 64 + (exponent > 0 ? exponent : 0) : bits;
}

static bool scratch_init(RefRun *run)
{
    const Layout *layout = &run->model->layout;
    Extents extents = extents_of_model(run->model, run->bits);
    size_t rows = layout_rows(layout), width = run_dense_width(layout);
    RunScratch *s = &run->scratch;
    mpfr_prec_t bits = run->bits;
    bool dense = run->form == REF_DENSE;
    size_t keys = extents.pattern || dense ? rows : 0, full = dense ? width : 0;
    return ap_init(&s->product, rows, extents.heads, bits) &&
           ap_init(&s->score, rows, extents.heads, bits) &&
           ap_init(&s->gate, rows, extents.heads, bits) &&
           ap_init(&s->value, rows, extents.value, bits) &&
           ap_init(&s->mixed, rows, extents.value, bits) &&
           ap_init(&s->query, rows, extents.query, bits) &&
           ap_init(&s->key, rows, extents.query, bits) &&
           ap_init(&s->group, rows, extents.heads * GROUPS, bits) &&
           ap_init(&s->pattern, rows, keys, bits) && ap_init(&s->temp, 1, RUN_TEMPS, bits) &&
           ap_init(&s->q, full, full, bits) && ap_init(&s->v, full, full, bits) &&
           ap_init(&s->xq, rows, full, bits) && ap_init(&s->px, rows, full, bits) &&
           threads_open(run, extents.head_value, extents.pattern);
}

static void scratch_clear(RunScratch *s)
{
    ApMat *const mats[] = {&s->product, &s->score, &s->gate,  &s->value,   &s->mixed,
                           &s->query,   &s->key,   &s->group, &s->pattern, &s->temp,
                           &s->q,       &s->v,     &s->xq,    &s->px,      &s->high};
    for (size_t i = 0; i < sizeof mats / sizeof *mats; i++) {
        ap_clear(mats[i]);
    }
}

void run_release_scratch(RefRun *run)
{
    ApMat temp = run->scratch.temp;
    run->scratch.temp = (ApMat){0};
    scratch_clear(&run->scratch);
    run->scratch = (RunScratch){.temp = temp};
}

/* The augmented stream: X on the token rows, the bias row's content, the one-hot block. */
static void stream_load(RefRun *run, const double *x, const double *bias_row_content)
{
    const Layout *layout = &run->model->layout;
    size_t content = layout_content(layout), bias = layout_bias_row(layout);
    for (size_t i = 0; i < layout->n; i++) {
        for (size_t c = 0; c < content; c++) {
            mpfr_set_d(ap_at(&run->stream, layout_token_row(layout, i), c), x[i * content + c],
                       MPFR_RNDN);
        }
    }
    for (size_t c = 0; bias != SIZE_MAX && bias_row_content != NULL && c < content; c++) {
        mpfr_set_d(ap_at(&run->stream, bias, c), bias_row_content[c], MPFR_RNDN);
    }
    for (size_t i = 0; content < run->stream.columns && i < run->stream.rows; i++) {
        bool one_hot = layout->bias_row != BIAS_ROW_NONE && layout->bias_row != BIAS_ROW_MASKED;
        mpfr_set_ui(ap_at(&run->stream, i, one_hot ? content + i : content), one_hot || i != bias,
                    MPFR_RNDN);
    }
}

RefRun *run_open(const Model *model, const double *x, const double *bias_row_content, double omega,
                 mpfr_prec_t bits, RefForm form, bool reproducible)
{
    RefRun *run = calloc(1, sizeof *run);
    if (run == NULL) {
        return NULL;
    }
    size_t rows = layout_rows(&model->layout);
    size_t columns =
        form == REF_DENSE ? run_dense_width(&model->layout) : layout_content(&model->layout);
    run->model = model;
    run->omega = omega;
    run->limit = isinf(omega);
    run->claimed_bits = bits;
    run->bits = form_bits(omega, bits, form);
    run->form = form;
    run->reproducible = reproducible;
    mpfr_init2(run->score_max, REF_CELL_BITS);
    mpfr_set_zero(run->score_max, 1);
    for (size_t k = 0; k <= RUN_MAX_GAP; k++) {
        run->gap[k] = -INFINITY;
    }
    run->score_exponent = -INFINITY;
    run->exp = ap_exp_create(reproducible);
    if (run->exp == NULL || !ap_init(&run->stream, rows, columns, run->bits) ||
        !ap_init(&run->delta, rows, columns, run->bits) ||
        !ap_init(&run->factor, 1, RUN_MAX_GAP + 2, run->bits) || !scratch_init(run)) {
        ref_run_clear(run);
        return NULL;
    }
    stream_load(run, x, bias_row_content);
    return run;
}

RefRun *ref_run_open(const Model *model, const double *x, const double *bias_row_content,
                     double omega, mpfr_prec_t bits, RefForm form)
{
    return run_open(model, x, bias_row_content, omega, bits, form, false);
}

void ref_run_clear(RefRun *run)
{
    if (run == NULL) {
        return;
    }
    tape_leave(run);
    scratch_clear(&run->scratch);
    threads_clear(run);
    change_clear(run->change);
    ap_clear(&run->stream);
    ap_clear(&run->delta);
    ap_clear(&run->factor);
    ap_exp_free(run->exp);
    mpfr_clear(run->score_max);
    free(run);
}

double ref_run_bytes(const Pair *pair, mpfr_prec_t bits, RefForm form)
{
    const Layout *layout = &pair->converted.layout;
    Extents extents = extents_of_model(&pair->converted, bits);
    double rows = (double)layout_rows(layout), width = (double)run_dense_width(layout);
    double columns = form == REF_DENSE ? width : (double)layout_content(layout);
    double keys = extents.pattern || form == REF_DENSE ? rows : 0;
    double bytes = 2 * ap_bytes(rows, columns, bits) +
                   ap_bytes(rows, keys + (3 + GROUPS) * (double)extents.heads, bits) +
                   ap_bytes(rows, 2 * (double)extents.value + 2 * (double)extents.query, bits) +
                   threads_bytes(rows, (double)extents.head_value, extents.pattern, bits);
    if (form == REF_DENSE) {
        bytes += ap_bytes(2 * width, width, bits) + ap_bytes(2 * rows, width, bits);
    }
    return bytes;
}

double ref_difference_bytes(const Pair *pair, mpfr_prec_t bits)
{
    const Layout *layout = &pair->converted.layout;
    Extents extents = extents_of_model(&pair->converted, bits);
    double rows = (double)layout_rows(layout), value = (double)extents.value;
    double query = (double)extents.query, keys = extents.pattern ? rows : 0;
    double heads = (double)extents.heads;
    return ap_bytes(rows, 3 * (double)layout_content(layout) + 2 * keys, bits) +
           ap_bytes(rows, (4 + GROUPS) * heads + 3 * value + 3 * query, bits);
}

/* What goes into a stream. */
static void run_note_term(RefRun *run, mpfr_srcptr term)
{
    if (run->record_gaps && mpfr_regular_p(term) && mpfr_get_exp(term) > run->term) {
        run->term = mpfr_get_exp(term);
    }
}

/* After a layer: where a number left MPFR's range nothing of it is to be believed, in what is not NaN
 * neither. */
static void check_range(RefRun *run)
{
    bool left = ap_fatal_flags() != 0;
    for (size_t i = 0; i < run->stream.rows * run->stream.columns; i++) {
        left = left || !mpfr_number_p(run->stream.entry + i);
        left = left || (run->change != NULL && !mpfr_number_p(run->change->sum.entry + i));
    }
    if (left && !run->failed) {
        run->left_range = true;
        run_spoil(run);
    }
    mpfr_clear_flags();
}

void ref_run_layer(RefRun *run)
{
    const Model *model = run->model;
    if (run->layer >= model->depth) {
        fprintf(stderr, "headproof: bug: %s:%d: layer %zu of %zu\n", __FILE__, __LINE__,
                run->layer + 1, model->depth);
        abort();
    }
    mpfr_clear_flags();
    threads_forget_scores(run);
    run->term = mpfr_get_emin();
    if (run->change != NULL) {
        change_begin_layer(run->change);
    }
    for (; run->sublayer < model->layer_end[run->layer]; run->sublayer++) {
        const Sublayer *sublayer = &model->sublayers[run->sublayer];
        if (sublayer->bundle_count == 0) {
            run_direct(run, &sublayer->direct);
            continue;
        }
        ap_zero(&run->delta);
        if (run->change != NULL) {
            change_begin(run->change);
        }
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            if (run->form == REF_DENSE) {
                run_dense_bundle(run, &sublayer->bundles[b]);
            } else {
                run_structured_bundle(run, &sublayer->bundles[b]);
            }
        }
        for (size_t i = 0; run->tape == NULL && i < run->stream.rows * run->stream.columns; i++) {
            mpfr_ptr entry = run->stream.entry + i;
            run_note_term(run, entry);
            mpfr_add(entry, entry, run->delta.entry + i, MPFR_RNDN);
        }
        if (run->change != NULL) {
            change_end(run->change);
        }
    }
    tape_keep_stream(run);
    tape_play_stream(run);
    if (run->change != NULL) {
        change_end_layer(run);
    }
    check_range(run);
    run->layer++;
}

bool ref_run_left_range(const RefRun *run)
{
    return run->left_range;
}

size_t ref_run_layers(const RefRun *run)
{
    return run->layer;
}

bool ref_run_failed(const RefRun *run)
{
    return run->failed;
}

mpfr_srcptr ref_run_entry(const RefRun *run, size_t row, size_t column)
{
    return ap_at(run->change != NULL ? &run->change->sum : &run->stream, row, column);
}

mpfr_srcptr ref_run_difference(const RefRun *run, size_t row, size_t column)
{
    return ap_at(&run->change->stream, row, column);
}

mpfr_srcptr ref_run_score_max(const RefRun *run)
{
    return run->score_max;
}

int run_best_position(const RefRun *run, const Score *score, size_t h, size_t i)
{
    int best = INT_MIN;
    for (size_t j = 0; j < run->stream.rows; j++) {
        int k = run_position(run, score, h, i, j);
        best = run_sees(run, score, i, j) && k > best ? k : best;
    }
    return best;
}

mpfr_srcptr run_factor(RefRun *run, int gap)
{
    bool none = run->limit && gap > 0;
    return none ? ap_at(&run->factor, 0, RUN_MAX_GAP + 1) : run_decay(run, gap);
}

mpfr_srcptr run_decay(RefRun *run, int gap)
{
    if (gap < 0 || gap > RUN_MAX_GAP) {
        fprintf(stderr, "headproof: bug: %s:%d: coefficients of Omega differ by %d\n", __FILE__,
                __LINE__, gap);
        abort();
    }
    mpfr_ptr factor = ap_at(&run->factor, 0, (size_t)gap);
    if (!run->factor_known[gap]) {
        if (gap == 0) {
            mpfr_set_ui(factor, 1, MPFR_RNDN);
        } else {
            mpfr_t exponent; /* gap * omega, exactly */
            mpfr_init2(exponent, 64);
            mpfr_set_d(exponent, run->omega, MPFR_RNDN);
            mpfr_mul_si(exponent, exponent, -gap, MPFR_RNDN);
            mpfr_exp(factor, exponent, MPFR_RNDN);
            mpfr_clear(exponent);
        }
        run->factor_known[gap] = true;
    }
    return factor;
}

void run_note_gap(RunThread *thread, int gap, double bits)
{
    if (bits < MOST_BITS) { /* else no precision shows this row's leak, beside others' or alone */
        thread->gap[gap] = fmax(thread->gap[gap], bits);
    }
}

void run_apply_scale(mpfr_ptr s, const Scale *scale, mpfr_ptr t)
{
    if (scale->num != 1) {
        mpfr_mul_si(s, s, scale->num, MPFR_RNDN);
    }
    if (scale->den != 1) {
        mpfr_div_si(s, s, scale->den, MPFR_RNDN);
    }
    if (scale->sqrt_den != 1) {
        mpfr_sqrt_ui(t, (unsigned long)scale->sqrt_den, MPFR_RNDN);
        mpfr_div(s, s, t, MPFR_RNDN);
    }
}

void ref_thread_setup(void)
{
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
}

void ref_thread_clear(void)
{
    ap_thread_clear();
}
