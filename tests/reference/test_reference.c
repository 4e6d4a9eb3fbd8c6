/*
 * The reference with p bits against 2p, and heads of any kind against the definition; what its
 * cells claim.
 */
#include "../../cases/case.h"
#include "../../reference/evaluator/evaluator.h"
#include "../../reference/reference.h"
#include "../../reference/run/run.h"
#include "../fixture.h"
#include "../naive.h"
#include "radii.h"
#include "../random_model.h"
#include "../unit.h"

#include <math.h>

static CaseSpec small_spec(Construction construction)
{
    return (CaseSpec){.construction = construction,
                      .n = 4,
                      .d = 3,
                      .d_ff = 5,
                      .heads = 2,
                      .depth = 3,
                      .seed = 5,
                      .weights = WEIGHTS_STABLE,
                      .bias = BIAS_RANDOM,
                      .mask = MASK_NONE,
                      .bias_row_content = CONTENT_RANDOM};
}

/* Of x = (-1, 1, 1) 2^45 the first token's score, 2^45 toward all tokens, is so far from 0 that the
 * bias row has no weight: with e = e^(-2 Omega) the token itself has 1 / (1 + 2 e), each of the two
 * others e times that, and -2^45 becomes -2^45 4 e / (1 + 2 e). */
static void two_others_are_two(void **state)
{
    static const double x[] = {-0x1p45, 0x1p45, 0x1p45};
    CaseSpec spec = {.construction = CONSTRUCTION_SILU, .n = 3, .d = 1, .depth = 1};
    Pair pair = pair_make(&spec);
    RefRun *run = run_layers(&pair.converted, x, NULL, 1, 256, 1);
    double e = exp(-2), obtained = mpfr_get_d(ref_run_entry(run, 0, 0), MPFR_RNDN);
    assert_true(fabs(obtained / (-0x1p45 * 4 * e / (1 + 2 * e)) - 1) < 1e-14);
    ref_run_clear(run);
    case_clear(&pair);
}

/* Runs one model with two precisions, with radii; after every layer the difference is within those.
 * Returns how many bits were to spare at least. */
static double spare_bits(const Pair *pair, const Model *model, const double *x, double omega,
                         const mpfr_prec_t bits[2])
{
    const double *content = model->layout.bias_row == BIAS_ROW_NONE ? NULL : pair->bias_row_content;
    const Start start = {model, x, content, omega};
    RefRun *a = with_radii(ref_run_open(&start, bits[0]));
    RefRun *b = with_radii(ref_run_open(&start, bits[1]));
    double spare = INFINITY;
    for (size_t l = 1; l <= model->depth; l++) {
        ref_run_layer(a);
        ref_run_layer(b);
        mpfr_exp_t own = radius_exponent(a, RADIUS_STREAM);
        mpfr_exp_t others = radius_exponent(b, RADIUS_STREAM);
        mpfr_exp_t error = 1 + (own > others ? own : others);
        mpfr_exp_t measured = runs_apart(a, b, &model->layout);
        assert_true(measured <= error);
        spare = fmin(spare, (double)(error - measured));
    }
    ref_run_clear(a);
    ref_run_clear(b);
    return spare;
}

/* Every construction, masks, d_head, contents: T, T' and T_infinity. */
static void double_precision_agrees(void **state)
{
    static const mpfr_prec_t bits[2] = {192, 384};
    double least = INFINITY;
    for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
        for (int variant = 0; variant < 8; variant++) {
            CaseSpec spec = small_spec((Construction)c);
            spec.mask = variant % 2 != 0 ? MASK_CAUSAL : MASK_NONE;
            spec.d_head = variant / 2 % 2 != 0 ? 2 : 0;
            spec.linear = (Linear)(variant % 3);
            spec.bias_row_content = variant / 4 != 0 ? CONTENT_RANDOM : CONTENT_NONE;
            Pair pair = pair_make(&spec);
            const double omegas[] = {3, 50.5, 1e17, INFINITY};
            for (int k = 0; k < 4; k++) {
                least = fmin(least,
                             spare_bits(&pair, &pair.converted, pair.converted_x, omegas[k], bits));
            }
            least = fmin(least, spare_bits(&pair, &pair.original, pair.original_x, INFINITY, bits));
            case_clear(&pair);
        }
    }
    print_message("at least %.0f bits to spare\n", least);
    assert_true(least < 64);
}

/* The largest difference of a run's entries from those by definition, over what long doubles may
 * lose of them.  naive.h's bounds are to first order. */
static double off_by(const RefRun *run, const NaiveMatrix *expected)
{
    const Layout *layout = &run->model->layout;
    double worst = 0;
    for (size_t e = 0; e < layout_rows(layout) * layout_content(layout); e++) {
        size_t i = e / layout_content(layout), c = e % layout_content(layout);
        long double entry = mpfr_get_ld(ref_run_entry(run, i, c), MPFR_RNDN);
        long double off = fabsl(entry - expected->value[i][c]);
        long double lost = 0x1p-63L * (expected->bound[i][c] + fabsl(expected->value[i][c]));
        worst = fmax(worst, off > 0 ? (double)(off / lost) : 0);
    }
    return worst;
}

/* Masks of every kind and extra coefficients of Omega, which no construction has together; the
 * limit is as Omega is at 2000, where e^(-Omega) is nothing. */
static void irregular_heads_agree(void **state)
{
    enum { MODELS = 1500 };
    static RandomModel random;
    static BundleStack stack;
    double worst = 0;
    for (size_t k = 0; k < MODELS; k++) {
        random_start(&random, k);
        Layout layout = {.n = 1 + random_below(&random, 4), .d = 3 + random_below(&random, 2)};
        layout.bias_row = (BiasRow)random_below(&random, BIAS_ROW_MASKED + 1);
        ScoreShape score = (ScoreShape)random_below(&random, SCORES_COUNT);
        bool gate = score == SCORES_GATE || score == SCORES_GATE_UNIT;
        score = gate && layout.bias_row == BIAS_ROW_NONE ? SCORES_NONE : score;
        ValueShape value = (ValueShape)random_below(&random, VALUES_GATE);
        size_t heads = 1 + random_below(&random, 3);
        stack.bundle[0] = random_bundle(&random, &layout, score, value, heads, false);
        random_sight(&random, &layout, &stack.bundle[0]);
        Model model = stack_model(&stack, layout, 1);
        const double *x = random_numbers(&random, layout.n * layout.d);
        const double *content =
            layout.bias_row == BIAS_ROW_NONE ? NULL : random_numbers(&random, layout.d);
        double omega = k % 3 == 0 ? 2000 : k % 3 == 1 ? 3 : 40;
        NaiveMatrix start, expected;
        assert_null(model_fault(&model));
        naive_start(&start, &layout, x, content);
        naive_sublayer(&expected, &start, &layout, &stack.sublayer[0], omega);
        RefRun *run = run_layers(&model, x, content, k % 3 == 0 ? INFINITY : omega, 192, 1);
        double off = off_by(run, &expected);
        if (off > 1) {
            print_error("model %zu: off by %g times what is lost\n", k, off);
        }
        worst = fmax(worst, off);
        ref_run_clear(run);
    }
    print_message("%d models: at most %.2g of what long doubles may lose\n", MODELS, worst);
    assert_true(worst <= 1);
}

/* A deep stack whose rounding errors grow by thousands of bits in total: N(0, 1) weights double
 * and redouble the stream.  Radii must have seen it. */
static void growth_is_seen(void **state)
{
    CaseSpec spec = small_spec(CONSTRUCTION_TRANSFORMER);
    static const mpfr_prec_t bits[2] = {256, 512};
    spec.weights = WEIGHTS_NORMAL;
    spec.depth = 6;
    Pair pair = pair_make(&spec);
    double spare = spare_bits(&pair, &pair.converted, pair.converted_x, 1000, bits);
    print_message("normal weights: %.0f bits to spare\n", spare);
    case_clear(&pair);
}

/* One compared layer of a case. */
typedef struct {
    Pair pair;
    RefBase *base;
    RefRun *run;
    RefErrors errors;
} Compared;

static void compared_open(Compared *c, const CaseSpec *spec, double omega, mpfr_prec_t bits)
{
    c->pair = pair_make(spec);
    c->base = ref_base_make(&c->pair, bits, REF_LIMIT_STREAMS, NULL);
    const Start start = pair_start(&c->pair, omega);
    c->run = with_radii(ref_run_open(&start, bits));
    assert_non_null(c->base);
    ref_errors_init(&c->errors);
    ref_run_layer(c->run);
}

static void compared_close(Compared *c)
{
    ref_errors_clear(&c->errors);
    ref_run_clear(c->run);
    ref_base_clear(c->base);
    case_clear(&c->pair);
}

static CellState cell_state(const Compared *c, ErrorKind kind)
{
    return c->errors.error[kind][NORM_MAX].state;
}

/* Too few bits: an upper bound, never 0, and above the true value (known from more bits). */
static void unresolved_is_bounded_never_zero(void **state)
{
    CaseSpec spec = small_spec(CONSTRUCTION_FUSED);
    Compared few, many;
    spec.bias_row_content = CONTENT_NONE;
    compared_open(&few, &spec, 100, 192);
    compared_open(&many, &spec, 100, 512);
    ref_compare(&few.errors, &(RefLayer){&few.pair, few.base, 1, few.run, NULL, NULL});
    ref_compare(&many.errors, &(RefLayer){&many.pair, many.base, 1, many.run, NULL, NULL});
    assert_int_equal(cell_state(&many, ERROR_CONSTRUCTION), CELL_VALUE);
    for (int norm = 0; norm < NORM_COUNT; norm++) {
        const RefCell *bound = &few.errors.error[ERROR_CONSTRUCTION][norm];
        assert_int_equal(bound->state, CELL_BOUND);
        assert_true(
            mpfr_greater_p(bound->value, many.errors.error[ERROR_CONSTRUCTION][norm].value));
        assert_true(mpfr_cmp_d(bound->value, 1e-30) < 0);
    }
    assert_int_equal(few.errors.scalar[SCALAR_BIAS_ROW].state, CELL_BOUND);
    assert_int_equal(many.errors.scalar[SCALAR_BIAS_ROW].state, CELL_VALUE);
    assert_int_equal(cell_state(&few, ERROR_APPROXIMATION), CELL_ZERO);
    compared_close(&few);
    compared_close(&many);
}

/* A NaN from a machine shows as one; an exact machine is bounded, not 0; equal machines are 0. */
static void machines_are_compared_honestly(void **state)
{
    CaseSpec spec = small_spec(CONSTRUCTION_LINEAR);
    Compared c;
    double entries[12] = {0};
    MachineView view = {entries, 3};
    spec.bias_row_content = CONTENT_NONE;
    compared_open(&c, &spec, 20, 256);
    ref_compare(&c.errors, &(RefLayer){&c.pair, c.base, 1, c.run, &view, &view});
    assert_int_equal(cell_state(&c, ERROR_OBSERVED), CELL_ZERO);
    assert_int_equal(cell_state(&c, ERROR_TOTAL), CELL_VALUE);
    entries[7] = NAN;
    ref_compare(&c.errors, &(RefLayer){&c.pair, c.base, 1, c.run, &view, NULL});
    assert_int_equal(cell_state(&c, ERROR_TOTAL), CELL_NONFINITE);
    assert_int_equal(cell_state(&c, ERROR_ROUNDING), CELL_NONFINITE);
    assert_int_equal(cell_state(&c, ERROR_NATIVE), CELL_ABSENT);
    assert_true(mpfr_nan_p(c.errors.error[ERROR_TOTAL][NORM_RMS].value));
    compared_close(&c);
}

/* Of streams of many columns: r(T') rounded to doubles, which is r(T) so far, but for one entry
 * that is 1 off, wherever it is. */
static void wide_streams_are_compared_in_all_columns(void **state)
{
    enum { N = 2, D = 150 };
    const size_t places[] = {0, 63, 64, 65, 128, 149, D + 64, N * D - 1};
    CaseSpec spec = small_spec(CONSTRUCTION_LINEAR);
    Compared c;
    double entries[N * D];
    MachineView view = {entries, D};
    spec.bias_row_content = CONTENT_NONE;
    spec.n = N;
    spec.d = D;
    compared_open(&c, &spec, 100, 256);
    for (size_t i = 0; i < N * D; i++) {
        size_t row = layout_token_row(&c.pair.converted.layout, i / D);
        entries[i] = mpfr_get_d(ref_run_entry(c.run, row, i % D), MPFR_RNDN);
    }
    for (size_t p = 0; p <= sizeof places / sizeof *places; p++) {
        bool off = p > 0;
        entries[off ? places[p - 1] : 0] += off ? 1 : 0;
        ref_compare(&c.errors, &(RefLayer){&c.pair, c.base, 1, c.run, &view, &view});
        entries[off ? places[p - 1] : 0] -= off ? 1 : 0;
        for (ErrorKind kind = ERROR_ROUNDING; kind <= ERROR_TOTAL; kind++) {
            const RefCell *cell = c.errors.error[kind];
            double max = mpfr_get_d(cell[NORM_MAX].value, MPFR_RNDN);
            double rms = mpfr_get_d(cell[NORM_RMS].value, MPFR_RNDN);
            assert_true(fabs(max - off) < 1e-12);
            assert_true(fabs(rms - off / sqrt(N * D)) < 1e-12);
        }
    }
    compared_close(&c);
}

/* A machine that returns r(T) rounded to double: right to half an ulp, and where r(T) is itself
 * a double the difference is below resolution, which is a bound and not 0. */
static void a_perfect_machine_is_bounded(void **state)
{
    CaseSpec spec = small_spec(CONSTRUCTION_LINEAR);
    Compared c;
    double entries[12];
    MachineView view = {entries, 3};
    spec.bias_row_content = CONTENT_NONE;
    spec.n = 1;
    spec.d = 1;
    spec.bias = BIAS_NONE;
    compared_open(&c, &spec, 20, 256);
    double x = c.pair.original_x[0], w = c.pair.original.sublayers[0].direct.w1[0];
    volatile double product = x * w;
    entries[0] = product;
    ref_compare(&c.errors, &(RefLayer){&c.pair, c.base, 1, c.run, NULL, &view});
    double residue = fabs(fma(x, w, -product));
    if (residue > 0) {
        assert_int_equal(cell_state(&c, ERROR_NATIVE), CELL_VALUE);
        assert_true(mpfr_cmp_d(c.errors.error[ERROR_NATIVE][NORM_MAX].value, residue) == 0);
    } else {
        assert_int_equal(cell_state(&c, ERROR_NATIVE), CELL_BOUND);
        assert_true(mpfr_sgn(c.errors.error[ERROR_NATIVE][NORM_MAX].value) > 0);
    }
    compared_close(&c);
}

/* A pair that claims T_infinity = T wrongly is found out. */
static void a_false_theorem_is_a_contradiction(void **state)
{
    CaseSpec spec = small_spec(CONSTRUCTION_SILU);
    Compared c;
    compared_open(&c, &spec, 20, 256);
    assert_false(c.pair.limit_is_original);
    ref_compare(&c.errors, &(RefLayer){&c.pair, c.base, 1, c.run, NULL, NULL});
    assert_false(c.errors.contradiction);
    assert_int_equal(cell_state(&c, ERROR_APPROXIMATION), CELL_VALUE);
    c.pair.limit_is_original = true;
    ref_compare(&c.errors, &(RefLayer){&c.pair, c.base, 1, c.run, NULL, NULL});
    assert_true(c.errors.contradiction);
    compared_close(&c);
}

/* num/(den sqrt(sqrt_den)) at 512 bits and not at a double's 53: against mpfr_rec_sqrt. */
static void scales_are_never_rounded_to_doubles(void **state)
{
    static const Scale scales[] = {{1, 1, 3}, {2, 5, 7}, {1, 1, 128}};
    mpfr_t scaled, expected, scratch;
    mpfr_inits2(512, scaled, expected, scratch, (mpfr_ptr)0);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        mpfr_set_ui(scaled, 1, MPFR_RNDN);
        heads_apply_scale(scaled, 1, &scales[i], scratch);
        mpfr_set_si(expected, scales[i].sqrt_den, MPFR_RNDN);
        mpfr_rec_sqrt(expected, expected, MPFR_RNDN);
        mpfr_mul_si(expected, expected, scales[i].num, MPFR_RNDN);
        mpfr_div_si(expected, expected, scales[i].den, MPFR_RNDN);
        mpfr_div(scaled, scaled, expected, MPFR_RNDN);
        mpfr_sub_ui(scaled, scaled, 1, MPFR_RNDN);
        assert_true(mpfr_zero_p(scaled) || mpfr_get_exp(scaled) < -505);
    }
    mpfr_clears(scaled, expected, scratch, (mpfr_ptr)0);
}

SUBJECT(reference)
{
    const struct CMUnitTest reference[] = {
        cmocka_unit_test(two_others_are_two),
        cmocka_unit_test(irregular_heads_agree),
        cmocka_unit_test(double_precision_agrees),
        cmocka_unit_test(growth_is_seen),
        cmocka_unit_test(scales_are_never_rounded_to_doubles),
        cmocka_unit_test(unresolved_is_bounded_never_zero),
        cmocka_unit_test(machines_are_compared_honestly),
        cmocka_unit_test(wide_streams_are_compared_in_all_columns),
        cmocka_unit_test(a_perfect_machine_is_bounded),
        cmocka_unit_test(a_false_theorem_is_a_contradiction),
    };
    return cmocka_run_group_tests(reference, reference_set_up, reference_tear_down);
}
