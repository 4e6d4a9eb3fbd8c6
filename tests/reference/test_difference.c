/*
 * e = r(T') - r(T_infinity) evaluated as it is (docs/mathematics.md, section 4), against two
 * evaluations at a precision that their subtraction survives: of heads that have lost entries of
 * Omega, and of bundles that no construction has.
 */
#include "../../cases/case.h"
#include "../../reference/reference.h"
#include "difference_cases.h"
#include "../fixture.h"
#include "radii.h"
#include "../random_model.h"
#include "../real.h"
#include "subtracted.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* LOST: bits that a subtraction may have lost. */
enum { AGREE_BITS = 100, EASY_BITS = 256, STEEP_BITS = 2048, LOST = 192 };

/* The largest ratio of an error to what it may be, and where it was. */
typedef struct {
    double ratio;
    char where[PLACE];
    size_t checked;
} Worst;

static void report(const char *what, const Worst *worst)
{
    print_message("%s: %zu blocks, worst ratio %.3g (%s)\n", what, worst->checked, worst->ratio,
                  worst->where);
    assert_true(worst->checked > 0);
    assert_true(worst->ratio < 1);
}

/* Takes in tokens or bias row: 2^-AGREE_BITS of the largest entry, or what the subtraction may have
 * lost. */
static void check_rows(Worst *worst, const Subtracted *runs, size_t first, size_t count,
                       mpfr_exp_t subtracted, const char *what, size_t layer)
{
    Agreement block = subtracted_rows(runs, first, count);
    Real unit = real_mul(block.largest, real_power(-AGREE_BITS));
    double ratio = real_double(real_div(block.error, real_max(unit, real_power(subtracted))));
    worst->checked++;
    if (worst->where[0] == '\0' || !(ratio <= worst->ratio)) {
        worst->ratio = ratio;
        snprintf(worst->where, PLACE, "layer %zu of %s", layer, what);
    }
}

static void check_layers(Worst *worst, Subtracted *runs, size_t depth, mpfr_exp_t subtracted,
                         const char *what)
{
    size_t bias = layout_bias_row(runs->layout);
    for (size_t l = 1; l <= depth; l++) {
        subtracted_layer(runs);
        check_rows(worst, runs, layout_token_row(runs->layout, 0), runs->layout->n, subtracted,
                   what, l);
        check_rows(worst, runs, bias, 1, subtracted, what, l);
    }
}

static void check_pair(Worst *worst, const CaseSpec *s, double omega)
{
    char what[PLACE];
    bool steep = s->activation == ACTIVATION_RELU; /* scores of thousands */
    mpfr_prec_t bits = subtraction_bits(omega) + (steep ? 8192 : 256);
    Pair pair = pair_make(s);
    Subtracted runs = subtracted_open(&pair.converted, pair.converted_x, pair.bias_row_content,
                                      omega, bits, steep ? STEEP_BITS : EASY_BITS);
    difference_describe(what, s, omega);
    check_layers(worst, &runs, s->depth, LOST - bits, what);
    subtracted_clear(&runs);
    case_clear(&pair);
}

/* Gated networks, whole and with entries of Omega lost, of which a row may keep any of its keys. */
static void gated_networks_agree(void **state)
{
    static const double omegas[] = {0.25, 3, 20};
    const int variants = fixture_nightly() ? GATED_VARIANTS : GATED_VARIANTS / 4;
    Worst worst[2] = {0};
    for (int v = 0; v < 2 * variants; v++) {
        bool lost = v % 2 > 0;
        CaseSpec spec = difference_gated(v / 2);
        spec.dropout = lost ? 0.3 : 0;
        check_pair(&worst[lost], &spec, omegas[v / 2 % 3]);
    }
    report("gated", &worst[0]);
    report("gated, entries lost", &worst[1]);
    assert_int_equal(worst[0].checked, 4 * variants);
    assert_int_equal(worst[1].checked, 4 * variants);
}

/* Bundles that no construction has: any positions, so that rows keep any of the groups of keys,
 * and leave out others by several gaps.  Changes cancel: of two tokens that have each other alone
 * in A they are opposite, and a bias row that attends to both is left with e^(-3 Omega) of
 * e^(-Omega), so that the difference has the bits of e^(-4 Omega) more than its digits. */
static void check_random(Worst *worst, RandomModel *random, int trial)
{
    static const double omegas[] = {0.5, 7, 60};
    enum { SUBTRACT_BITS = 8192, DIFFERENCE_BITS = 512 };
    bool causal = trial % 3 == 0;
    Layout layout = {1 + random_below(random, 5), 3, random_below(random, 3),
                     causal || trial % 2 ? BIAS_ROW_FIRST : BIAS_ROW_LAST};
    size_t content = layout_content(&layout);
    BundleStack stack;
    for (int l = 0; l < 3; l++) {
        stack.bundle[l] = random_bundle(random, &layout, (ScoreShape)((trial + l) % SCORES_COUNT),
                                        (ValueShape)(trial / SCORES_COUNT % VALUES_COUNT),
                                        trial % 4 ? 1 : 2, causal);
    }
    Model model = stack_model(&stack, layout, 3);
    const double *x = random_numbers(random, layout.n * content);
    const double *b = random_below(random, 2) ? random_numbers(random, content) : NULL;
    if (model_fault(&model) != NULL) {
        return;
    }
    for (size_t k = 0; k < sizeof omegas / sizeof *omegas; k++) {
        char what[PLACE];
        Subtracted runs = subtracted_open(&model, x, b, omegas[k], SUBTRACT_BITS, DIFFERENCE_BITS);
        snprintf(what, sizeof what, "trial %d omega %g", trial, omegas[k]);
        check_layers(worst, &runs, model.depth, 1024 - SUBTRACT_BITS, what);
        subtracted_clear(&runs);
    }
}

static void any_bundles_agree(void **state)
{
    static RandomModel random;
    Worst worst = {0};
    const int rounds = fixture_nightly() ? 8 : 2;
    for (int trial = 0; trial < rounds * SCORES_COUNT * VALUES_COUNT; trial++) {
        random_start(&random, SEED + (uint64_t)trial);
        check_random(&worst, &random, trial);
    }
    report("random bundles", &worst);
    assert_true(worst.checked > 125 * (size_t)rounds);
}

SUBJECT(difference)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gated_networks_agree),
        cmocka_unit_test(any_bundles_agree),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
