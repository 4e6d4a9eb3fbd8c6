/*
 * min-omega over several tolerances, constructions and penalties: what theory predicts beside what
 * is found, the matrix, and the same bytes however many searches run side by side.
 */
#include "../fixture.h"
#include "../given.h"
#include "../program.h"

#include "../../harness/commands/min_omega/search.h"
#include "../../harness/evaluate/omega_predict.h"
#include "../../harness/models/safetensors_write.h"
#include "../unit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Predictions --------------------------------------------------------------------------- */

enum { N = 20, D = 30 };
#define B 3.2

/* The input for which the bounds of silu are attained: -b, b, b, ... in the first column, and in
 * the others a grid over +-b. */
static void worst_input(double x[N * D], double b)
{
    for (size_t i = 0; i < N; i++) {
        x[i * D] = i == 0 ? -b : b;
        for (size_t c = 1; c < D; c++) {
            x[i * D + c] = b * (2 * (double)((i * 7 + c * 11) % 101) / 100 - 1);
        }
    }
}

static OmegaInterval predicted_of(double tolerance, const ArithmeticInfo *machine, Point *point)
{
    point->tolerance = tolerance;
    Pair pair = pair_make(&point->spec);
    assert_true(omega_predictable(&pair, point));
    const OmegaBounds bounds = omega_bounds(&pair, ldexp(1, -arithmetic_format(machine)->digits));
    case_clear(&pair);
    return omega_predict(&bounds, point, machine);
}

static OmegaInterval predicted_for(double tolerance, const ArithmeticInfo *machine, Point *point)
{
    double x[N * D];
    GivenLayer layer = {0};
    GivenWeights given = {.layers = &layer, .scale = {1, 1, 1}, .x = x};
    worst_input(x, B);
    point->spec = (CaseSpec){.construction = CONSTRUCTION_SILU, .n = N, .d = D, .depth = 1};
    point->spec.given = &given;
    return predicted_of(tolerance, machine, point);
}

/* Figures worked out by hand: K = 19 B sigma(B) (1 + sigma(B)) = 114.7, Omega_min = ln(K/tol)/2,
 * Omega_max = 2^e - 1.6 with e = floor(log2(tol/0.22387)) + digits. */
static void the_textbook_interval_is_predicted(void **state)
{
    static const struct {
        Arithmetic arithmetic;
        double tolerance, min, max;
    } expected[] = {
        {ARITHMETIC_F64, 1e-10, 13.88, 2097150.4}, {ARITHMETIC_F64, 1e-13, 17.34, 2046.4},
        {ARITHMETIC_F32, 1e-5, 8.13, 510.4},       {ARITHMETIC_FP16, 1e-2, 4.67, 62.4},
        {ARITHMETIC_FP16, 1e3, -1, 32752},
    };
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        const ArithmeticInfo *machine = arithmetic_info(expected[k].arithmetic);
        Point point = {.judge = ERROR_TOTAL};
        OmegaInterval found = predicted_for(expected[k].tolerance, machine, &point);
        print_message("%s, %g: %.8g to %.8g\n", machine->called, expected[k].tolerance, found.min,
                      found.max);
        assert_true(found.known);
        assert_true(expected[k].min < 0 ? found.min == 2.2250739e-308
                                        : fabs(found.min - expected[k].min) < 0.01);
        assert_true(fabs(found.max / expected[k].max - 1) < 1e-6);
    }
}

/* Nothing absorbs what has coefficient 0, and a penalty added to a score may be infinite; no factor
 * of a product may, whose format is bfloat16 in autocast. */
static void penalties_have_no_upper_end(void **state)
{
    static const struct {
        Arithmetic arithmetic;
        KernelForm kernel;
        Penalty penalty;
        double max;
    } expected[] = {
        {ARITHMETIC_FP16, KERNEL_DENSE, PENALTY_NEGATIVE, 32752},
        {ARITHMETIC_FP16_FLASH, KERNEL_DENSE, PENALTY_NEGATIVE, 32752},
        {ARITHMETIC_BF16_AUTOCAST, KERNEL_DENSE, PENALTY_NEGATIVE, 1.6947657e38},
        {ARITHMETIC_FP16, KERNEL_STRUCTURED, PENALTY_NEGATIVE, 1.7976931e308},
        {ARITHMETIC_F64, KERNEL_STRUCTURED, PENALTY_NEGATIVE, 1.7976931e308},
        {ARITHMETIC_FP16, KERNEL_STRUCTURED, PENALTY_POSITIVE, 62.4},
    };
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        Point point = {
            .judge = ERROR_TOTAL, .kernel = expected[k].kernel, .penalty = expected[k].penalty};
        OmegaInterval found = predicted_for(1e-2, arithmetic_info(expected[k].arithmetic), &point);
        assert_true(fabs(found.max / expected[k].max - 1) < 1e-6);
    }
}

/* Nor does a search go where sweep says overflow, though patched heads stay finite there. */
static void searches_end_where_omega_overflows(void **state)
{
    Output output = run("min-omega --construction attention --n 4 --d 3 --arithmetic fp16 --kernel "
                        "structured --tolerance 2e-2 --penalty positive,negative --quiet");
    assert_int_equal(lines(&output), 3);
    assert_true(number(&output, 1, "omega_max") < 32760);
    assert_true(number(&output, 1, "omega_max") > 32759);
    assert_true(number(&output, 1, "omega_above") >= 32760);
    assert_true(number(&output, 2, "omega_max") > 1e308);
}

/* A significand of 8 bits keeps 3.2 to 0.0125: nothing meets 1e-2 or 5e-3. */
static void nothing_is_predicted_below_the_floor(void **state)
{
    const ArithmeticInfo *bfloat = arithmetic_info(ARITHMETIC_BF16);
    for (int k = 0; k < 2; k++) {
        Point point = {.judge = ERROR_TOTAL, .penalty = (Penalty)k};
        OmegaInterval found = predicted_for(k == 0 ? 1e-2 : 5e-3, bfloat, &point);
        assert_true(found.known && found.max < found.min);
    }
}

/* A layer of 2 tokens, the leak by which its least Omega is predicted, and its largest Omega; 0:
 * half of the largest double. */
typedef struct {
    Construction construction;
    size_t d;
    const double *x;
    GivenLayer layer;
    double leak, max;
} Single;

/* At a tolerance of 1e-9 in double. */
static void expect_predicted(const Single *single, Normalization norm)
{
    GivenWeights given = {.layers = &single->layer, .scale = {1, 1, 1}, .x = single->x};
    Point point = {.judge = ERROR_TOTAL};
    point.spec = (CaseSpec){.construction = single->construction,
                            .n = 2,
                            .d = single->d,
                            .d_ff = 1,
                            .heads = 1,
                            .depth = 1,
                            .given = &given,
                            .norm = norm,
                            .norm_eps = 3};
    OmegaInterval found = predicted_of(1e-9, arithmetic_info(ARITHMETIC_F64), &point);
    double max = single->max > 0 ? single->max : DBL_MAX / 2;
    print_message("%s: %.8g to %.8g\n", construction_names[single->construction], found.min,
                  found.max);
    assert_true(fabs(found.min - log(single->leak / 1e-9) / 2) < 1e-5);
    assert_true(fabs(found.max / max - 1) < 1e-7);
}

/* Of single layers of 2 tokens, 2 and -1 (linear: twice, side by side), by hand, at 1e-9 in double:
 * linear, V = -3I/4, b = (1/4, 0):       K = 3 * 2 * 3/4 + 1/4
 * fused, z = x, W2 = 2, b2 = 1/2:        K = 2 sigma(2) (1 + sigma(2)) * 2 + 1/2, A = 2 * 0.22387
 * attention, all scores 0, values 3x:    K = e^(-ln 2) * 6
 * silu of 1/2 and -1/4:                  K = sigma(1/2) (1 + sigma(1/2))/2, A = sigma'(1/2)/2
 * and with rmsnorm(+-1) = 4 (+-1)/sqrt(1 + 3) = +-2 read in place of x; linear then has no -I. */
static void single_layers_are_predicted(void **state)
{
    static const double x[] = {2, -1}, wide[] = {2, 2, -1, -1}, small[] = {0.5, -0.25};
    static const double quarter[] = {0.25, 0, 0, 0.25}, bias[] = {0.25, 0};
    static const double none[] = {0}, one[] = {1}, two[] = {2}, three[] = {3}, b2[] = {0.5};
    static const double ones[] = {1, 1, -1, -1}, unit[] = {1, -1}, four[] = {4, 4};
    const Single cases[] = {
        {CONSTRUCTION_LINEAR, 2, wide, {.linear_w = quarter, .linear_b = bias}, 4.75, 0},
        {CONSTRUCTION_FUSED, 1, x, {.w_in = one, .w_out = two, .b_out = b2}, 7.126402, 16777215},
        {CONSTRUCTION_ATTENTION, 1, x, {.qk = none, .ov = three}, 3, 0},
        {CONSTRUCTION_SILU, 1, small, {.w_in = NULL}, 0.5049575, 67108863.75},
        {CONSTRUCTION_LINEAR,
         2,
         ones,
         {.linear_w = quarter, .linear_b = bias, .ln1_w = four},
         1.75,
         0},
        {CONSTRUCTION_FUSED,
         1,
         unit,
         {.w_in = one, .w_out = two, .b_out = b2, .ln2_w = four},
         7.126402,
         16777215},
        {CONSTRUCTION_ATTENTION, 1, unit, {.qk = none, .ov = three, .ln1_w = four}, 3, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        expect_predicted(&cases[k], k < 4 ? NORMALIZATION_NONE : NORMALIZATION_RMSNORM);
    }
}

/* A norm behind the layer makes of its error what no formula says. */
static void nothing_is_predicted_behind_a_norm(void **state)
{
    Point point = {.judge = ERROR_TOTAL,
                   .tolerance = 1e-9,
                   .spec = {.construction = CONSTRUCTION_FUSED,
                            .n = 3,
                            .d = 2,
                            .d_ff = 2,
                            .depth = 1,
                            .norm = NORMALIZATION_LAYERNORM,
                            .norm_place = NORM_POST,
                            .norm_eps = 1}};
    for (int place = 0; place < NORM_PLACE_COUNT; place++) {
        point.spec.norm_place = (NormPlace)place;
        Pair pair = pair_make(&point.spec);
        assert_true(omega_predictable(&pair, &point) == (place == NORM_PRE));
        case_clear(&pair);
    }
}

/* With penalties, and where no machine is judged, there is no upper end; --shrink reaches both. */
static void what_moves_the_ends_is_known(void **state)
{
    const ArithmeticInfo *machine = arithmetic_info(ARITHMETIC_F64);
    Point negative = {
        .judge = ERROR_TOTAL, .penalty = PENALTY_NEGATIVE, .kernel = KERNEL_STRUCTURED};
    Point exact = {.judge = ERROR_CONSTRUCTION}, shrunken = {.judge = ERROR_TOTAL, .shrink = 0.5};
    assert_true(predicted_for(1e-10, machine, &negative).max == 1.7976931e308);
    assert_true(predicted_for(1e-30, machine, &exact).max == 1.7976931e308);
    assert_true(fabs(predicted_for(1e-10, machine, &shrunken).max - 2 * 2097150.4) < 0.1);
    assert_true(fabs(predicted_for(1e-10, machine, &shrunken).min - 2 * 13.88) < 0.02);
}

/* Bounds: what is found begins below the prediction, but not far below, and goes on above it. */
static void the_interval_found_holds_the_predicted(void **state)
{
    static const char *const cases[] = {
        "silu",
        "silu --mask causal",
        "linear",
        "linear --bias random --mask causal",
        "linear --linear block --d-ff 5",
        "fused",
        "fused --bias random",
        "attention",
        "attention --mask causal",
        "attention --d-head 3 --scale \"1/sqrt(d_head)\" --heads 3"};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        Output output =
            expect_run(0,
                       "min-omega --construction %s --n 7 --d 6 --seed 2 --kernel structured "
                       "--tolerance 1e-9 --quiet",
                       cases[k]);
        double min = number(&output, 1, "omega_min"), max = number(&output, 1, "omega_max");
        double from = number(&output, 1, "predicted_min"), to = number(&output, 1, "predicted_max");
        print_message("%s: %.8g to %.8g, predicted %.8g to %.8g\n", cases[k], min, max, from, to);
        assert_true(min <= from && from < min + 2.5);
        assert_true(max >= to * (1 - 1e-5));
    }
}

/* For the input that attains the bounds the interval found is the one predicted: it begins within
 * 0.3 and ends within the next power of two; with penalties it does not end. */
static void the_worst_input_attains_the_prediction(void **state)
{
    static const double min[] = {13.88, 17.34}, max[] = {2097150.4, 2046.4};
    const Given *given = *state;
    const size_t shape[] = {N, D};
    double x[N * D];
    const char *path = path_in(&given->scratch, "x.safetensors");
    SafetensorsWriter *writer = safetensors_writer_make();
    worst_input(x, B);
    assert_int_equal(safetensors_writer_floats(writer, "X", 2, shape, x), 0);
    assert_int_equal(safetensors_writer_finish(writer, path), 0);
    safetensors_writer_clear(writer);
    Output output = expect_run(
        0,
        "min-omega --construction silu --weights %s --activation silu --normalization none "
        "--kernel structured --penalty positive,negative --tolerance 1e-10,1e-13 --quiet",
        path);
    assert_int_equal(lines(&output), 5);
    for (size_t k = 0; k < 4; k++) {
        double to = number(&output, k + 1, "omega_max");
        print_message("%.8g to %.8g\n", number(&output, k + 1, "omega_min"), to);
        assert_true(fabs(number(&output, k + 1, "omega_min") - min[k % 2]) < 0.3);
        assert_true(k < 2 ? to >= max[k] * (1 - 1e-4) && to <= 2 * max[k] + B : to > 1e307);
    }
}

/* No formula: blank, not a guess. */
static void what_has_no_formula_is_blank(void **state)
{
    static const char *const cases[] = {"transformer",
                                        "silu --depth 2",
                                        "silu --activation relu",
                                        "silu --dropout 0.5",
                                        "fused --bias-row-content random",
                                        "attention --mask pseudo-causal",
                                        "silu --norm rel",
                                        "linear --weight-noise 1e-6",
                                        "silu --judge rounding"};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        Output output = run_formatted(
            "min-omega --construction %s --n 3 --d 3 --tolerance 1e-6 --quiet", cases[k]);
        expect_cell(&output, 1, "predicted_min", "");
        expect_cell(&output, 1, "predicted_max", "");
    }
}

/* ---- Searches ------------------------------------------------------------------------------ */

#define SEVERAL                                                                                    \
    "min-omega --construction silu,fused,linear --penalty positive,negative --n 4 --d 3 "          \
    "--seed 1:2 --tolerance 1e-6,1e-9 --quiet"

static void several_searches_have_the_same_bytes(void **state)
{
    Output one = run(SEVERAL " --threads 1");
    assert_int_equal(lines(&one), 1 + 3 * 2 * 2);
    for (int threads = 2; threads <= 7; threads += 5) {
        Output many = expect_run(0, "%s --threads %d", SEVERAL, threads);
        assert_string_equal(one.text, many.text);
    }
}

/* A row of a list is that of its search alone. */
static void a_list_is_its_searches(void **state)
{
    static const char *const tolerances[] = {"1e-6", "1e-9"}, *const penalties[] = {"positive",
                                                                                    "negative"};
    Output list = run("min-omega --construction fused --penalty positive,negative --n 5 --d 4 "
                      "--tolerance 1e-6,1e-9 --quiet");
    assert_int_equal(lines(&list), 5);
    for (int k = 0; k < 4; k++) {
        Output alone = expect_run(
            0, "min-omega --construction fused --n 5 --d 4 --penalty %s --tolerance %s --quiet",
            penalties[k / 2], tolerances[k % 2]);
        static const char *const names[] = {"options",   "tolerance", "omega_below", "omega_min",
                                            "omega_max", "floor",     "evaluations", "status"};
        for (size_t c = 0; c < sizeof names / sizeof *names; c++) {
            expect_same_cell(&list, (size_t)k + 1, &alone, 1, names[c]);
        }
    }
}

/* One of several finds nothing: its row says so, and the exit code. */
static void a_search_without_result_fails_the_run(void **state)
{
    Output output =
        expect_run(1, "min-omega --construction silu --n 3 --d 3 --tolerance 1e-30,1e-6 --quiet");
    expect_cell(&output, 1, "status", "none");
    expect_cell(&output, 2, "status", "ok");
}

/* ---- The matrix ---------------------------------------------------------------------------- */

static void set_found(Search *search, double below, double min, double max, double above)
{
    OmegaSearch *s = &search->found.search;
    s->found = true;
    s->has_below = below > 0;
    s->has_above = above > 0;
    s->min.omega = min;
    s->max.omega = max;
}

static const char matrix[] =
    "construction  penalty       omega        within 1e-09     within 1e-12\n"
    "silu          positive      found  12.35 to 4.096e+05             none\n"
    "silu          positive  predicted  13.01 to 2.621e+05             none\n"
    "silu          negative      found            12.35 up         15.01 up\n"
    "transformer   positive      found           all tried  up to 8.123e+05\n"
    "transformer   negative      found            10.01 up         11.01 up\n"
    "found: every omega evaluated there meets the tolerance, and its neighbours do not; between "
    "them nothing is proven\n";

static void the_matrix_has_a_cell_a_search(void **state)
{
    Given *given = *state;
    Search *searches[8];
    bool taken[8] = {false};
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(given_read(given, COMMAND_MIN_OMEGA,
                                "--construction silu,transformer --penalty positive,negative "
                                "--tolerance 1e-9,1e-12"),
                     0);
    assert_int_equal(given->grid.count, 8);
    for (size_t i = 0; i < 8; i++) {
        searches[i] = search_make(&given->grid, taken, i);
    }
    set_found(searches[0], 12.3, 12.3412, 409600.9, 5e5);
    searches[0]->predicted = (OmegaInterval){true, 13.001, 262143.5};
    searches[1]->predicted = (OmegaInterval){true, 13, 0};
    set_found(searches[2], 12.3, 12.3412, 1e300, 0);
    set_found(searches[3], 15, 15.0001, 1e300, 0);
    set_found(searches[4], 0, 1e-300, 1e300, 0);
    set_found(searches[5], 0, 1e-300, 812345, 812346);
    set_found(searches[6], 10, 10.001, 1e300, 0);
    set_found(searches[7], 11, 11.001, 1e300, 0);
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    assert_int_equal(matrix_print(file, searches, 8), 0);
    fclose(file);
    assert_string_equal(text, matrix);
    free(text);
    for (size_t i = 0; i < 8; i++) {
        search_free(searches[i]);
    }
}

SUBJECT(min_omega)
{
    const struct CMUnitTest min_omega[] = {
        cmocka_unit_test(the_textbook_interval_is_predicted),
        cmocka_unit_test(penalties_have_no_upper_end),
        cmocka_unit_test(searches_end_where_omega_overflows),
        cmocka_unit_test(nothing_is_predicted_below_the_floor),
        cmocka_unit_test(single_layers_are_predicted),
        cmocka_unit_test(nothing_is_predicted_behind_a_norm),
        cmocka_unit_test(what_moves_the_ends_is_known),
        cmocka_unit_test(the_interval_found_holds_the_predicted),
        GIVEN_TEST(the_worst_input_attains_the_prediction),
        cmocka_unit_test(what_has_no_formula_is_blank),
        cmocka_unit_test(several_searches_have_the_same_bytes),
        cmocka_unit_test(a_list_is_its_searches),
        cmocka_unit_test(a_search_without_result_fails_the_run),
        GIVEN_TEST(the_matrix_has_a_cell_a_search),
    };
    return cmocka_run_group_tests(min_omega, NULL, NULL);
}
