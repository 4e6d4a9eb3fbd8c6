/*
 * What the kernels must do bit for bit, and what must not matter to their bits.
 */
#include "../kernels/blas.h"
#include "../kernels/kernel.h"
#include "random_model.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 20240731u
#define MAX_ROWS 16

static Kernel *open_kernel(const Model *model, const double *x, const double *bias, double omega,
                           KernelForm form)
{
    Kernel *kernel = kernel_open(model, x, bias, omega, form);
    assert_non_null(kernel);
    return kernel;
}

/* Models of one bundle a layer. */
typedef struct {
    Bundle bundle[3];
    Sublayer sublayer[3];
    size_t end[3];
} Stack;

static Model stack_model(Stack *stack, Layout layout, size_t depth)
{
    for (size_t l = 0; l < depth; l++) {
        stack->sublayer[l] = (Sublayer){.bundles = &stack->bundle[l], .bundle_count = 1};
        stack->end[l] = l + 1;
    }
    return (Model){layout, stack->sublayer, depth, stack->end, depth};
}

/* Where 2 Omega swallows x altogether, both weights are 1/2: x - x/2. */
static void test_silu_head_halves_at_huge_omega(void **state)
{
    (void)state;
    enum { N = 7, D = 5 };
    static RandomModel random;
    Stack stack = {.bundle = {{D,
                               {.kind = SCORE_GATE,
                                .read = {0, D},
                                .gate_unit = -1,
                                .scale = {1, 1, 1},
                                .position = {2, 0, 2, 2, 0}},
                               {.kind = VALUE_UNIT, .read = {0, D}, .write = {0, D}, .unit = -1}}}};
    random_start(&random, SEED);
    const double *x = random_numbers(&random, N * D);
    for (size_t i = 0; i < 2 * (size_t)KERNEL_COUNT; i++) {
        Layout layout = {N, D, 0, i % 2 ? BIAS_ROW_FIRST : BIAS_ROW_LAST};
        stack.bundle[0].score.causal = i % 2;
        Model model = stack_model(&stack, layout, 1);
        Kernel *kernel = open_kernel(&model, x, NULL, 1e17, (KernelForm)(i / 2));
        KernelStream stream = kernel_layer(kernel);
        for (size_t e = 0; e < N * D; e++) {
            size_t row = layout_token_row(&layout, e / D);
            assert_true(stream.data[row * stream.ld + e % D] == x[e] / 2);
        }
        kernel_clear(kernel);
    }
}

static bool pattern_is_identity(const Model *model, const double *x, double omega, KernelForm form)
{
    double pattern[MAX_ROWS * MAX_ROWS];
    size_t rows = layout_rows(&model->layout);
    bool identity = true;
    Kernel *kernel = open_kernel(model, x, NULL, omega, form);
    kernel_pattern(kernel, pattern, 0, 0);
    for (size_t e = 0; e < rows * rows; e++) {
        identity = identity && pattern[e] == (e / rows == e % rows);
    }
    kernel_clear(kernel);
    return identity;
}

/* exp(-2 Omega) is 0 from Omega = 373 on. */
static void test_linear_pattern_is_identity(void **state)
{
    (void)state;
    enum { N = 7, D = 5 };
    static RandomModel random;
    random_start(&random, SEED);
    const double *x = random_numbers(&random, N * D);
    HeadWeight w = {random_numbers(&random, D * D), D, 0};
    Stack stack = {
        .bundle = {
            {1,
             {.kind = SCORE_NONE, .scale = {1, 1, 1}, .position = {2, 0, 0, 2, 0}},
             {.kind = VALUE_DENSE, .read = {0, D}, .write = {0, D}, .v = w, .diagonal = -1}}}};
    for (size_t i = 0; i < 2 * (size_t)KERNEL_COUNT; i++) {
        Layout layout = {N, D, 0, i % 2 ? BIAS_ROW_FIRST : BIAS_ROW_LAST};
        Model model = stack_model(&stack, layout, 1);
        KernelForm form = (KernelForm)(i / 2);
        assert_true(pattern_is_identity(&model, x, 400, form));
        assert_true(pattern_is_identity(&model, x, 1e17, form));
        assert_false(pattern_is_identity(&model, x, 300, form));
    }
}

enum { ATTENTION_N = 20, ATTENTION_D = 30, ATTENTION_HEADS = 3, ATTENTION_DEPTH = 3 };

/* Three layers of plain attention, on numbers of random; bilinear or factored.  Weights so
 * small that the stream keeps its size, as scores must stay above 40 - 2 Omega. */
static void attention(Stack *stack, RandomModel *random, size_t d_head, bool causal)
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
                   .causal = causal};
    Value value = {.kind = d_head > 0 ? VALUE_FACTORED : VALUE_DENSE,
                   .read = {0, d},
                   .write = {0, d},
                   .d_head = d_head,
                   .v = second,
                   .o = {w, d, d_head * d}};
    for (size_t l = 0; l < ATTENTION_DEPTH; l++) {
        stack->bundle[l] = (Bundle){ATTENTION_HEADS, score, value};
    }
}

static void check_patched(size_t d_head, bool causal, double omega)
{
    enum { N = ATTENTION_N, D = ATTENTION_D };
    static RandomModel random;
    Stack plain, patched;
    random_start(&random, SEED + d_head);
    attention(&plain, &random, d_head, causal);
    patched = plain;
    for (size_t l = 0; l < ATTENTION_DEPTH; l++) {
        patched.bundle[l].score.position = (PositionScores){0, 0, -2, 2, 0};
    }
    Layout with = {N, D, 0, causal ? BIAS_ROW_FIRST : BIAS_ROW_LAST};
    Model original = stack_model(&plain, (Layout){N, D, 0, BIAS_ROW_NONE}, ATTENTION_DEPTH);
    Model converted = stack_model(&patched, with, ATTENTION_DEPTH);
    const double *x = random_numbers(&random, N * D);
    Kernel *t = open_kernel(&original, x, NULL, omega, KERNEL_STRUCTURED);
    Kernel *t1 = open_kernel(&converted, x, NULL, omega, KERNEL_STRUCTURED);
    for (size_t l = 0; l < ATTENTION_DEPTH; l++) {
        KernelStream a = kernel_layer(t), b = kernel_layer(t1);
        for (size_t i = 0; i < N; i++) {
            assert_memory_equal(a.data + i * a.ld, b.data + layout_token_row(&with, i) * b.ld,
                                D * sizeof(double));
        }
    }
    kernel_clear(t);
    kernel_clear(t1);
}

static void test_patched_attention_is_bit_identical(void **state)
{
    (void)state;
    static const size_t d_heads[] = {0, 1, 8};
    for (size_t i = 0; i < 3; i++) {
        check_patched(d_heads[i], false, 1000);
        check_patched(d_heads[i], true, 1000);
        check_patched(d_heads[i], false, 30);
        check_patched(d_heads[i], true, 30);
    }
}

/* Sublayers of one layer and layers of one sublayer are the same computation. */
static void test_sublayers_follow_each_other(void **state)
{
    (void)state;
    enum { N = 5, D = 6 };
    static RandomModel random;
    const Layout layout = {N, D, 0, BIAS_ROW_LAST};
    size_t one_end = 2;
    for (size_t i = 0; i < 20; i++) {
        KernelForm form = (KernelForm)(i % 2);
        Stack stack;
        random_start(&random, SEED + i);
        for (size_t l = 0; l < 2; l++) {
            stack.bundle[l] =
                random_bundle(&random, &layout, SCORES_GATE, VALUES_FACTORED, 3, false);
        }
        Model two = stack_model(&stack, layout, 2), one = two;
        one.layer_end = &one_end;
        one.depth = 1;
        const double *x = random_numbers(&random, N * D);
        Kernel *two_layers = open_kernel(&two, x, NULL, 20, form);
        Kernel *one_layer = open_kernel(&one, x, NULL, 20, form);
        kernel_layer(two_layers);
        KernelStream a = kernel_layer(two_layers), b = kernel_layer(one_layer);
        assert_int_equal(a.ld, b.ld);
        assert_memory_equal(a.data, b.data, layout_rows(&layout) * a.ld * sizeof(double));
        kernel_clear(two_layers);
        kernel_clear(one_layer);
    }
}

/* The sum over the others overflows where its weight is 0. */
static void test_absent_group_does_not_enter(void **state)
{
    (void)state;
    static const double x[] = {1e308, 1e308, 1e308};
    Stack stack = {
        .bundle = {{1,
                    {.kind = SCORE_NONE, .scale = {1, 1, 1}, .position = {2, 0, 0, 2, 0}},
                    {.kind = VALUE_UNIT, .read = {0, 1}, .write = {0, 1}, .unit = -1}}}};
    Model model = stack_model(&stack, (Layout){3, 1, 0, BIAS_ROW_LAST}, 1);
    Kernel *kernel = open_kernel(&model, x, NULL, 400, KERNEL_STRUCTURED);
    KernelStream stream = kernel_layer(kernel);
    for (size_t i = 0; i < 3; i++) {
        assert_true(stream.data[i * stream.ld] == 0);
    }
    kernel_clear(kernel);
}

static void run_attention(double *result, const Model *model, const double *x, KernelForm form)
{
    Kernel *kernel = kernel_open(model, x, NULL, 7, form);
    KernelStream stream = {NULL, 0};
    for (size_t l = 0; kernel != NULL && l < model->depth; l++) {
        stream = kernel_layer(kernel);
    }
    for (size_t r = 0; stream.data != NULL && r < layout_rows(&model->layout); r++) {
        memcpy(result + r * ATTENTION_D, stream.data + r * stream.ld, ATTENTION_D * sizeof *result);
    }
    kernel_clear(kernel);
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    enum { ENTRIES = (ATTENTION_N + 1) * ATTENTION_D, RUNS = 200 };
    static RandomModel random;
    static double alone[KERNEL_COUNT][ENTRIES], together[RUNS][ENTRIES];
    Stack stack;
    random_start(&random, SEED);
    attention(&stack, &random, 8, false);
    Model model =
        stack_model(&stack, (Layout){ATTENTION_N, ATTENTION_D, 0, BIAS_ROW_LAST}, ATTENTION_DEPTH);
    const double *x = random_numbers(&random, ATTENTION_N * ATTENTION_D);
    for (int form = 0; form < (int)KERNEL_COUNT; form++) {
        run_attention(alone[form], &model, x, (KernelForm)form);
    }
#pragma omp parallel for num_threads(2) schedule(dynamic)
    for (int run = 0; run < RUNS; run++) {
        run_attention(together[run], &model, x, (KernelForm)(run % (int)KERNEL_COUNT));
    }
    for (size_t run = 0; run < RUNS; run++) {
        assert_memory_equal(together[run], alone[run % KERNEL_COUNT], sizeof together[run]);
    }
}

static void test_bytes_at_absurd_sizes(void **state)
{
    (void)state;
    Stack stack = {0};
    double one = 1, x = 0;
    HeadWeight w = {&one, 1, 0};
    stack.bundle[0] = (Bundle){1,
                               {.kind = SCORE_BILINEAR, .read = {0, 1}, .q = w, .scale = {1, 1, 1}},
                               {.kind = VALUE_DENSE, .read = {0, 1}, .write = {0, 1}, .v = w}};
    static const size_t lengths[] = {1, 20, 1000, 2000000000, SIZE_MAX / 4, SIZE_MAX};
    for (size_t form = 0; form < (size_t)KERNEL_COUNT; form++) {
        double before = 0;
        for (size_t i = 0; i < 6; i++) {
            size_t n = lengths[i];
            Model model = stack_model(&stack, (Layout){n, 1, 0, BIAS_ROW_NONE}, 1);
            double bytes = kernel_bytes(&model, (KernelForm)form);
            assert_true(bytes >= 8 * ((double)n * (double)n + 2 * (double)n));
            assert_true(bytes >= before);
            assert_true(n <= INT_MAX || bytes == INFINITY);
            before = bytes;
        }
        Model model = stack_model(&stack, (Layout){2000000000, 1, 0, BIAS_ROW_NONE}, 1);
        assert_null(kernel_open(&model, &x, NULL, 1, (KernelForm)form));
        model = stack_model(&stack, (Layout){3, 1, 0, BIAS_ROW_NONE}, 1);
        stack.bundle[0].heads = SIZE_MAX;
        assert_true(kernel_bytes(&model, (KernelForm)form) == INFINITY);
        stack.bundle[0].heads = 1;
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    blas_setup(argv);
    const struct CMUnitTest kernels_exact[] = {
        cmocka_unit_test(test_silu_head_halves_at_huge_omega),
        cmocka_unit_test(test_linear_pattern_is_identity),
        cmocka_unit_test(test_patched_attention_is_bit_identical),
        cmocka_unit_test(test_sublayers_follow_each_other),
        cmocka_unit_test(test_absent_group_does_not_enter),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_bytes_at_absurd_sizes),
    };
    print_message("OpenBLAS core %s (%s)\n", blas_core(), blas_core_origin());
    return cmocka_run_group_tests(kernels_exact, NULL, NULL) == 0 ? 0 : 1;
}
