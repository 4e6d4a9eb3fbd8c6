/*
 * Masks instead of Omega, masks by Omega, and the two conditions on Omega
 * (docs/mathematics.md, sections 1 and 2).
 */
#include "../../cases/case.h"
#include "../../kernels/kernel.h"
#include "../../reference/reference.h"
#include "../fixture.h"
#include "../real.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20, D = 30, H = 120, SEED = 1 };

static CaseSpec spec_of(Construction construction, size_t n, size_t d)
{
    return (CaseSpec){.construction = construction,
                      .n = n,
                      .d = d,
                      .d_ff = H,
                      .heads = 1,
                      .depth = 1,
                      .band = 4,
                      .seed = SEED};
}

/* A finished run of T' (omega INFINITY: of the limit). */
static RefRun *run_all(const Model *model, const double *x, double omega, mpfr_prec_t bits)
{
    return run_layers(model, x, NULL, omega, bits, model->depth);
}

/* r(T') - r(T), both at omega's precision, of token i and column c. */
static double error_at(const Pair *pair, double omega, size_t i, size_t c)
{
    RefRun *a = run_all(&pair->converted, pair->converted_x, omega, 512);
    RefRun *b = run_all(&pair->original, pair->original_x, INFINITY, 512);
    size_t row = layout_token_row(&pair->converted.layout, i);
    double error = real_double(real_difference(ref_run_entry(a, row, c), ref_run_entry(b, i, c)));
    ref_run_clear(a);
    ref_run_clear(b);
    return error;
}

/* ---- Masked heads ---------------------------------------------------------------------------- */

/* One constant column, internal dimension 1, nothing of Omega. */
static void masked_heads_are_as_the_paper_has_them(void **state)
{
    CaseSpec spec = spec_of(CONSTRUCTION_MASKED, N, D);
    spec.bias = BIAS_RANDOM;
    Pair pair = pair_make(&spec);
    const Model *model = &pair.converted;
    assert_int_equal(layout_width(&model->layout), D + 1);
    assert_int_equal(model->sublayer_count, 1);
    assert_int_equal(model->sublayers[0].bundle_count, 2); /* and one head for b2 */
    assert_int_equal(model->sublayers[0].bundles[0].heads, H);
    assert_int_equal(model->sublayers[0].bundles[0].value.d_head, 1);
    for (size_t b = 0; b < 2; b++) {
        const Score *score = &model->sublayers[0].bundles[b].score;
        for (size_t e = 0; e < (N + 1) * (N + 1); e++) {
            size_t i = e / (N + 1), j = e % (N + 1);
            bool sees = i == j || (b == 0 && j == N);
            assert_int_equal(score_sees(&model->layout, score, i, j), sees);
            assert_int_equal(score_position(&model->layout, score, 0, i, j), 0);
        }
    }
    case_clear(&pair);
}

/* The same numbers at any Omega, and the two errors are zeros by proof. */
static void masked_heads_need_no_omega(void **state)
{
    static const double omegas[] = {0.001, 1, 1000, 1e17};
    for (int variant = 0; variant < 4; variant++) {
        CaseSpec spec = spec_of(CONSTRUCTION_MASKED, 5, 4);
        spec.depth = 3;
        spec.bias = (Bias)(variant & 1);
        spec.weights = (Weights)(variant >> 1);
        Pair pair = pair_make(&spec);
        RefBase *base = ref_base_make(&pair, 256, REF_LIMIT_STREAMS, NULL);
        RefRun *limit = run_all(&pair.converted, pair.converted_x, INFINITY, 256);
        RefErrors errors;
        ref_errors_init(&errors);
        assert_non_null(base);
        for (size_t k = 0; k < 4; k++) {
            RefRun *run = run_all(&pair.converted, pair.converted_x, omegas[k], 256);
            ref_compare(&errors, &(RefLayer){&pair, base, 3, run, NULL, NULL});
            assert_int_equal(errors.error[ERROR_CONSTRUCTION][NORM_MAX].state, CELL_ZERO);
            assert_int_equal(errors.error[ERROR_APPROXIMATION][NORM_MAX].state, CELL_ZERO);
            assert_int_equal(errors.scalar[SCALAR_BIAS_ROW].state, CELL_ZERO);
            assert_false(errors.contradiction);
            for (size_t e = 0; e < 6 * 4; e++) {
                assert_true(mpfr_equal_p(ref_run_entry(run, e / 4, e % 4),
                                         ref_run_entry(limit, e / 4, e % 4)));
            }
            ref_run_clear(run);
        }
        ref_errors_clear(&errors);
        ref_run_clear(limit);
        ref_base_clear(base);
        case_clear(&pair);
    }
}

/* rms of m(model) - r(T) over the tokens after one layer. */
static double machine_rms(const Pair *pair, bool converted, KernelForm form, double omega)
{
    const Model *model = converted ? &pair->converted : &pair->original;
    const double *x = converted ? pair->converted_x : pair->original_x;
    RefRun *exact = run_all(&pair->original, pair->original_x, INFINITY, 256);
    Kernel *kernel = kernel_open(&(Start){model, x, NULL, omega}, form, 1);
    double squares = 0;
    KernelStream stream = kernel_layer(kernel);
    for (size_t e = 0; e < N * D; e++) {
        size_t row = layout_token_row(&model->layout, e / D);
        Real r = real_of_mpfr(ref_run_entry(exact, e / D, e % D));
        double error = real_double(real_sub(real_of(stream.data[row * stream.ld + e % D]), r));
        squares += error * error;
    }
    kernel_clear(kernel);
    ref_run_clear(exact);
    return sqrt(squares / (N * D));
}

/* Rounding alone, as the original has it: no score is absorbed at any size of Omega.  The full
 * matrices are summed in the BLAS core's own order: 2.6 times the original's with SkylakeX, 1.2
 * with Haswell and older ones. */
static void masked_heads_round_as_the_original_does(void **state)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        CaseSpec spec = spec_of(CONSTRUCTION_MASKED, N, D);
        spec.seed = seed;
        spec.bias = BIAS_RANDOM;
        Pair pair = pair_make(&spec);
        spec.construction = CONSTRUCTION_FUSED;
        Pair fused = pair_make(&spec);
        double native = machine_rms(&pair, false, KERNEL_DENSE, 1);
        for (int form = 0; form < KERNEL_COUNT; form++) {
            double masked = machine_rms(&pair, true, (KernelForm)form, 1e6);
            double by_omega = machine_rms(&fused, true, (KernelForm)form, 1e6);
            print_message("seed %d, %s: masked %.3g, original %.3g, fused at 1e6 %.3g (rms)\n",
                          (int)seed, form == KERNEL_DENSE ? "dense" : "structured", masked, native,
                          by_omega);
            double room = form == KERNEL_DENSE ? 2 : 1;
            assert_true(masked < room * 2 * native && masked < room * 4 * 0x1p-53);
            assert_true(by_omega > 1000 * masked);
        }
        case_clear(&fused);
        case_clear(&pair);
    }
}

/* ---- Pseudo-masks ---------------------------------------------------------------------------- */

/* T's masks are what their names say, T' has no mask and Omega exactly there. */
static void pseudo_masks_are_in_the_weights(void **state)
{
    for (Mask mask = MASK_PSEUDO_CAUSAL; mask < MASK_COUNT; mask++) {
        CaseSpec spec = spec_of(CONSTRUCTION_ATTENTION, N, 3);
        size_t seen = 0;
        spec.mask = mask;
        Pair pair = pair_make(&spec);
        const Layout *t = &pair.original.layout, *prime = &pair.converted.layout;
        const Score *original = &pair.original.sublayers[0].bundles[0].score;
        const Score *converted = &pair.converted.sublayers[0].bundles[0].score;
        assert_int_equal(converted->visible, VISIBLE_ALL);
        for (size_t e = 0; e < N * N; e++) {
            size_t i = e / N, j = e % N;
            bool sees = score_sees(t, original, i, j);
            bool causal = j <= i, band = causal && j + spec.band > i;
            seen += sees;
            assert_int_equal(score_position(prime, converted, 0, i, j), sees);
            assert_true(mask != MASK_PSEUDO_CAUSAL || sees == causal);
            assert_true(mask != MASK_PSEUDO_BAND || sees == band);
            assert_true(i != j || sees);
        }
        for (size_t i = 0; i < N; i++) {
            assert_int_equal(score_position(prime, converted, 0, i, N), -2);
            assert_int_equal(score_position(prime, converted, 0, N, i), 0);
        }
        /* About half of the pairs: 10 standard deviations of 400 draws. */
        assert_true(mask != MASK_PSEUDO_RANDOM || fabs((double)seen - 210) < 100);
        case_clear(&pair);
    }
}

/* Scores that are all 0: rho = m e^-Omega/(k + m e^-Omega), k keys allowed and m not; the first
 * token at -B and all others at B lose 2 B rho, which no other values can. */
static void pseudo_mask_error_is_attained(void **state)
{
    enum { TOKENS = 7 };
    const double q = 0, v = 1, b = 3, omega = 9;
    double x[TOKENS] = {-b, b, b, b, b, b, b};
    GivenLayer layer = {.qk = &q, .ov = &v};
    GivenWeights given = {.layers = &layer, .scale = {1, 1, 1}, .x = x};
    CaseSpec spec = spec_of(CONSTRUCTION_ATTENTION, TOKENS, 1);
    spec.mask = MASK_PSEUDO_CAUSAL;
    spec.given = &given;
    Pair pair = pair_make(&spec);
    double leak = (TOKENS - 1) * exp(-omega);
    double bound = 2 * b * leak / (1 + leak), error = error_at(&pair, omega, 0, 0);
    print_message("attained: %.17g of %.17g\n", error, bound);
    assert_true(fabs(error - bound) < 1e-6 * bound); /* the bias row has e^(-3 Omega) */
    for (size_t i = 1; i < TOKENS; i++) {
        double others = (double)(TOKENS - 1 - i) * exp(-omega);
        double rho = others / (double)(i + 1), of_bias = exp(-3 * omega);
        assert_true(fabs(error_at(&pair, omega, i, 0)) <= (1 + 1e-6) * 2 * b * (rho + of_bias));
    }
    case_clear(&pair);
}

/* ---- The seeds' two conditions --------------------------------------------------------------- */

/* One token, D = 1, x = 1: the one score is q. */
static Pair one_token(const double *q, const double *v, GivenLayer *layer, GivenWeights *given)
{
    static const double x = 1;
    CaseSpec spec = spec_of(CONSTRUCTION_ATTENTION, 1, 1);
    *layer = (GivenLayer){.qk = q, .ov = v};
    *given = (GivenWeights){.layers = layer, .scale = {1, 1, 1}, .x = &x};
    spec.given = given;
    return pair_make(&spec);
}

/* w = sigma(-2 Omega - q) goes to the bias row: e^Omega > N/tolerance holds in each, but where
 * Omega does not exceed |q| the head is lost, or worse than the tolerance. */
static void patched_heads_need_omega_above_the_scores(void **state)
{
    static const struct {
        double q, omega;
    } cases[] = {{-50, 20}, {-50, 25}, {-50, 26}, {-50, 51}, {0, 20}, {50, 20}, {-5000, 2000}};
    const double v = 1;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        GivenLayer layer;
        GivenWeights given;
        Pair pair = one_token(&cases[k].q, &v, &layer, &given);
        Real shun = real_sub(real_mul(real_of(-2), real_of(cases[k].omega)), real_of(cases[k].q));
        double expected = real_double(real_mul(real_of(-v), real_sigma(shun)));
        double error = error_at(&pair, cases[k].omega, 0, 0);
        print_message("score %g, Omega %g: error %.3g\n", cases[k].q, cases[k].omega, error);
        /* 512 bits hold 60 digits behind the point. */
        assert_true(fabs(error - expected) <= 1e-14 * fabs(expected) + 1e-60);
        for (int form = 0; form < KERNEL_COUNT; form++) {
            const Start start = pair_start(&pair, cases[k].omega);
            Kernel *kernel = kernel_open(&start, (KernelForm)form, 1);
            double machine = kernel_layer(kernel).data[0] - 2; /* 2: x + x v */
            assert_true(fabs(expected) < 1e-17 ? machine == 0 : fabs(machine - expected) <= 1e-14);
            kernel_clear(kernel);
        }
        if (cases[k].omega > fabs(cases[k].q)) {
            assert_true(fabs(error) < v * exp(-cases[k].omega));
        }
        if (2 * cases[k].omega < -cases[k].q) {
            assert_true(fabs(error) > 0.99 * v); /* nothing is left of it */
        }
        case_clear(&pair);
    }
}

/* Scores far beyond Omega leave silu and fused alone: their bound is relative to the data. */
static void gated_heads_need_no_such_thing(void **state)
{
    static const Construction constructions[] = {CONSTRUCTION_SILU, CONSTRUCTION_FUSED};
    for (size_t k = 0; k < 2; k++) {
        double unit = 0;
        for (double scale = 1; scale <= 4096; scale *= 64) {
            CaseSpec spec = spec_of(constructions[k], 5, 3);
            double worst = 0;
            spec.d_ff = 6;
            spec.score_scale = scale;
            Pair pair = pair_make(&spec);
            for (size_t e = 0; e < 15; e++) {
                worst = fmax(worst, fabs(error_at(&pair, 20, e / 3, e % 3)));
            }
            unit = scale == 1 ? worst : unit;
            print_message("%s, scores times %g: %.3g\n", construction_names[constructions[k]],
                          scale, worst);
            /* In proportion to the data, and as sigma goes to a step a little more. */
            assert_true(worst > 0 && worst <= 4 * scale * unit);
            case_clear(&pair);
        }
    }
}

SUBJECT(masks)
{
    const struct CMUnitTest masks[] = {
        cmocka_unit_test(masked_heads_are_as_the_paper_has_them),
        cmocka_unit_test(masked_heads_need_no_omega),
        cmocka_unit_test(masked_heads_round_as_the_original_does),
        cmocka_unit_test(pseudo_masks_are_in_the_weights),
        cmocka_unit_test(pseudo_mask_error_is_attained),
        cmocka_unit_test(patched_heads_need_omega_above_the_scores),
        cmocka_unit_test(gated_heads_need_no_such_thing),
    };
    return cmocka_run_group_tests(masks, reference_set_up, reference_tear_down);
}
