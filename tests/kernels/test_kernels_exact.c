/*
 * The kernels bit for bit, and the things that must not matter to their bits.
 */
#include "../../kernels/blas.h"
#include "../../kernels/kernel.h"
#include "../random_model.h"
#include "../streams.h"
#include "../unit.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define SEED 20240731u
#define MAX_ROWS 16

/* Behind the last layer of each, of one layout. */
static void expect_same_stream(const Model *a, const Model *b, const double *x, double omega,
                               KernelForm form)
{
    Streams got = streams_of(ARITHMETIC_F64, &(Start){a, x, NULL, omega}, form, 1);
    Streams wanted = streams_of(ARITHMETIC_F64, &(Start){b, x, NULL, omega}, form, 1);
    assert_int_equal(got.ld, wanted.ld);
    assert_int_equal(got.ld, wanted.ld);
    assert_memory_equal(streams_row(&got, a->depth - 1, 0), streams_row(&wanted, b->depth - 1, 0),
                        got.rows * got.ld * sizeof(double));
    free(got.data);
    free(wanted.data);
}

enum { FUSED_D = 5, FUSED_HEADS = 6 };

/* Gate and value, and their biases, are the same numbers. */
static Bundle fused_heads(RandomModel *random)
{
    HeadWeight in = {random_numbers(random, FUSED_D * FUSED_HEADS), FUSED_HEADS, 1};
    HeadWeight out = {random_numbers(random, FUSED_HEADS * FUSED_D), FUSED_D, FUSED_D};
    const double *bias = random_numbers(random, FUSED_HEADS);
    Score score = {.kind = SCORE_GATE,
                   .read = {0, FUSED_D},
                   .gate = in,
                   .gate_bias = bias,
                   .gate_scale = 1.5,
                   .position = {2, 0, 2, 2, 0}};
    Value value = {.kind = VALUE_FACTORED,
                   .read = {0, FUSED_D},
                   .write = {0, FUSED_D},
                   .d_head = 1,
                   .v = in,
                   .o = out,
                   .inner_bias = bias,
                   .scale = 0.75};
    return (Bundle){FUSED_HEADS, score, value};
}

static void scale_numbers(double *scaled, const double *numbers, double factor, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        scaled[i] = factor * numbers[i];
    }
}

/* Powers of two lose nothing wherever they are applied.  In the second bundle gate and value are
 * no longer the same numbers, and so no longer one product. */
static void test_powers_of_two_are_exact_factors(void **state)
{
    enum { N = 7, WEIGHTS = FUSED_D * FUSED_HEADS };
    static RandomModel random;
    double gate[WEIGHTS], gate_bias[FUSED_HEADS], v[WEIGHTS], inner_bias[FUSED_HEADS];
    random_start(&random, SEED);
    BundleStack one = {.bundle = {fused_heads(&random)}}, other = one;
    Score *score = &other.bundle[0].score;
    Value *value = &other.bundle[0].value;
    const double *x = random_numbers(&random, N * FUSED_D);
    scale_numbers(gate, score->gate.data, 0.25, WEIGHTS);
    scale_numbers(gate_bias, score->gate_bias, 0.25, FUSED_HEADS);
    scale_numbers(v, value->v.data, 2, WEIGHTS);
    scale_numbers(inner_bias, value->inner_bias, 2, FUSED_HEADS);
    score->gate.data = gate;
    score->gate_bias = gate_bias;
    score->gate_scale *= 4;
    value->v.data = v;
    value->inner_bias = inner_bias;
    value->scale /= 2;
    for (size_t i = 0; i < 2 * (size_t)KERNEL_COUNT; i++) {
        Layout layout = {N, FUSED_D, 0, i % 2 ? BIAS_ROW_FIRST : BIAS_ROW_LAST};
        Model a = stack_model(&one, layout, 1), b = stack_model(&other, layout, 1);
        expect_same_stream(&a, &b, x, 7, (KernelForm)(i / 2));
    }
}

/* Sublayers of one layer and layers of one sublayer are the same computation. */
static void test_sublayers_follow_each_other(void **state)
{
    enum { N = 5, D = 6 };
    static RandomModel random;
    const Layout layout = {N, D, 0, BIAS_ROW_LAST};
    size_t one_end = 2;
    for (size_t i = 0; i < 20; i++) {
        BundleStack stack;
        random_start(&random, SEED + i);
        for (size_t l = 0; l < 2; l++) {
            stack.bundle[l] =
                random_bundle(&random, &layout, SCORES_GATE, VALUES_FACTORED, 3, false);
        }
        Model two = stack_model(&stack, layout, 2), one = two;
        one.layer_end = &one_end;
        one.depth = 1;
        expect_same_stream(&two, &one, random_numbers(&random, N * D), 20, (KernelForm)(i % 2));
    }
}

/* The sum over the others overflows where its weight is 0. */
static void test_absent_group_does_not_enter(void **state)
{
    static const double x[] = {1e308, 1e308, 1e308};
    BundleStack stack = {
        .bundle = {
            {1,
             {.kind = SCORE_NONE, .scale = {1, 1, 1}, .position = {2, 0, 0, 2, 0}},
             {.kind = VALUE_UNIT, .read = {0, 1}, .write = {0, 1}, .unit = -1, .scale = 1}}}};
    Model model = stack_model(&stack, (Layout){3, 1, 0, BIAS_ROW_LAST}, 1);
    const Start start = {&model, x, NULL, 400};
    Streams stream = streams_of(ARITHMETIC_F64, &start, KERNEL_STRUCTURED, 1);
    for (size_t i = 0; i < 3; i++) {
        assert_true(*streams_row(&stream, 0, i) == 0);
    }
    free(stream.data);
}

static void test_bytes_at_absurd_sizes(void **state)
{
    BundleStack stack = {0};
    double one = 1;
    HeadWeight w = {&one, 1, 0};
    stack.bundle[0] =
        (Bundle){1,
                 {.kind = SCORE_BILINEAR, .read = {0, 1}, .q = w, .scale = {1, 1, 1}},
                 {.kind = VALUE_DENSE, .read = {0, 1}, .write = {0, 1}, .v = w, .scale = 1}};
    static const size_t lengths[] = {1, 20, 1000, 2000000000, SIZE_MAX / 4, SIZE_MAX};
    for (size_t form = 0; form < (size_t)KERNEL_COUNT; form++) {
        double before = 0;
        for (size_t i = 0; i < 6; i++) {
            size_t n = lengths[i];
            Model model = stack_model(&stack, (Layout){n, 1, 0, BIAS_ROW_NONE}, 1);
            double bytes = kernel_bytes(&model, (KernelForm)form, 1);
            double patterns = form == KERNEL_DENSE || n < 128 ? (double)n : 128;
            assert_true(bytes >= 8 * (patterns * (double)n + 2 * (double)n));
            assert_true(bytes >= before);
            assert_true(n <= INT_MAX || bytes == INFINITY);
            before = bytes;
        }
        Model model = stack_model(&stack, (Layout){3, 1, 0, BIAS_ROW_NONE}, 1);
        stack.bundle[0].heads = SIZE_MAX;
        assert_true(kernel_bytes(&model, (KernelForm)form, 1) == INFINITY);
        stack.bundle[0].heads = 1;
    }
}

SUBJECT(kernels_exact)
{
    const struct CMUnitTest kernels_exact[] = {
        cmocka_unit_test(test_powers_of_two_are_exact_factors),
        cmocka_unit_test(test_sublayers_follow_each_other),
        cmocka_unit_test(test_absent_group_does_not_enter),
        cmocka_unit_test(test_bytes_at_absurd_sizes),
    };
    print_message("OpenBLAS core %s (%s)\n", blas_core(), blas_core_origin());
    return cmocka_run_group_tests(kernels_exact, NULL, NULL) == 0 ? 0 : 1;
}
