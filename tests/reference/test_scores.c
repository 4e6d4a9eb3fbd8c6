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

SUBJECT(scores)
{
    const struct CMUnitTest scores[] = {
        cmocka_unit_test(leaving_the_range_is_said),
    };
    return cmocka_run_group_tests(scores, reference_set_up, reference_tear_down);
}
