/*
 * Cells of a result: a value, a proven zero, a bound, or not a number; and which of them an
 * a-priori error allows.
 */
#include "cell.h"

#include <math.h>
#include <string.h>

/* Digits that a table prints. */
enum { CELL_DIGITS = 17 };

/* Calls visit for every cell. */
static void each_cell(RefErrors *errors, void visit(RefCell *))
{
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        for (int norm = 0; norm < NORM_COUNT; norm++) {
            visit(&errors->error[kind][norm]);
        }
    }
    for (int i = 0; i < SCALAR_COUNT; i++) {
        visit(&errors->scalar[i]);
    }
    for (int i = 0; i < PROPAGATION_COUNT; i++) {
        visit(&errors->propagation[i]);
    }
}

static void cell_init(RefCell *cell)
{
    cell->state = CELL_ABSENT;
    mpfr_init2(cell->value, REF_CELL_BITS);
}

static void cell_clear(RefCell *cell)
{
    mpfr_clear(cell->value);
}

static void cell_reset(RefCell *cell)
{
    cell->state = CELL_ABSENT;
}

void ref_errors_init(RefErrors *errors)
{
    memset(errors, 0, sizeof *errors);
    each_cell(errors, cell_init);
    mpfr_init2(errors->max_original, REF_CELL_BITS);
}

void ref_errors_clear(RefErrors *errors)
{
    each_cell(errors, cell_clear);
    mpfr_clear(errors->max_original);
}

void errors_reset(RefErrors *errors)
{
    each_cell(errors, cell_reset);
    errors->lacking = 0;
    errors->contradiction = false;
    errors->left_range = false;
}

/* Do a and b round to the same CELL_DIGITS digits? */
static bool same_digits(mpfr_srcptr a, mpfr_srcptr b)
{
    char digits_a[CELL_DIGITS + 2], digits_b[CELL_DIGITS + 2];
    mpfr_exp_t exponent_a, exponent_b;
    mpfr_get_str(digits_a, &exponent_a, 10, CELL_DIGITS, a, MPFR_RNDN);
    mpfr_get_str(digits_b, &exponent_b, 10, CELL_DIGITS, b, MPFR_RNDN);
    return exponent_a == exponent_b && strcmp(digits_a, digits_b) == 0;
}

void cell_settle(RefCell *cell, mpfr_srcptr value, mpfr_srcptr error)
{
    mpfr_t low, high;
    if (mpfr_zero_p(value) && mpfr_zero_p(error)) {
        cell->state = CELL_ZERO;
        mpfr_set_zero(cell->value, 1);
        return;
    }
    mpfr_inits2(REF_CELL_BITS, low, high, (mpfr_ptr)0);
    mpfr_sub(low, value, error, MPFR_RNDD);
    mpfr_add(high, value, error, MPFR_RNDU);
    if (!mpfr_number_p(value)) {
        cell->state = CELL_NONFINITE;
        mpfr_set(cell->value, value, MPFR_RNDN);
    } else if (mpfr_sgn(low) > 0 && same_digits(low, high)) {
        cell->state = CELL_VALUE;
        mpfr_set(cell->value, value, MPFR_RNDN);
    } else {
        /* Where the value is mostly error, what the error allows: it does not depend on the
         * value. */
        mpfr_mul_2ui(low, error, 1, MPFR_RNDN);
        bool noise = mpfr_cmp(value, low) <= 0;
        mpfr_add(low, low, error, MPFR_RNDU);
        mpfr_srcptr top = noise ? low : high;
        cell->state = CELL_BOUND;
        mpfr_set_ui_2exp(cell->value, 1, mpfr_get_exp(top), MPFR_RNDN);
    }
    mpfr_clears(low, high, (mpfr_ptr)0);
}

bool cell_zero(RefCell *cell, mpfr_srcptr value, mpfr_srcptr error)
{
    if (!mpfr_lessequal_p(value, error)) {
        cell_settle(cell, value, error);
        return false;
    }
    cell->state = CELL_ZERO;
    mpfr_set_zero(cell->value, 1);
    return true;
}

double cell_lacks(const RefCell *cell, mpfr_srcptr value, mpfr_srcptr error)
{
    const int digits = 60; /* of CELL_DIGITS digits, and some to spare */
    if (cell->state != CELL_BOUND) {
        return 0;
    }
    double below =
        mpfr_regular_p(value) ? (double)mpfr_get_exp(value) : (double)mpfr_get_exp(error);
    return fmax(1, (double)mpfr_get_exp(error) - below + digits);
}
