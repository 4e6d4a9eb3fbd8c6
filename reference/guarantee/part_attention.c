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

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

/* bias += row w. */
static bool add_row(Matrix *bias, const double *row, const Matrix *w)
{
    Matrix taken = {0}, product = {0};
    bool ok = matrix_take(&taken, (Doubles){row, 1, w->rows, w->rows, 1}) &&
              matrix_product(&product, &taken, w, false);
    if (ok) {
        matrix_add(bias, &product, 1);
    }
    matrix_clear(&taken);
    matrix_clear(&product);
    return ok;
}

/* w is taken over; bias [w's columns], or NULL. */
static bool reader_make(Reader *reader, Matrix *w, const double *bias, const LayerNorm *norm)
{
    bool folded = norm->kind != NORMALIZATION_NONE;
    *reader = (Reader){.token = *w};
    *w = (Matrix){0};
    Matrix *token = &reader->token;
    bool ok = matrix_copy(&reader->bias_row, token) &&
              matrix_take(&reader->bias, (Doubles){bias, 1, token->columns, token->columns, 1});
    if (ok && folded && norm->beta != NULL) {
        ok = add_row(&reader->bias, norm->beta, token);
    }
    if (ok && folded) {
        matrix_fold(token, norm);
        if (!norm->tokens_only) {
            matrix_fold(&reader->bias_row, norm);
        }
    }
    return ok;
}

static bool take_weight(Matrix *m, const HeadWeight *weight, size_t head, size_t rows,
                        size_t columns)
{
    return matrix_take(
        m, (Doubles){weight->data + head * weight->head_stride, rows, columns, weight->ld, 1});
}

/* *norm = |a b|, or |a b^T|. */
static bool norm_of_product(Magnitude *norm, const Matrix *a, const Matrix *b, bool transposed)
{
    Matrix product = {0};
    bool ok = matrix_product(&product, a, b, transposed);
    *norm = ok ? matrix_norm(&product) : *norm;
    matrix_clear(&product);
    return ok;
}

/* The two lengths that bound how negative a row's score with itself can be (G6), where t^2 =
 * |W_Q|/|W_K|. */
static bool own_scores(HeadBound *head, const Reader *q, const Reader *k)
{
    Magnitude of_q = matrix_norm(&q->token), of_k = matrix_norm(&k->token), one = {0.5, 1};
    Matrix scores = {0}, unlike = {0}, biases = {0}, dot = {0}, one_way = {0}, other = {0};
    bool usual =
        of_q.digits > 0 && of_k.digits > 0 && isfinite(of_q.digits) && isfinite(of_k.digits);
    long apart = of_q.exponent - of_k.exponent, odd = apart & 1, halves = (apart - odd) / 2;
    double quotient = usual ? sqrt((odd ? 2 : 1) * of_q.digits / of_k.digits) : 1;
    /* s t = 1 but for two roundings, which the square of (G6) is multiplied by. */
    Magnitude t = usual ? magnitude_of(quotient, halves) : one,
              s = usual ? magnitude_of(1 / quotient, -halves) : one;
    bool ok = matrix_product(&scores, &q->token, &k->token, true) &&
              matrix_difference(&unlike, &q->token, s, &k->token, t) &&
              matrix_difference(&biases, &q->bias, s, &k->bias, t) &&
              matrix_product(&dot, &q->bias, &k->bias, true) &&
              matrix_product(&one_way, &q->bias, &k->token, true) &&
              matrix_product(&other, &k->bias, &q->token, true);
    if (ok) {
        head->scores = matrix_norm(&scores);
        head->negative = magnitude_least(matrix_negative_part(&scores), head->scores);
        head->unlike = matrix_norm(&unlike);
        head->unlike_biases = matrix_norm(&biases);
        head->query_bias = matrix_norm(&one_way);
        head->key_bias = matrix_norm(&other);
        head->biases = matrix_norm(&dot);
        dot.entry[0] = -dot.entry[0];
        head->minus_biases = matrix_entry_above(&dot);
        matrix_add(&one_way, &other, 1);
        head->both_biases = matrix_norm(&one_way);
    }
    matrix_clear(&scores);
    matrix_clear(&unlike);
    matrix_clear(&biases);
    matrix_clear(&dot);
    matrix_clear(&one_way);
    matrix_clear(&other);
    return ok;
}

static bool score_norms(HeadBound *head, const Reader *q, const Reader *k)
{
    return own_scores(head, q, k) &&
           norm_of_product(&head->toward_bias_row, &q->token, &k->bias_row, true) &&
           norm_of_product(&head->of_bias_row, &q->bias_row, &k->token, true) &&
           norm_of_product(&head->within_bias_row, &q->bias_row, &k->bias_row, true) &&
           norm_of_product(&head->query_bias_toward, &q->bias, &k->bias_row, true) &&
           norm_of_product(&head->key_bias_of, &k->bias, &q->bias_row, true);
}

/* Q dense is W_Q, with W_K the identity. */
static bool make_scores(HeadBound *head, const PartOf *of, size_t h)
{
    const Score *score = &of->sublayer->bundles[0].score;
    const LayerNorm *norm = &of->sublayer->norm;
    size_t rows = score->read.count, rank = score->d_head;
    bool dense = rank == 0;
    Matrix w_q = {0}, w_k = {0};
    Reader q = {0}, k = {0};
    bool ok =
        take_weight(&w_q, &score->q, h, rows, dense ? rows : rank) &&
        (dense ? matrix_identity(&w_k, rows) : take_weight(&w_k, &score->k, h, rows, rank)) &&
        reader_make(&q, &w_q, score->q_bias != NULL ? score->q_bias + h * rank : NULL, norm) &&
        reader_make(&k, &w_k, score->k_bias != NULL ? score->k_bias + h * rank : NULL, norm) &&
        score_norms(head, &q, &k);
    head->minus_own = INFINITY;
    ok = ok && (of->rows == NULL || rows_scores(&head->minus_own, &q, &k, of->rows));
    matrix_clear(&w_q);
    matrix_clear(&w_k);
    reader_clear(&q);
    reader_clear(&k);
    return ok;
}

/* W_V W_O times the scale, or V. */
static bool take_values(Matrix *v, const Value *value, size_t h)
{
    size_t rows = value->read.count, columns = value->write.count;
    Matrix w_v = {0}, w_o = {0};
    if (value->d_head == 0) {
        return take_weight(v, &value->v, h, rows, columns);
    }
    bool ok = take_weight(&w_v, &value->v, h, rows, value->d_head) &&
              take_weight(&w_o, &value->o, h, value->d_head, columns) &&
              matrix_product(v, &w_v, &w_o, false);
    matrix_clear(&w_v);
    matrix_clear(&w_o);
    return ok;
}

/* bias += b_V W_O. */
static bool add_inner_bias(Matrix *bias, const Value *value, size_t h)
{
    Matrix w_o = {0};
    if (value->inner_bias == NULL) {
        return true;
    }
    bool ok = take_weight(&w_o, &value->o, h, value->d_head, value->write.count) &&
              add_row(bias, value->inner_bias + h * value->d_head, &w_o);
    matrix_clear(&w_o);
    return ok;
}

/* V of head h, with all biases; b_O is the first head's. */
static bool read_values(Reader *reader, const Value *value, size_t h, const LayerNorm *norm)
{
    Matrix v = {0};
    bool ok = take_values(&v, value, h) &&
              reader_make(reader, &v, h == 0 ? value->bias : NULL, norm) &&
              add_inner_bias(&reader->bias, value, h);
    matrix_clear(&v);
    return ok;
}

bool attention_values(Matrix *values, Matrix *bias, const Sublayer *attention, size_t h,
                      const Matrix *rows)
{
    Reader reader = {0};
    bool ok = read_values(&reader, &attention->bundles[0].value, h, &attention->norm) &&
              matrix_product(values, rows, &reader.token, false) && matrix_copy(bias, &reader.bias);
    reader_clear(&reader);
    return ok;
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
static bool make_values(HeadBound *head, Sums *sums, const PartOf *of, size_t h)
{
    Reader reader = {0};
    bool ok = read_values(&reader, &of->sublayer->bundles[0].value, h, &of->sublayer->norm);
    if (ok) {
        head->values = matrix_norm(&reader.token);
        head->values_bias_row = matrix_norm(&reader.bias_row);
        head->value_bias = matrix_norm(&reader.bias);
        matrix_add(&sums->values, &reader.bias_row, 1);
        matrix_add(&sums->biases, &reader.bias, 1);
    }
    if (ok && head->values.digits > 0) {
        matrix_place(&sums->stack, h * reader.token.rows, &reader.token, inverse(head->values));
    }
    head->own_values = (Magnitude){INFINITY, 0};
    ok = ok && (of->rows == NULL || rows_values(&head->own_values, &reader, of->rows));
    reader_clear(&reader);
    return ok;
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

static const char *strange(const Sublayer *sublayer, const Layout *layout)
{
    const Bundle *bundle = sublayer->bundles;
    const Value *value = &bundle->value;
    bool content = bank_of(layout, bundle->score.read) == BANK_CONTENT &&
                   bank_of(layout, value->read) == BANK_CONTENT &&
                   bank_of(layout, value->write) == BANK_CONTENT;
    bool plain = value->v.data != NULL && value->scale == 1;
    return sublayer->bundle_count == 1 && content && plain && value->diagonal == 0 &&
                   bundle->score.scale.num > 0 && bundle->score.scale.den > 0 &&
                   bundle->score.scale.sqrt_den > 0
               ? NULL
               : "attention of this form is outside of what is proven";
}

GuaranteeStatus attention_make(AttentionBound *attention, const char **reason, const PartOf *of)
{
    const Layout *layout = of->layout;
    const Bundle *bundle = of->sublayer->bundles;
    *reason = strange(of->sublayer, layout);
    if (*reason != NULL) {
        return GUARANTEE_OUTSIDE;
    }
    Sums sums = {0};
    attention->heads = bundle->heads;
    attention->head = calloc(bundle->heads, sizeof *attention->head);
    attention->scale_above = scale_rounded(bundle->score.scale, MPFR_RNDU, MPFR_RNDD);
    attention->scale_below = scale_rounded(bundle->score.scale, MPFR_RNDD, MPFR_RNDU);
    bool ok = attention->head != NULL && matrix_zeros(&sums.values, layout->d, layout->d) &&
              matrix_zeros(&sums.biases, 1, layout->d) &&
              matrix_zeros(&sums.stack, bundle->heads * layout->d, layout->d);
    for (size_t h = 0; h < bundle->heads && ok; h++) {
        HeadBound *head = &attention->head[h];
        ok = make_scores(head, of, h) && make_values(head, &sums, of, h);
    }
    if (ok) {
        attention->values_together = matrix_norm(&sums.values);
        attention->value_biases = matrix_norm(&sums.biases);
        /* 1 and two roundings of what each was divided by. */
        attention->stacked =
            magnitude_product(matrix_norm(&sums.stack), (Magnitude){0.5 + 0x1p-50, 1});
    }
    matrix_clear(&sums.values);
    matrix_clear(&sums.biases);
    matrix_clear(&sums.stack);
    return ok ? GUARANTEE_OK : GUARANTEE_NO_MEMORY;
}
