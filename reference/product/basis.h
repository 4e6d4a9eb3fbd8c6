/*
 * A basis of primes, and how numbers are split and joined by it (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_BASIS_H
#define HEADPROOF_REFERENCE_PRODUCT_BASIS_H

#include "guard.h"

/* How many primes a product of k terms of numbers of so many bits takes. */
size_t basis_primes(size_t k, mpfr_prec_t bits_a, mpfr_prec_t bits_b);

/* How the integers of one operand are split: digits of `width` bits, the most significant first.
 * Row t of `power` [primes, digits] holds their weights modulo prime t, times a factor. */
typedef struct {
    size_t digits;
    unsigned width;
    double *power;
} Split;

/* Symmetric residues |r| <= q / 2 + 1 modulo each prime are doubles, and so exact are: the split
 * (digits 2^width (q / 2 + 1) < 2^53), the product (depth (q / 2 + 1)^2 + q < 2^53), and the
 * recombination.  With M the product of the primes, x_t the residue of C (M / q_t)^-1 and
 * h = round(sum of x_t / q_t), C = sum of x_t M / q_t - h M; |C| < M / 4 makes h safe to compute in
 * doubles.  Only bits from `cut` on are recombined. */
typedef struct {
    size_t primes;
    double *q, *reciprocal; /* [primes] */
    size_t depth;           /* terms that may be summed before a reduction */
    Split a, b;             /* b's weights alone; a's times (M / q_t)^-1 */
    size_t digits;          /* of C, the least significant first */
    unsigned width;
    long cut;
    double *weight; /* [digits, primes + 1]: of x_t; of -h */
} Basis;

void basis_init(Basis *basis, const Plan *plan);
void basis_clear(Basis *basis);

#endif
