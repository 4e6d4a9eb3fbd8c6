/*
 * The direct operations of an original, by loops over MPFR numbers.
 */
#include "naive.h"

#include <math.h>
#include <string.h>

/* One row's x w + b and its bound (depth + 2) (|x| |w| + |b|) + (bound of x) |w|. */
static void affine(long double *y, long double *bound, const long double *x,
                   const long double *x_bound, const double *w, const double *b, size_t from,
                   size_t to)
{
    for (size_t c = 0; c < to; c++) {
        long double absolute = b == NULL ? 0 : fabsl((long double)b[c]), inherited = 0;
        y[c] = b == NULL ? 0 : b[c];
        for (size_t r = 0; r < from; r++) {
            long double term = x[r] * w[r * to + c];
            y[c] += term;
            absolute += fabsl(term);
            inherited += x_bound[r] * fabsl((long double)w[r * to + c]);
        }
        bound[c] = (long double)(from + 2) * absolute + inherited;
    }
}

/* A slope is at most 1.13 (both GELUs'; SiLU's 1.1).  SiLU: exp, the sum and the quotient, 4.
 * GELU: the argument's two roundings move it by 2 x^2 phi(x), phi the normal density; erfc loses up
 * to 5 ulps, the halving and the product 2: 12.  gelu_new: the argument u's six roundings move tanh
 * by 6 max|u tanh'(u)| < 2.7, and it loses up to 4 halves of an ulp of 1; the sum, 2 and the
 * product 1 more, all times |x|/2: 5 |x|. */
static void activate(long double *y, long double *bound, size_t count, Activation activation)
{
    static const long double pi = 3.141592653589793238462643383279502884L;
    for (size_t c = 0; c < count; c++) {
        long double x = y[c];
        bound[c] *= 1.13L;
        if (activation == ACTIVATION_SILU) {
            y[c] = x / (1 + expl(-x));
            bound[c] += 4 * fabsl(y[c]);
        } else if (activation == ACTIVATION_RELU) {
            y[c] = fmaxl(x, 0);
        } else if (activation == ACTIVATION_GELU_NEW) {
            long double u = sqrtl(2 / pi) * (x + 0.044715 * x * x * x);
            y[c] = x / 2 * (1 + tanhl(u));
            bound[c] += 5 * fabsl(x);
        } else {
            y[c] = x * erfcl(-x / sqrtl(2)) / 2;
            bound[c] += 2 * x * x * expl(-x * x / 2) / sqrtl(2 * pi) + 12 * fabsl(y[c]);
        }
    }
}

void naive_direct_row(long double *y, long double *bound, const Direct *direct)
{
    long double x[NAIVE_WIDTH], zero[NAIVE_WIDTH] = {0};
    long double to[NAIVE_WIDTH], to_bound[NAIVE_WIDTH], inner[NAIVE_WIDTH], lost[NAIVE_WIDTH];
    size_t read = direct->read.count, write = direct->write.count;
    memcpy(x, y + direct->read.first, read * sizeof *x);
    if (direct->kind == DIRECT_ACTIVATION) {
        activate(y + direct->read.first, bound + direct->read.first, read, direct->activation);
        return;
    }
    if (direct->kind == DIRECT_FFN) {
        affine(inner, lost, x, zero, direct->w1, direct->b1, read, direct->hidden);
        activate(inner, lost, direct->hidden, direct->activation);
        affine(to, to_bound, inner, lost, direct->w2, direct->b2, direct->hidden, write);
    } else {
        affine(to, to_bound, x, zero, direct->w1, direct->b1, read, write);
    }
    for (size_t c = 0; c < write; c++) {
        size_t column = direct->write.first + c;
        long double before = direct->replace ? 0 : y[column];
        y[column] = before + to[c];
        bound[column] = to_bound[c] + fabsl(before) + fabsl(to[c]);
    }
    for (size_t r = 0; direct->clear && r < read; r++) {
        y[direct->read.first + r] = bound[direct->read.first + r] = 0;
    }
}
