/*
 * A bundle of heads by its structure, at the cost of the original's products.
 *
 * Block of heads by block: the values of every row before their second factors, the patterns, the
 * patterns applied, the second factors; what is a product of matrices for one head is one for the
 * block.  Keys that share a score are exponentiated once: without bilinear scores a row sees at
 * most three groups of keys (itself, the other tokens, the bias row), and the other tokens enter
 * through their column sum.  Omega enters as exact factors exp(-Omega gap), so that no score ever
 * holds it.
 *
 * Where the run carries e = r(T') - r(T_infinity), whatever is linear is done to e as it is to the
 * stream; change.h has the rest.  What the limit's steps leave in the scratch may come from a tape
 * instead (tape.h), and then those of e are all that is done.
 */
#include "structured.h"

#include "change.h"
#include "tape.h"

size_t structured_value_width(const Value *value)
{
    switch (value->kind) {
    case VALUE_UNIT: return 1;
    case VALUE_FACTORED: return value->d_head;
    default: return value->write.count;
    }
}

size_t structured_block(const Bundle *bundle, size_t rows, mpfr_prec_t bits)
{
    size_t width = structured_value_width(&bundle->value);
    size_t query = structured_query_width(&bundle->score);
    if (bundle->score.kind == SCORE_BILINEAR && query > width) {
        width = query;
    }
    size_t columns = run_block_columns(rows, bits);
    size_t most = width > 0 && width < columns ? columns / width : 1;
    size_t blocks = (bundle->heads + most - 1) / most; /* all of nearly the same size */
    return blocks > 0 ? (bundle->heads + blocks - 1) / blocks : 1;
}

void structured_product(RefRun *run, ApMat *out, const ApMat *x, Columns columns,
                        const HeadWeight *w, const Heads *heads, size_t width)
{
    run_product(run, product_block(out, 0, 0, x->rows, heads->count * width),
                product_block(x, 0, columns.first, x->rows, columns.count),
                product_doubles_beside(w->data + heads->first * w->head_stride, heads->count,
                                       columns.count, width, w->ld, w->head_stride),
                false);
}

void structured_columns(ApMat *out, size_t first, const ApMat *x, Columns columns)
{
    for (size_t i = 0; i < out->rows; i++) {
        for (size_t c = 0; c < columns.count; c++) {
            mpfr_set(ap_at(out, i, first + c), ap_at(x, i, columns.first + c), MPFR_RNDN);
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

/* The gate of a head and its first value factor are the same vector: one product serves both. */
static bool gate_is_value(const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    return score->kind == SCORE_GATE && value->kind == VALUE_FACTORED && value->d_head == 1 &&
           score->gate.data != NULL && score->gate.data == value->v.data &&
           score->gate.ld == value->v.ld && score->gate.head_stride == value->v.head_stride &&
           score->read.first == value->read.first && score->read.count == value->read.count;
}

/* u = x V of the heads before their second factors, V without biases; product holds x g. */
static void head_products(RefRun *run, const Bundle *bundle, const Heads *heads, const ApMat *x,
                          const ApMat *product, ApMat *u)
{
    const Value *value = &bundle->value;
    if (gate_is_value(bundle)) {
        structured_columns(u, 0, product, (Columns){0, heads->count});
    } else if (value->kind == VALUE_UNIT) {
        structured_columns(u, 0, x, (Columns){value->read.first + heads->first, heads->count});
    } else {
        structured_product(run, u, x, value->read, &value->v, heads, structured_value_width(value));
    }
}

/* scratch.value: what row j of each head contributes, before the second factor. */
static void head_values(RefRun *run, const Bundle *bundle, const Heads *heads)
{
    const Value *value = &bundle->value;
    RunScratch *s = &run->scratch;
    RunChange *change = run->change;
    size_t width = structured_value_width(value);
    if (run->tape == NULL) {
        head_products(run, bundle, heads, &run->stream, &s->product, &s->value);
    }
    if (run->tape == NULL && value->inner_bias != NULL) {
        structured_token_bias(run, &s->value, value->inner_bias + heads->first * width,
                              heads->count * width);
    }
    if (change != NULL) {
        head_products(run, bundle, heads, &change->stream, &change->product, &change->value);
    }
}

/* delta[., first + c] += factor * mixed[., from + c] */
static void add_columns(RefRun *run, ApMat *delta, Columns columns, const ApMat *mixed, size_t from,
                        long factor)
{
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    for (size_t i = 0; i < delta->rows; i++) {
        for (size_t c = 0; c < columns.count; c++) {
            mpfr_ptr out = ap_at(delta, i, columns.first + c);
            mpfr_mul_si(t, ap_at(mixed, i, from + c), factor, MPFR_RNDN);
            mpfr_add(out, out, t, MPFR_RNDN);
        }
    }
}

static void emit_columns(RefRun *run, Columns columns, size_t from, long factor)
{
    RunChange *change = run->change;
    if (run->tape == NULL) {
        add_columns(run, &run->delta, columns, &run->scratch.mixed, from, factor);
    }
    if (change != NULL) {
        add_columns(run, &change->delta, columns, &change->mixed, from, factor);
    }
}

/* mixed *= the value's scale */
static void scale_mixed(ApMat *mixed, const Value *value, size_t columns)
{
    for (size_t i = 0; value->scale != 1 && i < mixed->rows; i++) {
        for (size_t c = 0; c < columns; c++) {
            mpfr_mul_d(ap_at(mixed, i, c), ap_at(mixed, i, c), value->scale, MPFR_RNDN);
        }
    }
}

/* delta[., write] += mixed times the heads' second factors, one below the other */
static void add_factored(RefRun *run, ApMat *delta, const ApMat *mixed, const Value *value,
                         const Heads *heads)
{
    const HeadWeight *o = &value->o;
    size_t rows = delta->rows;
    run_product(run, product_block(delta, 0, value->write.first, rows, value->write.count),
                product_block(mixed, 0, 0, rows, heads->count * value->d_head),
                product_doubles_below(o->data + heads->first * o->head_stride, heads->count,
                                      value->d_head, value->write.count, o->ld, o->head_stride),
                true);
}

/* What the heads write. */
static void emit_heads(RefRun *run, const Value *value, const Heads *heads)
{
    RunChange *change = run->change;
    size_t columns = heads->count * structured_value_width(value);
    if (value->kind == VALUE_UNIT || value->kind == VALUE_FACTORED) {
        if (run->tape == NULL) {
            scale_mixed(&run->scratch.mixed, value, columns);
        }
        if (change != NULL) {
            scale_mixed(&change->mixed, value, columns);
        }
    }
    if (value->kind == VALUE_UNIT) {
        emit_columns(run, (Columns){value->write.first + heads->first, heads->count}, 0,
                     value->unit);
        return;
    }
    for (size_t b = 0; value->kind != VALUE_FACTORED && b < heads->count; b++) {
        emit_columns(run, value->write, b * value->write.count, 1);
    }
    if (value->kind == VALUE_FACTORED) {
        if (run->tape == NULL) {
            add_factored(run, &run->delta, &run->scratch.mixed, value, heads);
        }
        if (change != NULL) {
            add_factored(run, &change->delta, &change->mixed, value, heads);
        }
    }
}

/* scratch.mixed of the heads, and how it changes: one head's with bilinear scores, all else. */
static void mix(RefRun *run, const Heads *heads, size_t b, size_t width)
{
    bool bilinear = heads->score->kind == SCORE_BILINEAR;
    if (run->tape == NULL && bilinear) {
        bilinear_mix(run, heads->score, b, width);
    } else if (run->tape == NULL) {
        groups_mix(run, heads, width);
    }
    if (run->change != NULL) {
        change_mix(run, heads, b, width);
    }
}

/* delta[., columns] += factor times the head's pattern applied to what is in the first columns of the
 * values; one of a bundle's two extra parts. */
static void emit_extra(RefRun *run, const Heads *head, int which, Columns columns, long factor)
{
    tape_play_extra(run, which);
    mix(run, head, 0, columns.count);
    tape_keep_extra(run, which, columns.count);
    emit_columns(run, columns, 0, factor);
    tape_play_values(run);
}

/* What a bundle's single extra parts carry: the bias of head 0 through its pattern, and the
 * integer diagonal.  Uses the first columns of the scratch; head 0's pattern is there. */
static void emit_bias_and_diagonal(RefRun *run, const Bundle *bundle)
{
    const Value *value = &bundle->value;
    const Heads head = {&bundle->score, 0, 1};
    ApMat *u = &run->scratch.value;
    RunChange *change = run->change;
    if (value->bias != NULL) {
        if (run->tape == NULL) {
            ap_zero(u);
            structured_token_bias(run, u, value->bias, value->write.count);
        }
        if (change != NULL) {
            ap_zero(&change->value);
        }
        emit_extra(run, &head, TAPE_BIAS, value->write, 1);
    }
    if (value->diagonal != 0) {
        if (run->tape == NULL) {
            structured_columns(u, 0, &run->stream, value->read);
        }
        if (change != NULL) {
            structured_columns(&change->value, 0, &change->stream, value->read);
        }
        emit_extra(run, &head, TAPE_DIAGONAL, value->read, value->diagonal);
    }
}

/* A block whose patterns are there at once. */
static void groups_block(RefRun *run, const Bundle *bundle, const Heads *heads)
{
    Heads one = {heads->score, heads->first, 1};
    const Heads *patterns = groups_share_pattern(heads->score) ? &one : heads;
    if (run->tape == NULL) {
        groups_softmax(run, patterns);
    }
    if (run->change != NULL) {
        change_groups_softmax(run, patterns);
    }
    if (heads->first == 0) {
        emit_bias_and_diagonal(run, bundle);
    }
    if (bundle->value.kind != VALUE_NONE) {
        head_values(run, bundle, heads);
        mix(run, heads, 0, structured_value_width(&bundle->value));
    }
}

static void bilinear_pattern(RefRun *run, const Heads *heads, size_t b)
{
    if (run->tape == NULL) {
        bilinear_softmax(run, heads, b);
    }
    tape_keep_pattern(run, heads, b);
    tape_play_pattern(run, b);
    if (run->change != NULL) {
        change_bilinear_softmax(run, heads, b);
    }
}

/* A block whose patterns follow one another. */
static void bilinear_heads(RefRun *run, const Bundle *bundle, const Heads *heads)
{
    RunScratch *s = &run->scratch;
    if (run->tape == NULL) {
        bilinear_products(run, heads, &run->stream, true, &s->query, &s->key);
    }
    if (run->change != NULL) {
        change_bilinear_products(run, heads);
    }
    for (size_t b = 0; b < heads->count; b++) {
        bilinear_pattern(run, heads, b);
        if (heads->first + b == 0) {
            emit_bias_and_diagonal(run, bundle);
        }
        if (b == 0 && bundle->value.kind != VALUE_NONE) {
            head_values(run, bundle, heads);
        }
        if (bundle->value.kind != VALUE_NONE) {
            mix(run, heads, b, structured_value_width(&bundle->value));
        }
    }
}

/* delta += sum over heads of softmax_rows(X Q X^T) X V (docs/mathematics.md, section 1). */
void run_structured_bundle(RefRun *run, const Bundle *bundle)
{
    size_t block = structured_block(bundle, run->stream.rows, run->bits);
    for (size_t first = 0; first < bundle->heads; first += block) {
        size_t left = bundle->heads - first;
        Heads heads = {&bundle->score, first, left < block ? left : block};
        tape_play_block(run);
        if (bundle->score.kind == SCORE_BILINEAR) {
            bilinear_heads(run, bundle, &heads);
        } else {
            groups_block(run, bundle, &heads);
        }
        tape_keep_block(run, bundle, &heads);
        if (bundle->value.kind != VALUE_NONE) {
            emit_heads(run, &bundle->value, &heads);
        }
        run->block++;
    }
}
