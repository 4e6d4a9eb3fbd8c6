/*
 * How large the terms of a score can be, from exponents alone: for a gate a (x g + c)
 *     |x| |g| r, |c|   times a,             r the columns read,
 * and for x W_Q (x W_K)^T the product of what bounds a query and a key, times the numerator of the
 * scale.
 */
#include "heads.h"

#include <math.h>

/* The exponent of zeros. */
#define NOTHING (-0x1p62)

/* Above log2 of a sum of count numbers below 1. */
static double bits_of(size_t count)
{
    int exponent;
    (void)frexp((double)count, &exponent);
    return exponent;
}

static double largest_entry(const ApMat *x, Columns columns)
{
    double most = NOTHING;
    for (size_t i = 0; i < x->rows; i++) {
        for (size_t c = columns.first; c < columns.first + columns.count; c++) {
            mpfr_srcptr entry = ap_at(x, i, c);
            most = mpfr_regular_p(entry) ? fmax(most, (double)mpfr_get_exp(entry)) : most;
        }
    }
    return most;
}

static double larger(double most, double w)
{
    int exponent;
    (void)frexp(w, &exponent);
    return w != 0 ? fmax(most, exponent) : most;
}

static double largest_weight(const HeadWeight *w, const Heads *heads, size_t rows, size_t columns)
{
    double most = NOTHING;
    for (size_t h = heads->first; h < heads->first + heads->count; h++) {
        for (size_t r = 0; r < rows; r++) {
            for (size_t c = 0; c < columns; c++) {
                most = larger(most, w->data[h * w->head_stride + r * w->ld + c]);
            }
        }
    }
    return most;
}

/* Of a bias [heads, width], or NULL. */
static double largest_bias(const double *bias, const Heads *heads, size_t width)
{
    double most = NOTHING;
    for (size_t i = heads->first * width; bias != NULL && i < (heads->first + heads->count) * width;
         i++) {
        most = larger(most, bias[i]);
    }
    return most;
}

/* x: the exponent of the stream's entries that are read. */
static double gate_exponent(const Heads *heads, double x)
{
    const Score *score = &heads->bundle->score;
    double weight =
        score->gate.data != NULL
            ? largest_weight(&score->gate, heads, score->read.count, 1) + bits_of(score->read.count)
            : larger(NOTHING, score->gate_unit);
    return fmax(x + weight, largest_bias(score->gate_bias, heads, 1)) + 1 +
           larger(NOTHING, score->gate_scale);
}

static double bilinear_exponent(const Heads *heads, double x)
{
    const Score *score = &heads->bundle->score;
    size_t width = heads_query_width(score);
    double read = x + bits_of(score->read.count);
    double query = read + largest_weight(&score->q, heads, score->read.count, width), key = x;
    query = fmax(query, largest_bias(score->q_bias, heads, width));
    if (score->d_head > 0) {
        key = read + largest_weight(&score->k, heads, score->read.count, width);
        key = fmax(key, largest_bias(score->k_bias, heads, width));
    }
    return query + key + bits_of(width) + bits_of((size_t)score->scale.num);
}

double heads_score_exponent(const Heads *heads, const ApMat *x, const ApMat *e)
{
    const Score *score = &heads->bundle->score;
    if (score->kind == SCORE_NONE) {
        return NOTHING;
    }
    double most = largest_entry(x, score->read);
    if (e != NULL) {
        most = fmax(most, largest_entry(e, score->read));
    }
    return score->kind == SCORE_GATE ? gate_exponent(heads, most) : bilinear_exponent(heads, most);
}
