/*
 * How far a precision can be trusted: the size of the terms that scores and streams are made of.
 */
#include "doubt.h"

#include "change.h"

#include <math.h>

/* Scores known to 2^CLEAR make rounding errors of weights that are linear in the precision. */
enum { CLEAR = -4 };

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
    const Score *score = heads->score;
    double weight =
        score->gate.data != NULL
            ? largest_weight(&score->gate, heads, score->read.count, 1) + bits_of(score->read.count)
            : larger(NOTHING, score->gate_unit);
    return fmax(x + weight, largest_bias(score->gate_bias, heads, 1)) + 1 +
           larger(NOTHING, score->gate_scale);
}

static double bilinear_exponent(const Heads *heads, double x)
{
    const Score *score = heads->score;
    size_t width = structured_query_width(score);
    double read = x + bits_of(score->read.count);
    double query = read + largest_weight(&score->q, heads, score->read.count, width), key = x;
    query = fmax(query, largest_bias(score->q_bias, heads, width));
    if (score->d_head > 0) {
        key = read + largest_weight(&score->k, heads, score->read.count, width);
        key = fmax(key, largest_bias(score->k_bias, heads, width));
    }
    return query + key + bits_of(width) + bits_of((size_t)score->scale.num);
}

double doubt_exponent(const RefRun *run, const Heads *heads)
{
    if (heads->score->kind == SCORE_NONE) {
        return NOTHING;
    }
    double x = largest_entry(&run->stream, heads->score->read);
    if (run->change != NULL) {
        x = fmax(x, largest_entry(&run->change->stream, heads->score->read));
    }
    return heads->score->kind == SCORE_GATE ? gate_exponent(heads, x) : bilinear_exponent(heads, x);
}

void doubt_prepare(RefRun *run, const Heads *heads)
{
    run->score_exponent = run->record_gaps ? doubt_exponent(run, heads) : NOTHING;
}

void doubt_note(const RefRun *run, RunThread *thread, mpfr_srcptr difference)
{
    double known = run->score_exponent + run->lost - (double)run->bits;
    if (!run->record_gaps || known <= CLEAR) {
        return;
    }
    /* What is still competing has a weight that is not far below 2^-(bits + score_exponent). */
    double reach = fmax(known, log2((double)run->bits + run->score_exponent)) + 2;
    double apart = mpfr_regular_p(difference) ? (double)mpfr_get_exp(difference) - 1 : NOTHING;
    thread->doubt = thread->doubt || (!(apart > reach));
}
