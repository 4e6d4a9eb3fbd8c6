/*
 * What is linear in heads: x g, x W_Q and x W_K, x V, and what a mixture writes into the stream.
 */
#include "heads.h"

/* out[., b width + c] = x[., columns] w[:, c] of head heads->first + b, c < width. */
static void product_beside(Evaluator *ev, ApMat *out, const ApMat *x, Columns columns,
                           const HeadWeight *w, const Heads *heads, size_t width)
{
    evaluator_product(ev, product_block(out, 0, 0, x->rows, heads->count * width),
                      product_block(x, 0, columns.first, x->rows, columns.count),
                      product_doubles_beside(w->data + heads->first * w->head_stride, heads->count,
                                             columns.count, width, w->ld, w->head_stride),
                      false);
}

/* Context of copy_row and add_row: columns of x, and where their first goes. */
typedef struct {
    ApMat *out;
    size_t first;
    const ApMat *x;
    Columns columns;
    double scale;
    long factor;
} Moved;

static void copy_row(Worker *worker, const void *context, size_t row)
{
    const Moved *moved = context;
    (void)worker;
    lanes_set(ap_at(moved->out, row, moved->first), ap_at(moved->x, row, moved->columns.first),
              moved->columns.count);
}

/* out[., first + c] = x[., columns.first + c] */
static void copy_columns(Evaluator *ev, ApMat *out, size_t first, const ApMat *x, Columns columns)
{
    Moved moved = {out, first, x, columns, 1, 1};
    evaluator_each(ev, out->rows, out->rows * columns.count, copy_row, &moved);
}

/* Context of bias_row. */
typedef struct {
    const Layout *layout;
    ApMat *u;
    const double *bias;
    size_t count;
} TokenBias;

static void bias_row(Worker *worker, const void *context, size_t token)
{
    const TokenBias *at = context;
    (void)worker;
    lanes_add_doubles(ap_at(at->u, layout_token_row(at->layout, token), 0), at->bias, at->count);
}

void heads_token_bias(Evaluator *ev, const Layout *layout, ApMat *u, const double *bias,
                      size_t count)
{
    TokenBias at = {layout, u, bias, count};
    evaluator_each(ev, layout->n, layout->n * count, bias_row, &at);
}

void heads_apply_scale(mpfr_ptr s, size_t count, const Scale *scale, mpfr_ptr t)
{
    if (scale->num != 1) {
        mpfr_set_si(t, scale->num, MPFR_RNDN);
        lanes_mul(s, numbers_row(s), numbers_same(t), count);
    }
    if (scale->den != 1) {
        mpfr_set_si(t, scale->den, MPFR_RNDN);
        lanes_div(s, numbers_row(s), numbers_same(t), count);
    }
    if (scale->sqrt_den != 1) {
        mpfr_sqrt_ui(t, (unsigned long)scale->sqrt_den, MPFR_RNDN);
        lanes_div(s, numbers_row(s), numbers_same(t), count);
    }
}

void heads_gate_product(Evaluator *ev, const Heads *heads, const ApMat *x, ApMat *product)
{
    const Score *score = &heads->bundle->score;
    if (score->kind == SCORE_NONE) {
        ap_zero(product);
    } else if (score->gate.data == NULL) {
        copy_columns(ev, product, 0, x, (Columns){score->read.first + heads->first, heads->count});
    } else {
        product_beside(ev, product, x, score->read, &score->gate, heads, 1);
    }
}

long heads_gate_factor(const Score *score)
{
    return score->gate.data == NULL ? score->gate_unit : 1;
}

typedef struct {
    const Scale *scale;
    ApMat *query;
    size_t columns;
} ScaledQuery;

static void scale_row(Worker *worker, const void *context, size_t row)
{
    const ScaledQuery *scaled = context;
    heads_apply_scale(ap_at(scaled->query, row, 0), scaled->columns, scaled->scale,
                      ap_at(&worker->temp, 0, 0));
}

void heads_queries(Evaluator *ev, const Heads *heads, const ApMat *x, bool biased, ApMat *query,
                   ApMat *key)
{
    const Score *score = &heads->bundle->score;
    size_t width = score_query_width(score), columns = heads->count * width;
    product_beside(ev, query, x, score->read, &score->q, heads, width);
    if (score->d_head > 0) {
        product_beside(ev, key, x, score->read, &score->k, heads, width);
    }
    for (size_t b = 0; score->d_head == 0 && b < heads->count; b++) {
        copy_columns(ev, key, b * width, x, score->read);
    }
    if (biased && score->q_bias != NULL) {
        heads_token_bias(ev, heads->layout, query, score->q_bias + heads->first * width, columns);
    }
    if (biased && score->k_bias != NULL) {
        heads_token_bias(ev, heads->layout, key, score->k_bias + heads->first * width, columns);
    }
    ScaledQuery scaled = {&score->scale, query, columns};
    evaluator_each(ev, query->rows, query->rows * columns, scale_row, &scaled);
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

void heads_products(Evaluator *ev, const Heads *heads, const ApMat *x, const ApMat *product,
                    PartKind part, ApMat *u)
{
    const Value *value = &heads->bundle->value;
    if (part == BIAS_PART) {
        ap_zero(u); /* a bias does not depend on x */
    } else if (part == DIAGONAL_PART) {
        copy_columns(ev, u, 0, x, value->read);
    } else if (gate_is_value(heads->bundle)) {
        copy_columns(ev, u, 0, product, (Columns){0, heads->count});
    } else if (value->kind == VALUE_UNIT) {
        copy_columns(ev, u, 0, x, (Columns){value->read.first + heads->first, heads->count});
    } else {
        product_beside(ev, u, x, value->read, &value->v, heads, value_width(value));
    }
}

static void add_row(Worker *worker, const void *context, size_t row)
{
    const Moved *moved = context;
    mpfr_ptr t = ap_at(&worker->lane, 0, 0), scale = ap_at(&worker->temp, 0, 0),
             factor = ap_at(&worker->temp, 0, 1);
    mpfr_set_d(scale, moved->scale, MPFR_RNDN);
    mpfr_set_si(factor, moved->factor, MPFR_RNDN);
    for (size_t c = 0; c < moved->columns.count; c += WORKER_COLUMNS) {
        size_t left = moved->columns.count - c,
               some = left < WORKER_COLUMNS ? left : WORKER_COLUMNS;
        mpfr_ptr out = ap_at(moved->out, row, moved->first + c);
        Numbers x = numbers_row(ap_at(moved->x, row, moved->columns.first + c));
        if (moved->scale != 1) {
            lanes_mul(t, x, numbers_same(scale), some);
            x = numbers_row(t);
        }
        lanes_mul(t, x, numbers_same(factor), some);
        lanes_add(out, numbers_row(out), numbers_row(t), some);
    }
}

/* delta[., first + c] += factor * scale * mixed[., from + c] */
static void add_columns(Evaluator *ev, ApMat *delta, Columns columns, const ApMat *mixed,
                        size_t from, double scale, long factor)
{
    Moved moved = {delta, columns.first, mixed, {from, columns.count}, scale, factor};
    evaluator_each(ev, delta->rows, delta->rows * columns.count, add_row, &moved);
}

/* delta[., write] += scale * mixed times the heads' second factors, one below the other */
static void add_factored(Evaluator *ev, const Heads *heads, ApMat *delta, const ApMat *mixed,
                         ApMat *scaled)
{
    const Value *value = &heads->bundle->value;
    const HeadWeight *o = &value->o;
    size_t rows = delta->rows, columns = heads->count * value->d_head;
    mpfr_ptr scale = ap_at(&ev->worker[0].temp, 0, 0);
    mpfr_set_d(scale, value->scale, MPFR_RNDN);
    for (size_t i = 0; value->scale != 1 && i < rows; i++) {
        lanes_mul(ap_at(scaled, i, 0), numbers_row(ap_at(mixed, i, 0)), numbers_same(scale),
                  columns);
    }
    evaluator_product(ev, product_block(delta, 0, value->write.first, rows, value->write.count),
                      product_block(value->scale != 1 ? scaled : mixed, 0, 0, rows, columns),
                      product_doubles_below(o->data + heads->first * o->head_stride, heads->count,
                                            value->d_head, value->write.count, o->ld,
                                            o->head_stride),
                      true);
}

void heads_write(Evaluator *ev, const Heads *heads, PartKind part, const ApMat *mixed,
                 ApMat *scaled, ApMat *delta)
{
    const Value *value = &heads->bundle->value;
    Columns write = value->write, own = {write.first + heads->first, heads->count};
    if (part == BIAS_PART) {
        add_columns(ev, delta, write, mixed, 0, 1, 1);
    } else if (part == DIAGONAL_PART) {
        add_columns(ev, delta, value->read, mixed, 0, 1, value->diagonal);
    } else if (value->kind == VALUE_FACTORED) {
        add_factored(ev, heads, delta, mixed, scaled);
    } else if (value->kind == VALUE_UNIT) {
        add_columns(ev, delta, own, mixed, 0, value->scale, value->unit);
    } else {
        for (size_t b = 0; b < heads->count; b++) {
            add_columns(ev, delta, write, mixed, b * write.count, 1, 1);
        }
    }
}
