/*
 * T' with penalties (--penalty negative): the same function, exactly, and a machine whose error
 * does not grow with Omega (docs/mathematics.md, section 1).
 */
#include "../fixture.h"
#include "../program.h"

#include "../../cases/case.h"
#include "../../reference/reference.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 256, DEPTH = 2 };

static CaseSpec spec_of(Construction construction, Mask mask, size_t n)
{
    return (CaseSpec){.construction = construction,
                      .n = n,
                      .d = 4,
                      .d_ff = 6,
                      .heads = 2,
                      .depth = DEPTH,
                      .seed = 3,
                      .bias = BIAS_RANDOM,
                      .band = 2,
                      .mask = mask,
                      .activation = ACTIVATION_GELU,
                      .gelu = GELU_TWO};
}

/* Calls check for every construction, mask, context and kind of bias row content. */
static void each_pair(void (*check)(const Pair *pair))
{
    static const size_t contexts[] = {1, 4};
    for (int k = 0; k < (int)CONSTRUCTION_COUNT * MASK_COUNT * 4; k++) {
        CaseSpec spec = spec_of((Construction)(k / 4 / MASK_COUNT), (Mask)(k / 4 % MASK_COUNT),
                                contexts[k % 2]);
        spec.bias_row_content = k % 4 < 2 ? CONTENT_NONE : CONTENT_RANDOM;
        Pair pair = pair_make(&spec);
        check(&pair);
        case_clear(&pair);
    }
}

/* Calls check for every bundle of the two forms of T', which agree in all but their scores. */
static void each_bundle(const Pair *pair,
                        void (*check)(const Layout *layout, const Bundle *of, const Bundle *to))
{
    const Model *from = &pair->converted, *made = &pair->negative;
    assert_int_equal(from->sublayer_count, made->sublayer_count);
    for (size_t s = 0; s < from->sublayer_count; s++) {
        assert_int_equal(from->sublayers[s].bundle_count, made->sublayers[s].bundle_count);
        for (size_t b = 0; b < from->sublayers[s].bundle_count; b++) {
            check(&from->layout, &from->sublayers[s].bundles[b], &made->sublayers[s].bundles[b]);
        }
    }
}

/* By the definition, row by row: each coefficient less the largest that the row sees. */
static void expect_less_largest(const Layout *layout, const Bundle *of, const Bundle *to)
{
    size_t rows = layout_rows(layout);
    for (size_t i = 0; i < rows; i++) {
        int largest = -100;
        for (size_t j = 0; j < rows; j++) {
            int coefficient = score_position(layout, &of->score, 0, i, j);
            largest = score_sees(layout, &of->score, i, j) && coefficient > largest ? coefficient
                                                                                    : largest;
        }
        for (size_t j = 0; j < rows; j++) {
            assert_true(score_sees(layout, &of->score, i, j) ==
                        score_sees(layout, &to->score, i, j));
            /* A coefficient of two parts is one of no rounding only where no part is its own. */
            int extra = to->score.extra == NULL ? 0 : to->score.extra[i * rows + j];
            int own = score_position(layout, &of->score, 0, i, j) - largest;
            assert_int_equal(score_position(layout, &to->score, 0, i, j), own);
            assert_true(own != 0 || extra == 0);
        }
    }
}

static void check_coefficients(const Pair *pair)
{
    each_bundle(pair, expect_less_largest);
}

static void every_row_has_its_largest_at_zero(void **state)
{
    each_pair(check_coefficients);
}

/* A T' that has lost entries has no such form, and says so. */
static void losses_have_one_form(void **state)
{
    for (int k = 0; k < 2; k++) {
        CaseSpec spec = spec_of(CONSTRUCTION_TRANSFORMER, MASK_NONE, 3);
        spec.dropout = k == 0 ? 0.5 : 0;
        spec.drop_entry = k == 0 ? 0 : 1;
        Pair pair = pair_make(&spec);
        assert_null(pair.negative.sublayers);
        case_clear(&pair);
    }
}

/* ---- The program --------------------------------------------------------------------------- */

/* The line of a point: of four, two Omegas and two penalties. */
static size_t find_line(const Output *output, double omega, Penalty penalty)
{
    char text[128];
    assert_int_equal(lines(output), 5);
    for (size_t line = 1; line < 5; line++) {
        cell(text, sizeof text, output, line, "options");
        bool negative = strstr(text, "penalty=negative") != NULL;
        if (negative == (penalty == PENALTY_NEGATIVE) && number(output, line, "omega") == omega) {
            return line;
        }
    }
    fail_msg("there is no row of Omega %g and this penalty", omega);
    return 0;
}

/* The columns of a row from which the machine's are left out. */
static const char *const of_reference[] = {
    "approximation_max",  "approximation_rms",
    "approximation_rel",  "construction_max",
    "construction_rms",   "construction_rel",
    "native_max",         "native_rms",
    "native_rel",         "bounds",
    "bias_row_max",       "hidden_max",
    "construction_log10", "score_max",
    "precision_bits",     "difference_bits",
};

static void expect_same_reference(const Output *output, size_t a, size_t b)
{
    for (size_t c = 0; c < sizeof of_reference / sizeof *of_reference; c++) {
        expect_same_cell(output, a, output, b, of_reference[c]);
    }
}

/* At Omega = 1e6 the positive form is off by about ulp(2e6), 2.3e-10; the negative one's error is
 * what it is at 20. */
static void expect_flat(const Output *output)
{
    static const char *const errors[] = {"total_max", "total_rms", "total_rel", "rounding_max"};
    size_t near = find_line(output, 20, PENALTY_NEGATIVE);
    size_t far = find_line(output, 1e6, PENALTY_NEGATIVE);
    size_t usual = find_line(output, 1e6, PENALTY_POSITIVE);
    expect_same_reference(output, usual, far);
    expect_same_reference(output, find_line(output, 20, PENALTY_POSITIVE), near);
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++) {
        double ratio = number(output, far, errors[e]) / number(output, near, errors[e]);
        assert_true(ratio > 0 && ratio <= 1.5);
    }
    assert_true(number(output, far, "total_max") < 4e-15);
}

/* The right arm of the V is gone; grown: it is there in the usual form. */
static void expect_no_growth(const char *construction, const char *flags, bool grown)
{
    Output output = expect_run(0,
                               "sweep --construction %s --n 12 --d 8 --omega 20,1e6 --penalty "
                               "positive,negative --quiet %s",
                               construction, flags);
    expect_flat(&output);
    if (grown) {
        double error = number(&output, find_line(&output, 1e6, PENALTY_POSITIVE), "total_max");
        assert_true(error > 1e-13 && error < 1e-9);
    }
}

static void errors_do_not_grow_with_omega(void **state)
{
    static const char *const constructions[] = {"silu",  "linear",       "attention",  "ffn3",
                                                "fused", "transformer3", "transformer"};
    static const char *const variants[] = {"--kernel dense", "--kernel structured",
                                           "--kernel dense --mask causal --bias random",
                                           "--kernel structured --mask causal --bias random"};
    for (size_t k = 0; k < 7 * 4; k++) {
        const char *construction = constructions[k / 4];
        bool exact = strcmp(construction, "attention") == 0 || strcmp(construction, "linear") == 0;
        expect_no_growth(construction, variants[k % 4], !exact);
    }
}

/* Under a pseudo-mask every key that a token may see has Omega in its score, in the usual form. */
static void pseudo_masks_gain_most(void **state)
{
    static const char *const flags[] = {
        "--mask pseudo-causal --kernel dense", "--mask pseudo-causal --kernel structured",
        "--mask pseudo-band --kernel dense",   "--mask pseudo-band --kernel structured",
        "--mask pseudo-random --kernel dense", "--mask pseudo-random --kernel structured"};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        expect_no_growth("attention", flags[k], true);
    }
}

/* Nor in any other arithmetic: with fewer digits than a leak at Omega = 20 shows, not by a bit. */
static void nor_do_they_in_narrow_formats(void **state)
{
    static const char *const narrow[] = {"f32",        "bf16",          "fp16", "bf16-flash",
                                         "fp16-flash", "bf16-autocast", "tf32"};
    for (size_t k = 0; k < sizeof narrow / sizeof *narrow; k++) {
        Output output = expect_run(
            0,
            "sweep --construction silu,linear,attention,ffn3,fused,transformer3,transformer "
            "--n 12 --d 8 --omega 20,1e4 --arithmetic %s --penalty negative --quiet",
            narrow[k]);
        assert_int_equal(lines(&output), 1 + 7 * 2);
        for (size_t line = 1; line <= 14; line += 2) {
            expect_same_cell(&output, line, &output, line + 1, "total_max");
            assert_true(number(&output, line, "total_max") > 0);
        }
    }
}

/* verify takes it: a trained model, far beyond where the usual form gives up. */
static void a_trained_model_is_verified(void **state)
{
    double worst[2];
    for (int negative = 0; negative < 2; negative++) {
        Output output =
            expect_run(0,
                       "verify cases/models/modadd53-silu.safetensors --tokens 1/2/53 --omega 1e6 "
                       "--penalty %s -q --format csv 2>/dev/null",
                       negative ? "negative" : "positive");
        worst[negative] = number(&output, lines(&output) - 1, "total_max");
    }
    print_message("verify at 1e6: %.3g, with penalties %.3g\n", worst[0], worst[1]);
    assert_true(worst[0] > 1e-11 && worst[1] < 1e-13);
}

SUBJECT(penalty)
{
    const struct CMUnitTest penalty[] = {
        cmocka_unit_test(every_row_has_its_largest_at_zero),
        cmocka_unit_test(losses_have_one_form),
        cmocka_unit_test(errors_do_not_grow_with_omega),
        cmocka_unit_test(nor_do_they_in_narrow_formats),
        cmocka_unit_test(pseudo_masks_gain_most),
        cmocka_unit_test(a_trained_model_is_verified),
    };
    return cmocka_run_group_tests(penalty, reference_set_up, reference_tear_down);
}
