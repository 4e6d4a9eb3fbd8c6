/*
 * softmax of a row, with the largest score taken out first.
 */
#include "softmax.h"

#include <string.h>

/* Four chains instead of one: a processor adds, or compares, several numbers at once, and a chain
 * makes it wait.  NaN is never the largest; it comes out in the sum. */
static Scalar largest(const Scalar *x, size_t n)
{
    Scalar max[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    size_t j = 0;
    for (; j + 4 <= n; j += 4) {
        for (size_t k = 0; k < 4; k++) {
            max[k] = x[j + k] > max[k] ? x[j + k] : max[k];
        }
    }
    for (; j < n; j++) {
        max[0] = x[j] > max[0] ? x[j] : max[0];
    }
    max[0] = max[1] > max[0] ? max[1] : max[0];
    max[2] = max[3] > max[2] ? max[3] : max[2];
    return max[2] > max[0] ? max[2] : max[0];
}

static Scalar sum(const Scalar *x, size_t n)
{
    Scalar total[4] = {0};
    size_t j = 0;
    for (; j + 4 <= n; j += 4) {
        for (size_t k = 0; k < 4; k++) {
            total[k] += x[j + k];
        }
    }
    for (; j < n; j++) {
        total[0] += x[j];
    }
    return (total[0] + total[1]) + (total[2] + total[3]);
}

/* exp(x - max), four at a time: keys that Omega hides, most of a head's, cost a comparison. */
static void exponentials(Scalar *x, size_t n, Scalar max)
{
    const Scalar hidden = max + SCALAR_EXP_ZERO;
    size_t j = 0;
    for (; j + 4 <= n; j += 4) {
        if ((x[j] < hidden) & (x[j + 1] < hidden) & (x[j + 2] < hidden) & (x[j + 3] < hidden)) {
            memset(x + j, 0, 4 * sizeof *x);
            continue;
        }
        for (size_t k = j; k < j + 4; k++) {
            x[k] = exp_shifted(x[k] - max);
        }
    }
    for (; j < n; j++) {
        x[j] = exp_shifted(x[j] - max);
    }
}

/* x / total for numbers that are not negative. */
static void divide(Scalar *x, size_t n, Scalar total)
{
    size_t j = 0;
    for (; j + 4 <= n; j += 4) {
        if ((x[j] + x[j + 1]) + (x[j + 2] + x[j + 3]) == 0) {
            continue;
        }
        for (size_t k = j; k < j + 4; k++) {
            x[k] /= total;
        }
    }
    for (; j < n; j++) {
        x[j] /= total;
    }
}

Scalar softmax_row(Scalar *row, size_t visible, size_t length, Scalar *bias, NumberFormat format)
{
    Scalar max = largest(row, visible);
    max = bias != NULL && *bias > max ? *bias : max;
    exponentials(row, visible, max);
    Scalar of_row = sum(row, visible), total = of_row;
    if (bias != NULL) {
        *bias = exp_shifted(*bias - max);
        total += *bias;
        *bias /= total;
    }
    divide(row, visible, total);
    memset(row + visible, 0, (length - visible) * sizeof *row);
    if (!scalar_is_finer(format)) {
        return of_row / total;
    }
    if (bias != NULL) {
        scalar_round(format, bias, 1);
    }
    scalar_round(format, row, visible);
    return sum(row, visible);
}
