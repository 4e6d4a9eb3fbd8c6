/*
 * Arbitrary-precision vectors and matrices on MPFR (private to reference/).
 *
 * Entries lie in one array and their limbs in another, so that nothing is allocated once a
 * matrix exists.  Every operation rounds to nearest at the precision of its result.
 *
 * Umbrella header: for ap.c, and for exponentials.c and erfc.c, the functions of single numbers.
 */
#ifndef HEADPROOF_REFERENCE_NUMBERS_AP_H
#define HEADPROOF_REFERENCE_NUMBERS_AP_H

#include "limbs.h"

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>

/* Row-major [rows, columns]; entry (r, c) is at ap_at(m, r, c). */
typedef struct {
    __mpfr_struct *entry;
    mp_limb_t *limbs;
    size_t rows, columns;
    mpfr_prec_t bits;
} ApMat;

/* All zeros. */
void ap_init(ApMat *m, size_t rows, size_t columns, mpfr_prec_t bits);
void ap_clear(ApMat *m);

/* Bytes of a matrix, as a double. */
double ap_bytes(double rows, double columns, mpfr_prec_t bits);

/* A matrix, and what it is to be. */
typedef struct {
    ApMat *mat;
    size_t rows, columns;
} ApExtent;

/* The same of all matrices of a list, so that one list says what is there, is freed and is
 * predicted.  Bytes do not look at the matrices. */
void ap_init_list(const ApExtent *list, size_t count, mpfr_prec_t bits);
void ap_clear_list(const ApExtent *list, size_t count);
double ap_bytes_list(const ApExtent *list, size_t count, mpfr_prec_t bits);

static inline mpfr_ptr ap_at(const ApMat *m, size_t row, size_t column)
{
    return m->entry + row * m->columns + column;
}

/* The exponent of the largest of count numbers; mpfr_get_emin() where all are zero or not
 * finite. */
mpfr_exp_t ap_exponent(mpfr_srcptr x, size_t count);

/* Sets every entry to zero. */
void ap_zero(ApMat *m);

/* y = sum of a[i] b[i], i < count, terms of either precision; t is scratch of y's precision.
 * |error| <= 2 count u (sum of |a[i] b[i]|), u = 2^-precision(y). */
void ap_dot(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b, size_t count, mpfr_ptr t);

/* Tables for exponentials of so many bits, filled when they are first needed; one a thread.  What
 * has more bits takes longer. */
typedef struct ApExp ApExp;

ApExp *ap_exp_create(mpfr_prec_t bits) __attribute__((warn_unused_result));
void ap_exp_free(ApExp *e);

/* y = exp(x), |relative error| <= 2^(1 - precision(y)). */
void ap_exp(ApExp *e, mpfr_ptr y, mpfr_srcptr x);

/* m = exp(x) - 1, |relative error| <= 2^(2 - precision(m)), however small x is, and g = exp(x) as
 * ap_exp has it; of one precision.  g may be x, m may not. */
void ap_expm1(ApExp *e, mpfr_ptr m, mpfr_ptr g, mpfr_srcptr x);

/* y = erfc(x), |relative error| <= 2^(1 - precision(y)); y may be x. */
void ap_erfc(ApExp *e, mpfr_ptr y, mpfr_srcptr x);

/* Frees what the libraries cache for this thread. */
void ap_thread_clear(void);

/* MPFR's exponent range and flags are per thread: the first and the last thing in a thread of a
 * parallel region, with the range of the one that began it, which sets the flags that the others
 * return; clear: free their caches. */
void ap_thread_enter(mpfr_exp_t emin, mpfr_exp_t emax);
mpfr_flags_t ap_thread_leave(bool clear);

/* The flags of what no evaluation does whose numbers are in MPFR's range: overflow, NaN, division
 * by zero, NaN compared.  (What underflows is a part too small to see.) */
mpfr_flags_t ap_fatal_flags(void);

#endif
