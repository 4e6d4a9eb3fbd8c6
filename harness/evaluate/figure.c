/*
 * Cells as 24 bytes each: rounded as they are printed, and put in order.
 */
#include "figure.h"

#include "evaluate.h"

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

bool figure_is_worse(const Figure *a, const Figure *b)
{
    RefCell left, right;
    ref_cell_init(&left, REF_DIGITS);
    ref_cell_init(&right, REF_DIGITS);
    figure_cell(&left, a);
    figure_cell(&right, b);
    bool worse = cell_is_worse(&left, &right);
    ref_cell_clear(&left);
    ref_cell_clear(&right);
    return worse;
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
