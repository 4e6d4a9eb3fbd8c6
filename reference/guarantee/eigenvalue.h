/*
 * Eigenvalues of symmetric matrices of doubles, from above (private to reference/guarantee/).
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_EIGENVALUE_H
#define HEADPROOF_REFERENCE_GUARANTEE_EIGENVALUE_H

#include <stddef.h>

/* At least the largest eigenvalue of s, symmetric [n, n], entries below 2^500, of which no
 * eigenvalue is larger in size than `most`; and at least 0. */
double largest_eigenvalue(const double *s, size_t n, double most);

#endif
