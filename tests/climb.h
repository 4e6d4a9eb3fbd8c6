/*
 * Searches for the worst input: at random, and by climbing from the worst so far.
 */
#ifndef HEADPROOF_TESTS_CLIMB_H
#define HEADPROOF_TESTS_CLIMB_H

#include <stddef.h>
#include <stdint.h>

/* What the two next draw from; a search that is to be repeated sets it. */
extern uint64_t drawn_numbers;

/* Uniform in (-1, 1). */
double drawn_uniform(void);

/* Uniform below limit. */
size_t drawn_below(size_t limit);

typedef struct {
    void *input; /* [size] bytes */
    size_t size;
    void (*draw)(void *search); /* another input, of any kind */
    void (*move)(void *search); /* a little */
    double (*value)(void *search);
    void *search;
} Climb;

/* The largest value of some inputs at random, then of moves from the best so far, which input has
 * in the end.  top: input's, or -INFINITY. */
double climb(const Climb *climb, double top, int drawn, int moved);

#endif
