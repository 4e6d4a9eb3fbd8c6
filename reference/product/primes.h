/*
 * Primes, and numbers modulo them (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_PRIMES_H
#define HEADPROOF_REFERENCE_PRODUCT_PRIMES_H

#include <stddef.h>
#include <stdint.h>

/* The largest `count` odd primes up to high < 2^26; returns how many were found. */
size_t primes_below(uint32_t *prime, size_t count, uint32_t high);

/* 2^exponent and 1 / x modulo a prime q < 2^32. */
uint64_t power_of_two(uint64_t exponent, uint64_t q);
uint64_t inverse(uint64_t x, uint64_t q);

#endif
