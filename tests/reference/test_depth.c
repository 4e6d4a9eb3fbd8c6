/*
 * Errors through a stack: one curve for every Omega, what norms make of the bias row's leak, what
 * a clear leaves, how `stable` weights scale (docs/mathematics.md, sections 2 and 5).
 */
#include "../../cases/case.h"
#include "../../kernels/kernel.h"
#include "../../reference/reference.h"
#include "difference_cases.h"
#include "../fixture.h"
#include "norm_cases.h"
#include "../real.h"
#include "../unit.h"

#include <math.h>

enum { LAYERS = 96 };

/* The sizes at which 96 layers are looked at. */
static CaseSpec deep(Construction construction)
{
    return (CaseSpec){.construction = construction,
                      .n = 12,
                      .d = 24,
                      .d_ff = 96,
                      .heads = 2,
                      .depth = LAYERS,
                      .seed = SEED};
}

/* ---- One curve ------------------------------------------------------------------------------- */

/* max |e| e^(2 Omega) over tokens and their columns of content after each layer: [depth] */
static void curve(Real *product, const CaseSpec *spec, double omega)
{
    Pair pair = pair_make(spec);
    const Layout *layout = &pair.converted.layout;
    RefRun *run = difference_layers(&pair, omega, 256, 0);
    for (size_t l = 0; l < spec->depth; l++) {
        Real largest = real_of(0);
        ref_run_layer(run);
        for (size_t i = 0; i < layout->n * spec->d; i++) {
            size_t row = layout_token_row(layout, i / spec->d);
            largest = real_max(largest,
                               real_abs(real_of_mpfr(ref_run_difference(run, row, i % spec->d))));
        }
        product[l] = real_mul(largest, real_exp(real_of(2 * omega)));
    }
    ref_run_clear(run);
    case_clear(&pair);
}

/* How far the products at some Omegas are from those at the last one, relative to them. */
static Real spread(const CaseSpec *spec, const double *omegas, size_t count)
{
    Real last[LAYERS], other[LAYERS], worst = real_of(0), one = real_of(1);
    curve(last, spec, omegas[count - 1]);
    for (size_t k = 0; k + 1 < count; k++) {
        curve(other, spec, omegas[k]);
        for (size_t l = 0; l < spec->depth; l++) {
            worst = real_max(worst, real_abs(real_sub(real_div(other[l], last[l]), one)));
        }
    }
    print_message("%s mask %d norm %d depth %zu, omega %g to %g: err e^(2 omega) alike to %.2g\n",
                  construction_names[spec->construction], (int)spec->mask, (int)spec->norm,
                  spec->depth, omegas[0], omegas[count - 1], real_double(worst));
    return worst;
}

/* To three digits from small Omegas on: less than half a unit of the third. */
static void errors_have_one_curve(void **state)
{
    static const struct {
        Construction construction;
        double omegas[5];
        size_t count;
    } curves[] = {{CONSTRUCTION_TRANSFORMER, {6, 8, 10, 12}, 4},
                  {CONSTRUCTION_FUSED, {6, 8, 10, 12}, 4},
                  {CONSTRUCTION_LINEAR, {8, 9, 10, 11, 12}, 5},
                  {CONSTRUCTION_SILU, {8, 9, 10, 11, 12}, 5}};
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        CaseSpec spec = deep(curves[i].construction);
        Real worst = spread(&spec, curves[i].omegas, curves[i].count);
        assert_true(real_compare(worst, real_of(5e-4)) < 0);
    }
}

/* With norms too, where the bias row stays 0 or keeps out of them. */
static void norms_have_one_curve(void **state)
{
    static const double omegas[] = {14, 20, 40, 400, 1000, 3000};
    for (int i = 0; i < 8; i += SMALL_GRIDS ? 3 : 1) {
        CaseSpec spec = norm_case(i % 2 == 0 ? CONSTRUCTION_TRANSFORMER : CONSTRUCTION_TRANSFORMER3,
                                  NORMALIZATION_LAYERNORM, (NormPlace)(i / 4), 24);
        spec.mask = i / 2 % 2 == 0 ? MASK_CAUSAL : MASK_NONE;
        spec.norm_tokens_only = spec.mask == MASK_NONE;
        Real worst = spread(&spec, omegas, sizeof omegas / sizeof *omegas);
        assert_true(real_compare(worst, real_of(5e-4)) < 0);
    }
}

/* 1e6 against 1e3, where squares of e^(-2 Omega) are 1e-868 of it. */
static void one_constant_up_to_a_million(void **state)
{
    static const double omegas[] = {1e3, 1e6};
    const size_t depth = fixture_nightly() ? LAYERS : SMALL_GRIDS ? 8 : 32;
    for (int i = 0; i < 2 * WITH_OMEGA; i++) {
        CaseSpec spec = difference_case((Construction)(i / 2), depth);
        spec.mask = (Mask)(i % 2);
        spec.bias = BIAS_RANDOM;
        assert_true(real_compare(spread(&spec, omegas, 2), real_power(-200)) < 0);
    }
}

/* Without a mask a norm multiplies the bias row's leak by about 1/sqrt(eps), twice a layer, at any
 * Omega at which it is small; once it is of the size of sqrt(eps), or the error of 1, no more. */
static void norms_amplify_the_leak(void **state)
{
    CaseSpec spec = norm_case(CONSTRUCTION_TRANSFORMER, NORMALIZATION_LAYERNORM, NORM_PRE, 4);
    Real product[4][4]; /* at Omega 60, 1000 and 10; at 60 with norms of tokens alone */
    double far[4], near[4];
    curve(product[0], &spec, 60);
    curve(product[1], &spec, 1000);
    curve(product[2], &spec, 10);
    spec.norm_tokens_only = true;
    curve(product[3], &spec, 60);
    for (size_t l = 0; l < 4; l++) {
        far[l] = real_double(product[0][l]);
        near[l] = real_double(product[2][l]) * exp(-20);
        double alone = real_double(product[3][l]);
        double farther = real_double(real_div(product[1][l], product[0][l]));
        print_message("layer %zu: err e^(2 Omega) %.3g; tokens only %.3g; err at 10 %.3g\n", l + 1,
                      far[l], alone, near[l]);
        assert_true(fabs(farther - 1) < 1e-3);
        assert_true(alone < 1e3);
        assert_true(l == 0 || (far[l] > 1e2 * far[l - 1] && far[l] < 1e6 * far[l - 1]));
        assert_true(near[l] < 10);
    }
    assert_true(far[3] > 1e12);
    assert_true(near[3] > 1e-2); /* all is lost */
}

/* ---- What is left, and how large streams are ------------------------------------------------- */

/* max |entry| of the columns that the layer cleared, all rows. */
static Real largest_cleared(const Pair *pair, const RefRun *run, size_t layer)
{
    Columns cleared = pair->cleared[layer - 1];
    Real worst = real_of(0);
    for (size_t i = 0; i < layout_rows(&pair->converted.layout); i++) {
        for (size_t c = cleared.first; c < cleared.first + cleared.count; c++) {
            worst = real_max(worst, real_abs(real_of_mpfr(ref_run_entry(run, i, c))));
        }
    }
    return worst;
}

/* What a clear leaves is C e^(-2 Omega), C the same for every large Omega, and not 0. */
static void cleared_columns_are_of_order_epsilon(void **state)
{
    static const Construction clearing[] = {CONSTRUCTION_LINEAR, CONSTRUCTION_FFN3,
                                            CONSTRUCTION_TRANSFORMER3};
    for (size_t k = 0; k < 6; k++) {
        CaseSpec spec = difference_case(clearing[k / 2], 12);
        spec.linear = LINEAR_CLEAR;
        spec.mask = (Mask)(k % 2);
        Pair pair = pair_make(&spec);
        const Model *model = &pair.converted;
        const double *x = pair.converted_x;
        RefRun *near = run_layers(model, x, NULL, 10, 512, 0);
        RefRun *far = run_layers(model, x, NULL, 40, 512, 0);
        double worst = 0, least = INFINITY, most = 0;
        for (size_t l = 1; l <= spec.depth; l++) {
            ref_run_layer(near);
            ref_run_layer(far);
            Real c = real_mul(largest_cleared(&pair, far, l), real_exp(real_of(80)));
            Real c_near = real_mul(largest_cleared(&pair, near, l), real_exp(real_of(20)));
            least = fmin(least, real_double(c));
            most = fmax(most, real_double(c));
            worst = fmax(worst, fabs(real_double(real_div(c_near, c)) - 1));
        }
        print_message("%s mask %d: left %.3g to %.3g e^(-2 omega), to %.2g at omega 10\n",
                      construction_names[spec.construction], (int)spec.mask, least, most, worst);
        assert_true(least > 1e-3 && most < 1e3 && worst < 1e-4);
        ref_run_clear(near);
        ref_run_clear(far);
        case_clear(&pair);
    }
}

/* Root mean square of the tokens of T. */
static double rms(const RefRun *run, const Layout *layout)
{
    Real sum = real_of(0);
    for (size_t e = 0; e < layout->n * layout->d; e++) {
        Real x = real_of_mpfr(ref_run_entry(run, e / layout->d, e % layout->d));
        sum = real_add(sum, real_mul(x, x));
    }
    return real_double(real_sqrt(real_div(sum, real_of((double)(layout->n * layout->d)))));
}

/* rms after every layer of T, relative to the start. */
static void rms_range(Construction construction, double range[2], double *last)
{
    CaseSpec spec = deep(construction);
    Pair pair = pair_make(&spec);
    const Layout *layout = &pair.original.layout;
    RefRun *run = run_layers(&pair.original, pair.original_x, NULL, INFINITY, 256, 0);
    double start = rms(run, layout);
    range[0] = INFINITY;
    range[1] = 0;
    for (size_t l = 0; l < spec.depth; l++) {
        ref_run_layer(run);
        *last = rms(run, layout) / start;
        range[0] = fmin(range[0], *last);
        range[1] = fmax(range[1], *last);
    }
    print_message("%s: rms %.3g to %.3g of the start, %.3g after %d layers\n",
                  construction_names[construction], range[0], range[1], *last, LAYERS);
    ref_run_clear(run);
    case_clear(&pair);
}

static void stable_stacks_keep_their_size(void **state)
{
    double range[2], last;
    rms_range(CONSTRUCTION_TRANSFORMER, range, &last);
    assert_true(range[0] >= 0.9 && range[1] <= 1.3);
}

/* SiLU of SiLU ... halves small numbers: 2^-96 is 1.3e-29. */
static void silu_stacks_shrink(void **state)
{
    double range[2], last;
    rms_range(CONSTRUCTION_SILU, range, &last);
    assert_true(last > 1e-27 && last < 1e-25);
    assert_true(last == range[0]);
}

/* max |m(T') - r(T)| after the next layer. */
static double machine_gap(Kernel *kernel, const RefRun *original, const Pair *pair)
{
    const Layout *layout = &pair->converted.layout;
    KernelStream stream = kernel_layer(kernel);
    double worst = 0;
    for (size_t i = 0; i < layout->n; i++) {
        for (size_t c = 0; c < layout->d; c++) {
            double m = stream.data[layout_token_row(layout, i) * stream.ld + c];
            Real r = real_of_mpfr(ref_run_entry(original, i, c));
            assert_true(isfinite(m));
            worst = fmax(worst, fabs(real_double(real_sub(real_of(m), r))));
        }
    }
    return worst;
}

/* The total error of double after the first and the last layer; the figures are those of another
 * draw of the same weights. */
static void double_is_as_wrong_as_stated(void **state)
{
    CaseSpec spec = deep(CONSTRUCTION_TRANSFORMER);
    Pair pair = pair_make(&spec);
    RefRun *original = ref_run_open(&(Start){&pair.original, pair.original_x, NULL, INFINITY}, 160);
    Kernel *at_1000 =
        kernel_open(&(Start){&pair.converted, pair.converted_x, NULL, 1000}, KERNEL_DENSE, 1);
    Kernel *at_30 =
        kernel_open(&(Start){&pair.converted, pair.converted_x, NULL, 30}, KERNEL_DENSE, 1);
    double first = 0, last = 0, last_30 = 0;
    assert_true(original != NULL && at_1000 != NULL && at_30 != NULL);
    for (size_t l = 0; l < spec.depth; l++) {
        ref_run_layer(original);
        last = machine_gap(at_1000, original, &pair);
        last_30 = machine_gap(at_30, original, &pair);
        first = l == 0 ? last : first;
    }
    print_message("omega 1000: %.3g after layer 1, %.3g after %d; omega 30: %.3g\n", first, last,
                  LAYERS, last_30);
    assert_true(first > 2.1e-15 / 3 && first < 2.1e-15 * 3);
    assert_true(last > 2.8e-14 / 3 && last < 2.8e-14 * 3);
    assert_true(last_30 > 3.3e-15 / 3 && last_30 < 3.3e-15 * 3);
    kernel_clear(at_1000);
    kernel_clear(at_30);
    ref_run_clear(original);
    case_clear(&pair);
}

SUBJECT(depth)
{
    const struct CMUnitTest depth[] = {
        cmocka_unit_test(stable_stacks_keep_their_size),
        cmocka_unit_test(silu_stacks_shrink),
        cmocka_unit_test(errors_have_one_curve),
        cmocka_unit_test(norms_have_one_curve),
        cmocka_unit_test(one_constant_up_to_a_million),
        cmocka_unit_test(norms_amplify_the_leak),
        cmocka_unit_test(cleared_columns_are_of_order_epsilon),
        cmocka_unit_test(double_is_as_wrong_as_stated),
    };
    return cmocka_run_group_tests(depth, reference_set_up, reference_tear_down);
}
