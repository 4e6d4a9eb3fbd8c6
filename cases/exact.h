/*
 * Sums and powers that doubles hold exactly (private to cases/).
 */
#ifndef HEADPROOF_CASES_EXACT_H
#define HEADPROOF_CASES_EXACT_H

#include "model.h"

/* *high + *low = a b, *high the product rounded to nearest; a and b finite.  False when that
 * leaves the range of doubles: *high infinite, or below the smallest normal ones rounded again. */
bool exact_product(double *high, double *low, double a, double b);

/* Whether a + b is a double; both finite. */
bool exact_sum(double a, double b);

/* *value = num / (den sqrt(sqrt_den)) with three roundings; true when it is that number. */
bool exact_scale(double *value, Scale scale);

#endif
