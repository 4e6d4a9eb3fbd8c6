/*
 * The original models' own operations:
 *     x += act(x W1 + b1) W2 + b2,     x = x W + b (or +=),     x = act(x).
 */
#include "sublayer.h"

#include "../evaluator/activation.h"

/* Columns first, ... of matrix x. */
typedef struct {
    Activation activation;
    ApMat *x, *scratch;
    Columns columns;
} Activate;

static void activate_row(Worker *worker, const void *context, size_t row)
{
    const Activate *a = context;
    activation_row(worker, a->activation, ap_at(a->x, row, a->columns.first),
                   ap_at(a->scratch, row, 0), a->columns.count);
}

/* x = act(x) in some columns. */
static void activate(RefRun *run, const Direct *direct, ApMat *x, Columns columns)
{
    Activate a = {direct->activation, x, &run->scratch.record.part[HEADS_PART].mixed, columns};
    evaluator_each(&run->ev, x->rows, x->rows * columns.count, activate_row, &a);
}

/* x[., first + c] += b[c] on all rows. */
static void add_bias(ApMat *x, size_t first, const double *b, size_t count)
{
    for (size_t i = 0; b != NULL && i < x->rows; i++) {
        lanes_add_doubles(ap_at(x, i, first), b, count);
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

/* to[., c] = x[read] W + b of hidden units first, ..., first + count - 1. */
static void units(RefRun *run, const Direct *direct, ApMat *to, Columns of, const double *w,
                  const double *b)
{
    size_t rows = to->rows, D = direct->read.count, H = direct->hidden;
    evaluator_product(&run->ev, product_block(to, 0, 0, rows, of.count),
                      product_block(run->input, 0, direct->read.first, rows, D),
                      product_doubles(w + of.first, D, of.count, H), false);
    add_bias(to, 0, b != NULL ? b + of.first : NULL, of.count);
}

/* hidden = act(x W1 + b1), of a gated network times x W3 + b3. */
static void fill_hidden(RefRun *run, const Direct *direct, ApMat *hidden, Columns of)
{
    ApMat *up = &run->scratch.record.part[HEADS_PART].mixed; /* activate's scratch before */
    units(run, direct, hidden, of, direct->w1, direct->b1);
    activate(run, direct, hidden, (Columns){0, of.count});
    if (direct->w3 == NULL) {
        return;
    }
    units(run, direct, up, of, direct->w3, direct->b3);
    for (size_t i = 0; i < hidden->rows; i++) {
        mpfr_ptr h = ap_at(hidden, i, 0);
        lanes_mul(h, numbers_row(h), numbers_row(ap_at(up, i, 0)), of.count);
    }
}

/* x[write] += act(x[read] W1 + b1) W2 + b2, hidden units by blocks. */
static void ffn(RefRun *run, const Direct *direct, bool beside)
{
    Evaluator *ev = &run->ev;
    ApMat *stream = &run->stream, *delta = &run->scratch.delta;
    ApMat *hidden = &run->scratch.record.part[HEADS_PART].value;
    size_t rows = stream->rows, write = direct->write.first, d = direct->write.count;
    size_t H = direct->hidden, block = hidden_block(direct, rows, ev->bits);
    if (!beside) {
        ap_zero(delta);
    }
    for (size_t first = 0; first < H; first += block) {
        size_t count = H - first < block ? H - first : block;
        fill_hidden(run, direct, hidden, (Columns){first, count});
        evaluator_product(ev, product_block(delta, 0, write, rows, d),
                          product_block(hidden, 0, 0, rows, count),
                          product_doubles(direct->w2 + first * d, count, d, d), true);
    }
    add_bias(delta, write, direct->b2, d);
    evaluator_add(ev, stream, stream, delta, write, d);
}

/* x[write] = x[read] W + b, or +=; then the columns read are cleared if asked. */
static void linear(RefRun *run, const Direct *direct)
{
    Evaluator *ev = &run->ev;
    const ApMat *x = run->input;
    ApMat *stream = &run->stream, *out = &run->scratch.record.part[HEADS_PART].value;
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

void direct_operate(RefRun *run, const Direct *direct, bool beside)
{
    switch (direct->kind) {
    case DIRECT_NORM: break; /* T' has it too: run.c */
    case DIRECT_FFN: ffn(run, direct, beside); break;
    case DIRECT_LINEAR: linear(run, direct); break;
    case DIRECT_ACTIVATION: activate(run, direct, &run->stream, direct->read); break;
    }
}
