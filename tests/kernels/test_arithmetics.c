/*
 * Every machine arithmetic: against an evaluation in which each rounding is explicit
 * (tests/oracle_arithmetic.py), and against what a format alone implies.
 */
#include "../../kernels/kernel.h"
#include "../fixture.h"
#include "../oracle.h"
#include "../program.h"
#include "../streams.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Against the oracle ---------------------------------------------------------------------- */

static const char *const configurations[] = {
    "--construction silu --n 5 --d 6 --omega 9.1 --weights-rounded no",
    "--construction linear --mask causal --n 4 --d 5 --omega 7 --bias random --depth 2",
    ("--construction attention --n 6 --d 7 --d-head 3 --scale '1/sqrt(d_head)' --omega 11 "
     "--weights-rounded no"),
    "--construction attention --n 5 --d 4 --d-head 2 --mask pseudo-causal --omega 11.2",
    ("--construction attention --n 12 --d 4 --d-head 3 --mask pseudo-causal --omega 3.1 --scale "
     "'1/sqrt(d_head)'"),
    "--construction fused --n 5 --d 4 --d-ff 7 --bias random --omega 13.03",
    "--construction fused --activation gelu --n 6 --d 5 --d-ff 9 --bias random --omega 8.3",
    "--construction transformer --n 4 --d 6 --d-ff 5 --d-head 2 --bias random --depth 2 --omega 8",
    "--construction silu --n 5 --d 4 --omega 9 --activation gelu_new --gelu 3",
    ("--construction fused --n 4 --d 4 --d-ff 5 --bias random --omega 9 --activation gelu_new "
     "--gelu 3"),
    /* Norms before parts of a layer, and behind them. */
    "--construction attention --n 4 --d 6 --d-head 2 --omega 8 --normalization layernorm "
    "--mask causal",
    "--construction fused --n 5 --d 17 --d-ff 4 --bias random --omega 9 --normalization rmsnorm "
    "--eps 0.01",
    "--construction linear --n 4 --d 5 --omega 7 --normalization layernorm --normalize-bias-row no",
    "--construction attention --n 4 --d 5 --d-head 2 --omega 8 --normalization rmsnorm "
    "--normalization-place post",
    "--construction fused --n 4 --d 5 --d-ff 3 --omega 8 --normalization layernorm "
    "--normalization-place post --normalize-bias-row no",
    "--construction silu --n 5 --d 6 --omega 9 --normalization layernorm --normalization-place "
    "post",
    /* Attention and a network on the same stream. */
    "--construction transformer --parallel yes --n 4 --d 6 --d-ff 5 --d-head 2 --bias random "
    "--omega "
    "8 --normalization rmsnorm",
    /* Heads that positions turn. */
    "--construction attention --n 5 --d 6 --d-head 4 --omega 9 --rotary half --bias random",
    "--construction attention --n 6 --d 5 --d-head 6 --omega 8 --rotary interleaved --rotary-dim 4 "
    "--mask causal",
};

enum { COUNT = sizeof configurations / sizeof *configurations };

/* Asks the oracle about each. */
static void ask_oracle(const Scratch *scratch, const char *interpreter, Arithmetic arithmetic)
{
    char path[SCRATCH_PATH], asked[2 * COUNT * SCRATCH_PATH];
    size_t used = (size_t)snprintf(asked, sizeof asked, "tests/oracle_arithmetic.py");
    for (size_t i = 0; i < 2 * (size_t)COUNT; i++) {
        KernelForm form = (KernelForm)(i % 2);
        if (form == KERNEL_DENSE && strstr(configurations[i / 2], "--rotary") != NULL) {
            continue; /* they have no full matrices */
        }
        oracle_export(path, scratch, i, configurations[i / 2], arithmetic, form);
        used += (size_t)snprintf(asked + used, sizeof asked - used, " %s %s %s", path,
                                 arithmetic_names[arithmetic], oracle_forms[form]);
    }
    oracle_agree(interpreter, asked, arithmetic_names[arithmetic]);
}

static void outputs_are_the_oracles(void **state)
{
    const Scratch *scratch = *state;
    const char *interpreter = oracle_needed("numpy");
    for (Arithmetic a = ARITHMETIC_F64; a < ARITHMETIC_COUNT; a++) {
        ask_oracle(scratch, interpreter, a);
    }
}

/* ---- What a format implies ------------------------------------------------------------------- */

/* Small numbers of every format. */
static const double swamped[] = {-3.125, 2.5, 0.5, 1, -1.75, 3};

enum { SWAMPED = sizeof swamped / sizeof *swamped };

/* Does T' of one SiLU column give exactly x/2? */
static bool gives_half(Arithmetic arithmetic, KernelForm form, double omega)
{
    CaseSpec spec = {.construction = CONSTRUCTION_SILU, .n = SWAMPED, .d = 1, .depth = 1};
    Pair pair = pair_make(&spec);
    const Start start = {&pair.converted, swamped, NULL, omega};
    Streams stream = streams_of(arithmetic, &start, form, 1);
    bool half = true;
    for (size_t i = 0; i < SWAMPED; i++) {
        half = half && *streams_row(&stream, 0, i) == swamped[i] / 2;
    }
    free(stream.data);
    case_clear(&pair);
    return half;
}

/* 2 Omega -+ x is 2 Omega in what scores are kept in, so that token and bias row weigh the same:
 * from ulp(2 Omega) = 8 on, as x < 4.  Full matrices add 2 Omega to what products
 * read. */
static void omega_swamps_x(void **state)
{
    for (Arithmetic a = ARITHMETIC_F64; a < ARITHMETIC_COUNT; a++) {
        const Formats *formats = &arithmetic_info(a)->formats;
        for (int form = 0; form < KERNEL_COUNT; form++) {
            NumberFormat sum = form == KERNEL_DENSE ? formats->operand : formats->score;
            double omega = ldexp(3, format_info(sum)->digits);
            if (isinf(format_nearest(formats->operand, 2 * omega))) {
                continue;
            }
            assert_true(gives_half(a, (KernelForm)form, omega));
            assert_false(gives_half(a, (KernelForm)form, omega / 16));
        }
    }
}

/* Entry 0 of token i behind one layer in bfloat16, by the heads' structure. */
static double one_entry(const Model *model, const double *x, const double *content, double omega,
                        size_t i)
{
    const Start start = {model, x, content, omega};
    Streams stream = streams_of(ARITHMETIC_BF16, &start, KERNEL_STRUCTURED, 1);
    double entry = *streams_row(&stream, 0, i);
    free(stream.data);
    return entry;
}

/* With penalties 2 Omega = 0.3 is taken from the score 100 toward another token, whose value is 0:
 * 99.7 is 99.5 in bfloat16.  The token weighs 1 / (1 + e^-0.5) = 0.6225 and adds 62 to its -100. */
static void others_scores_are_rounded(void **state)
{
    static const double x[] = {-100, 0};
    CaseSpec spec = {.construction = CONSTRUCTION_SILU, .n = 2, .d = 1, .depth = 1};
    Pair pair = pair_make(&spec);
    assert_true(one_entry(&pair.negative, x, NULL, 0.15, 0) == -38);
    case_clear(&pair);
}

/* Three tokens, 1, and a bias row that holds 4; scores are scaled by 1/2, and 2 Omega is 1.  The
 * scores are 0.5 toward each token and 2 - 1 toward the bias row, the weights 220/1024 and 182/512,
 * and each token becomes 1 + 2.0625. */
static void every_score_is_scaled(void **state)
{
    static const double x[] = {1, 1, 1}, one[] = {1}, content[] = {4};
    const GivenLayer layer = {.w_q = one, .w_k = one, .w_v = one, .w_o = one};
    const GivenWeights given = {.layers = &layer, .scale = {1, 2, 1}, .x = x};
    CaseSpec spec = {.construction = CONSTRUCTION_ATTENTION,
                     .n = 3,
                     .d = 1,
                     .heads = 1,
                     .d_head = 1,
                     .depth = 1,
                     .given = &given};
    Pair pair = pair_make(&spec);
    for (size_t i = 0; i < 3; i++) {
        assert_true(one_entry(&pair.converted, x, content, 0.5, i) == 3.0625);
    }
    case_clear(&pair);
}

/* Half from Omega = 32760, where 2 Omega is a tie that goes up; what autocast multiplies is
 * bfloat16, which ends at 3.3961e38, before float. */
static void overflow_is_where_two_omega_is_infinite(void **state)
{
    static const struct {
        const char *omegas, *arithmetics;
        double least;
    } ends[] = {{"32759.999,32760", "fp16,fp16-flash", 32760},
                {"1.69808e38,1.69810e38", "bf16,bf16-flash,bf16-autocast", 1.69809e38},
                {"8.98e307,8.99e307", "f64", 8.988465674e307}};
    for (size_t k = 0; k < 3 * (size_t)KERNEL_COUNT; k++) {
        Output output =
            expect_run(1,
                       "sweep --construction silu,attention --n 3 --d 2 --omega %s --quiet "
                       "--arithmetic %s --kernel %s",
                       ends[k / 2].omegas, ends[k / 2].arithmetics, oracle_forms[k % 2]);
        for (size_t line = 1; line < lines(&output); line++) {
            char status[32];
            cell(status, sizeof status, &output, line, "status");
            bool finite = number(&output, line, "omega") < ends[k / 2].least;
            assert_true((strcmp(status, "overflow") == 0) == !finite);
        }
        assert_true(lines(&output) >= 5);
    }
}

/* Taken from a score that is the mask itself: exactly the rows of any other Omega.  Full matrices
 * multiply by it, and 0 times infinity is NaN. */
static void an_infinite_penalty_is_a_mask(void **state)
{
    char near[64], far[64], status[32];
    for (int form = 0; form < KERNEL_COUNT; form++) {
        Output output = expect_run(
            form == KERNEL_DENSE,
            "sweep --construction silu,attention,transformer,linear --n 4 --d 4 --omega "
            "1000,40000 --arithmetic fp16,fp16-flash --penalty negative --kernel %s --quiet",
            oracle_forms[form]);
        assert_int_equal(lines(&output), 17);
        for (size_t line = 1; line <= 16; line++) {
            bool infinite = number(&output, line, "omega") > 32760;
            cell(status, sizeof status, &output, line, "status");
            assert_string_equal(status, infinite && form == KERNEL_DENSE ? "overflow" : "ok");
            if (infinite && form == KERNEL_STRUCTURED) {
                cell(near, sizeof near, &output, line - 2, "total_max");
                cell(far, sizeof far, &output, line, "total_max");
                assert_string_equal(near, far);
            }
        }
    }
}

/* ---- Feasible intervals ---------------------------------------------------------------------- */

/* docs/mathematics.md, section 3, for N = 20 and entries up to 3.2, one column of which is the
 * worst case: [least, most], met at the first within 0.3, at the last from there to twice it. */
static void intervals_are_the_predicted_ones(void **state)
{
    static const struct {
        const char *arithmetic, *tolerance;
        double least, most;
    } intervals[] = {{"f64", "1e-10", 13.9, 2.097e6},
                     {"f64", "1e-13", 17.3, 2046},
                     {"f32", "1e-5", 8.2, 505},
                     {"fp16", "1e-2", 4.8, 62}};
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        double least = intervals[i].least, most = intervals[i].most;
        Output output = expect_run(
            1,
            "sweep --construction silu --weights cases/models/silu-x.safetensors "
            "--precision 256 --quiet --arithmetic %s --tolerance %s --omega %g,%g,%g,%.9g",
            intervals[i].arithmetic, intervals[i].tolerance, least - 0.3, least + 0.3, most,
            2.05 * most);
        double tolerance = strtod(intervals[i].tolerance, NULL);
        assert_int_equal(lines(&output), 5);
        for (size_t line = 1; line <= 4; line++) {
            bool met = line == 2 || line == 3;
            double error = number(&output, line, "total_max");
            if ((error <= tolerance) != met) {
                fail_msg("%s at %g: error %g", intervals[i].arithmetic,
                         number(&output, line, "omega"), error);
            }
        }
    }
    Output output = run("sweep --construction silu --weights cases/models/silu-x.safetensors "
                        "--precision 128 --quiet --arithmetic bf16 --omega 1:24:0.5,32:512:*2");
    for (size_t line = 1; line < lines(&output); line++) {
        assert_true(number(&output, line, "total_max") > 5e-3);
    }
}

/* ---- Threads and interruptions --------------------------------------------------------------- */

/* With norms before and behind parts; and more rows than a block of them, more units than a block
 * of columns, by the heads' structure. */
static void threads_do_not_matter(void **state)
{
    for (int kind = 0; kind < 4; kind++) {
        bool large = kind == 3;
        CaseSpec spec = {.construction = CONSTRUCTION_TRANSFORMER,
                         .n = large ? 140 : 20,
                         .d = large ? 9 : 19,
                         .d_ff = large ? 300 : 6,
                         .heads = 2,
                         .depth = 2,
                         .seed = 1,
                         .bias = large ? BIAS_RANDOM : BIAS_NONE,
                         .norm = kind % 3 == 0 ? NORMALIZATION_NONE : NORMALIZATION_LAYERNORM,
                         .norm_place = kind == 1 ? NORM_PRE : NORM_POST,
                         .norm_eps = 1e-5};
        Pair pair = pair_make(&spec);
        const Start start = pair_start(&pair, 12);
        for (Arithmetic a = ARITHMETIC_F64; a < ARITHMETIC_COUNT; a++) {
            assert_true(streams_share_bits(a, &start, KERNEL_STRUCTURED, 3));
            assert_true(large || streams_share_bits(a, &start, KERNEL_DENSE, 3));
        }
        case_clear(&pair);
    }
}

SUBJECT(arithmetics)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(outputs_are_the_oracles),
        cmocka_unit_test(omega_swamps_x),
        cmocka_unit_test(others_scores_are_rounded),
        cmocka_unit_test(every_score_is_scaled),
        cmocka_unit_test(overflow_is_where_two_omega_is_infinite),
        cmocka_unit_test(an_infinite_penalty_is_a_mask),
        cmocka_unit_test(intervals_are_the_predicted_ones),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
