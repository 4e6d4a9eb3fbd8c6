/*
 * Numbers that are drawn: doubles, and numbers of all precisions.
 */
#ifndef HEADPROOF_TESTS_DRAWN_NUMBERS_H
#define HEADPROOF_TESTS_DRAWN_NUMBERS_H

#include <gmp.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The next of a sequence of random words, with a state of its own (splitmix64). */
uint64_t drawn_word(uint64_t *state);

/* What the two next draw from; a test that is to be the same alone sets it. */
extern uint64_t drawn_numbers;

/* Uniform in (-1, 1). */
double drawn_uniform(void);

/* Uniform below limit. */
size_t drawn_below(size_t limit);

/* x in (-1, 1) of any bits, or of runs of ones and zeros; not 0. */
void draw_number(mpfr_ptr x, gmp_randstate_t random, bool runs);

/* x is a zero or no plain number, one of five. */
void draw_special(mpfr_ptr x, size_t i);

/* Entry i of a round: b is up to 600 bits from a, next to it or its negative, or a power of two; or
 * a / b is next to a tie; or they are at the ends of MPFR's range, or no plain numbers. */
void draw_pair(mpfr_ptr a, mpfr_ptr b, gmp_randstate_t random, size_t round, size_t i);

/* The same value and sign, or both no numbers. */
bool same_number(mpfr_srcptr a, mpfr_srcptr b);

/* Looks at operations of operands of bits[1] and bits[2] with a result of bits[0]. */
typedef void PrecisionsCheck(gmp_randstate_t random, const mpfr_prec_t *bits);

/* Does so for each three of these precisions. */
void each_precisions(PrecisionsCheck *check, const mpfr_prec_t *precisions, size_t count);

#endif
