/*
 * The matrices Q and V of a head, written as sums of outer products of plain doubles.
 */
#include "factors.h"

#include "exact.h"

#include <stdint.h>

/* A vector over the stream's columns: factor times the entries below, 0 elsewhere. */
typedef struct {
    Columns at;
    const double *entry; /* entry[c * stride] at column at.first + c */
    size_t stride;
    double token, bias; /* at the position columns of every token, and of the bias row */
    size_t spot;        /* a column that has `single`, whatever else would be there; or SIZE_MAX */
    double single, factor;
    bool rounded; /* what rounding loses of the products with factor is let go */
} Vector;

static Vector on_positions(double token, double bias)
{
    return (Vector){.token = token, .bias = bias, .spot = SIZE_MAX, .factor = 1};
}

static Vector on_columns(Columns at, const double *entry, size_t stride, double token)
{
    return (Vector){
        .at = at, .entry = entry, .stride = stride, .token = token, .spot = SIZE_MAX, .factor = 1};
}

static Vector on_spot(size_t column, double value)
{
    return (Vector){.spot = column, .single = value, .factor = 1};
}

/* factor * entry rounded, or what that loses. */
static double part(Factors *factors, const Vector *vector, double entry, bool low)
{
    double high, lost;
    if (vector->factor == 1) {
        return low ? 0 : entry;
    }
    bool kept = exact_product(&high, &lost, vector->factor, entry);
    factors->overflow = factors->overflow || !(high - high == 0);
    if (!kept && !vector->rounded) {
        factors->inexact = "a product below the smallest doubles is rounded";
    }
    return low ? lost : high;
}

/* Looks at all entries: what is wrong with one is noted where nothing is filled, too. */
static bool has_low_part(Factors *factors, const Vector *vector)
{
    if (vector->factor == 1) {
        return false;
    }
    bool token = part(factors, vector, vector->token, true) != 0;
    bool bias = part(factors, vector, vector->bias, true) != 0;
    bool found = (part(factors, vector, vector->single, true) != 0) || token || bias;
    for (size_t c = 0; c < vector->at.count; c++) {
        found = (part(factors, vector, vector->entry[c * vector->stride], true) != 0) || found;
    }
    return found && !vector->rounded;
}

/* The vector, or its low part, as the next term. */
static void put(Factors *factors, const Factor *to, const Vector *vector, bool low)
{
    const Layout *layout = factors->layout;
    size_t content = layout_content(layout);
    if (to->data == NULL) {
        return;
    }
    double *column = to->data + factors->terms * to->term;
    double token = part(factors, vector, vector->token, low);
    for (size_t i = 0; i < layout->n; i++) {
        column[(content + layout_token_row(layout, i)) * to->column] = token;
    }
    column[(content + layout_bias_row(layout)) * to->column] =
        part(factors, vector, vector->bias, low);
    for (size_t c = 0; c < vector->at.count; c++) {
        column[(vector->at.first + c) * to->column] =
            part(factors, vector, vector->entry[c * vector->stride], low);
    }
    if (vector->spot != SIZE_MAX) {
        column[vector->spot * to->column] = part(factors, vector, vector->single, low);
    }
}

/* += left right^T; at most one of them has a factor other than 1. */
static void add(Factors *factors, Vector left, Vector right)
{
    bool low_left = has_low_part(factors, &left), low_right = has_low_part(factors, &right);
    put(factors, &factors->left, &left, false);
    put(factors, &factors->right, &right, false);
    factors->terms++;
    if (low_left || low_right) {
        put(factors, &factors->left, &left, low_left);
        put(factors, &factors->right, &right, low_right);
        factors->terms++;
    }
}

static const double *head_data(const HeadWeight *weight, size_t head)
{
    return weight->data + head * weight->head_stride;
}

/* The bias that rides on the tokens' position columns. */
static double head_bias(const double *bias, size_t head, size_t width, size_t k)
{
    return bias != NULL ? bias[head * width + k] : 0;
}

/* (x g + c) toward every token, times gate_scale: that factor is the key's.  A shift is a term of
 * its own, toward every token 1. */
static void add_gate(Factors *factors, const Score *score, size_t head)
{
    double bias = head_bias(score->gate_bias, head, 1, 0);
    Vector query = on_spot(score->read.first + head, score->gate_unit);
    if (score->gate.data != NULL) {
        query = on_columns(score->read, head_data(&score->gate, head), score->gate.ld, 0);
    }
    query.token = bias;
    add(factors, query, on_positions(score->gate_scale, 0));
    if (score->gate_shift != NULL) {
        add(factors, on_positions(score->gate_shift[head], 0), on_positions(1, 0));
    }
}

/* Column k of what a query is made of, times mix and the scale. */
static Vector query_column(const Score *score, double scale, size_t head, size_t k)
{
    size_t first = score_own(score, head);
    double bias = score->q_bias != NULL ? score->q_bias[first + k] : 0;
    double mix = score_is_mixed(score) ? head_data(&score->mix, head)[k * score->mix.ld] : 1;
    if (score->q.data == NULL) {
        Vector own = on_spot(score->query.first + k, mix);
        own.factor = scale;
        return own;
    }
    Vector query = on_columns(score->read, head_data(&score->q, head) + k, score->q.ld, bias);
    query.factor = scale * mix; /* a scale beside mix is a power of two */
    return query;
}

/* Dense: column k of q toward column k of the key.  Factored: a term a pair of columns, with
 * their biases; rotary positions turn these terms, so that column k is the k-th of them: a scale
 * 1/sqrt(d_head) is a power of two, or is rounded. */
static void add_bilinear(Factors *factors, const Score *score, size_t head)
{
    size_t own = score_own(score, head);
    double scale;
    bool exact = exact_scale(&scale, score->scale);
    if (!exact) {
        factors->inexact = "a scale of the scores is not a double and is rounded";
    }
    for (size_t k = 0; score->d_head == 0 && k < score->read.count; k++) {
        add(factors, on_columns(score->read, head_data(&score->q, head) + k, score->q.ld, 0),
            on_spot(score->read.first + k, scale));
    }
    for (size_t k = 0; k < score->d_head; k++) {
        Vector query = query_column(score, scale, head, k);
        query.rounded = !exact;
        add(factors, query,
            on_columns(score->read, head_data(&score->k, head) + k, score->k.ld,
                       score->k_bias != NULL ? score->k_bias[own + k] : 0));
    }
}

/* Row a of the stream toward every key: Omega in the query, the integers in the key. */
static void add_position_row(Factors *factors, const PositionScores *position, double omega,
                             size_t a)
{
    const Layout *layout = factors->layout;
    size_t column = layout_content(layout) + a;
    Vector key = on_positions(position->token_token, position->token_bias);
    key.spot = column;
    key.single = position->token_self;
    if (a == layout_bias_row(layout)) {
        key = on_positions(position->bias_token, position->bias_self);
    }
    if (key.token != 0 || key.bias != 0 || key.single != 0) {
        add(factors, on_spot(column, omega), key);
    }
}

/* Rows whose scores toward the bias row alone differ: one term. */
static void add_bias_key(Factors *factors, const PositionScores *position, double omega)
{
    Vector query = on_positions(position->token_bias, position->bias_self);
    query.factor = omega;
    if (query.token != 0 || query.bias != 0) {
        add(factors, query, on_positions(0, 1));
    }
}

/* Omega * position(i, j). */
static void add_positions(Factors *factors, const PositionScores *position, double omega)
{
    if (position->token_self != position->token_token) {
        for (size_t a = 0; a < layout_rows(factors->layout); a++) {
            add_position_row(factors, position, omega, a);
        }
        return;
    }
    if (position->token_token == 0 && position->bias_token == 0) {
        add_bias_key(factors, position, omega);
        return;
    }
    if (position->token_token != 0 || position->token_bias != 0) {
        add(factors, on_positions(omega, 0),
            on_positions(position->token_token, position->token_bias));
    }
    if (position->bias_token != 0 || position->bias_self != 0) {
        add(factors, on_positions(0, omega),
            on_positions(position->bias_token, position->bias_self));
    }
}

/* Omega times what is extra for single entries, a term each. */
static void add_extra(Factors *factors, const Score *score, double omega, size_t head)
{
    const Layout *layout = factors->layout;
    size_t rows = layout_rows(layout), first = layout_content(layout);
    for (size_t e = 0; score->extra != NULL && e < rows * rows; e++) {
        signed char times = score->extra[head * score->extra_stride + e];
        if (times != 0) {
            add(factors, on_spot(first + e / rows, omega), on_spot(first + e % rows, times));
        }
    }
}

void factors_score(Factors *factors, const Score *score, double omega, size_t head)
{
    if (score_by_gate(score)) {
        add_gate(factors, score, head);
    } else if (score_by_key(score)) {
        add_bilinear(factors, score, head);
    }
    add_positions(factors, &score->position, omega);
    add_extra(factors, score, omega, head);
}

/* Row k of v and diagonal at one place are one row of W_O if their sum is a double. */
static void add_dense_row(Factors *factors, const Value *value, const double *row, size_t k)
{
    Columns write = value->write;
    size_t column = value->read.first + k;
    Vector from = on_spot(column, 1), to = on_columns(write, row, 1, 0);
    bool shared = column >= write.first && column - write.first < write.count;
    double entry = shared ? row[column - write.first] : 0;
    bool apart = !exact_sum(entry, value->diagonal);
    if (value->diagonal != 0 && !apart) {
        to.spot = column;
        to.single = entry + value->diagonal;
    }
    add(factors, from, to);
    if (apart) {
        add(factors, from, on_spot(column, value->diagonal));
    }
}

/* As many terms as rows, or, where there are fewer of them, columns. */
static void add_dense(Factors *factors, const Value *value, size_t head)
{
    const double *v = head_data(&value->v, head);
    if (value->diagonal == 0 && value->write.count < value->read.count) {
        for (size_t c = 0; c < value->write.count; c++) {
            add(factors, on_columns(value->read, v + c, value->v.ld, 0),
                on_spot(value->write.first + c, 1));
        }
        return;
    }
    for (size_t k = 0; k < value->read.count; k++) {
        add_dense_row(factors, value, v + k * value->v.ld, k);
    }
}

/* One column: a gate's value, or a row's sign. */
static void add_column(Factors *factors, const Value *value, size_t head)
{
    Vector from = on_positions(1, -1);
    if (!value_is_sign(value)) {
        from = on_columns(value->read, head_data(&value->v, head), value->v.ld,
                          head_bias(value->inner_bias, head, 1, 0));
    }
    add(factors, from, on_spot(value->write.first + head, value->scale));
}

static void add_factored(Factors *factors, const Value *value, size_t head)
{
    const double *v = head_data(&value->v, head), *o = head_data(&value->o, head);
    for (size_t k = 0; k < value->d_head; k++) {
        Vector to = on_columns(value->write, o + k * value->o.ld, 1, 0);
        to.factor = value->scale;
        add(factors,
            on_columns(value->read, v + k, value->v.ld,
                       head_bias(value->inner_bias, head, value->d_head, k)),
            to);
    }
}

void factors_value(Factors *factors, const Value *value, size_t head)
{
    if (value->unit != 0) {
        add(factors, on_spot(value->read.first + head, value->unit),
            on_spot(value->write.first + head, value->scale));
    } else if (value->d_head > 0 && value->o.data == NULL) {
        add_column(factors, value, head);
    } else if (value->d_head > 0) {
        add_factored(factors, value, head);
    } else if (value->v.data != NULL) {
        add_dense(factors, value, head);
    }
    for (size_t k = 0; value->v.data == NULL && value->diagonal != 0 && k < value->read.count;
         k++) {
        add(factors, on_spot(value->read.first + k, 1),
            on_spot(value->read.first + k, value->diagonal));
    }
    if (value->bias_row != 0 && head == 0) {
        add(factors, on_positions(0, 1), on_columns(value->write, &value->bias_row, 0, 0));
    }
    if (value->bias != NULL && head == 0) {
        add(factors, on_positions(1, 0), on_columns(value->write, value->bias, 1, 0));
    }
}
