/*
 * The linear parts of heads: x g, x W_Q and x W_K, x V, and what a mixture writes into the stream.
 */
#include "heads.h"

/* One matrix a head, applied to some columns: the weights, and how many numbers a head makes. */
typedef struct {
    Columns read;
    const HeadWeight *w;
    size_t width;
} HeadMap;

/* out[., first + b width + c] = x[., read] w[:, c] of head heads->first + b, c < width. */
static void product_beside(const Heads *heads, HeadMap map, const ApMat *x, ApMat *out,
                           size_t first)
{
    const HeadWeight *w = map.w;
    ProductView one =
        product_doubles(w->data + heads->first * w->head_stride, map.read.count, map.width, w->ld);
    evaluator_product(heads->ev, product_block(out, 0, first, x->rows, heads->count * map.width),
                      product_block(x, 0, map.read.first, x->rows, map.read.count),
                      product_doubles_beside(one, heads->count, w->head_stride), false);
}

/* Columns of x, and where their first goes; times what they are added. */
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
static void copy_columns(Evaluator *ev, Moved moved)
{
    size_t rows = moved.out->rows;
    evaluator_each(ev, rows, rows * moved.columns.count, copy_row, &moved);
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

void heads_token_bias(const Heads *heads, ApMat *u, const double *bias, size_t count)
{
    const Layout *layout = heads->layout;
    TokenBias at = {layout, u, bias, count};
    evaluator_each(heads->ev, layout->n, layout->n * count, bias_row, &at);
}

void heads_apply_scale(mpfr_ptr s, size_t count, const Scale *scale, mpfr_ptr t)
{
    if (scale->num != 1) {
        mpfr_set_si(t, scale->num, MPFR_RNDN);
        lanes_mul(s, numbers_row(s), numbers_same(t), count);
    }
    if ((scale->den & (scale->den - 1)) == 0) { /* a power of two, whose inverse is exact */
        mpfr_set_ui(t, 1, MPFR_RNDN);
        mpfr_div_si(t, t, scale->den, MPFR_RNDN);
        lanes_mul(s, numbers_row(s), numbers_same(t), scale->den != 1 ? count : 0);
    } else {
        mpfr_set_si(t, scale->den, MPFR_RNDN);
        lanes_div(s, numbers_row(s), numbers_same(t), count);
    }
    if (scale->sqrt_den != 1) {
        mpfr_sqrt_ui(t, (unsigned long)scale->sqrt_den, MPFR_RNDN);
        lanes_div(s, numbers_row(s), numbers_same(t), count);
    }
}

void heads_gate_product(const Heads *heads, const ApMat *x, ApMat *product)
{
    const Score *score = &heads->bundle->score;
    if (heads->again) {
        return;
    }
    if (score->gate.data != NULL) {
        product_beside(heads, (HeadMap){score->read, &score->gate, 1}, x, product, 0);
    } else if (score->gate_unit != 0) {
        const Columns own = {score->read.first + heads->first, heads->count};
        copy_columns(heads->ev, (Moved){.out = product, .x = x, .columns = own});
    } else {
        ap_zero(product);
    }
}

void heads_gate_row(Worker *worker, const Heads *heads, mpfr_ptr gate, mpfr_srcptr product,
                    bool biased)
{
    const Score *score = &heads->bundle->score;
    mpfr_ptr factor = ap_at(&worker->temp, 0, 0);
    mpfr_set_si(factor, score->gate.data == NULL ? score->gate_unit : 1, MPFR_RNDN);
    lanes_mul(gate, numbers_row(product), numbers_same(factor), heads->count);
    if (score->gate_bias != NULL && biased) {
        lanes_add_doubles(gate, score->gate_bias + heads->first, heads->count);
    }
    if (score->gate_scale != 1) {
        mpfr_set_d(factor, score->gate_scale, MPFR_RNDN);
        lanes_mul(gate, numbers_row(gate), numbers_same(factor), heads->count);
    }
    if (score->gate_shift != NULL && biased) {
        lanes_add_doubles(gate, score->gate_shift + heads->first, heads->count);
    }
}

/* A query or a key of one head, turned as the token's: each entry rounded once; t: scratch, three
 * numbers of at least 53 bits. */
static void turn(mpfr_ptr x, const Rotary *rotary, size_t token, mpfr_ptr t)
{
    size_t half = rotary->width / 2;
    mpfr_ptr c = t, s = t + 1, first = t + 2;
    for (size_t p = 0; p < half; p++) {
        RotaryPair pair = rotary_pair(rotary, p);
        mpfr_ptr a = x + pair.first, b = x + pair.second;
        mpfr_set_d(c, rotary->cos[token * half + p], MPFR_RNDN);
        mpfr_set_d(s, rotary->sin[token * half + p], MPFR_RNDN);
        mpfr_fmms(first, a, c, b, s, MPFR_RNDN);
        mpfr_fmma(b, b, c, a, s, MPFR_RNDN);
        limbs_set(a, first);
    }
}

/* Queries and keys, in `columns` of a row; with their biases, from the first of theirs on, or
 * without. */
typedef struct {
    const Heads *heads;
    ApMat *query, *key;
    bool biased;
    size_t first, columns;
} Queries;

/* Biases and turns of a token, and the scale. */
static void finish_row(Worker *worker, const void *context, size_t row)
{
    const Queries *of = context;
    const Layout *layout = of->heads->layout;
    const Score *score = &of->heads->bundle->score;
    bool token = row != layout_bias_row(layout);
    size_t turned = token && score->rotary != NULL ? of->columns : 0;
    mpfr_ptr query = ap_at(of->query, row, 0), key = ap_at(of->key, row, 0),
             t = ap_at(&worker->temp, 0, 0);
    if (token && of->biased && score->q_bias != NULL) {
        lanes_add_doubles(query, score->q_bias + of->first, of->columns);
    }
    if (token && of->biased && score->k_bias != NULL) {
        lanes_add_doubles(key, score->k_bias + of->first, of->columns);
    }
    for (size_t c = 0; c < turned; c += score->d_head) {
        turn(query + c, score->rotary, row - layout_token_row(layout, 0), t);
        turn(key + c, score->rotary, row - layout_token_row(layout, 0), t);
    }
    heads_apply_scale(query, of->columns, &score->scale, t);
}

/* Context of term_row. */
typedef struct {
    ApMat *terms;
    size_t first; /* of their columns */
    const ApMat *u, *k;
    size_t width;
    const size_t *key; /* NULL: each row's own */
    bool add;
} Terms;

static void term_row(Worker *worker, const void *context, size_t row)
{
    const Terms *of = context;
    mpfr_ptr terms = ap_at(of->terms, row, of->first),
             product = of->add ? ap_at(&worker->sum, 0, 0) : terms;
    lanes_mul(product, numbers_row(ap_at(of->u, row, 0)),
              numbers_row(ap_at(of->k, of->key != NULL ? *of->key : row, 0)), of->width);
    if (of->add) {
        lanes_add(terms, numbers_row(terms), numbers_row(product), of->width);
    }
}

void heads_limit_scores(const Heads *heads, const MixedTerms *mixed, size_t count, ApMat *terms,
                        ApMat *out)
{
    const Score *score = &heads->bundle->score;
    const HeadMap map = {{0, score_query_width(score)}, &score->mix, 1};
    size_t rows = out->rows, bias = layout_bias_row(heads->layout);
    for (size_t of_bias = 0; of_bias < 2; of_bias++) {
        for (size_t t = 0; t < count; t++) {
            const Terms of = {
                terms, 0, mixed[t].u, mixed[t].k, map.read.count, of_bias ? &bias : NULL, t > 0};
            evaluator_each(heads->ev, rows, rows * map.read.count, term_row, &of);
        }
        product_beside(heads, map, terms, out, of_bias * heads->count);
    }
}

/* worker.sum[0] = w of head h. */
static mpfr_srcptr mix_of(Worker *worker, const Score *score, size_t h)
{
    const double *mix = score->mix.data + h * score->mix.head_stride;
    mpfr_ptr w = ap_at(&worker->sum, 0, 0);
    for (size_t k = 0; k < score->d_head; k++) {
        mpfr_set_d(w + k, mix[k * score->mix.ld], MPFR_RNDN);
    }
    return w;
}

void heads_mixed_score(Worker *worker, mpfr_ptr y, const Score *score, size_t h, mpfr_srcptr u,
                       mpfr_srcptr k)
{
    mpfr_ptr terms = ap_at(&worker->sum, 1, 0);
    lanes_mul(terms, numbers_row(u), numbers_row(k), score->d_head);
    lanes_mul(terms, numbers_row(terms), numbers_row(mix_of(worker, score, h)), score->d_head);
    lanes_sum(y, terms, score->d_head, terms);
}

void heads_mixed_query(const Heads *heads, const ApMat *u, size_t b, ApMat *out, size_t first)
{
    const Score *score = &heads->bundle->score;
    Worker *worker = &heads->ev->worker[0];
    const size_t only = 0;
    const Terms of = {out, first, u, &worker->sum, score->d_head, &only, false};
    mix_of(worker, score, heads->first + b);
    evaluator_each(heads->ev, u->rows, u->rows * score->d_head, term_row, &of);
}

void heads_queries(const Heads *heads, const ApMat *x, bool biased, ApMat *query, ApMat *key)
{
    Evaluator *ev = heads->ev;
    const Score *score = &heads->bundle->score;
    bool mixed = score_is_mixed(score);
    Heads own = *heads; /* whose queries and keys there are */
    own.first = mixed ? 0 : heads->first;
    own.count = mixed ? 1 : heads->count;
    size_t width = score_query_width(score), columns = own.count * width;
    if (score->query.count > 0) {
        copy_columns(ev, (Moved){.out = query, .x = x, .columns = score->query});
    } else {
        product_beside(&own, (HeadMap){score->read, &score->q, width}, x, query, 0);
    }
    if (score->d_head > 0) {
        product_beside(&own, (HeadMap){score->read, &score->k, width}, x, key, 0);
    }
    for (size_t b = 0; score->d_head == 0 && b < heads->count; b++) {
        copy_columns(ev, (Moved){key, b * width, x, score->read, 1, 1});
    }
    const Queries made = {heads, query, key, biased, own.first * width, columns};
    evaluator_each(ev, query->rows, query->rows * columns, finish_row, &made);
}

void heads_products(const Heads *heads, const ApMat *x, const ApMat *product, PartKind part,
                    ApMat *u)
{
    Evaluator *ev = heads->ev;
    const Value *value = &heads->bundle->value;
    Moved moved = {.out = u, .x = x, .columns = value->read};
    if (part == BIAS_PART || (part == HEADS_PART && value_is_sign(value))) {
        ap_zero(u); /* a bias does not depend on x, nor does a sign */
    } else if (part == DIAGONAL_PART) {
        copy_columns(ev, moved);
    } else if (bundle_gate_is_value(heads->bundle)) {
        copy_columns(ev, (Moved){.out = u, .x = product, .columns = {0, heads->count}});
    } else if (value->unit != 0) {
        moved.columns = (Columns){value->read.first + heads->first, heads->count};
        copy_columns(ev, moved);
    } else {
        product_beside(heads, (HeadMap){value->read, &value->v, value_width(value)}, x, u, 0);
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

/* out[., first + c] += factor * scale * x[., columns.first + c] */
static void add_columns(Evaluator *ev, Moved moved)
{
    size_t rows = moved.out->rows;
    evaluator_each(ev, rows, rows * moved.columns.count, add_row, &moved);
}

/* delta[., write] += scale * mixed times the heads' second factors, one below the other, or, of
 * unit vectors, beside each other */
static void add_factored(const Heads *heads, ApMat *delta, const ApMat *mixed, ApMat *scaled)
{
    Evaluator *ev = heads->ev;
    const Value *value = &heads->bundle->value;
    const HeadWeight *o = &value->o;
    size_t rows = delta->rows, columns = heads->count * value->d_head;
    mpfr_ptr scale = ap_at(&ev->worker[0].temp, 0, 0);
    mpfr_set_d(scale, value->scale, MPFR_RNDN);
    for (size_t i = 0; value->scale != 1 && !heads->again && i < rows; i++) {
        lanes_mul(ap_at(scaled, i, 0), numbers_row(ap_at(mixed, i, 0)), numbers_same(scale),
                  columns);
    }
    if (heads->again) {
        add_columns(ev, (Moved){scaled, 0, mixed, {0, columns}, value->scale, 1});
    }
    if (heads->more) {
        return;
    }
    if (o->data == NULL) {
        const ApMat *from = value->scale != 1 ? scaled : mixed;
        size_t first = value->write.first + heads->first;
        add_columns(ev, (Moved){delta, first, from, {0, columns}, 1, 1});
        return;
    }
    const double *first = o->data + heads->first * o->head_stride;
    ProductView one = product_doubles(first, value->d_head, value->write.count, o->ld);
    evaluator_product(ev, product_block(delta, 0, value->write.first, rows, value->write.count),
                      product_block(value->scale != 1 ? scaled : mixed, 0, 0, rows, columns),
                      product_doubles_below(one, heads->count, o->head_stride), true);
}

void heads_write(const Heads *heads, PartKind part, const ApMat *mixed, ApMat *scaled, ApMat *delta)
{
    Evaluator *ev = heads->ev;
    const Value *value = &heads->bundle->value;
    const Columns write = value->write, read = value->read;
    if (part == BIAS_PART) {
        add_columns(ev, (Moved){delta, write.first, mixed, {0, write.count}, 1, 1});
    } else if (part == DIAGONAL_PART) {
        add_columns(ev, (Moved){delta, read.first, mixed, {0, read.count}, 1, value->diagonal});
    } else if (value->d_head > 0) {
        add_factored(heads, delta, mixed, scaled);
    } else if (value->unit != 0) {
        size_t first = write.first + heads->first;
        add_columns(ev, (Moved){delta, first, mixed, {0, heads->count}, value->scale, value->unit});
    } else {
        for (size_t b = 0; b < heads->count; b++) {
            const Columns from = {b * write.count, write.count};
            add_columns(ev, (Moved){delta, write.first, mixed, from, 1, 1});
        }
    }
}
