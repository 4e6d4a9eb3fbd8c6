/*
 * Sums, differences, products and quotients of rows of numbers, entry by entry (private to
 * reference/):
 *
 *     y[i] = a[i] + b[i],   a[i] - b[i],   a[i] b[i],   a[i] / b[i],   y[i] + a[i] b[i],
 *
 * each rounded to nearest, the last one twice: as limbs.h, and so MPFR, does it to every number
 * alone, bit by bit, on any machine.  Numbers of 1 to 6 whole limbs are done several at a time.
 *
 * A row is one of a matrix's: its numbers are of one precision, and lie in memory one behind the
 * other, headers and limbs.  y may be a or b, if that is a row.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_LANES_H
#define HEADPROOF_REFERENCE_PRODUCT_LANES_H

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>

/* A row, or one number that stands for every entry of one. */
typedef struct {
    mpfr_srcptr first;
    size_t step; /* 1, 0 */
} Numbers;

static inline Numbers numbers_row(mpfr_srcptr first)
{
    return (Numbers){first, 1};
}

static inline Numbers numbers_same(mpfr_srcptr x)
{
    return (Numbers){x, 0};
}

/* Are all of a row 0?  Those cost as much as one by one, and add nothing. */
static inline bool numbers_are_zero(mpfr_srcptr x, size_t count)
{
    size_t i = 0;
    while (i < count && mpfr_zero_p(x + i)) {
        i++;
    }
    return i == count;
}

void lanes_add(mpfr_ptr y, Numbers a, Numbers b, size_t count);
void lanes_sub(mpfr_ptr y, Numbers a, Numbers b, size_t count);
void lanes_mul(mpfr_ptr y, Numbers a, Numbers b, size_t count);
void lanes_div(mpfr_ptr y, Numbers a, Numbers b, size_t count);

/* y[i] += d[i] */
void lanes_add_doubles(mpfr_ptr y, const double *d, size_t count);

/* y += a b; t: scratch of y's precision. */
void lanes_add_mul(mpfr_ptr y, Numbers a, Numbers b, size_t count, mpfr_ptr t);

/* y[i] = a[i], rounded; y[i] = 0. */
void lanes_set(mpfr_ptr y, mpfr_srcptr a, size_t count);
void lanes_zero(mpfr_ptr y, size_t count);

/* sum = a[0] + ... + a[count - 1], rounded count - 1 times: the second half is added to the first,
 * which has the odd one, again and again.  t: scratch of sum's precision, [(count + 1) / 2], or a
 * itself, which is then lost. */
void lanes_sum(mpfr_ptr sum, mpfr_srcptr a, size_t count, mpfr_ptr t);

#endif
