/*
 * Work of the fixed-point backends, counted (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_COST_H
#define HEADPROOF_REFERENCE_PRODUCT_COST_H

#include "internal.h"

/* Of a tile of C: digits of the operands; columns of the product kept; terms between two carries;
 * blocks of digits; multiply-add instructions a term and row. */
typedef struct {
    size_t digits_a, digits_b, kept, depth, blocks, multiplies;
} IfmaWork;

IfmaWork ifma_work(const Plan *plan, mpfr_prec_t bits_a, mpfr_prec_t bits_b, mpfr_prec_t bits);

/* How many primes a product of k terms of numbers of so many bits takes. */
size_t basis_primes(size_t k, mpfr_prec_t bits_a, mpfr_prec_t bits_b);

#endif
