/*
 * A cell from a measured value and its error, worked out by hand: a value, a bound of both
 * ends, or no number.
 */
#include "../../reference/compare/cell.h"
#include "../unit.h"

#include <math.h>

typedef struct {
    double value, error;
    CellState state;
    double expected;
} Settled;

static void settle(const Settled *s, bool proven, bool holds)
{
    RefCell cell;
    mpfr_t value, error;
    ref_cell_init(&cell, REF_DIGITS_MOST);
    mpfr_inits2(REF_CELL_BITS, value, error, (mpfr_ptr)0);
    mpfr_set_d(value, s->value, MPFR_RNDN);
    mpfr_set_d(error, s->error, MPFR_RNDN);
    if (proven) {
        assert_int_equal(cell_zero(&cell, value, error), holds);
    } else {
        cell_settle(&cell, value, error);
    }
    assert_int_equal(cell.state, s->state);
    double got = mpfr_get_d(cell.value, MPFR_RNDN);
    assert_true(isnan(s->expected) ? isnan(got) : got == s->expected);
    ref_cell_clear(&cell);
    mpfr_clears(value, error, (mpfr_ptr)0);
}

/* 5.5 +- 4.5 ends at 1 and at 10, which have the same digits; 1.9 +- 0.2 ends above 2, and 3 +- 1.5
 * above 4. */
static void both_ends_round_alike_or_are_bounded(void **state)
{
    static const Settled cells[] = {{1, 0x1p-60, CELL_VALUE, 1},
                                    {0.75, 0, CELL_VALUE, 0.75},
                                    {0, 0, CELL_ZERO, 0},
                                    {5.5, 4.5, CELL_BOUND, 16},
                                    {1.9, 0.2, CELL_BOUND, 4},
                                    {1, 0x1p-50, CELL_BOUND, 2},
                                    {0, 0x1p-60, CELL_BOUND, 0x1p-58},
                                    {0x1p-60, 0x1p-60, CELL_BOUND, 0x1p-58},
                                    {3, 1.5, CELL_BOUND, 8},
                                    {NAN, 1, CELL_NONFINITE, NAN},
                                    {INFINITY, 1, CELL_NONFINITE, INFINITY}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        settle(&cells[i], false, false);
    }
}

/* A proof stands while what was measured is within its error; no number is not. */
static void proofs_are_held_against_numbers(void **state)
{
    settle(&(Settled){0, 0, CELL_ZERO, 0}, true, true);
    settle(&(Settled){0x1p-61, 0x1p-60, CELL_ZERO, 0}, true, true);
    settle(&(Settled){0x1p-60, 0x1p-60, CELL_ZERO, 0}, true, true);
    settle(&(Settled){1, 0x1p-60, CELL_VALUE, 1}, true, false);
    settle(&(Settled){NAN, 0x1p-60, CELL_NONFINITE, NAN}, true, false);
}

SUBJECT(settle)
{
    const struct CMUnitTest cells[] = {
        cmocka_unit_test(both_ends_round_alike_or_are_bounded),
        cmocka_unit_test(proofs_are_held_against_numbers),
    };
    return cmocka_run_group_tests(cells, NULL, NULL);
}
