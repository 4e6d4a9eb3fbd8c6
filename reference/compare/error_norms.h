/*
 * The largest entry and the root mean square of numbers, whatever their exponents (private to
 * reference/).
 */
#ifndef HEADPROOF_REFERENCE_COMPARE_ERROR_NORMS_H
#define HEADPROOF_REFERENCE_COMPARE_ERROR_NORMS_H

#include "../numbers/ap.h"
#include "../reference.h"

#include <mpfr.h>

/* Entries that are taken in at once. */
enum { NORMS_COLUMNS = 64 };

/* Sums over the compared entries: largest |d|, and the sum of (d 2^-shift)^2, shift the largest
 * exponent so far, since squares may leave MPFR's exponents where their roots do not.  d: a row of
 * so many bits, at least REF_CELL_BITS, whose limbs are at `limbs`. */
typedef struct {
    mpfr_t max, squares, t;
    __mpfr_struct d[NORMS_COLUMNS];
    mp_limb_t *limbs;
    mpfr_exp_t shift;
} Norms;

void norms_init(Norms *norms, mpfr_prec_t bits);
void norms_clear(Norms *norms);

/* Takes in entries norms->d [count], which are then lost.  A NaN or infinity stays. */
void norms_add(Norms *norms, size_t count);

/* root = sqrt(sum of d^2 / count) */
void norms_root(mpfr_ptr root, const Norms *norms, unsigned long count);

/* The largest |entry| of rows first .. first + rows - 1 in some columns; NaN if one is. */
void norms_block_max(mpfr_ptr max, const ApMat *mat, size_t first, size_t rows, Columns columns);

#endif
