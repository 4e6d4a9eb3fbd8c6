/*
 * VectorOperations of doubles (private to reference/radius/): sums are taken in eight parts side by
 * side, so that their bits are the same whatever vectors a machine has.
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_VECTORS_H
#define HEADPROOF_REFERENCE_RADIUS_VECTORS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    /* The sum of all a[j]; of all a[j] b[j] where a[j] is not zero. */
    double (*sum)(const double *a, size_t count);
    double (*dot)(const double *a, const double *b, size_t count);
    /* c[j] = a[j] b[j], and 0 where a[j] is. */
    void (*multiply)(double *c, const double *a, const double *b, size_t count);
    /* The largest b[j] >= 0 where a[j] is not zero, which is no NaN; 0 of none. */
    double (*largest)(const double *a, const double *b, size_t count);
    /* y += weight v */
    void (*add_scaled)(double *y, double weight, const double *v, size_t count);
    /* |a - b| as computed, of vectors of count entries: off by (count + 4) 2^-52 of |a| + |b|. */
    double (*distance)(const double *a, const double *b, size_t count);
    /* For each j at least |v_j - y|, in place of the product v_j.y (C39): square[j] is |v_j|^2 and
     * own |y|^2, as computed from entries of vectors of `width`.  False: some two are so near each
     * other that this is loose. */
    bool (*distances)(double *product, const double *square, double own, size_t width,
                      size_t count);
} VectorOperations;

/* Those of the tier in use. */
const VectorOperations *vectors(void);

/* More than all squares that underflow, together. */
#define SQUARES_LOST 0x1p-900

#endif
