/*
 * How large the terms of a score can be, from exponents alone: for a gate a (x g + c) + t
 *     |x| |g| r, |c|   times a, and |t|,    r the columns read,
 * and for x W_Q (x W_K)^T the product of what bounds a query and a key, times the numerator of the
 * scale.
 */
#include "heads.h"

#include <math.h>

/* The exponent of zeros, and one above all that MPFR has: their sum is an mpfr_exp_t too. */
#define NOTHING (-((mpfr_exp_t)1 << 62) + 1)
#define MOST (-NOTHING)

/* The exponent of a product, between those. */
static mpfr_exp_t times(mpfr_exp_t a, mpfr_exp_t b)
{
    mpfr_exp_t sum = a + b;
    return sum < NOTHING ? NOTHING : sum > MOST ? MOST : sum;
}

static mpfr_exp_t larger(mpfr_exp_t a, mpfr_exp_t b)
{
    return a > b ? a : b;
}

/* Above log2 of a sum of count numbers below 1. */
static mpfr_exp_t bits_of(size_t count)
{
    mpfr_exp_t bits = 0;
    for (; count > 0; count /= 2) {
        bits++;
    }
    return bits;
}

static mpfr_exp_t largest_entry(const ApMat *x, Columns columns)
{
    mpfr_exp_t most = NOTHING;
    for (size_t i = 0; i < x->rows; i++) {
        for (size_t c = columns.first; c < columns.first + columns.count; c++) {
            mpfr_srcptr entry = ap_at(x, i, c);
            most = mpfr_regular_p(entry) ? larger(most, mpfr_get_exp(entry)) : most;
        }
    }
    return most;
}

static mpfr_exp_t exponent_of(double w)
{
    int exponent;
    (void)frexp(w, &exponent);
    return w != 0 ? exponent : NOTHING;
}

static mpfr_exp_t largest_weight(const HeadWeight *w, const Heads *heads, size_t rows,
                                 size_t columns)
{
    mpfr_exp_t most = NOTHING;
    for (size_t h = heads->first; h < heads->first + heads->count; h++) {
        for (size_t r = 0; r < rows; r++) {
            for (size_t c = 0; c < columns; c++) {
                most = larger(most, exponent_of(w->data[h * w->head_stride + r * w->ld + c]));
            }
        }
    }
    return most;
}

/* Of a bias [heads, width], or NULL. */
static mpfr_exp_t largest_bias(const double *bias, const Heads *heads, size_t width)
{
    mpfr_exp_t most = NOTHING;
    size_t first = heads->first * width, end = first + heads->count * width;
    for (size_t i = first; bias != NULL && i < end; i++) {
        most = larger(most, exponent_of(bias[i]));
    }
    return most;
}

/* x: the exponent of the stream's entries that are read.  NOTHING without a gate. */
static mpfr_exp_t gate_exponent(const Heads *heads, mpfr_exp_t x)
{
    const Score *score = &heads->bundle->score;
    size_t count = score->read.count;
    mpfr_exp_t product = times(x, exponent_of(score->gate_unit));
    if (score->gate.data != NULL) {
        product = times(x, times(largest_weight(&score->gate, heads, count, 1), bits_of(count)));
    }
    product = larger(product, largest_bias(score->gate_bias, heads, 1));
    product = times(times(product, 1), exponent_of(score->gate_scale));
    return score->gate_shift == NULL
               ? product
               : times(larger(product, largest_bias(score->gate_shift, heads, 1)), 1);
}

static mpfr_exp_t bilinear_exponent(const Heads *heads, mpfr_exp_t x)
{
    const Score *score = &heads->bundle->score;
    size_t width = score_query_width(score), count = score->read.count;
    mpfr_exp_t read = times(x, bits_of(count)), key = x;
    mpfr_exp_t query = times(read, largest_weight(&score->q, heads, count, width));
    query = larger(query, largest_bias(score->q_bias, heads, width));
    if (score->d_head > 0) {
        key = times(read, largest_weight(&score->k, heads, count, width));
        key = larger(key, largest_bias(score->k_bias, heads, width));
    }
    return times(times(query, key), bits_of(width) + bits_of((size_t)score->scale.num));
}

mpfr_exp_t heads_score_exponent(const Heads *heads, const ApMat *x)
{
    const Score *score = &heads->bundle->score;
    mpfr_exp_t most = largest_entry(x, score->read);
    return score_by_key(score) ? bilinear_exponent(heads, most) : gate_exponent(heads, most);
}
