/*
 * Matrix products in arbitrary precision, at a small multiple of the cost of products of doubles.
 *
 *     C = A B,  or  C += A B,      A [m, k], B [k, n], C [m, n].
 *
 * Error.  With p the precision of C's entries, P = A B in exact arithmetic and what is stored
 * rounded to nearest,
 *
 *     |C_ij - P_ij| <= (k + 2) 2^-p  sum_l |a_il| |b_lj|                               (1)
 *
 * for every entry, whatever the magnitudes: entries are exact inputs of any precision, and A and B
 * may spread over any range of exponents that MPFR has.  (A loop of mpfr_fma keeps k 2^-p sum; its
 * mpfr_mul and mpfr_add form 2 k 2^-p sum.)  C += A B adds the rounding of the addition,
 * 2^-p |C_ij|.  With g guard bits, (k + 2) 2^-(p + g) sum + 2^-p |C_ij|: for g = 64, P rounded to
 * nearest but where it lies within 2^-50 or so of a tie, the same bits by every method.
 * Proof and method: docs/certify.md.
 *
 * The bits of C depend on the machine (its measured costs choose the backend), the operands and
 * the options except `threads`: never on the number of threads or on what ran before.
 *
 * Call blas_setup first: BLAS runs on one thread inside.  May be called from several threads at
 * once, each with MPFR's exponent range as it wants it.
 *
 * Umbrella header: for weights.c, too.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_PRODUCT_H
#define HEADPROOF_REFERENCE_PRODUCT_PRODUCT_H

#include "../numbers/ap.h"

/* Index i of an axis lies (i / group) * group_stride + (i % group) * stride entries from index 0:
 * so the columns of H matrices [D, d_head], one a head, are those of one matrix [D, H d_head]. */
typedef struct {
    size_t stride, group, group_stride;
} ProductAxis;

/* A matrix in somebody else's memory: of MPFR numbers, or of doubles, which are exact.  Entry
 * (r, c) is entry[offset] or number[offset], the sum of its two axes' offsets. */
typedef struct {
    __mpfr_struct *entry; /* NULL for a matrix of doubles */
    const double *number;
    size_t rows, columns;
    ProductAxis row, column;
} ProductView;

/* A whole matrix; the block [rows, columns] whose first entry is (row, column). */
ProductView product_view(const ApMat *m);
ProductView product_block(const ApMat *m, size_t row, size_t column, size_t rows, size_t columns);

/* Doubles, row-major with leading dimension ld. */
ProductView product_doubles(const double *w, size_t rows, size_t columns, size_t ld);

/* `groups` matrices of doubles like the first, group_stride apart, side by side; and one below the
 * other. */
ProductView product_doubles_beside(ProductView first, size_t groups, size_t group_stride);
ProductView product_doubles_below(ProductView first, size_t groups, size_t group_stride);

ProductView product_transposed(ProductView v);

typedef enum {
    PRODUCT_AUTO,    /* the fastest by the table in cost.c */
    PRODUCT_LOOP,    /* mpfr_fma, entry by entry: the definition */
    PRODUCT_DOT,     /* dot products of limbs, each rounded once: the smallest products */
    PRODUCT_MODULAR, /* residues modulo primes, one product of doubles for each */
    PRODUCT_DIGITS,  /* 52-bit digits, several entries of C at once */
    PRODUCT_BACKENDS
} ProductBackend;

/* Matrices of doubles that many products have for B, kept measured and packed: bytes is what they
 * may take.  They have to stay as they are, and where they are, as long as this, which several
 * threads may use at once. */
typedef struct ProductWeights ProductWeights;
ProductWeights *product_weights_make(double bytes) __attribute__((warn_unused_result));
void product_weights_clear(ProductWeights *weights);

/* Drops the matrices that begin at a number that goes, which no product has for B meanwhile. */
typedef bool ProductGoes(void *context, const double *number);
void product_weights_drop(ProductWeights *weights, ProductGoes *goes, void *context);

typedef struct {
    ProductBackend backend;
    bool add;    /* C += A B */
    int guard;   /* bits beyond C's that the product keeps until it is stored; below 0: fewer */
    int threads; /* at most, over blocks of rows; 0 and 1: the caller's alone */
    ProductWeights *weights; /* where B is kept if it is of doubles, or NULL */
} ProductOptions;

const char *product_backend_name(ProductBackend backend);

/* How a product was done, for benchmarks and tests; seconds are a prediction. */
typedef struct {
    ProductBackend backend;
    mpfr_prec_t bits; /* fraction bits of the scaled rows of A and columns of B; 0: no scaling */
    size_t by_loop;   /* entries of C whose magnitudes left them to the loop */
    double predicted;
} ProductReport;

/* C = A B or C += A B.  C is a matrix of MPFR numbers of one precision, and shares no entry with A
 * or B.  report may be NULL. */
void product_mul(ProductView c, ProductView a, ProductView b, const ProductOptions *options,
                 ProductReport *report);

/* The factor of (1), k + 2. */
static inline double product_error_factor(size_t k)
{
    return (double)k + 2;
}

#endif
