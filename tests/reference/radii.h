/*
 * Radii of a run, and bits that leave a subtraction something.
 */
#ifndef HEADPROOF_TESTS_REFERENCE_RADII_H
#define HEADPROOF_TESTS_REFERENCE_RADII_H

#include "../../reference/reference.h"

/* Opens radii of a run that has just been opened, which is returned. */
RefRun *with_radii(RefRun *run);

/* An exponent above the radius of every row's content. */
mpfr_exp_t radius_exponent(const RefRun *run, RadiusOf of);

/* Exponent of the largest |a - b| over the content of all rows of two runs, all of them numbers; of
 * runs that are the same the least there is. */
mpfr_exp_t runs_apart(const RefRun *a, const RefRun *b, const Layout *layout);

/* Bits at which r(T') - r(T_infinity), subtracted, has more than 128 left. */
mpfr_prec_t subtraction_bits(double omega);

#endif
