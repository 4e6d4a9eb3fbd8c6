/*
 * The original models' own operations:
 *     x += act(x W1 + b1) W2 + b2,     x = x W + b (or +=),     x = act(x).
 */
#include "direct.h"

/* Columns first, ... of matrix x. */
typedef struct {
    Activation activation;
    ApMat *x, *exponentials;
    Columns columns;
} Activate;

/* x[row] = x sigma(x), with t = exp(-|x|) x / (1 + t) or, for x < 0, x t / (1 + t); the
 * exponentials are made beside it. */
static void silu_row(const Evaluator *ev, Worker *worker, const Activate *a, size_t row)
{
    mpfr_ptr x = ap_at(a->x, row, a->columns.first), e = ap_at(a->exponentials, row, 0);
    for (size_t c = 0; c < a->columns.count; c++) {
        mpfr_setsign(e + c, x + c, 1, MPFR_RNDN);
    }
    evaluator_exp(ev, worker, e, e, a->columns.count);
    for (size_t c = 0; c < a->columns.count; c++) {
        if (mpfr_sgn(x + c) < 0) {
            limbs_mul(x + c, x + c, e + c);
        }
        mpfr_add_ui(e + c, e + c, 1, MPFR_RNDN);
        limbs_div(x + c, x + c, e + c);
    }
}

/* x = x erfc(-x / sqrt 2) / 2 */
static void gelu(mpfr_ptr x, mpfr_ptr t)
{
    mpfr_sqrt_ui(t, 2, MPFR_RNDN);
    limbs_div(t, x, t);
    mpfr_neg(t, t, MPFR_RNDN);
    mpfr_erfc(t, t, MPFR_RNDN);
    limbs_mul(x, x, t);
    mpfr_div_2ui(x, x, 1, MPFR_RNDN);
}

static void activate_row(Evaluator *ev, Worker *worker, const void *context, size_t row)
{
    const Activate *a = context;
    if (a->activation == ACTIVATION_SILU) {
        silu_row(ev, worker, a, row);
        return;
    }
    for (size_t c = a->columns.first; c < a->columns.first + a->columns.count; c++) {
        mpfr_ptr x = ap_at(a->x, row, c);
        if (a->activation == ACTIVATION_GELU) {
            gelu(x, ap_at(&worker->temp, 0, 0));
        } else if (!(mpfr_sgn(x) > 0)) {
            mpfr_set_zero(x, 1);
        }
    }
}

/* x = act(x) in some columns. */
static void activate(Evaluator *ev, Activation activation, ApMat *x, ApMat *exponentials,
                     Columns columns)
{
    Activate a = {activation, x, exponentials, columns};
    evaluator_each(ev, x->rows, x->rows * columns.count, activate_row, &a);
}

/* x[., first + c] += b[c] on all rows. */
static void add_bias(ApMat *x, size_t first, const double *b, size_t count)
{
    for (size_t i = 0; b != NULL && i < x->rows; i++) {
        for (size_t c = 0; c < count; c++) {
            mpfr_add_d(ap_at(x, i, first + c), ap_at(x, i, first + c), b[c], MPFR_RNDN);
        }
    }
}

/* Hidden units at once. */
static size_t hidden_block(const Direct *direct, size_t rows, mpfr_prec_t bits)
{
    size_t block = evaluator_block_columns(rows, bits);
    return block < direct->hidden ? block : direct->hidden;
}

size_t direct_columns(const Direct *direct, size_t rows, mpfr_prec_t bits)
{
    size_t count =
        direct->write.count > direct->read.count ? direct->write.count : direct->read.count;
    size_t block = direct->kind == DIRECT_FFN ? hidden_block(direct, rows, bits) : 0;
    return block > count ? block : count;
}

/* x[write] += act(x[read] W1 + b1) W2 + b2, hidden units by blocks. */
static void ffn(Evaluator *ev, const Direct *direct, const ApMat *x, ApMat *stream, ApMat *delta,
                RecordPart *work)
{
    ApMat *hidden = &work->value;
    size_t rows = stream->rows, d = direct->write.count, H = direct->hidden;
    size_t block = hidden_block(direct, rows, ev->bits);
    ap_zero(delta);
    for (size_t first = 0; first < H; first += block) {
        size_t count = H - first < block ? H - first : block;
        ProductView units = product_block(hidden, 0, 0, rows, count);
        evaluator_product(ev, units,
                          product_block(x, 0, direct->read.first, rows, direct->read.count),
                          product_doubles(direct->w1 + first, direct->read.count, count, H), false);
        add_bias(hidden, 0, direct->b1 != NULL ? direct->b1 + first : NULL, count);
        activate(ev, direct->activation, hidden, &work->mixed, (Columns){0, count});
        evaluator_product(ev, product_block(delta, 0, 0, rows, d), units,
                          product_doubles(direct->w2 + first * d, count, d, d), true);
    }
    add_bias(delta, 0, direct->b2, d);
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < d; c++) {
            mpfr_ptr y = ap_at(stream, i, direct->write.first + c);
            limbs_add(y, y, ap_at(delta, i, c));
        }
    }
}

/* x[write] = x[read] W + b, or +=; then the columns read are cleared if asked. */
static void linear(Evaluator *ev, const Direct *direct, const ApMat *x, ApMat *stream, ApMat *out)
{
    size_t rows = stream->rows;
    evaluator_product(
        ev, product_block(out, 0, 0, rows, direct->write.count),
        product_block(x, 0, direct->read.first, rows, direct->read.count),
        product_doubles(direct->w1, direct->read.count, direct->write.count, direct->write.count),
        false);
    add_bias(out, 0, direct->b1, direct->write.count);
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < direct->write.count; c++) {
            mpfr_ptr y = ap_at(stream, i, direct->write.first + c);
            if (direct->replace) {
                limbs_set(y, ap_at(out, i, c));
            } else {
                limbs_add(y, y, ap_at(out, i, c));
            }
        }
        for (size_t c = 0; direct->clear && c < direct->read.count; c++) {
            mpfr_set_zero(ap_at(stream, i, direct->read.first + c), 1);
        }
    }
}

void direct_operate(Evaluator *ev, const Direct *direct, const ApMat *x, ApMat *stream,
                    ApMat *delta, RecordPart *work)
{
    switch (direct->kind) {
    case DIRECT_NORM: break; /* T' has it too: run.c */
    case DIRECT_FFN: ffn(ev, direct, x, stream, delta, work); break;
    case DIRECT_LINEAR: linear(ev, direct, x, stream, &work->value); break;
    case DIRECT_ACTIVATION:
        activate(ev, direct->activation, stream, &work->mixed, direct->read);
        break;
    }
}
