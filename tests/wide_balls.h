/*
 * An Arb whose answers are worse than it knows how to make them: true, as their radii say, and too
 * wide for what was asked.  The linker's --wrap puts it before the real one.
 */
#ifndef HEADPROOF_TESTS_WIDE_BALLS_H
#define HEADPROOF_TESTS_WIDE_BALLS_H

#include <stddef.h>

/* Bits that a wide ball lacks: its midpoint is off by 2^(WIDE_BALLS_LOST - bits), relatively. */
enum { WIDE_BALLS_LOST = 40 };

/* The next so many calls of arb_exp, arb_expm1 and arb_mat_mul have wide balls; of a matrix, its
 * first entry alone. */
void wide_balls_next(size_t calls);

/* Calls since then. */
size_t wide_balls_calls(void);

#endif
