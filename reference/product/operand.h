/*
 * A factor of a product, measured (private to reference/product/).
 *
 * An operand is seen as lines: the rows of A, the columns of B.  Line i is scaled by
 * 2^-exponent[i], so that its entries are below 1 in magnitude, and rounded to P fraction bits:
 * from there on a product is one of integers.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_OPERAND_H
#define HEADPROOF_REFERENCE_PRODUCT_OPERAND_H

#include "product.h"

#include <limits.h>

/* The exponent of a line of zeros. */
#define LINE_ZERO LONG_MIN

/* No exponent beyond this (MPFR's may reach 2^62) is scaled: sums of three stay in a long. */
#define EXPONENT_LIMIT (1L << 60)

/* What is measured of a line, in one piece of memory, which begins with exponent: and, while it is
 * measured, the exponent of the lowest bit that is set in it. */
#define OPERAND_LINE_BYTES (2 * sizeof(mpfr_exp_t) + sizeof(double) + sizeof(bool))

typedef struct {
    const __mpfr_struct *entry;
    const double *number;
    size_t lines, depth;
    size_t *line_at, *depth_at; /* as view_offsets has them */
    bool depth_major;           /* neighbours in memory belong to neighbouring lines */
    bool beside;                /* each eight from index 0 of that axis on are neighbours */
    mpfr_exp_t *exponent;       /* [lines] all |entries| < 2^exponent, or LINE_ZERO */
    double *sum;                /* [lines] sum of |entries| 2^-exponent, not below it */
    float *size;                /* |entries| 2^-exponent, not above it, and 0 below 2^-61: */
                                /* [lines, depth], or [depth, lines] if depth_major */
    bool *spread;               /* [lines] is the size of an entry that is not 0 given as 0? */
    mpfr_prec_t bits;           /* fraction bits that would hold every scaled entry exactly */
    bool plain;                 /* all finite and within EXPONENT_LIMIT: it can be scaled */
    struct KeptOperand *kept;   /* whose all this is: measured, only to be read; or NULL */
} Operand;

/* The offsets of a matrix's rows and, behind those, of its columns: an entry is at the sum of
 * two. */
size_t *view_offsets(ProductView v) __attribute__((warn_unused_result));

/* The rows of v. */
void operand_open(Operand *o, ProductView v);
void operand_close(Operand *o);

/* No size of a smaller exponent is kept: products of two are no denormals. */
#define SIZE_EXPONENT (-60)

/* Measures exponent, sum, size, spread, bits and plain, unless they are kept. */
void operand_measure(Operand *o, int threads);

/* size [count, depth], of lines from `first` on of an operand that is measured and plain:
 * magnitudes as in Operand, but doubles, and 0 below 2^-501 alone. */
void operand_sizes(double *size, const Operand *o, size_t first, size_t count);

#endif
