/*
 * Norms of attention heads' weights.
 *
 * A head's queries are x W_Q + b_Q.  Behind a norm x = u diag(gamma) + beta, |u| <= sqrt(D), so
 * that u reads P diag(gamma) W_Q, and b_Q becomes b_Q + beta W_Q (G2).  The bias row has no biases
 * and no beta.
 */
#include <stdio.h> /* before mpfr.h */

#include "matrix.h"
#include "part.h"

#include "../../memory/need.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

static void take_weight(Matrix *m, const HeadWeight *weight, size_t head, size_t rows,
                        size_t columns)
{
    matrix_take(m,
                (Doubles){weight->data + head * weight->head_stride, rows, columns, weight->ld, 1});
}

/* What bounds how negative a row's score with itself can be (G6). */
static void own_scores(HeadBound *head, const Reader *q, const Reader *k)
{
    Matrix scores, dot, one_way, other;
    matrix_product(&scores, &q->token, &k->token, true);
    matrix_product(&dot, &q->bias, &k->bias, true);
    matrix_product(&one_way, &q->bias, &k->token, true);
    matrix_product(&other, &k->bias, &q->token, true);
    head->scores = matrix_norm(&scores);
    head->negative = least(matrix_negative_part(&scores), head->scores);
    head->query_bias = matrix_norm(&one_way);
    head->key_bias = matrix_norm(&other);
    head->biases = matrix_norm(&dot);
    dot.entry[0] = -dot.entry[0];
    head->minus_biases = matrix_entry_above(&dot);
    matrix_add(&one_way, &other, 1);
    head->both_biases = matrix_norm(&one_way);
    matrix_clear(&scores);
    matrix_clear(&dot);
    matrix_clear(&one_way);
    matrix_clear(&other);
}

static void score_norms(HeadBound *head, const Reader *q, const Reader *k)
{
    own_scores(head, q, k);
    head->toward_bias_row = matrix_norm_of_product(&q->token, &k->bias_row, true);
    head->of_bias_row = matrix_norm_of_product(&q->bias_row, &k->token, true);
    head->within_bias_row = matrix_norm_of_product(&q->bias_row, &k->bias_row, true);
    head->query_bias_toward = matrix_norm_of_product(&q->bias, &k->bias_row, true);
    head->key_bias_of = matrix_norm_of_product(&k->bias, &q->bias_row, true);
}

/* (G26): queries and keys are turned, but for the bias row's. */
static void turned_scores(HeadBound *head, const AttentionBound *attention, const Reader *q,
                          const Reader *k)
{
    /* No turn makes a vector longer than this. */
    Magnitude longer = sum(one, attention->turn_off);
    Magnitude of_q = product(longer, matrix_norm(&q->token)),
              of_k = product(longer, matrix_norm(&k->token)),
              b_q = product(longer, matrix_norm(&q->bias)),
              b_k = product(longer, matrix_norm(&k->bias)),
              q_bias_row = product(longer, matrix_norm(&q->bias_row)),
              k_bias_row = product(longer, matrix_norm(&k->bias_row));
    head->scores = product(of_q, of_k);
    head->query_bias = product(b_q, of_k);
    head->key_bias = product(of_q, b_k);
    head->biases = product(b_q, b_k);
    head->toward_bias_row = product(of_q, k_bias_row);
    head->query_bias_toward = product(b_q, k_bias_row);
    head->of_bias_row = product(q_bias_row, of_k);
    head->key_bias_of = product(q_bias_row, b_k);
}

/* Q dense is W_Q, with W_K the identity. */
static void make_scores(HeadBound *head, const AttentionBound *attention, const PartOf *of,
                        size_t h)
{
    const Score *score = &of->sublayer->bundles[0].score;
    const LayerNorm *norm = &of->sublayer->norm;
    size_t rows = score->read.count, rank = score->d_head;
    bool dense = rank == 0;
    Matrix w_q, w_k;
    Reader q, k;
    take_weight(&w_q, &score->q, h, rows, dense ? rows : rank);
    if (dense) {
        matrix_identity(&w_k, rows);
    } else {
        take_weight(&w_k, &score->k, h, rows, rank);
    }
    reader_make(&q, w_q, score->q_bias != NULL ? score->q_bias + h * rank : NULL, norm);
    reader_make(&k, w_k, score->k_bias != NULL ? score->k_bias + h * rank : NULL, norm);
    score_norms(head, &q, &k);
    if (attention->turned) {
        turned_scores(head, attention, &q, &k);
    }
    head->minus_own = of->rows != NULL ? rows_scores(&q, &k, of->rows) : INFINITY;
    reader_clear(&q);
    reader_clear(&k);
}

/* W_V W_O times the scale, or V. */
static void take_values(Matrix *v, const Value *value, size_t h)
{
    size_t rows = value->read.count, columns = value->write.count;
    Matrix w_v, w_o;
    if (value->d_head == 0) {
        take_weight(v, &value->v, h, rows, columns);
        return;
    }
    take_weight(&w_v, &value->v, h, rows, value->d_head);
    take_weight(&w_o, &value->o, h, value->d_head, columns);
    matrix_product(v, &w_v, &w_o, false);
    matrix_clear(&w_v);
    matrix_clear(&w_o);
}

/* V of head h, with all biases; b_O is the first head's. */
static void read_values(Reader *reader, const Value *value, size_t h, const LayerNorm *norm)
{
    Matrix v, w_o;
    take_values(&v, value, h);
    reader_make(reader, v, h == 0 ? value->bias : NULL, norm);
    if (value->inner_bias != NULL) { /* b_V W_O */
        take_weight(&w_o, &value->o, h, value->d_head, value->write.count);
        matrix_add_row(&reader->bias, value->inner_bias + h * value->d_head, &w_o);
        matrix_clear(&w_o);
    }
}

void attention_values(Matrix *values, Matrix *bias, const Sublayer *attention, size_t h,
                      const Matrix *rows)
{
    Reader reader;
    read_values(&reader, &attention->bundles[0].value, h, &attention->norm);
    matrix_product(values, rows, &reader.token, false);
    matrix_copy(bias, &reader.bias);
    reader_clear(&reader);
}

/* 1/x, to two roundings. */
static Magnitude inverse(Magnitude x)
{
    return magnitude_of(1 / x.digits, -x.exponent);
}

/* All heads' values: their sum, the sum of their biases, and the values on top of each other. */
typedef struct {
    Matrix values, biases, stack;
} Sums;

/* Of head h. */
static void make_values(HeadBound *head, Sums *sums, const PartOf *of, size_t h)
{
    Reader reader;
    read_values(&reader, &of->sublayer->bundles[0].value, h, &of->sublayer->norm);
    head->values = matrix_norm(&reader.token);
    head->values_bias_row = matrix_norm(&reader.bias_row);
    head->value_bias = matrix_norm(&reader.bias);
    matrix_add(&sums->values, &reader.bias_row, 1);
    matrix_add(&sums->biases, &reader.bias, 1);
    if (head->values.digits > 0) {
        matrix_place(&sums->stack, h * reader.token.rows, &reader.token, inverse(head->values));
    }
    head->own_values = of->rows != NULL ? rows_values(&reader, of->rows) : (Magnitude){INFINITY, 0};
    reader_clear(&reader);
}

/* num/(den sqrt(sqrt_den)), rounded. */
static double scale_rounded(Scale scale, mpfr_rnd_t towards, mpfr_rnd_t away)
{
    mpfr_t x, root;
    mpfr_init2(x, 128);
    mpfr_init2(root, 128);
    mpfr_sqrt_ui(root, (unsigned long)scale.sqrt_den, away);
    mpfr_mul_si(root, root, scale.den, away);
    mpfr_si_div(x, scale.num, root, towards);
    double rounded = mpfr_get_d(x, towards);
    mpfr_clear(x);
    mpfr_clear(root);
    return rounded;
}

/* At least max |c^2 + s^2 - 1| of a table, three roundings of at most 1 + that included. */
static Magnitude turn_off(const Rotary *rotary)
{
    double most = 0;
    for (size_t i = 0; rotary != NULL && i < rotary->positions * (rotary->width / 2); i++) {
        double c = rotary->cos[i], s = rotary->sin[i];
        most = fmax(most, fabs(c * c + s * s - 1));
    }
    return rotary != NULL ? magnitude_of(most * (1 + 0x1p-50) + 0x1p-50, 0) : none;
}

static bool is_known(const Sublayer *sublayer, const Layout *layout)
{
    const Bundle *bundle = sublayer->bundles;
    const Value *value = &bundle->value;
    const Scale scale = bundle->score.scale;
    bool content = bank_of(layout, bundle->score.read) == BANK_CONTENT &&
                   bank_of(layout, value->read) == BANK_CONTENT &&
                   bank_of(layout, value->write) == BANK_CONTENT;
    bool plain = value->v.data != NULL && value->scale == 1;
    return sublayer->bundle_count == 1 && content && plain && value->diagonal == 0 &&
           (value->d_head == 0 || value->o.data != NULL) && scale.num > 0 && scale.den > 0 &&
           scale.sqrt_den > 0;
}

bool attention_make(AttentionBound *attention, const PartOf *of)
{
    const Layout *layout = of->layout;
    const Bundle *bundle = of->sublayer->bundles;
    if (!is_known(of->sublayer, layout)) {
        return false;
    }
    Sums sums;
    attention->heads = bundle->heads;
    attention->head = need_zeros(bundle->heads, sizeof *attention->head);
    attention->scale_above = scale_rounded(bundle->score.scale, MPFR_RNDU, MPFR_RNDD);
    attention->scale_below = scale_rounded(bundle->score.scale, MPFR_RNDD, MPFR_RNDU);
    attention->turned = bundle->score.rotary != NULL;
    attention->turn_off = turn_off(bundle->score.rotary);
    matrix_zeros(&sums.values, layout->d, layout->d);
    matrix_zeros(&sums.biases, 1, layout->d);
    matrix_zeros(&sums.stack, bundle->heads * layout->d, layout->d);
    for (size_t h = 0; h < bundle->heads; h++) {
        make_scores(&attention->head[h], attention, of, h);
        make_values(&attention->head[h], &sums, of, h);
    }
    attention->values_together = matrix_norm(&sums.values);
    attention->value_biases = matrix_norm(&sums.biases);
    /* 1 and two roundings of what each was divided by. */
    attention->stacked = product(matrix_norm(&sums.stack), (Magnitude){0.5 + 0x1p-50, 1});
    matrix_clear(&sums.values);
    matrix_clear(&sums.biases);
    matrix_clear(&sums.stack);
    return true;
}
