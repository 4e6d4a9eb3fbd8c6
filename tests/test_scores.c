/*
 * Scores of any size: random points of every construction against an oracle in Python, and numbers
 * that leave MPFR's range, which must be said.
 */
#include "fixture.h"
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* tests/oracle_random.py recomputes 40 points, or 200 with HEADPROOF_NIGHTLY=1. */
static void every_point_is_what_the_oracle_says(void **state)
{
    const char *nightly = getenv("HEADPROOF_NIGHTLY");
    bool all = nightly != NULL && strcmp(nightly, "1") == 0;
    (void)state;
    if (system("python3 -c 'import decimal' >/dev/null 2>&1") != 0) {
        print_message("no python3: skipped\n");
        skip();
    }
    char arguments[256];
    assert_true(snprintf(arguments, sizeof arguments, "tests/oracle_random.py '%s' %s", program(),
                         all ? "210 7" : "40 1") < (int)sizeof arguments);
    Output output = run_program("python3", arguments);
    print_message("%s", output.text);
    assert_int_equal(output.code, 0);
    free(output.text);
}

/* Is it said that a layer leaves exponents up to emax? */
static bool leaves(const CaseSpec *spec, mpfr_exp_t emax)
{
    Pair pair = pair_make(spec);
    mpfr_exp_t before = mpfr_get_emax();
    RefRun *run = ref_run_open(&pair.converted, pair.converted_x, NULL, 20, 128, REF_STRUCTURED);
    assert_non_null(run);
    mpfr_set_emax(emax);
    ref_run_layer(run);
    mpfr_set_emax(before);
    bool left = ref_run_left_range(run);
    assert_int_equal(left, mpfr_nan_p(ref_run_entry(run, 0, 0)));
    ref_run_clear(run);
    case_clear(&pair);
    return left;
}

/* In the main thread, and with n large enough in others too: a softmax weighs an infinite score as
 * it does a finite one, and only flags tell. */
static void leaving_the_range_is_said(void **state)
{
    CaseSpec spec = {.construction = CONSTRUCTION_ATTENTION,
                     .d = 2,
                     .heads = 1,
                     .depth = 1,
                     .seed = 1,
                     .score_scale = 0x1p200};
    static const size_t sizes[] = {3, 300};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        spec.n = sizes[i];
        assert_true(leaves(&spec, 190));
        assert_false(leaves(&spec, 1000));
    }
}

int main(void)
{
    const struct CMUnitTest scores[] = {
        cmocka_unit_test(every_point_is_what_the_oracle_says),
        cmocka_unit_test(leaving_the_range_is_said),
    };
    return cmocka_run_group_tests(scores, reference_set_up, reference_tear_down);
}
