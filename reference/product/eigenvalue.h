/*
 * The largest eigenvalue of a symmetric matrix of doubles, from above (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_EIGENVALUE_H
#define HEADPROOF_REFERENCE_PRODUCT_EIGENVALUE_H

#include <stddef.h>

/* How it is looked for: vectors at most, and by which share of itself more than what was found is
 * tried first. */
typedef struct {
    size_t vectors;
    double more;
} EigenvalueSearch;

/* At least the largest eigenvalue of g, and at least 0: symmetric [n, n], its upper triangle there,
 * the lower one overwritten.  Entries are below 2^500, and no eigenvalue is larger in size than
 * `most`, which is returned where nothing less is proven. */
double largest_eigenvalue(double *g, size_t n, double most, EigenvalueSearch search);

/* Doubles that it takes. */
double eigenvalue_doubles(size_t n, EigenvalueSearch search);

#endif
