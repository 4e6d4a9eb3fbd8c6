/*
 * The search for Omega on errors that are formulas: where the interval ends, what is best in it,
 * that it holds nothing that was seen to fail, and how many evaluations it takes.
 */
#include "../../harness/evaluate/omega_search.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What was asked for, in the order of asking. */
typedef struct {
    double (*formula)(double omega, const double *parameter);
    double parameter[2];
    double asked[2 * OMEGA_EVALUATIONS];
    size_t count;
} Formula;

/* exp(-2 Omega) + 1e-16 Omega; outside [first, last] NaN. */
static double falls_and_rises(double omega, const double *parameter)
{
    return omega < parameter[0] || omega > parameter[1] ? NAN : exp(-2 * omega) + 1e-16 * omega;
}

static bool error_at(void *context, RefCell *error, double omega)
{
    Formula *formula = context;
    assert_true(formula->count < sizeof formula->asked / sizeof *formula->asked);
    formula->asked[formula->count++] = omega;
    mpfr_set_d(error->value, formula->formula(omega, formula->parameter), MPFR_RNDN);
    return true;
}

static OmegaOptions options_for(double tolerance, double guess, bool rises)
{
    return (OmegaOptions){.tolerance = tolerance,
                          .guess = guess,
                          .least = OMEGA_LEAST,
                          .most = OMEGA_MOST,
                          .digits = 8,
                          .bracket = 1e-6,
                          .inside = 64,
                          .evaluations = OMEGA_EVALUATIONS,
                          .rises = rises,
                          .curve = true};
}

/* The claims against the record: counts are true, every Omega asked for in the interval meets the
 * tolerance, none has a smaller error than the best, and the neighbours are its ends. */
static void expect_honest(const OmegaSearch *search, const Formula *formula, double tolerance)
{
    size_t inside = 0;
    assert_int_equal(search->evaluations, formula->count);
    assert_true(formula->count <= OMEGA_EVALUATIONS);
    for (size_t i = 0; i < formula->count; i++) {
        double omega = formula->asked[i], error = formula->formula(omega, formula->parameter);
        bool within =
            search->min != NULL && omega >= search->min->omega && omega <= search->max->omega;
        char text[40];
        snprintf(text, sizeof text, "%.8g", omega);
        assert_true(strtod(text, NULL) == omega);
        for (size_t j = 0; j < i; j++) {
            assert_true(formula->asked[j] != omega);
        }
        inside += within;
        assert_true(!within || error <= tolerance);
        assert_false(search->best != NULL &&
                     error < mpfr_get_d(search->best->error.value, MPFR_RNDN));
    }
    assert_int_equal(search->inside, inside);
    if (search->below != NULL) {
        assert_true(mpfr_nan_p(search->below->error.value) ||
                    mpfr_get_d(search->below->error.value, MPFR_RNDN) > tolerance);
    }
    if (search->above != NULL) {
        assert_true(mpfr_nan_p(search->above->error.value) ||
                    mpfr_get_d(search->above->error.value, MPFR_RNDN) > tolerance);
    }
}

/* What is found, until the next search. */
static const OmegaSearch *search_for(Formula *formula, const OmegaOptions *options)
{
    static OmegaSearch search;
    static bool kept;
    if (kept) {
        omega_search_clear(&search);
    }
    kept = true;
    search = (OmegaSearch){0};
    assert_true(omega_search(&search, error_at, formula, options));
    expect_honest(&search, formula, options->tolerance);
    return &search;
}

static void expect_close(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * expected)) {
        fail_msg("%.9g, expected %.9g", value, expected);
    }
}

/* At distances of 2^-17, 2^-15, ..., 2^-5 of each end somebody has looked. */
static void expect_asked_near_ends(const OmegaSearch *search, const Formula *formula)
{
    for (int k = 17; k >= 5; k -= 2) {
        bool asked[2] = {false, false};
        for (size_t i = 0; i < formula->count; i++) {
            double above = formula->asked[i] / search->min->omega - 1;
            double below = 1 - formula->asked[i] / search->max->omega;
            asked[0] |= above > ldexp(0.9, -k - 2) && above < ldexp(1.1, -k);
            asked[1] |= below > ldexp(0.9, -k - 2) && below < ldexp(1.1, -k);
        }
        assert_true(asked[0] && asked[1]);
    }
}

/* exp(-2 Omega) = 1e-10 at 11.513, 1e-16 Omega = 1e-10 at 1e6; least where 2 exp(-2 Omega) =
 * 1e-16. */
static void ends_and_best_are_the_formulas(void **state)
{
    Formula everywhere = {.formula = falls_and_rises, .parameter = {0, INFINITY}};
    OmegaOptions options = options_for(1e-10, 10, true);
    const OmegaSearch *search = search_for(&everywhere, &options);
    assert_true(search->below != NULL && search->above != NULL);
    assert_false(search->open_min || search->open_max || search->open_inside);
    expect_asked_near_ends(search, &everywhere);
    expect_close(search->min->omega, log(1e10) / 2, 2e-6);
    expect_close(search->max->omega, 1e6, 2e-6);
    assert_true(search->below->omega < search->min->omega);
    expect_close(search->below->omega, search->min->omega, 1.1e-6);
    expect_close(search->above->omega, search->max->omega, 1.1e-6);
    assert_true(mpfr_cmp_d(search->below->error.value, 1e-10) > 0);
    expect_close(search->best->omega, log(2e16) / 2, 0.05);
    assert_true(search->inside >= options.inside);
}

/* Evaluations that are used up leave open what had not been reached, where nothing has failed
 * too. */
static void what_is_cut_short_is_open(void **state)
{
    Formula everywhere = {.formula = falls_and_rises, .parameter = {0, INFINITY}};
    for (size_t most = 1; most <= 6; most++) {
        OmegaOptions options = options_for(1e-10, 20, true);
        options.evaluations = most;
        everywhere.count = 0;
        const OmegaSearch *search = search_for(&everywhere, &options);
        assert_int_equal(search->evaluations, most);
        assert_true(search->min != NULL && search->below == NULL && search->above == NULL);
        assert_true(search->open_min && search->open_max);
    }
}

static void no_number_is_not_feasible(void **state)
{
    Formula middle = {.formula = falls_and_rises, .parameter = {15, 90}};
    OmegaOptions options = options_for(1e-10, 20, true);
    const OmegaSearch *search = search_for(&middle, &options);
    assert_true(search->below != NULL && search->above != NULL);
    expect_close(search->min->omega, 15, 2e-6);
    expect_close(search->max->omega, 90, 2e-6);
}

static void nothing_is_found_where_nothing_is(void **state)
{
    Formula nowhere = {.formula = falls_and_rises, .parameter = {1, 0}};
    Formula everywhere = {.formula = falls_and_rises, .parameter = {0, INFINITY}};
    for (int rises = 0; rises < 2; rises++) {
        OmegaOptions options = options_for(1e-10, 10, rises);
        nowhere.count = 0;
        const OmegaSearch *search = search_for(&nowhere, &options);
        assert_true(search->min == NULL && search->best == NULL);
    }
    OmegaOptions options = options_for(1e-16, 10, true);
    const OmegaSearch *search = search_for(&everywhere, &options);
    assert_true(search->min == NULL);
    assert_true(search->best->omega > 0);
}

/* exp(-2 Omega): never rises, and below 10 wherever Omega is. */
static double falls(double omega, const double *parameter)
{
    return parameter[0] * exp(-2 * omega);
}

/* A tolerance that every Omega meets ends at the smallest and the largest that can be asked for, in
 * few evaluations, and has no neighbours. */
static void every_omega_may_meet_it(void **state)
{
    for (int rises = 0; rises < 2; rises++) {
        Formula formula = {.formula = falls, .parameter = {3}};
        OmegaOptions options = options_for(10, 11, rises);
        const OmegaSearch *search = search_for(&formula, &options);
        assert_true(search->min != NULL && search->below == NULL && search->above == NULL);
        assert_true(search->min->omega == OMEGA_LEAST && search->max->omega == OMEGA_MOST);
        assert_false(search->open_min || search->open_max || search->open_inside);
        assert_true(search->evaluations < 100);
    }
}

/* Along the master curve: C e^(-2 Omega) meets the tolerance from (ln C - ln tolerance) / 2 on. */
static void a_falling_error_takes_few_evaluations(void **state)
{
    Formula formula = {.formula = falls, .parameter = {3}};
    OmegaOptions options = options_for(1e-20, 1, false);
    options.inside = 8;
    const OmegaSearch *search = search_for(&formula, &options);
    assert_true(search->below != NULL);
    expect_close(search->min->omega, (log(3) + 20 * log(10)) / 2, 2e-6);
    assert_true(search->evaluations <= 40);
}

/* Within the tolerance from 16 to 256 but for a hole. */
static double hole(double omega, const double *parameter)
{
    bool bad = omega < 16 || omega > 256 || (omega > parameter[0] && omega < parameter[1]);
    return bad ? 1.5e-10 : 0.99e-10 * omega / 256;
}

/* The inside is evaluated, and the interval cut: the hole is not in it, wherever it lies.  A third
 * of 64 evaluations halve the widest gap, and leave none wider than 2 ln(16) / 21 < ln(1.31). */
static void a_hole_cuts_the_interval(void **state)
{
    static const double at[] = {20, 50, 100, 130, 180, 200, 250};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        Formula formula = {.formula = hole, .parameter = {at[i], at[i] * 1.31}};
        OmegaOptions options = options_for(1e-10, 17, true);
        const OmegaSearch *search = search_for(&formula, &options);
        assert_true(search->below != NULL && search->above != NULL);
        expect_close(search->max->omega, at[i], 2e-6); /* the best is below it */
    }
}

/* One up to the end, then not: halves alone find it. */
static double step(double omega, const double *parameter)
{
    return omega <= parameter[0] ? 1e-11 : 1;
}

/* Each of many ends within a gap of ratio 4 takes as many halves as make the gap a bracket:
 * log2(ln 4 / 1e-6) = 20.4. */
static void halves_are_halves(void **state)
{
    size_t tries = 0, ends = 0;
    for (double end = 70; end < 200; end *= 1.1) {
        Formula formula = {.formula = step, .parameter = {end}};
        OmegaOptions options = options_for(1e-10, 10, true);
        options.inside = 1;
        const OmegaSearch *search = search_for(&formula, &options);
        expect_close(search->max->omega, end, 2e-6);
        double low = 0, high = INFINITY;
        for (size_t i = 0; i < formula.count; i++) {
            double omega = formula.asked[i];
            bool closer = omega > low && omega < high;
            tries += closer && isfinite(high);
            low = closer && omega <= end ? omega : low;
            high = closer && omega > end ? omega : high;
        }
        ends++;
    }
    print_message("%zu ends, %.2f evaluations each\n", ends, (double)tries / (double)ends);
    assert_true((double)tries <= 21.0 * (double)ends);
}

/* Meets the tolerance at every other of many short stretches. */
static double comb(double omega, const double *parameter)
{
    double ratio = fmod(log(omega) * parameter[0], 1);
    return ratio >= 0 && ratio < 0.5 ? 1e-11 * (1 + 1 / omega) : 1e-9;
}

/* Pseudo-random by the digits of Omega: above the tolerance for one in so many. */
static double noise(double omega, const double *parameter)
{
    uint64_t bits = (uint64_t)(omega * 1e6) * 0x9e3779b97f4a7c15u;
    double uniform = (double)(bits >> 11) * 0x1p-53;
    return uniform < 1 / parameter[0] ? 1e-9 : 1e-11 * (1 + uniform);
}

/* Errors without any order: at most 200 evaluations, nothing claimed that was seen to fail, and
 * what is open is said. */
static void disorder_ends_in_the_budget(void **state)
{
    size_t open = 0;
    for (int i = 0; i < 40; i++) {
        Formula formula = {.formula = i % 2 == 0 ? comb : noise, .parameter = {1.5 + 3 * i}};
        OmegaOptions options = options_for(1e-10, 3, true);
        options.inside = 140;
        const OmegaSearch *search = search_for(&formula, &options);
        bool unfinished = search->open_min || search->open_max || search->open_inside;
        assert_true(!unfinished || search->evaluations == OMEGA_EVALUATIONS);
        open += unfinished;
    }
    print_message("%zu of 40 used up their evaluations\n", open);
    assert_true(open > 0);
    for (size_t most = 1; most < 60; most += 7) { /* any budget is kept */
        Formula formula = {.formula = falls_and_rises, .parameter = {0, INFINITY}};
        OmegaOptions options = options_for(1e-10, 10, true);
        options.evaluations = most;
        const OmegaSearch *search = search_for(&formula, &options);
        assert_int_equal(search->evaluations, most);
        assert_true(search->min == NULL || search->open_inside);
    }
}

/* Over the scan 7.07, 10, 14.1, ... from a guess of 10: 1e-8 at first, less than four times that at
 * 20, more elsewhere, and within the tolerance of 1e-10 from 100 to 200 alone. */
static double dips(double omega, const double *parameter)
{
    (void)parameter;
    bool within = omega > 100 && omega < 200;
    return within ? 1e-11 : omega < 8 ? 1e-8 : omega > 19 && omega < 21 ? 3e-8 : 1;
}

/* Large errors before a dip do not count: two more behind it are not four, so that the scan goes
 * on to 160. */
static void a_dip_is_gone_beyond(void **state)
{
    Formula formula = {.formula = dips, .parameter = {0}};
    OmegaOptions options = options_for(1e-10, 10, true);
    const OmegaSearch *search = search_for(&formula, &options);
    assert_true(search->min != NULL);
    expect_close(search->min->omega, 100, 2e-6);
    expect_close(search->max->omega, 200, 2e-6);
}

/* 2 Omega in bfloat16: a float whose last 16 bits are rounded away, ties to even. */
static double stepped(double omega)
{
    union {
        float value;
        uint32_t bits;
    } word = {.value = (float)(2 * omega)};
    word.bits = (word.bits + 0x7fff + (word.bits >> 16 & 1)) & 0xffff0000;
    return word.value;
}

/* Within the tolerance where 2 Omega becomes 20 to 200, but for one of those numbers. */
static double one_step(double omega, const double *parameter)
{
    double at = stepped(omega);
    return at < 20 || at > 200 || at == parameter[0] ? 1.5e-10 : 1e-12 + 1e-15 * omega;
}

static const OmegaSearch *search_steps(Formula *formula)
{
    OmegaOptions options = options_for(1e-10, 15, true);
    options.format = format_info(FORMAT_BF16);
    options.factor = 1;
    const OmegaSearch *search = search_for(formula, &options);
    assert_true(search->below != NULL && search->above != NULL);
    return search;
}

/* A number that fails is found beside both ends and around the powers of two, where it has an odd
 * last digit and where it has an even one; it is the end then, known to the edge between it and its
 * neighbour. */
static void single_steps_are_found(void **state)
{
    static const double at[] = {20.125, 20.5,  20.625, 21.875, 32.25, 31.75, 31.875,
                                32.5,   63.5,  64.5,   65,     63.25, 127,   127.5,
                                129,    126.5, 196,    198,    199,   190};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        Formula formula = {.formula = one_step, .parameter = {at[i]}};
        const OmegaSearch *search = search_steps(&formula);
        double above = stepped(search->above->omega), below = stepped(search->below->omega);
        if (above != at[i] && below != at[i]) {
            fail_msg("2 omega = %g fails in an interval from %g to %g", at[i], below, above);
        }
        expect_close(search->above->omega, search->max->omega, 1.1e-6);
        expect_close(search->below->omega, search->min->omega, 1.1e-6);
        assert_true(search->evaluations <= 160);
    }
}

/* The 33 numbers from 20 to 24, an eighth apart: all are evaluated, the ends to their edges, and
 * none twice but at the ends. */
static double few_steps(double omega, const double *parameter)
{
    double at = stepped(omega);
    (void)parameter;
    return at < 20 || at > 24 ? 1.5e-10 : 1e-12;
}

static void all_steps_are_evaluated(void **state)
{
    Formula formula = {.formula = few_steps};
    const OmegaSearch *search = search_steps(&formula);
    expect_close(search->min->omega, (20 - 0.0625) / 2, 1e-6);
    expect_close(search->max->omega, (24 + 0.0625) / 2, 1e-6);
    assert_true(search->steps == 33 && search->stepped == 33);
    assert_in_range(search->inside, 33, 35);
    assert_false(search->open_min || search->open_max || search->open_inside);
}

/* Within the tolerance up to 1/2. */
static double below_one(double omega, const double *parameter)
{
    return omega < 0.5 ? 1e-12 : parameter[0];
}

static void small_steps_are_counted(void **state)
{
    Formula formula = {.formula = below_one, .parameter = {1}};
    OmegaOptions options = options_for(1e-10, 0.25, true);
    options.format = format_info(FORMAT_BF16);
    options.factor = 1;
    const OmegaSearch *search = search_for(&formula, &options);
    assert_true(search->min->omega == OMEGA_LEAST);
    /* 2^7 below 2^-126 with 0, 126 binades of 2^7, and 1 itself, to which 0.9999 is rounded. */
    assert_true(search->steps == 128 + 126 * 128 + 1);
}

/* Beyond the largest number of half, 65504, is one more, infinity. */
static double all_meet(double omega, const double *parameter)
{
    return omega < 2 ? 1 : parameter[0];
}

static void infinity_is_one_step(void **state)
{
    Formula formula = {.formula = all_meet, .parameter = {1e-12}};
    OmegaOptions options = options_for(1e-10, 3, true);
    options.format = format_info(FORMAT_FP16);
    options.factor = 0.5;
    const OmegaSearch *search = search_for(&formula, &options);
    assert_true(search->max->omega == OMEGA_MOST);
    expect_close(search->min->omega, 2, 2e-6);
    assert_true(search->steps == 15 * 1024 + 1); /* 2 to 2^16, and that stands for infinity */
}

SUBJECT(omega_search)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_and_best_are_the_formulas),
        cmocka_unit_test(what_is_cut_short_is_open),
        cmocka_unit_test(no_number_is_not_feasible),
        cmocka_unit_test(nothing_is_found_where_nothing_is),
        cmocka_unit_test(every_omega_may_meet_it),
        cmocka_unit_test(a_falling_error_takes_few_evaluations),
        cmocka_unit_test(a_hole_cuts_the_interval),
        cmocka_unit_test(halves_are_halves),
        cmocka_unit_test(a_dip_is_gone_beyond),
        cmocka_unit_test(disorder_ends_in_the_budget),
        cmocka_unit_test(single_steps_are_found),
        cmocka_unit_test(all_steps_are_evaluated),
        cmocka_unit_test(small_steps_are_counted),
        cmocka_unit_test(infinity_is_one_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
