/*
 * Cells: values with what is known of them (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_COMPARE_CELL_H
#define HEADPROOF_REFERENCE_COMPARE_CELL_H

#include "../reference.h"

/* An error of this exponent and more says that nothing is known: no such value is one, though
 * errors relative to a stream of e^-2^61 are larger.  Ten to its power is a Decimal of Python's. */
#define CELL_UNKNOWN ((mpfr_exp_t)1 << 61)

/* The cell of a value >= 0 known to +-error (0: exactly): the value when both ends round to the
 * same digits, as many as the cell has, else the next power of two above both (4 error where the
 * value is below 2 error, so that the bound does not depend on rounding noise). */
void cell_settle(RefCell *cell, mpfr_srcptr value, mpfr_srcptr error);

/* The cell of a proven zero.  False when the measured value contradicts it: it then settles as a
 * value. */
bool cell_zero(RefCell *cell, mpfr_srcptr value, mpfr_srcptr error);

/* Bits that the error must fall by until the cell of that value is one; 0: it is, or that is out of
 * reach; 2^30 and more: nothing is known. */
double cell_lacks(const RefCell *cell, mpfr_srcptr value, mpfr_srcptr error);

/* Every cell absent, no contradiction. */
void errors_reset(RefErrors *errors);

#endif
