/*
 * `verify` about logits, of models small enough to know them: the bias of the unembedding,
 * logits that are equal, and logits that no double holds; and a machine's, term by term.
 */
#include "../../harness/evaluate/position.h"
#include "../../harness/evaluate/unembed.h"
#include "../../kernels/arithmetic.h"
#include "../drawn_numbers.h"
#include "../fixture.h"
#include "../program.h"
#include "../written_model.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three tokens of two columns, one hidden unit, three classes. */
#define TENSORS                                                                                    \
    TENSOR("blocks.0.mlp.W_in", "[2,1]", "0", "16")                                                \
    "," TENSOR("blocks.0.mlp.W_out", "[1,2]", "16", "32") "," TENSOR(                              \
        "embed.W_E", "[3,2]", "32", "80") "," TENSOR("unembed.W_U", "[2,3]", "80",                 \
                                                     "128") "," TENSOR("unembed.b_U", "[3]",       \
                                                                       "128", "152")
enum { NUMBERS = 19 };

/* `verify` of every pair of tokens: nine inputs. */
static Output verify(const Scratch *scratch, const double numbers[NUMBERS], int code)
{
    written_model(scratch, "model.safetensors", TENSORS, numbers, NUMBERS);
    Output output = expect_run(
        code,
        "verify %s/model.safetensors --tokens 0:2/0:2 --construction fused --omega 40 "
        "--kernel structured --quiet -o %s/out.csv >/dev/null; code=$?; cat %s/out.csv; exit $code",
        scratch->directory, scratch->directory, scratch->directory);
    assert_int_equal(lines(&output), 2);
    assert_true(number(&output, 1, "inputs") == 9);
    return output;
}

/* Classes 0 and 1 are equal, class 2 is far below: of equals both models predict the first, by no
 * margin; without the bias class 2 would win, or the error be 1000. */
static void biases_and_equals(void **state)
{
    static const double numbers[NUMBERS] = {1,    0.5,            /* W_in */
                                            0.5,  -0.25,          /* W_out */
                                            1,    0,     0,    1, /* W_E */
                                            -1,   2,              /* and its last row */
                                            1,    1,     3,       /* W_U */
                                            0.25, 0.25,  4,       /* and its last row */
                                            0.5,  0.5,   -1000};  /* b_U */
    Output output = verify(*state, numbers, 0);
    assert_true(number(&output, 1, "logit_error") < 1e-12);
    assert_true(number(&output, 1, "logit_margin") == 0);
    expect_cell(&output, 1, "predictions_changed", "0");
}

/* Of logits of an imitation too: where both models have classes 0 and 1 equal, neither loses the
 * first to the second. */
static void equals_are_not_lost(void **state)
{
    static const double numbers[NUMBERS] = {1, 0.5, 0.5, -0.25, 1,    0, 0,   1,   -1,   2,
                                            1, 1,   3,   0.25,  0.25, 4, 0.5, 0.5, -1000};
    const Scratch *scratch = *state;
    char line[2 * SCRATCH_PATH];
    written_model(scratch, "model.safetensors", TENSORS, numbers, NUMBERS);
    snprintf(line, sizeof line, "-i s/silu/relu/ %s/model.safetensors", scratch->directory);
    (void)run_program("sed", line);
    Output output = expect_run(0,
                               "verify %s/model.safetensors --tokens 0:2/0:2 --construction fused "
                               "--omega 40 --kernel structured",
                               scratch->directory);
    expect_says(&output, 0, "0 of 9 changed");
    assert_non_null(strstr(output.text, "keeps every prediction at all"));
}

/* 1/3 has more bits than a double: the error of a logit that is 1 is said rounded up. */
static void errors_of_logits_are_bounds(void **state)
{
    static const double converted[] = {1, 0};
    Position position = {.known = false};
    RefLogits *change = ref_logits_make(1, 2);
    mpfr_t original[2];
    assert_non_null(change);
    mpfr_inits2(REF_LOGIT_BITS, original[0], original[1], (mpfr_ptr)0);
    mpfr_set_ui(original[0], 1, MPFR_RNDN);
    mpfr_div_ui(original[0], original[0], 3, MPFR_RNDN);
    mpfr_set_zero(original[1], 1);
    const PositionLogits logits = {
        .original = original[0], .converted = converted, .change = change, .classes = 2};
    position_compare(&position, &logits, false);
    mpfr_ui_sub(original[1], 1, original[0], MPFR_RNDN);
    assert_true(mpfr_cmp_d(original[1], position.error) < 0);
    assert_true(position.error <= 2.0 / 3 + 0x1p-53);
    mpfr_clears(original[0], original[1], (mpfr_ptr)0);
    ref_logits_clear(change);
}

/* Of more classes than are summed at once, which lie beside each other or column by column: every
 * logit has its terms in the columns' order, of weights as they are, and as bfloat16 stores them,
 * with sums in float. */
static void machines_logits_are_sums_in_order(void **state)
{
    enum { ROWS = 3, D = 5, MANY = 600 };
    double *w = malloc(sizeof(double[D * MANY])), x[(ROWS + 1) * D], logits[ROWS * MANY];
    assert_non_null(w);
    drawn_numbers = 7;
    for (size_t e = 0; e < (size_t)D * MANY; e++) {
        w[e] = drawn_uniform();
        x[e % ((ROWS + 1) * D)] = drawn_uniform();
    }
    for (int form = 0; form < 4; form++) {
        const bool by_class = form % 2 == 1, stored = form > 1;
        const RefUnembedding unembedding = {
            .w_u = w, .d = D, .classes = MANY, .by_class = by_class};
        const ArithmeticInfo *bf16 = arithmetic_info(ARITHMETIC_BF16);
        unembed_machine(logits, &(MachineView){x, D}, (RefRows){1, ROWS}, &unembedding, bf16,
                        stored);
        for (size_t i = 0; i < (size_t)ROWS * MANY; i++) {
            double sum = 0;
            for (size_t c = 0; c < D; c++) {
                double weight = w[by_class ? i % MANY * D + c : c * MANY + i % MANY];
                weight = stored ? format_nearest(FORMAT_BF16, weight) : weight;
                sum += x[(1 + i / MANY) * D + c] * weight;
                sum = stored ? (float)sum : sum;
            }
            assert_true(logits[i] == sum);
        }
    }
    free(w);
}

/* 1e308 times 40, less as much: infinity less infinity in double, where class 0 would be the first
 * of no numbers.  r(T)'s are numbers, all equal: class 0 too. */
static void no_number_is_no_prediction(void **state)
{
    static const double numbers[NUMBERS] = {1,      0.5,                /* W_in */
                                            0.5,    0.5,                /* W_out */
                                            40,     40,     50,     50, /* W_E */
                                            60,     60,                 /* and its last row */
                                            1e308,  1e308,  1e308,      /* W_U */
                                            -1e308, -1e308, -1e308, 0,  0, 0};
    Output output = verify(*state, numbers, 1); /* though nobody asked for a tolerance */
    expect_cell(&output, 1, "predictions_changed", "9");
    expect_cell(&output, 1, "logit_error", "nan");
    expect_cell(&output, 1, "status", "overflow");
}

/* Logits that are all 0 have no error and no margin, and nothing that an error could change. */
static void no_error_has_no_limit(void **state)
{
    static const double numbers[NUMBERS] = {1, 0.5, 0.5, -0.25, 1, 0, 0, 1, -1, 2};
    Output output = verify(*state, numbers, 0);
    expect_cell(&output, 1, "predictions_changed", "0");
    expect_cell(&output, 1, "logit_error", "0.0000000000000000e+00");
    expect_cell(&output, 1, "logit_margin", "0.0000000000000000e+00");
    expect_cell(&output, 1, "safety_factor", "inf");
}

SUBJECT(logits)
{
    const struct CMUnitTest logits[] = {
        cmocka_unit_test(errors_of_logits_are_bounds),
        cmocka_unit_test(machines_logits_are_sums_in_order),
        SCRATCH_TEST(biases_and_equals),
        SCRATCH_TEST(equals_are_not_lost),
        SCRATCH_TEST(no_error_has_no_limit),
        SCRATCH_TEST(no_number_is_no_prediction),
    };
    return cmocka_run_group_tests(logits, NULL, NULL);
}
