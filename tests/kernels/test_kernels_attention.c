/*
 * Plain attention against itself, bit for bit: patched, in the other form, on several threads.
 */
#include "../../kernels/blas.h"
#include "../../kernels/kernel.h"
#include "../random_model.h"
#include "../streams.h"
#include "../unit.h"

#include <stdlib.h>

#define SEED 20240731u

/* The same token rows after every layer, from one start. */
static void expect_same_tokens(const Model *a, KernelForm a_form, const Model *b, KernelForm b_form,
                               const double *x, double omega)
{
    Streams got = streams_of(ARITHMETIC_F64, &(Start){a, x, NULL, omega}, a_form, 1);
    Streams wanted = streams_of(ARITHMETIC_F64, &(Start){b, x, NULL, omega}, b_form, 1);
    for (size_t e = 0; e < a->depth * a->layout.n; e++) {
        size_t l = e / a->layout.n, i = e % a->layout.n;
        assert_memory_equal(streams_row(&got, l, layout_token_row(&a->layout, i)),
                            streams_row(&wanted, l, layout_token_row(&b->layout, i)),
                            layout_content(&a->layout) * sizeof(double));
    }
    free(got.data);
    free(wanted.data);
}

/* Which biases heads have, one bit each. */
enum { BIAS_Q = 1, BIAS_K = 2, BIAS_INNER = 4, BIAS_OUTPUT = 8, BIAS_ALL = 16 };

static void add_biases(Bundle *bundle, const double *numbers, size_t which)
{
    bool factors = bundle->score.d_head > 0;
    bundle->score.q_bias = factors && which & BIAS_Q ? numbers : NULL;
    bundle->score.k_bias = factors && which & BIAS_K ? numbers + 1 : NULL;
    bundle->value.inner_bias = factors && which & BIAS_INNER ? numbers + 2 : NULL;
    bundle->value.bias = which & BIAS_OUTPUT ? numbers + 3 : NULL;
}

enum { ATTENTION_N = 20, ATTENTION_D = 30, ATTENTION_HEADS = 3, ATTENTION_DEPTH = 3 };

/* Three layers of plain attention, on numbers of random; bilinear or factored.  Weights so
 * small that the stream keeps its size, as scores must stay above 40 - 2 Omega. */
static void attention(BundleStack *stack, RandomModel *random, size_t d_head, bool causal)
{
    const size_t d = ATTENTION_D, width = d_head > 0 ? d_head : d;
    const double *w = random_scaled(random, 2 * ATTENTION_HEADS * d * width, 0.25);
    HeadWeight weight = {w, width, d * width};
    HeadWeight second = {w + ATTENTION_HEADS * d * width, width, d * width};
    Score score = {.kind = SCORE_BILINEAR,
                   .read = {0, d},
                   .d_head = d_head,
                   .q = weight,
                   .k = second,
                   .scale = {1, 1, (long)d},
                   .visible = causal ? VISIBLE_EARLIER : VISIBLE_ALL};
    Value value = {.kind = d_head > 0 ? VALUE_FACTORED : VALUE_DENSE,
                   .read = {0, d},
                   .write = {0, d},
                   .d_head = d_head,
                   .v = second,
                   .o = {d_head > 0 ? w : NULL, d, d_head * d},
                   .scale = 1};
    for (size_t l = 0; l < ATTENTION_DEPTH; l++) {
        stack->bundle[l] = (Bundle){ATTENTION_HEADS, score, value};
    }
}

static void check_patched(size_t d_head, size_t biases, bool causal, double omega)
{
    enum { N = ATTENTION_N, D = ATTENTION_D };
    static RandomModel random;
    BundleStack plain, patched;
    random_start(&random, SEED + d_head);
    attention(&plain, &random, d_head, causal);
    const double *bias = random_numbers(&random, 2 * D);
    for (size_t l = 0; l < ATTENTION_DEPTH; l++) {
        add_biases(&plain.bundle[l], bias, biases);
    }
    patched = plain;
    for (size_t l = 0; l < ATTENTION_DEPTH; l++) {
        patched.bundle[l].score.position = (PositionScores){0, 0, -2, 2, 0};
    }
    Layout with = {N, D, 0, causal ? BIAS_ROW_FIRST : BIAS_ROW_LAST};
    Model original = stack_model(&plain, (Layout){N, D, 0, BIAS_ROW_NONE}, ATTENTION_DEPTH);
    Model converted = stack_model(&patched, with, ATTENTION_DEPTH);
    const double *x = random_numbers(&random, N * D);
    expect_same_tokens(&original, KERNEL_STRUCTURED, &converted, KERNEL_STRUCTURED, x, omega);
}

static void test_patched_attention_is_bit_identical(void **state)
{
    static const size_t d_heads[] = {0, 1, 8};
    for (size_t i = 0; i < 3 * BIAS_ALL; i++) {
        size_t d_head = d_heads[i / BIAS_ALL], biases = i % BIAS_ALL;
        check_patched(d_head, biases, false, 1000);
        check_patched(d_head, biases, true, 1000);
        check_patched(d_head, biases, false, 30);
        check_patched(d_head, biases, true, 30);
    }
}

/* No position columns: both forms go through the factors. */
static void test_biased_original_is_the_same_in_both_forms(void **state)
{
    static RandomModel random;
    for (size_t biases = 1; biases < BIAS_ALL; biases++) {
        BundleStack stack;
        random_start(&random, SEED + biases);
        attention(&stack, &random, 8, biases % 2);
        for (size_t l = 0; l < ATTENTION_DEPTH; l++) {
            add_biases(&stack.bundle[l], random_numbers(&random, 2 * ATTENTION_D), biases);
        }
        Layout layout = {ATTENTION_N, ATTENTION_D, 0, BIAS_ROW_NONE};
        Model model = stack_model(&stack, layout, ATTENTION_DEPTH);
        const double *x = random_numbers(&random, ATTENTION_N * ATTENTION_D);
        expect_same_tokens(&model, KERNEL_DENSE, &model, KERNEL_STRUCTURED, x, 0);
    }
}

SUBJECT(kernels_attention)
{
    const struct CMUnitTest attention_heads[] = {
        cmocka_unit_test(test_patched_attention_is_bit_identical),
        cmocka_unit_test(test_biased_original_is_the_same_in_both_forms),
    };
    print_message("OpenBLAS core %s (%s)\n", blas_core(), blas_core_origin());
    return cmocka_run_group_tests(attention_heads, NULL, NULL) == 0 ? 0 : 1;
}
