/*
 * A cell of the reference in 24 bytes, as a table prints it: for tables with a line a token.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_FIGURE_H
#define HEADPROOF_HARNESS_EVALUATE_FIGURE_H

#include "../../reference/reference.h"

/* The number is mantissa 2^exponent, so that it may be as small as MPFR's. */
typedef struct {
    double mantissa;
    long exponent;
    CellState state;
} Figure;

/* A cell of at most 15 digits as it is printed: those digits, which 53 bits tell apart. */
Figure figure_of(const RefCell *cell);

/* The other way round; the cell keeps its digits. */
void figure_cell(RefCell *cell, const Figure *figure);

/* As cell_is_worse. */
bool figure_is_worse(const Figure *a, const Figure *b);

/* sum += the number; not a number where it is none. */
void figure_add(mpfr_ptr sum, const Figure *figure);

#endif
