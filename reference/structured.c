/*
 * A bundle of heads by its structure, at the cost of the original's products.
 *
 * Head by head: the value of every row before its second factor, the pattern, the pattern
 * applied, the second factor.  Keys that share a score are exponentiated once: without bilinear
 * scores a row sees at most three groups of keys (itself, the other tokens, the bias row), and
 * the other tokens enter through their column sum.  Omega enters as exact factors
 * exp(-Omega gap), so that no score ever holds it.
 */
#include "structured.h"

#include "../cases/fault.h"

/* Coordinates of a value before its second factor. */
static size_t inner_width(const Value *value)
{
    switch (value->kind) {
    case VALUE_UNIT: return 1;
    case VALUE_FACTORED: return value->d_head;
    default: return value->write.count;
    }
}

void structured_product(RefRun *run, ApMat *out, Columns columns, const double *w, size_t ld,
                        size_t count)
{
    ApMat *weight = &run->scratch.weight;
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    for (size_t c = 0; c < count; c++) {
        ap_load(weight, w + c, columns.count, ld);
        for (size_t i = 0; i < run->stream.rows; i++) {
            ap_dot(ap_at(out, i, c), ap_at(&run->stream, i, columns.first), ap_at(weight, 0, 0),
                   columns.count, t);
        }
    }
}

void structured_column(RefRun *run, ApMat *out, size_t column)
{
    for (size_t i = 0; i < out->rows; i++) {
        mpfr_set(ap_at(out, i, 0), ap_at(&run->stream, i, column), MPFR_RNDN);
    }
}

void structured_token_bias(RefRun *run, ApMat *u, const double *bias, size_t count)
{
    const Layout *layout = &run->model->layout;
    for (size_t i = 0; i < layout->n; i++) {
        for (size_t c = 0; c < count; c++) {
            mpfr_ptr entry = ap_at(u, layout_token_row(layout, i), c);
            mpfr_add_d(entry, entry, bias[c], MPFR_RNDN);
        }
    }
}

/* The gate of head h and its first value factor are the same vector: one product serves both. */
static bool gate_is_value(const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    return score->kind == SCORE_GATE && value->kind == VALUE_FACTORED && value->d_head == 1 &&
           score->gate.data != NULL && score->gate.data == value->v.data &&
           score->gate.ld == value->v.ld && score->gate.head_stride == value->v.head_stride &&
           score->read.first == value->read.first && score->read.count == value->read.count;
}

/* scratch.value: what row j of head h contributes, before the second factor. */
static void head_values(RefRun *run, const Bundle *bundle, size_t h)
{
    const Value *value = &bundle->value;
    ApMat *u = &run->scratch.value;
    size_t width = inner_width(value);
    if (gate_is_value(bundle)) {
        for (size_t i = 0; i < u->rows; i++) {
            mpfr_set(ap_at(u, i, 0), ap_at(&run->scratch.product, i, 0), MPFR_RNDN);
        }
    } else if (value->kind == VALUE_UNIT) {
        structured_column(run, u, value->read.first + h);
    } else {
        structured_product(run, u, value->read, value->v.data + h * value->v.head_stride,
                           value->v.ld, width);
    }
    if (value->inner_bias != NULL) {
        structured_token_bias(run, u, value->inner_bias + h * width, width);
    }
}

static void mix(RefRun *run, const Score *score, size_t width)
{
    if (score->kind == SCORE_BILINEAR) {
        bilinear_mix(run, score, width);
    } else {
        groups_mix(run, score, width);
    }
}

/* delta[., first + c] += factor * mixed[., c] */
static void emit_columns(RefRun *run, size_t first, size_t count, long factor)
{
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    for (size_t i = 0; i < run->delta.rows; i++) {
        for (size_t c = 0; c < count; c++) {
            mpfr_ptr out = ap_at(&run->delta, i, first + c);
            mpfr_mul_si(t, ap_at(&run->scratch.mixed, i, c),
                        FAULT("reference-without-diagonal", factor > 0 ? factor : 0, factor),
                        MPFR_RNDN);
            mpfr_add(out, out, t, MPFR_RNDN);
        }
    }
}

/* mixed *= the value's scale */
static void scale_mixed(RefRun *run, const Value *value)
{
    ApMat *mixed = &run->scratch.mixed;
    for (size_t i = 0; value->scale != 1 && i < mixed->rows; i++) {
        for (size_t c = 0; c < inner_width(value); c++) {
            mpfr_mul_d(ap_at(mixed, i, c), ap_at(mixed, i, c), value->scale, MPFR_RNDN);
        }
    }
}

/* delta[., write] += mixed times the second factor of head h */
static void emit_head(RefRun *run, const Value *value, size_t h)
{
    ApMat *weight = &run->scratch.weight;
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    if (value->kind == VALUE_UNIT || value->kind == VALUE_FACTORED) {
        scale_mixed(run, value);
    }
    if (value->kind == VALUE_UNIT) {
        emit_columns(run, value->write.first + h, 1, value->unit);
        return;
    }
    if (value->kind != VALUE_FACTORED) {
        emit_columns(run, value->write.first, value->write.count, 1);
        return;
    }
    for (size_t r = 0; r < value->d_head; r++) {
        ap_load(weight, value->o.data + h * value->o.head_stride + r * value->o.ld,
                value->write.count, 1);
        for (size_t i = 0; i < run->delta.rows; i++) {
            ap_axpy(ap_at(&run->delta, i, value->write.first), ap_at(&run->scratch.mixed, i, r),
                    ap_at(weight, 0, 0), value->write.count, t);
        }
    }
}

/* What a bundle's single extra parts carry: the bias of head 0 through its pattern, and the
 * integer diagonal. */
static void emit_bias_and_diagonal(RefRun *run, const Bundle *bundle)
{
    const Value *value = &bundle->value;
    ApMat *u = &run->scratch.value;
    if (value->bias != NULL) {
        ap_zero(u);
        structured_token_bias(run, u, value->bias, value->write.count);
        mix(run, &bundle->score, value->write.count);
        emit_columns(run, value->write.first, value->write.count, 1);
    }
    if (value->diagonal != 0) {
        for (size_t i = 0; i < u->rows; i++) {
            for (size_t c = 0; c < value->read.count; c++) {
                mpfr_set(ap_at(u, i, c), ap_at(&run->stream, i, value->read.first + c), MPFR_RNDN);
            }
        }
        mix(run, &bundle->score, value->read.count);
        emit_columns(run, value->read.first, value->read.count, value->diagonal);
    }
}

/* delta += sum over heads of softmax_rows(X Q X^T) X V (docs/mathematics.md, section 1). */
void run_structured_bundle(RefRun *run, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    size_t width = inner_width(value);
    for (size_t h = 0; h < bundle->heads; h++) {
        if (score->kind == SCORE_BILINEAR) {
            bilinear_softmax(run, score, h);
        } else if (h == 0 || score->kind == SCORE_GATE) {
            groups_softmax(run, score, h);
        }
        if (value->kind != VALUE_NONE) {
            head_values(run, bundle, h);
            mix(run, score, width);
            emit_head(run, value, h);
        }
        if (h == 0) {
            emit_bias_and_diagonal(run, bundle);
        }
    }
}
