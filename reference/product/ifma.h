/*
 * Products on AVX-512 IFMA, and the work that they take (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_IFMA_H
#define HEADPROOF_REFERENCE_PRODUCT_IFMA_H

#include "guard.h"

/* What is done for a tile of C. */
typedef struct {
    size_t digits_a, digits_b; /* of the operands */
    size_t kept;               /* columns of the product */
    size_t depth;              /* terms between two carries */
    size_t blocks;             /* of digits */
    size_t multiplies;         /* multiply-add instructions, a term and row */
} IfmaWork;

IfmaWork ifma_work(const Plan *plan, mpfr_prec_t bits_a, mpfr_prec_t bits_b, mpfr_prec_t bits);

/* Can it hold numbers of that many fraction bits? */
bool ifma_holds(mpfr_prec_t bits_a, mpfr_prec_t bits_b);

bool ifma_mul(const Plan *plan) __attribute__((warn_unused_result));

#endif
