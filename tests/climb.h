/*
 * Searches for the worst input: at random, and by climbing from the worst so far.
 */
#ifndef HEADPROOF_TESTS_CLIMB_H
#define HEADPROOF_TESTS_CLIMB_H

#include "drawn_numbers.h"

#include <stddef.h>

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
