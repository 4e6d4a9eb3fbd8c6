/*
 * Scores of any size: numbers that leave MPFR's range, which must be said.
 */
#include "../fixture.h"

#include "../../reference/run/run.h"
#include "../unit.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Attention over n tokens 2^-100 and 2^60 in turn with Q of about -2^200: the scores between the
 * latter are about -2^320, all others larger, so that they have no weight whether they are
 * finite or not.  Is it said that a layer leaves exponents up to emax? */
static bool leaves(size_t n, mpfr_exp_t emax)
{
    CaseSpec spec = {.construction = CONSTRUCTION_ATTENTION,
                     .n = n,
                     .d = 1,
                     .heads = 1,
                     .depth = 1,
                     .score_scale = 0x1p200};
    Pair pair = pair_make(&spec);
    while (pair.original.sublayers[0].bundles[0].score.q.data[0] > -0x1p198) {
        case_clear(&pair);
        spec.seed++;
        pair = pair_make(&spec);
    }
    double *x = calloc(n, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) {
        x[i] = i % 2 == 0 ? 0x1p-100 : 0x1p60;
    }
    RefRun *run = ref_run_open(&(Start){&pair.original, x, NULL, 20}, 128);
    mpfr_exp_t before = mpfr_get_emax();
    mpfr_set_emax(emax);
    ref_run_layer(run);
    mpfr_set_emax(before);
    bool left = run->left_range;
    assert_int_equal(left, mpfr_nan_p(ref_run_entry(run, 0, 0)) != 0);
    ref_run_clear(run);
    free(x);
    case_clear(&pair);
    return left;
}

/* In the main thread, and with n large enough in two: only flags tell, since a softmax gives a
 * score of minus infinity no weight. */
static void leaving_the_range_is_said(void **state)
{
    int threads = omp_get_max_threads();
    omp_set_num_threads(2);
    assert_true(leaves(2, 300));
    assert_false(leaves(2, 1000));
    assert_true(leaves(300, 300));
    assert_false(leaves(300, 1000));
    /* What is raised between layers, as by a comparison on a thread of its own, is no layer's. */
    mpfr_flags_set(MPFR_FLAGS_OVERFLOW | MPFR_FLAGS_NAN);
    assert_false(leaves(2, 1000));
    omp_set_num_threads(threads);
}

/* The construction error's cells after a layer, as so many threads measure them. */
static void construction_cells(RefErrors *errors, const RefLayer *at, int threads)
{
    omp_set_num_threads(threads);
    ref_compare(errors, at);
}

/* All threads but this one have MPFR's usual range, as if they had just begun. */
static void begin_threads(int threads)
{
#pragma omp parallel num_threads(threads)
    if (omp_get_thread_num() > 0) {
        mpfr_set_emin(-(1L << 30));
        mpfr_set_emax(1L << 30);
    }
}

/* Questions of a comparison go to threads, which set MPFR's range and hand no flags on: e is far
 * below the usual range, and what squares of it raise is nothing to any layer. */
static void comparisons_need_no_flags(void **state)
{
    enum { N = 130, TIMES = 16 };
    int threads = omp_get_max_threads();
    CaseSpec spec = {.construction = CONSTRUCTION_SILU, .n = N, .d = N, .depth = 2, .seed = 1};
    Pair pair = pair_make(&spec);
    omp_set_num_threads(1);
    RefBase *base = ref_base_make(&pair, 128, REF_LIMIT_STREAMS, NULL);
    const Start start = pair_start(&pair, 1e18);
    RefRun *run = ref_difference_open(&start, 128, base);
    const RefLayer at = {&pair, base, 1, run, NULL, NULL};
    RefErrors one, two;
    ref_errors_init(&one);
    ref_errors_init(&two);
    ref_run_certify(run);
    ref_run_layer(run);
    construction_cells(&one, &at, 1);
    for (int i = 0; i < TIMES; i++) {
        begin_threads(2);
        mpfr_flags_set(MPFR_FLAGS_ALL);
        construction_cells(&two, &at, 2);
        for (int norm = 0; norm < NORM_COUNT; norm++) {
            const RefCell *a = &one.error[ERROR_CONSTRUCTION][norm];
            const RefCell *b = &two.error[ERROR_CONSTRUCTION][norm];
            assert_int_equal(b->state, CELL_VALUE);
            assert_true(a->state == CELL_VALUE && mpfr_equal_p(a->value, b->value));
        }
    }
    ref_run_layer(run);
    assert_false(run->left_range);
    ref_errors_clear(&one);
    ref_errors_clear(&two);
    omp_set_num_threads(threads);
    ref_run_clear(run);
    ref_base_clear(base);
    case_clear(&pair);
}

SUBJECT(scores)
{
    const struct CMUnitTest scores[] = {
        cmocka_unit_test(leaving_the_range_is_said),
        cmocka_unit_test(comparisons_need_no_flags),
    };
    return cmocka_run_group_tests(scores, reference_set_up, reference_tear_down);
}
