/*
 * Cells as 24 bytes each: rounded as they are printed, and put in order.
 */
#include "figure.h"

#include <math.h>

enum { FIGURE_BITS = 53 };

Figure figure_of(const RefCell *cell)
{
    Figure figure = {.state = cell->state};
    mpfr_t printed;
    if (cell->state == CELL_ABSENT || cell->state == CELL_ZERO) {
        return figure;
    }
    mpfr_init2(printed, REF_CELL_BITS);
    ref_cell_printed(printed, cell);
    figure.mantissa = mpfr_get_d_2exp(&figure.exponent, printed,
                                      cell->state == CELL_BOUND ? MPFR_RNDU : MPFR_RNDN);
    mpfr_clear(printed);
    return figure;
}

void figure_cell(RefCell *cell, const Figure *figure)
{
    cell->state = figure->state;
    mpfr_set_d(cell->value, figure->mantissa, MPFR_RNDN);
    mpfr_mul_2si(cell->value, cell->value, figure->exponent, MPFR_RNDN);
}

/* 0 nothing, 1 zero, 2 a number, 3 infinite, 4 not a number. */
static int rank_of(const Figure *figure)
{
    switch (figure->state) {
    case CELL_ABSENT: return 0;
    case CELL_ZERO: return 1;
    case CELL_VALUE:
    case CELL_BOUND: return 2;
    case CELL_NONFINITE: break;
    }
    return isnan(figure->mantissa) ? 4 : 3;
}

bool figure_is_worse(const Figure *a, const Figure *b)
{
    int rank = rank_of(a), other = rank_of(b);
    if (rank != other || rank != 2) {
        return rank > other;
    }
    if (a->exponent != b->exponent) {
        return a->exponent > b->exponent;
    }
    return a->mantissa > b->mantissa || (a->mantissa == b->mantissa && a->state > b->state);
}

void figure_add(mpfr_ptr sum, const Figure *figure)
{
    mpfr_t number;
    mpfr_init2(number, FIGURE_BITS);
    mpfr_set_d(number, figure->mantissa, MPFR_RNDN);
    mpfr_mul_2si(number, number, figure->exponent, MPFR_RNDN);
    mpfr_add(sum, sum, number, MPFR_RNDN);
    mpfr_clear(number);
}
