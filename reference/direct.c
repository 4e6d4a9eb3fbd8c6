/*
 * The original models' own operations.
 */
#include "run.h"

/* y = act(x), t is scratch: x / (1 + exp(-x)), max(x, 0), or x erfc(-x / sqrt 2) / 2. */
static void activate(RefRun *run, Activation activation, mpfr_ptr y, mpfr_srcptr x, mpfr_ptr t)
{
    switch (activation) {
    case ACTIVATION_SILU:
        mpfr_neg(t, x, MPFR_RNDN);
        ap_exp(run->exp, t, t);
        mpfr_add_ui(t, t, 1, MPFR_RNDN);
        mpfr_div(y, x, t, MPFR_RNDN);
        break;
    case ACTIVATION_RELU:
        if (mpfr_sgn(x) > 0) {
            mpfr_set(y, x, MPFR_RNDN);
        } else {
            mpfr_set_zero(y, 1);
        }
        break;
    case ACTIVATION_GELU:
        mpfr_sqrt_ui(t, 2, MPFR_RNDN);
        mpfr_div(t, x, t, MPFR_RNDN);
        mpfr_neg(t, t, MPFR_RNDN);
        mpfr_erfc(t, t, MPFR_RNDN);
        mpfr_mul(y, x, t, MPFR_RNDN);
        mpfr_div_2ui(y, y, 1, MPFR_RNDN);
        break;
    }
}

/* out[i, c] = sum_r in[i, r] w[r, c] (+ b[c]) over all rows; out has ld columns to itself. */
static void weights_product(RefRun *run, ApMat *out, const ApMat *in, size_t in_first,
                            size_t in_count, const double *w, const double *b, size_t columns)
{
    ApMat *weight = &run->scratch.weight;
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    for (size_t c = 0; c < columns; c++) {
        ap_load(weight, w + c, in_count, columns);
        for (size_t i = 0; i < in->rows; i++) {
            mpfr_ptr y = ap_at(out, i, c);
            ap_dot(y, ap_at(in, i, in_first), ap_at(weight, 0, 0), in_count, t);
            if (b != NULL) {
                mpfr_add_d(y, y, b[c], MPFR_RNDN);
            }
        }
    }
}

/* x[write] += act(x[read] W1 + b1) W2 + b2. */
static void ffn(RefRun *run, const Direct *direct)
{
    ApMat *hidden = &run->scratch.value, *weight = &run->scratch.weight;
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0), y = ap_at(&run->scratch.temp, 0, 1);
    weights_product(run, hidden, &run->stream, direct->read.first, direct->read.count, direct->w1,
                    direct->b1, direct->hidden);
    for (size_t i = 0; i < run->stream.rows; i++) {
        for (size_t k = 0; k < direct->hidden; k++) {
            mpfr_ptr h = ap_at(hidden, i, k);
            activate(run, direct->activation, h, h, t);
        }
    }
    for (size_t c = 0; c < direct->write.count; c++) {
        ap_load(weight, direct->w2 + c, direct->hidden, direct->write.count);
        for (size_t i = 0; i < run->stream.rows; i++) {
            mpfr_ptr x = ap_at(&run->stream, i, direct->write.first + c);
            ap_dot(y, ap_at(hidden, i, 0), ap_at(weight, 0, 0), direct->hidden, t);
            if (direct->b2 != NULL) {
                mpfr_add_d(y, y, direct->b2[c], MPFR_RNDN);
            }
            mpfr_add(x, x, y, MPFR_RNDN);
        }
    }
}

/* x[write] = x[read] W + b, or +=; then the columns read are cleared if asked. */
static void linear(RefRun *run, const Direct *direct)
{
    ApMat *out = &run->scratch.value;
    weights_product(run, out, &run->stream, direct->read.first, direct->read.count, direct->w1,
                    direct->b1, direct->write.count);
    for (size_t i = 0; i < run->stream.rows; i++) {
        for (size_t c = 0; c < direct->write.count; c++) {
            mpfr_ptr x = ap_at(&run->stream, i, direct->write.first + c);
            if (direct->replace) {
                mpfr_set(x, ap_at(out, i, c), MPFR_RNDN);
            } else {
                mpfr_add(x, x, ap_at(out, i, c), MPFR_RNDN);
            }
        }
        for (size_t c = 0; direct->clear && c < direct->read.count; c++) {
            mpfr_set_zero(ap_at(&run->stream, i, direct->read.first + c), 1);
        }
    }
}

void run_direct(RefRun *run, const Direct *direct)
{
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    switch (direct->kind) {
    case DIRECT_FFN: ffn(run, direct); break;
    case DIRECT_LINEAR: linear(run, direct); break;
    case DIRECT_ACTIVATION:
        for (size_t i = 0; i < run->stream.rows; i++) {
            for (size_t c = 0; c < direct->read.count; c++) {
                mpfr_ptr x = ap_at(&run->stream, i, direct->read.first + c);
                activate(run, direct->activation, x, x, t);
            }
        }
        break;
    }
}
