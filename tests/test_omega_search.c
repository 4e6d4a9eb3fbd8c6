/*
 * The search for Omega on errors that are formulas: where the feasible run ends, what is best in
 * it, and that NaN is in none.
 */
#include "../harness/omega_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

/* exp(-2 Omega) + 1e-16 Omega; outside [first, last] NaN. */
typedef struct {
    double first, last;
} Formula;

static bool error_at(void *context, mpfr_ptr error, double omega)
{
    const Formula *formula = context;
    mpfr_set_d(error, exp(-2 * omega) + 1e-16 * omega, MPFR_RNDN);
    if (omega < formula->first || omega > formula->last) {
        mpfr_set_nan(error);
    }
    return true;
}

static void expect_close(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * expected)) {
        fail_msg("%.9g, expected %.9g", value, expected);
    }
}

/* exp(-2 Omega) = 1e-10 at 11.513, 1e-16 Omega = 1e-10 at 1e6; least where 2 exp(-2 Omega) =
 * 1e-16. */
static void ends_and_best_are_the_formulas(void **state)
{
    Formula everywhere = {0, INFINITY};
    OmegaSearch search;
    (void)state;
    omega_search_init(&search);
    assert_true(omega_search(&search, error_at, &everywhere, 1e-10, 10, true));
    assert_true(search.found && search.has_below && search.has_max);
    expect_close(search.min.omega, log(1e10) / 2, 1e-5);
    expect_close(search.max.omega, 1e6, 1e-5);
    assert_true(search.below.omega < search.min.omega);
    assert_true(mpfr_cmp_d(search.below.error, 1e-10) > 0);
    expect_close(search.best.omega, log(2e16) / 2, 0.05);
    omega_search_clear(&search);
}

static void no_number_is_not_feasible(void **state)
{
    Formula middle = {15, 90};
    OmegaSearch search;
    (void)state;
    omega_search_init(&search);
    assert_true(omega_search(&search, error_at, &middle, 1e-10, 20, true));
    assert_true(search.found && search.has_below && search.has_max);
    expect_close(search.min.omega, 15, 1e-5);
    expect_close(search.max.omega, 90, 1e-5);
    omega_search_clear(&search);
}

static void nothing_is_found_where_nothing_is(void **state)
{
    Formula nowhere = {1, 0}, everywhere = {0, INFINITY};
    OmegaSearch search;
    (void)state;
    omega_search_init(&search);
    assert_true(omega_search(&search, error_at, &nowhere, 1e-10, 10, true));
    assert_false(search.found);
    omega_search_clear(&search);
    omega_search_init(&search);
    assert_true(omega_search(&search, error_at, &everywhere, 1e-16, 10, true));
    assert_false(search.found);
    omega_search_clear(&search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_and_best_are_the_formulas),
        cmocka_unit_test(no_number_is_not_feasible),
        cmocka_unit_test(nothing_is_found_where_nothing_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
