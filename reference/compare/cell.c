/*
 * Cells of a result: a value, a proven zero, a bound, or not a number; and which of them an
 * a-priori error allows.
 */
#include "cell.h"

#include <math.h>
#include <string.h>

#define LOG2_10 3.3219280948873623

/* A bound is of what is there, not of noise, where what was measured is 2^8 times its error; and
 * bits more after which digits are unlikely to lie at a change once again. */
enum { SEEN_ABOVE = 8, LACKING_LEAST = 16 };

enum {
    ERROR_CELLS = ERROR_KINDS * NORM_COUNT,
    CELLS = ERROR_CELLS + SCALAR_COUNT + PROPAGATION_COUNT
};

static RefCell *cell_at(RefErrors *errors, int i)
{
    return i < ERROR_CELLS                  ? &errors->error[i / NORM_COUNT][i % NORM_COUNT]
           : i < ERROR_CELLS + SCALAR_COUNT ? &errors->scalar[i - ERROR_CELLS]
                                            : &errors->propagation[i - ERROR_CELLS - SCALAR_COUNT];
}

void ref_cell_init(RefCell *cell, int digits)
{
    *cell = (RefCell){.state = CELL_ABSENT, .digits = digits, .error = mpfr_get_emin_min()};
    mpfr_init2(cell->value, REF_CELL_BITS);
}

void ref_cell_clear(RefCell *cell)
{
    mpfr_clear(cell->value);
}

void ref_cell_set(RefCell *cell, const RefCell *from)
{
    cell->state = from->state;
    cell->digits = from->digits;
    cell->error = from->error;
    cell->lacking = from->lacking;
    mpfr_set(cell->value, from->value, MPFR_RNDN);
}

void ref_errors_init(RefErrors *errors)
{
    memset(errors, 0, sizeof *errors);
    for (int i = 0; i < CELLS; i++) {
        ref_cell_init(cell_at(errors, i), REF_DIGITS_MOST);
    }
    mpfr_init2(errors->max_original, REF_CELL_BITS);
}

void ref_errors_clear(RefErrors *errors)
{
    for (int i = 0; i < CELLS; i++) {
        ref_cell_clear(cell_at(errors, i));
    }
    mpfr_clear(errors->max_original);
}

void ref_errors_set_digits(RefErrors *errors, int digits)
{
    for (int i = 0; i < CELLS; i++) {
        cell_at(errors, i)->digits = digits;
    }
}

void errors_reset(RefErrors *errors)
{
    for (int i = 0; i < CELLS; i++) {
        cell_at(errors, i)->state = CELL_ABSENT;
        cell_at(errors, i)->lacking = 0;
    }
    errors->lacking = errors->hidden = 0;
    errors->contradiction = false;
    errors->left_range = false;
}

/* Do a and b round to the same digits? */
static bool same_digits(mpfr_srcptr a, mpfr_srcptr b, int digits)
{
    char digits_a[REF_DIGITS_MOST + 2], digits_b[REF_DIGITS_MOST + 2]; /* a sign, a NUL */
    mpfr_exp_t exponent_a, exponent_b;
    mpfr_get_str(digits_a, &exponent_a, 10, (size_t)digits, a, MPFR_RNDN);
    mpfr_get_str(digits_b, &exponent_b, 10, (size_t)digits, b, MPFR_RNDN);
    return exponent_a == exponent_b && strcmp(digits_a, digits_b) == 0;
}

/* Bits that the error has to fall by, for the digits of a value that is no noise. */
static double bits_lacking(mpfr_srcptr value, mpfr_srcptr error, int digits)
{
    double above = (double)mpfr_get_exp(value) - (double)mpfr_get_exp(error);
    double lacking = ceil(digits * LOG2_10) + LACKING_LEAST - above;
    return above <= SEEN_ABOVE ? 0 : fmax(lacking, LACKING_LEAST);
}

void cell_settle(RefCell *cell, mpfr_srcptr value, mpfr_srcptr error)
{
    mpfr_t low, high;
    cell->lacking = 0;
    cell->error = mpfr_regular_p(error) ? mpfr_get_exp(error) : mpfr_get_emin_min();
    if (mpfr_zero_p(value) && mpfr_zero_p(error)) {
        cell->state = CELL_ZERO;
        mpfr_set_zero(cell->value, 1);
        return;
    }
    mpfr_inits2(REF_CELL_BITS, low, high, (mpfr_ptr)0);
    mpfr_sub(low, value, error, MPFR_RNDD);
    mpfr_add(high, value, error, MPFR_RNDU);
    bool known = mpfr_cmp_ui_2exp(error, 1, CELL_UNKNOWN) < 0 && mpfr_sgn(low) > 0;
    if (!mpfr_number_p(value)) {
        cell->state = CELL_NONFINITE;
        mpfr_set(cell->value, value, MPFR_RNDN);
    } else if (known && same_digits(low, high, cell->digits)) {
        cell->state = CELL_VALUE;
        mpfr_set(cell->value, value, MPFR_RNDN);
    } else {
        if (mpfr_regular_p(value) && mpfr_regular_p(error)) {
            cell->lacking = bits_lacking(value, error, cell->digits);
        }
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

void ref_cell_scale(RefCell *cell, const RefCell *from, long exponent)
{
    ref_cell_set(cell, from);
    mpfr_mul_2si(cell->value, from->value, exponent, MPFR_RNDN);
    if (from->state == CELL_VALUE && from->error > mpfr_get_emin_min()) {
        mpfr_t value, error;
        mpfr_inits2(REF_CELL_BITS, value, error, (mpfr_ptr)0);
        mpfr_set(value, cell->value, MPFR_RNDN);
        mpfr_set_ui_2exp(error, 1, from->error + exponent, MPFR_RNDU);
        cell_settle(cell, value, error);
        mpfr_clears(value, error, (mpfr_ptr)0);
    }
}

/* A logarithm's digits behind the point are the digits of what it is of: it has at least as many
 * as show one of them, so that -13.6 is not -1e+01, and no more than three where the cell has
 * fewer. */
static int log10_digits(mpfr_srcptr value, int digits)
{
    double size = fabs(mpfr_get_d(value, MPFR_RNDN));
    int least = digits;
    for (double power = 1; size >= power && least < 3; power *= 10) {
        least++;
    }
    return least;
}

/* Of a value x known to +-h: log10 x to +-h / (x - h) log10 e, and 2^-REF_CELL_BITS of itself for
 * its own rounding. */
static void settle_log10(RefCell *cell, const RefCell *from)
{
    mpfr_t error, low, high;
    mpfr_inits2(REF_CELL_BITS, error, low, high, (mpfr_ptr)0);
    mpfr_set_ui_2exp(error, 1, from->error, MPFR_RNDU);
    mpfr_sub(low, from->value, error, MPFR_RNDD);
    bool open = mpfr_sgn(low) <= 0; /* below: there h / x is enough above */
    mpfr_div(error, error, open ? from->value : low, MPFR_RNDU);
    mpfr_mul_d(error, error, 0.4343, MPFR_RNDU);
    mpfr_abs(high, cell->value, MPFR_RNDU);
    mpfr_mul_2si(high, high, 1 - REF_CELL_BITS, MPFR_RNDU);
    mpfr_add(error, error, high, MPFR_RNDU);
    mpfr_sub(low, cell->value, error, MPFR_RNDD);
    mpfr_add(high, cell->value, error, MPFR_RNDU);
    if (open || !same_digits(low, high, cell->digits)) {
        cell->state = CELL_BOUND;
        cell->lacking = LACKING_LEAST;
        mpfr_set(cell->value, high, MPFR_RNDU);
    }
    mpfr_clears(error, low, high, (mpfr_ptr)0);
}

void ref_cell_log10(RefCell *cell, const RefCell *from)
{
    ref_cell_set(cell, from);
    if (from->state == CELL_ZERO || from->state == CELL_ABSENT) {
        cell->state = CELL_ABSENT; /* the logarithm of nothing, or of 0 */
        return;
    }
    mpfr_log10(cell->value, from->value, from->state == CELL_BOUND ? MPFR_RNDU : MPFR_RNDN);
    cell->digits = log10_digits(cell->value, cell->digits);
    if (from->state == CELL_VALUE && from->error > mpfr_get_emin_min()) {
        settle_log10(cell, from);
    }
    if (cell->state == CELL_VALUE && mpfr_zero_p(cell->value)) {
        cell->state = CELL_ZERO; /* of 1; of at most 1 it is a bound, too */
    }
}

void ref_cell_printed(mpfr_ptr y, const RefCell *cell)
{
    char text[REF_DIGITS_MOST + 32];
    if (cell->state != CELL_VALUE) {
        mpfr_set(y, cell->value, MPFR_RNDN);
        return;
    }
    mpfr_snprintf(text, sizeof text, "%.*Re", cell->digits - 1, cell->value);
    mpfr_set_str(y, text, 10, MPFR_RNDN);
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

/* Bits that no evaluation is made with for one cell; and more than any cell lacks that is known. */
enum { LACKING_MOST = 1 << 12, LACKING_UNKNOWN = 1 << 30 };

double cell_lacks(const RefCell *cell, mpfr_srcptr value, mpfr_srcptr error)
{
    double digits = ceil(cell->digits * LOG2_10) + 4; /* and some to spare */
    if (cell->state != CELL_BOUND) {
        return 0;
    }
    double below =
        mpfr_regular_p(value) ? (double)mpfr_get_exp(value) : (double)mpfr_get_exp(error);
    double lacks = fmax(1, (double)mpfr_get_exp(error) - below + digits);
    return lacks <= LACKING_MOST || lacks >= LACKING_UNKNOWN ? lacks : 0;
}
