/*
 * Residues modulo many primes (private to modular.c, basis.c and primes.c).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_MODULAR_H
#define HEADPROOF_REFERENCE_PRODUCT_MODULAR_H

#include "cost.h"

/* The largest `count` odd primes up to high < 2^26; returns how many were found. */
size_t primes_below(uint32_t *prime, size_t count, uint32_t high);

/* 2^exponent and 1 / x modulo a prime q < 2^32. */
uint64_t power_of_two(uint64_t exponent, uint64_t q);
uint64_t inverse(uint64_t x, uint64_t q);

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

bool basis_init(Basis *basis, const Plan *plan) __attribute__((warn_unused_result));
void basis_clear(Basis *basis);

#endif
