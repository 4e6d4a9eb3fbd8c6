/*
 * Layer norms in the reference: T_infinity is T, radii know what a norm leaves of a change, and
 * zeros are proven.
 */
#include "../../cases/case.h"
#include "../../reference/reference.h"
#include "../fixture.h"
#include "norm_cases.h"
#include "radii.h"
#include "../real.h"
#include "subtracted.h"
#include "../unit.h"

#include <math.h>

/* ---- T_infinity is T ------------------------------------------------------------------------- */

/* T, T' and T' with negative coefficients, all with so many bits. */
enum { LIMIT_BITS = 192, LIMIT_RUNS = 3 };

typedef struct {
    double worst;
    size_t cases;
    char where[NORM_PLACE];
} Limit;

/* The largest |a - b| of T and T' over token rows and compared columns, in units of 2^-bits times
 * the largest entry. */
static double gap(const Pair *pair, size_t layer, const RefRun *a, const RefRun *b)
{
    Columns columns = pair->compared[layer - 1];
    Real worst = real_of(0), size = real_of(0);
    for (size_t e = 0; e < pair->original.layout.n * columns.count; e++) {
        size_t i = e / columns.count, c = columns.first + e % columns.count;
        mpfr_srcptr x = ref_run_entry(a, i, c);
        mpfr_srcptr y = ref_run_entry(b, layout_token_row(&pair->converted.layout, i), c);
        worst = real_max(worst, real_abs(real_difference(x, y)));
        size = real_max(size, real_abs(real_of_mpfr(x)));
    }
    assert_true(real_compare(size, real_of(0)) > 0);
    return real_double(real_div(worst, real_mul(size, real_power(-LIMIT_BITS))));
}

static void note(Limit *limit, const CaseSpec *spec, double ratio)
{
    limit->cases++;
    if (!(ratio <= limit->worst)) {
        limit->worst = ratio;
        norm_describe(limit->where, spec);
    }
}

static void open_runs(RefRun *runs[LIMIT_RUNS], const Pair *pair)
{
    const Model *const models[] = {&pair->original, &pair->converted, &pair->negative};
    for (int r = 0; r < LIMIT_RUNS; r++) {
        const double *x = r == 0 ? pair->original_x : pair->converted_x;
        runs[r] = run_layers(models[r], x, NULL, INFINITY, LIMIT_BITS, 0);
    }
}

static void check_limit(const CaseSpec *spec, void *context)
{
    Limit *all = context;
    Pair pair = pair_make(spec);
    RefRun *runs[LIMIT_RUNS];
    assert_true(pair.limit_is_original);
    open_runs(runs, &pair);
    for (size_t l = 1; l <= spec->depth; l++) {
        for (int r = 0; r < LIMIT_RUNS; r++) {
            ref_run_layer(runs[r]);
        }
        for (int r = 1; r < LIMIT_RUNS; r++) {
            note(all, spec, gap(&pair, l, runs[0], runs[r]));
        }
    }
    for (int r = 0; r < LIMIT_RUNS; r++) {
        ref_run_clear(runs[r]);
    }
    case_clear(&pair);
}

static void limit_is_the_original(void **state)
{
    Limit all = {.cases = 0};
    norm_each_case(3, check_limit, &all);
    print_message("%zu comparisons, worst %.3g units (%s)\n", all.cases, all.worst, all.where);
    assert_true(all.cases > (SMALL_GRIDS ? 100 : 500));
    assert_true(all.worst < 0x1p20);
}

/* ---- The difference -------------------------------------------------------------------------- */

/* Do radii leave so many digits of the largest |e| of some rows?  All of the bias row may be 0. */
static bool has_digits(const RefRun *e, const Layout *layout, RefRows rows, int digits)
{
    Real largest = real_of(0);
    mpfr_t most;
    for (size_t i = 0; i < rows.count * layout_content(layout); i++) {
        size_t row = rows.first + i / layout_content(layout), c = i % layout_content(layout);
        largest = real_max(largest, real_abs(real_of_mpfr(ref_run_difference(e, row, c))));
    }
    mpfr_init2(most, 64);
    ref_run_radius(e, RADIUS_DIFFERENCE,
                   (RefBlock){rows.first, rows.count, {0, layout_content(layout)}},
                   (RefRadii){most, NULL});
    mpfr_mul_d(most, most, pow(10, digits), MPFR_RNDU);
    bool bias = rows.first == layout_bias_row(layout);
    bool has = (bias && real_compare(largest, real_of(0)) == 0) ||
               (mpfr_number_p(most) && real_compare(real_of_mpfr(most), largest) < 0);
    mpfr_clear(most);
    return has;
}

/* The bits at which radii prove so many digits of e, in every layer. */
static mpfr_prec_t bits_for_digits(const Pair *pair, double omega, int digits)
{
    const Layout *layout = &pair->converted.layout;
    mpfr_prec_t bits = 64;
    for (bool proven = false; !proven && bits < 1 << 13;) {
        bits += 64;
        RefRun *e = with_radii(difference_layers(pair, omega, bits, 0));
        proven = true;
        for (size_t l = 1; proven && l <= pair->converted.depth; l++) {
            ref_run_layer(e);
            proven =
                has_digits(e, layout, (RefRows){layout_token_row(layout, 0), layout->n}, digits) &&
                has_digits(e, layout, (RefRows){layout_bias_row(layout), 1}, digits);
        }
        ref_run_clear(e);
    }
    return bits;
}

/* Of a case at one Omega: the worst distance, relative to the largest entry of tokens or of the
 * bias row, with as many bits as radii ask for so many digits; e_bits: that many. */
static double subtraction_gap(const CaseSpec *spec, double omega, int digits, mpfr_prec_t *e_bits)
{
    Pair pair = pair_make(spec);
    const Layout *layout = &pair.converted.layout;
    *e_bits = bits_for_digits(&pair, omega, digits);
    mpfr_prec_t bits = 3 * *e_bits + 256;
    Subtracted runs =
        subtracted_open(&pair.converted, pair.converted_x, NULL, omega, bits, *e_bits);
    double worst = 0;
    for (size_t l = 1; l <= spec->depth; l++) {
        const size_t first[] = {layout_token_row(layout, 0), layout_bias_row(layout)};
        const size_t count[] = {layout->n, 1};
        subtracted_layer(&runs);
        for (int k = 0; k < 2; k++) {
            Agreement rows = subtracted_rows(&runs, first[k], count[k]);
            Real one = real_max(rows.largest, real_of(1e-300));
            worst = fmax(worst, real_double(real_div(rows.error, one)));
        }
    }
    subtracted_clear(&runs);
    case_clear(&pair);
    return worst;
}

enum { DIGITS = 30 };

/* Two columns, or one of an RMSNorm: a norm takes all of a change but eps / s of it, and
 * radii ask for log2(s / eps) bits more. */
static void radii_know_what_a_norm_takes(void **state)
{
    static const double eps[] = {1e-5, 1e-12, 1e-30, 1e-100, 1e-290};
    for (int i = 0; i < 2 * 2 * 5; i++) {
        CaseSpec spec = norm_case(CONSTRUCTION_TRANSFORMER,
                                  i % 2 == 0 ? NORMALIZATION_LAYERNORM : NORMALIZATION_RMSNORM,
                                  (NormPlace)(i / 2 % 2), 2);
        mpfr_prec_t bits;
        spec.d = spec.norm == NORMALIZATION_LAYERNORM ? 2 : 1;
        spec.mask = MASK_CAUSAL;
        spec.norm_eps = eps[i / 4];
        double gap = subtraction_gap(&spec, 20, DIGITS, &bits);
        double taken = -log2(eps[i / 4]);
        print_message("eps %g, %s: %ld bits, %.3g\n", eps[i / 4],
                      spec.norm_place == NORM_PRE ? "pre" : "post", (long)bits, gap);
        assert_true(gap < 1e-30);
        /* Beside a stream that keeps its own change, what a norm takes of it does not count. */
        assert_true(spec.norm_place == NORM_PRE || (double)bits > DIGITS * log2(10) + taken - 8);
    }
}

/* One token x = (1, -1) a, a power of 2, through `linear` in place with W = 2 I and b, and a norm
 * behind it with gamma 1. */
typedef struct {
    GivenLayer layer;
    GivenWeights given;
    CaseSpec spec;
} OneToken;

static void one_token(OneToken *one, NormPlace place, const double *x, const double *b, double eps)
{
    static const double w[] = {2, 0, 0, 2}, ones[] = {1, 1}, zeros[] = {0, 0};
    one->layer = (GivenLayer){.linear_w = w, .linear_b = b, .ln1_w = ones, .ln1_b = zeros};
    one->given = (GivenWeights){.layers = &one->layer, .scale = {1, 1, 1}, .x = x};
    one->spec = norm_case(CONSTRUCTION_LINEAR, NORMALIZATION_LAYERNORM, place, 1);
    one->spec.n = 1;
    one->spec.d = 2;
    one->spec.norm_eps = eps;
    one->spec.given = &one->given;
}

/* e before the norm is -e^(-2 Omega) / (1 + e^(-2 Omega)) (1, -1), along x, and the same digits in
 * every precision: all of it goes, in exact powers of 2, but for eps / s = 2^-200.  Two of
 * few bits find 0 alike. */
static void radii_see_through_exact_zeros(void **state)
{
    static const double x[] = {1, -1};
    enum { OMEGA = 20 };
    OneToken one;
    mpfr_prec_t bits;
    one_token(&one, NORM_POST, x, NULL, 0x1p-198);
    double gap = subtraction_gap(&one.spec, OMEGA, DIGITS, &bits);
    print_message("%ld bits, %.3g\n", (long)bits, gap);
    assert_true(gap < 1e-30 && bits > 200 + 100);
}

/* x W + b = 2^301 (1, 1) + (1, -1): below 302 bits there is nothing left for the norm, in 64 as in
 * 128. */
static void radii_know_what_rounds_away(void **state)
{
    static const double x[] = {0x1p300, 0x1p300}, b[] = {1, -1};
    OneToken one;
    one_token(&one, NORM_POST, x, b, 1e-5);
    Pair pair = pair_make(&one.spec);
    RefBase *few = ref_base_make(&pair, 256, REF_LIMIT_NONE, NULL);
    RefBase *many = ref_base_make(&pair, 512, REF_LIMIT_NONE, NULL);
    assert_true(few != NULL && many != NULL);
    double first = mpfr_get_d(ref_base_original(many, 1, 0, 0), MPFR_RNDN);
    print_message("%g bits lost of 256, %g of 512: %.17g\n", ref_base_lost(few),
                  ref_base_lost(many), first);
    assert_true(ref_base_lost(few) >= 250);
    assert_true(ref_base_lost(many) > 302 && ref_base_lost(many) < 340);
    assert_true(fabs(first - 1 / sqrt(1 + 1e-5)) < 1e-15);
    ref_base_clear(few);
    ref_base_clear(many);
    case_clear(&pair);
}

/* The same before the map: x is what the second layer reads of 2^300 (1, 1) + (1, -1), and what
 * leaks from it. */
static void a_difference_of_what_rounds_away(void **state)
{
    static const double x[] = {0x1p300, 0x1p300}, b[] = {1, -1};
    GivenLayer layers[2];
    OneToken one;
    mpfr_prec_t bits;
    one_token(&one, NORM_PRE, x, b, 1e-5);
    layers[0] = layers[1] = one.layer;
    one.given.layers = layers;
    one.spec.depth = 2;
    double gap = subtraction_gap(&one.spec, 20, DIGITS, &bits);
    print_message("%ld bits, %.3g\n", (long)bits, gap);
    assert_true(gap < 1e-30);
}

/* ---- Models that no construction makes ---- */

enum { RANDOM_BITS = 256 };

/* The difference against that of two runs. */
static double random_gap(const Model *model, const double *x)
{
    double worst = 0;
    RefRun *near = run_layers(model, x, NULL, 2, RANDOM_BITS, 3);
    RefRun *limit = run_layers(model, x, NULL, INFINITY, RANDOM_BITS, 3);
    RefRun *e = ref_difference_open(&(Start){model, x, NULL, 2}, RANDOM_BITS, NULL);
    for (size_t l = 0; l < 3; l++) {
        ref_run_layer(e);
    }
    size_t content = layout_content(&model->layout);
    for (size_t i = 0; i < layout_rows(&model->layout) * content; i++) {
        size_t row = i / content, c = i % content;
        Real change = real_difference(ref_run_entry(near, row, c), ref_run_entry(limit, row, c));
        Real off = real_sub(change, real_of_mpfr(ref_run_difference(e, row, c)));
        worst = fmax(worst, fabs(real_double(off)));
    }
    ref_run_clear(near);
    ref_run_clear(limit);
    ref_run_clear(e);
    return worst;
}

static void random_models_agree(void **state)
{
    static RandomModel random;
    double worst = 0;
    size_t models = 0;
    for (int trial = 0; trial < 6 * SCORES_COUNT * VALUES_COUNT; trial += SMALL_GRIDS ? 7 : 1) {
        random_start(&random, (uint64_t)trial + 1);
        BundleStack stack = {0};
        Model model = random_stack(&random, &stack, trial);
        random_norms(&random, &stack, &model.layout, trial % 3 == 0);
        if (model_fault(&model) == NULL) {
            const Layout *layout = &model.layout;
            const double *x = random_numbers(&random, layout->n * layout_content(layout));
            worst = fmax(worst, random_gap(&model, x));
            models++;
        }
    }
    print_message("%zu models, worst %.3g\n", models, worst);
    assert_true(models > (SMALL_GRIDS ? 8 : 50));
    assert_true(worst < 1e-55);
}

/* One token, 1, with gamma = 2^200: the attention of T adds -3/8 2^200, and its score, -3/16
 * 2^400, is so far below the bias row's that the attention of T' adds nothing. r(T') is again the
 * token, of which 64 and 128 bits leave nothing beside 2^200; the norm of the next part makes
 * 2^200 of it. */
static void radii_see_what_a_change_leaves_to_a_norm(void **state)
{
    static const double x[] = {1}, gamma[] = {0x1p200}, q[] = {-0.25}, k[] = {0.75}, v[] = {0.5};
    static const double o[] = {-0.75}, w_in[] = {-0.75}, w_out[] = {0.25};
    const GivenLayer layer = {.w_q = q,
                              .w_k = k,
                              .w_v = v,
                              .w_o = o,
                              .w_in = w_in,
                              .w_out = w_out,
                              .ln1_w = gamma,
                              .ln2_w = gamma};
    const GivenWeights given = {.layers = &layer, .scale = {1, 1, 1}, .x = x};
    CaseSpec spec = norm_case(CONSTRUCTION_TRANSFORMER, NORMALIZATION_RMSNORM, NORM_PRE, 1);
    mpfr_prec_t bits;
    spec.n = spec.d = spec.heads = spec.d_head = spec.d_ff = 1;
    spec.mask = MASK_CAUSAL;
    spec.given = &given;
    double gap = subtraction_gap(&spec, 20, DIGITS, &bits);
    print_message("%ld bits, %.3g\n", (long)bits, gap);
    assert_true(gap < 1e-30 && bits > 200 + 100);
}

/* The same run at two precisions and at one that is ample: the largest |e - e'| / |e'|. */
static double gap_of_precisions(const Pair *pair, double omega, mpfr_prec_t bits, mpfr_prec_t ample)
{
    RefRun *run = difference_layers(pair, omega, bits, 1);
    RefRun *better = difference_layers(pair, omega, ample, 1);
    double worst = 0;
    for (size_t i = 0; i < pair->converted.layout.n; i++) {
        size_t row = layout_token_row(&pair->converted.layout, i);
        Real right = real_of_mpfr(ref_run_difference(better, row, 0));
        Real off = real_sub(real_of_mpfr(ref_run_difference(run, row, 0)), right);
        assert_true(real_double(right) != 0);
        worst = fmax(worst, fabs(real_double(off) / real_double(right)));
    }
    ref_run_clear(run);
    ref_run_clear(better);
    return worst;
}

/* Two tokens that are alike, which heads of 2^200 read behind a leak of attention: what another
 * token adds to a mixture is nothing. */
static void tokens_that_are_alike_add_nothing(void **state)
{
    static const double x[] = {1, 1}, gamma[] = {1, 0x1p200}, zero[] = {0}, minus[] = {-1};
    static const double quarter[] = {0.25}, q[] = {0.25}, k[] = {0.75}, half[] = {0.5};
    static const double o[] = {-0.5};
    const GivenLayer layer = {.w_q = q,
                              .w_k = k,
                              .w_v = zero,
                              .w_o = o,
                              .b_q = zero,
                              .b_k = quarter,
                              .b_v = zero,
                              .b_o = zero,
                              .w_in = half,
                              .b_in = zero,
                              .w_out = half,
                              .b_out = minus,
                              .ln1_w = gamma,
                              .ln2_w = gamma + 1};
    const GivenWeights given = {.layers = &layer, .scale = {1, 1, 1}, .x = x};
    CaseSpec spec = norm_case(CONSTRUCTION_TRANSFORMER, NORMALIZATION_RMSNORM, NORM_PRE, 1);
    spec.n = 2;
    spec.d = spec.heads = spec.d_head = spec.d_ff = 1;
    spec.norm_eps = 1e-5;
    spec.mask = MASK_CAUSAL;
    spec.given = &given;
    Pair pair = pair_make(&spec);
    double gap = gap_of_precisions(&pair, 20, 192, 1024);
    print_message("%.3g\n", gap);
    assert_true(gap < 1e-15);
    case_clear(&pair);
}

/* ---- Proofs ---------------------------------------------------------------------------------- */

/* What data prove of zeros holds, and under a causal mask they prove that the bias row stays 0. */
static void check_pair_proofs(const Pair *pair, const CaseSpec *spec, size_t *zeros)
{
    RefBase *base = ref_base_make(pair, 256, REF_LIMIT_STREAMS, NULL);
    RefRun *run = with_radii(difference_layers(pair, 3, 256, 0));
    RefErrors errors;
    assert_non_null(base);
    ref_errors_init(&errors);
    for (size_t l = 1; l <= spec->depth; l++) {
        ref_run_layer(run);
        ref_compare(&errors, &(RefLayer){pair, base, l, run, NULL, NULL});
        assert_false(errors.contradiction);
        if (spec->mask == MASK_CAUSAL && spec->construction != CONSTRUCTION_MASKED) {
            assert_int_equal(errors.scalar[SCALAR_BIAS_ROW].state, CELL_ZERO);
            *zeros += 1;
        }
        assert_int_equal(errors.error[ERROR_APPROXIMATION][NORM_MAX].state, CELL_ZERO);
    }
    ref_errors_clear(&errors);
    ref_run_clear(run);
    ref_base_clear(base);
}

static void check_proofs(const CaseSpec *spec, void *context)
{
    Pair pair = pair_make(spec);
    check_pair_proofs(&pair, spec, context);
    case_clear(&pair);
}

static void proofs_hold(void **state)
{
    size_t zeros = 0;
    norm_each_case(2, check_proofs, &zeros);
    assert_true(zeros > (SMALL_GRIDS ? 10 : 100));
}

/* Tokens that are 0 are beta behind a norm, and the second layer leaks. */
static void zeros_become_beta(void **state)
{
    static const double x[4 * 5];
    size_t zeros = 0;
    for (int place = 0; place < NORM_PLACE_COUNT; place++) {
        CaseSpec spec =
            norm_case(CONSTRUCTION_ATTENTION, NORMALIZATION_LAYERNORM, (NormPlace)place, 2);
        Pair from = pair_make(&spec), pair;
        GivenWeights given = {.x = x};
        spec.given = &given;
        case_at_input(&pair, &from, &spec);
        check_pair_proofs(&pair, &spec, &zeros);
        case_clear(&pair);
        case_clear(&from);
    }
}

SUBJECT(norms)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limit_is_the_original),
        cmocka_unit_test(radii_know_what_a_norm_takes),
        cmocka_unit_test(radii_see_through_exact_zeros),
        cmocka_unit_test(radii_know_what_rounds_away),
        cmocka_unit_test(tokens_that_are_alike_add_nothing),
        cmocka_unit_test(radii_see_what_a_change_leaves_to_a_norm),
        cmocka_unit_test(a_difference_of_what_rounds_away),
        cmocka_unit_test(random_models_agree),
        cmocka_unit_test(proofs_hold),
        cmocka_unit_test(zeros_become_beta),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
