/*
 * Activations imitated by heads: the approximation error r(T_infinity) - r(T) of one SiLU-head
 * layer is the imitation minus the activation, entry by entry, so its largest value over a fine
 * grid is the known constant (docs/mathematics.md, section 1).
 */
#include "../fixture.h"

#include "../../cases/case.h"
#include "../../reference/reference.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = 1601, BITS = 128 };

static CaseSpec spec_of(Activation activation, double slope, GeluForm gelu)
{
    return (CaseSpec){.construction = CONSTRUCTION_SILU,
                      .n = POINTS,
                      .d = 1,
                      .d_ff = 4,
                      .heads = 1,
                      .depth = 1,
                      .activation = activation,
                      .slope = slope,
                      .gelu = gelu};
}

/* x on a grid of [-range, range]. */
static void grid(double x[POINTS], double range)
{
    for (int i = 0; i < POINTS; i++) {
        x[i] = range * (2.0 * i / (POINTS - 1) - 1);
    }
}

/* r of T, or of T_infinity, behind its layer. */
static RefRun *run_one(const Model *model, const double *x)
{
    return run_layers(model, x, NULL, INFINITY, BITS, 1);
}

/* The largest |imitation - activation| over the grid, both from the reference. */
static double sup_error(const CaseSpec *spec, double range)
{
    double x[POINTS], worst = 0;
    GivenWeights given = {.x = x};
    CaseSpec with_x = *spec;
    mpfr_t d;
    grid(x, range);
    with_x.given = &given;
    Pair pair = pair_make(&with_x);
    RefRun *original = run_one(&pair.original, pair.original_x);
    RefRun *limit = run_one(&pair.converted, pair.converted_x);
    mpfr_init2(d, BITS);
    for (size_t i = 0; i < POINTS; i++) {
        mpfr_sub(d, ref_run_entry(limit, i, 0), ref_run_entry(original, i, 0), MPFR_RNDN);
        worst = fmax(worst, fabs(mpfr_get_d(d, MPFR_RNDN)));
    }
    mpfr_clear(d);
    ref_run_clear(original);
    ref_run_clear(limit);
    case_clear(&pair);
    return worst;
}

/* Within the grid's own error: near an extremum a grid of step h misses less than h^2. */
static void expect_sup(const CaseSpec *spec, double range, double expected)
{
    double worst = sup_error(spec, range), step = 2 * range / (POINTS - 1);
    print_message("sup %.10g, expected %.10g\n", worst, expected);
    assert_true(worst <= expected * (1 + 1e-4) && worst >= expected - step * step);
}

static void relu_is_within_w_over_k(void **state)
{
    for (double slope = 1; slope <= 1000; slope *= 10) {
        CaseSpec spec = spec_of(ACTIVATION_RELU, slope, GELU_SIGMOID);
        expect_sup(&spec, 3 / slope, 0.278464542761074 / slope);
    }
}

static void gelu_has_its_constants(void **state)
{
    static const double expected[] = {
        [GELU_SIGMOID] = 0.020335, [GELU_MINIMAX] = 0.013925, [GELU_TWO] = 0.005658};
    for (int form = 0; form <= GELU_TWO; form++) {
        CaseSpec spec = spec_of(ACTIVATION_GELU, 1, (GeluForm)form);
        expect_sup(&spec, 5, expected[form]);
        /* The values sum to exactly 1, so the error does not grow with x. */
        assert_true(sup_error(&spec, 1000) <= expected[form] * (1 + 1e-4));
    }
}

SUBJECT(activation)
{
    const struct CMUnitTest activation[] = {
        cmocka_unit_test(relu_is_within_w_over_k),
        cmocka_unit_test(gelu_has_its_constants),
    };
    return cmocka_run_group_tests(activation, reference_set_up, reference_tear_down);
}
