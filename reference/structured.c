/*
 * A bundle of heads by its structure, at the cost of the original's products.
 *
 * Head by head: the value of every row before its second factor, the pattern, the pattern
 * applied, the second factor.  Keys that share a score are exponentiated once: without bilinear
 * scores a row sees at most three groups of keys (itself, the other tokens, the bias row), and
 * the other tokens enter through their column sum.  Omega enters as exact factors
 * exp(-Omega gap), so that no score ever holds it.
 *
 * Where the run carries e = r(T') - r(T_infinity), whatever is linear is done to e as it is to the
 * stream; change.h has the rest.
 */
#include "structured.h"

#include "change.h"

/* Coordinates of a value before its second factor. */
static size_t inner_width(const Value *value)
{
    switch (value->kind) {
    case VALUE_UNIT: return 1;
    case VALUE_FACTORED: return value->d_head;
    default: return value->write.count;
    }
}

void structured_product(RefRun *run, ApMat *out, const ApMat *x, Columns columns, const double *w,
                        size_t ld, size_t count)
{
    ApMat *weight = &run->scratch.weight;
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    for (size_t c = 0; c < count; c++) {
        ap_load(weight, w + c, columns.count, ld);
        for (size_t i = 0; i < x->rows; i++) {
            ap_dot(ap_at(out, i, c), ap_at(x, i, columns.first), ap_at(weight, 0, 0), columns.count,
                   t);
        }
    }
}

void structured_columns(ApMat *out, const ApMat *x, Columns columns)
{
    for (size_t i = 0; i < out->rows; i++) {
        for (size_t c = 0; c < columns.count; c++) {
            mpfr_set(ap_at(out, i, c), ap_at(x, i, columns.first + c), MPFR_RNDN);
        }
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

/* u = x V of head h before the second factor, V without biases; product holds x g. */
static void head_products(RefRun *run, const Bundle *bundle, size_t h, const ApMat *x,
                          const ApMat *product, ApMat *u)
{
    const Value *value = &bundle->value;
    if (gate_is_value(bundle)) {
        structured_columns(u, product, (Columns){0, 1});
    } else if (value->kind == VALUE_UNIT) {
        structured_columns(u, x, (Columns){value->read.first + h, 1});
    } else {
        structured_product(run, u, x, value->read, value->v.data + h * value->v.head_stride,
                           value->v.ld, inner_width(value));
    }
}

/* scratch.value: what row j of head h contributes, before the second factor. */
static void head_values(RefRun *run, const Bundle *bundle, size_t h)
{
    const Value *value = &bundle->value;
    RunScratch *s = &run->scratch;
    RunChange *change = run->change;
    size_t width = inner_width(value);
    head_products(run, bundle, h, &run->stream, &s->product, &s->value);
    if (value->inner_bias != NULL) {
        structured_token_bias(run, &s->value, value->inner_bias + h * width, width);
    }
    if (change != NULL) {
        head_products(run, bundle, h, &change->stream, &change->product, &change->value);
    }
}

/* The pattern of head h, and how it changes. */
static void pattern(RefRun *run, const Score *score, size_t h)
{
    if (score->kind == SCORE_BILINEAR) {
        bilinear_softmax(run, score, h);
    } else {
        groups_softmax(run, score, h);
    }
    if (run->change != NULL && score->kind == SCORE_BILINEAR) {
        change_bilinear_softmax(run, score, h);
    } else if (run->change != NULL) {
        change_groups_softmax(run, score, h);
    }
}

/* The pattern applied to scratch.value, and how that changes. */
static void mix(RefRun *run, const Score *score, size_t h, size_t width)
{
    if (score->kind == SCORE_BILINEAR) {
        bilinear_mix(run, score, width);
    } else {
        groups_mix(run, score, width);
    }
    if (run->change != NULL) {
        change_mix(run, score, h, width);
    }
}

/* delta[., first + c] += factor * mixed[., c] */
static void add_columns(RefRun *run, ApMat *delta, const ApMat *mixed, size_t first, size_t count,
                        long factor)
{
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    for (size_t i = 0; i < delta->rows; i++) {
        for (size_t c = 0; c < count; c++) {
            mpfr_ptr out = ap_at(delta, i, first + c);
            mpfr_mul_si(t, ap_at(mixed, i, c),
                        FAULT("reference-without-diagonal", factor > 0 ? factor : 0, factor),
                        MPFR_RNDN);
            mpfr_add(out, out, t, MPFR_RNDN);
        }
    }
}

static void emit_columns(RefRun *run, size_t first, size_t count, long factor)
{
    RunChange *change = run->change;
    add_columns(run, &run->delta, &run->scratch.mixed, first, count, factor);
    if (change != NULL) {
        add_columns(run, &change->delta, &change->mixed, first, count, factor);
    }
}

/* mixed *= the value's scale */
static void scale_mixed(ApMat *mixed, const Value *value)
{
    for (size_t i = 0; value->scale != 1 && i < mixed->rows; i++) {
        for (size_t c = 0; c < inner_width(value); c++) {
            mpfr_mul_d(ap_at(mixed, i, c), ap_at(mixed, i, c), value->scale, MPFR_RNDN);
        }
    }
}

/* delta[., write] += mixed times the second factor of head h */
static void add_factored(RefRun *run, ApMat *delta, const ApMat *mixed, const Value *value,
                         size_t h)
{
    ApMat *weight = &run->scratch.weight;
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    for (size_t r = 0; r < value->d_head; r++) {
        ap_load(weight, value->o.data + h * value->o.head_stride + r * value->o.ld,
                value->write.count, 1);
        for (size_t i = 0; i < delta->rows; i++) {
            ap_axpy(ap_at(delta, i, value->write.first), ap_at(mixed, i, r), ap_at(weight, 0, 0),
                    value->write.count, t);
        }
    }
}

/* What head h writes. */
static void emit_head(RefRun *run, const Value *value, size_t h)
{
    RunChange *change = run->change;
    if (value->kind == VALUE_UNIT || value->kind == VALUE_FACTORED) {
        scale_mixed(&run->scratch.mixed, value);
        if (change != NULL) {
            scale_mixed(&change->mixed, value);
        }
    }
    if (value->kind == VALUE_UNIT) {
        emit_columns(run, value->write.first + h, 1, value->unit);
        return;
    }
    if (value->kind != VALUE_FACTORED) {
        emit_columns(run, value->write.first, value->write.count, 1);
        return;
    }
    add_factored(run, &run->delta, &run->scratch.mixed, value, h);
    if (change != NULL) {
        add_factored(run, &change->delta, &change->mixed, value, h);
    }
}

/* What a bundle's single extra parts carry: the bias of head 0 through its pattern, and the
 * integer diagonal. */
static void emit_bias_and_diagonal(RefRun *run, const Bundle *bundle)
{
    const Value *value = &bundle->value;
    ApMat *u = &run->scratch.value;
    RunChange *change = run->change;
    if (value->bias != NULL) {
        ap_zero(u);
        if (change != NULL) {
            ap_zero(&change->value);
        }
        structured_token_bias(run, u, value->bias, value->write.count);
        mix(run, &bundle->score, 0, value->write.count);
        emit_columns(run, value->write.first, value->write.count, 1);
    }
    if (value->diagonal != 0) {
        structured_columns(u, &run->stream, value->read);
        if (change != NULL) {
            structured_columns(&change->value, &change->stream, value->read);
        }
        mix(run, &bundle->score, 0, value->read.count);
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
        if (h == 0 || score->kind != SCORE_NONE || score->extra != NULL) {
            pattern(run, score, h);
        }
        if (value->kind != VALUE_NONE) {
            head_values(run, bundle, h);
            mix(run, score, h, width);
            emit_head(run, value, h);
        }
        if (h == 0) {
            emit_bias_and_diagonal(run, bundle);
        }
    }
}
