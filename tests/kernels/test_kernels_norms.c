/*
 * Layer norms in the machine's arithmetics: closed forms, which rows and columns they act on, and
 * what has no norm because it overflows.  test_torch has PyTorch's.
 */
#include "../../kernels/kernel.h"
#include "../fixture.h"
#include "../program.h"
#include "../streams.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Closed forms ---------------------------------------------------------------------------- */

/* Numbers of every format, so that nothing is rounded.  (1, 3): mean 2, variance 1, with eps = 3 a
 * root of 2.  (1, 7) has a mean square of 25, with eps = 11 a root of 6. */
static const double gamma_of[] = {3, -5}, beta_of[] = {0.25, 8};

static const LayerNorm layernorm = {.kind = NORMALIZATION_LAYERNORM,
                                    .columns = {1, 2},
                                    .gamma = gamma_of,
                                    .beta = beta_of,
                                    .eps = 3};
static const LayerNorm rmsnorm = {
    .kind = NORMALIZATION_RMSNORM, .columns = {1, 2}, .gamma = gamma_of, .eps = 11};

static void rows_have_their_closed_form(void **state)
{
    for (Arithmetic a = ARITHMETIC_F64; a < ARITHMETIC_COUNT; a++) {
        const ArithmeticInfo *machine = arithmetic_info(a);
        const Formats *formats = &machine->formats;
        double rows[2][4] = {{9, 1, 3, 5}, {7, 6, 6, 5}}, square[1][4] = {{9, 1, 7, 5}};
        machine->functions->norm(formats, rows[0], 2, 4, &layernorm);
        const double normed[2][4] = {{9, -1.25, 5.5, 5}, {7, 0.25, 8, 5}};
        assert_memory_equal(rows, normed, sizeof rows);
        machine->functions->norm(formats, square[0], 1, 4, &rmsnorm);
        for (int c = 0; c < 2; c++) {
            double exact = square[0][1 + c] - (c == 0 ? 0.5 : -35.0 / 6);
            assert_true(fabs(exact) <= 24 * ldexp(1, -format_info(formats->stream)->digits));
        }
        assert_true(square[0][0] == 9 && square[0][3] == 5);
    }
}

/* A part of a layer of T' alone: nothing but a norm, on a stream with a bias row. */
static Model norm_model(Sublayer *sublayer, const LayerNorm *norm)
{
    static const size_t end[] = {1};
    *sublayer =
        (Sublayer){.norm = *norm,
                   .direct = {.kind = DIRECT_NORM, .read = norm->columns, .write = norm->columns}};
    return (Model){.layout = {.n = 2, .d = 3, .hidden = 1, .bias_row = BIAS_ROW_LAST},
                   .sublayers = sublayer,
                   .sublayer_count = 1,
                   .layer_end = end,
                   .depth = 1};
}

/* Tokens have beta, the bias row has not; it may be left as it is.  Other columns pass by. */
static void the_bias_row_has_no_beta(void **state)
{
    static const double x[] = {9, 1, 3, 5, 7, 6, 6, 5}, content[] = {2, 3, 1, 4};
    static const double normed[][4] = {{9, -1.25, 5.5, 5}, {7, 0.25, 8, 5}},
                        own[] = {2, 1.5, 2.5, 4};
    for (int tokens_only = 0; tokens_only < 2; tokens_only++) {
        LayerNorm norm = layernorm;
        Sublayer sublayer;
        norm.tokens_only = tokens_only;
        Model model = norm_model(&sublayer, &norm);
        assert_null(model_fault(&model));
        for (int of = 0; of < KERNEL_COUNT * (ARITHMETIC_COUNT - 1); of++) {
            Streams stream =
                streams_of((Arithmetic)(1 + of / KERNEL_COUNT), &(Start){&model, x, content, 5},
                           (KernelForm)(of % KERNEL_COUNT), 1);
            for (size_t i = 0; i < 2; i++) {
                assert_memory_equal(streams_row(&stream, 0, i), normed[i], sizeof normed[i]);
            }
            assert_memory_equal(streams_row(&stream, 0, 2), tokens_only ? content : own,
                                sizeof own);
            free(stream.data);
        }
    }
}

/* x + norm(x) W, W = 1/2 on the diagonal: what is added to is x itself. */
static void a_sublayer_reads_the_norm_and_adds_to_x(void **state)
{
    static const double x[] = {1, 3}, w[] = {0.5, 0, 0, 0.5};
    static const size_t end[] = {1};
    LayerNorm norm = layernorm;
    norm.columns = (Columns){0, 2};
    Sublayer sublayer = {
        .norm = norm,
        .direct = {.kind = DIRECT_LINEAR, .read = norm.columns, .write = norm.columns, .w1 = w}};
    Model model = {.layout = {.n = 1, .d = 2, .bias_row = BIAS_ROW_NONE},
                   .sublayers = &sublayer,
                   .sublayer_count = 1,
                   .layer_end = end,
                   .depth = 1};
    assert_null(model_fault(&model));
    for (Arithmetic a = ARITHMETIC_F64; a < ARITHMETIC_COUNT; a++) {
        Streams stream = streams_of(a, &(Start){&model, x, NULL, 5}, KERNEL_DENSE, 1);
        assert_true(stream.data[0] == 1 - 0.625 && stream.data[1] == 3 + 2.75);
        free(stream.data);
    }
}

/* ---- Extremes -------------------------------------------------------------------------------- */

/* Squares beyond the largest number of what sums are made in, though x is not. */
static void a_variance_that_overflows_is_nan(void **state)
{
    LayerNorm plain = {.kind = NORMALIZATION_RMSNORM,
                       .columns = {0, 3},
                       .gamma = (const double[]){1, 1, 1},
                       .eps = 1e-5};
    for (Arithmetic a = ARITHMETIC_F64; a < ARITHMETIC_COUNT; a++) {
        const ArithmeticInfo *machine = arithmetic_info(a);
        if (format_info(machine->formats.stream)->largest < 1e38) {
            continue; /* half's squares are floats */
        }
        double large = a == ARITHMETIC_F64 ? 0x1p513 : 0x1p65, row[] = {large, 1, 0};
        for (int kind = NORMALIZATION_LAYERNORM; kind < NORMALIZATION_COUNT; kind++) {
            double near[] = {large / 4, large / 4, 0};
            plain.kind = (Normalization)kind;
            memcpy(row, (double[]){large, 1, 0}, sizeof row);
            machine->functions->norm(&machine->formats, row, 1, 3, &plain);
            assert_true(isnan(row[0]) && isnan(row[1]) && isnan(row[2]));
            machine->functions->norm(&machine->formats, near, 1, 3, &plain);
            double one = kind == NORMALIZATION_RMSNORM ? sqrt(1.5) : sqrt(0.5);
            assert_true(fabs(near[0] - one) < 0.01 && near[0] == near[1]);
        }
        double nan_row[] = {1, NAN, 2};
        machine->functions->norm(&machine->formats, nan_row, 1, 3, &plain);
        assert_true(isnan(nan_row[0]));
    }
}

static void an_overflow_is_the_status(void **state)
{
    Output output = run("sweep --construction silu --n 3 --d 4 --omega 9 --score-scale 1,1e300 "
                        "--normalization rmsnorm --normalization-place post --reference none "
                        "--kernel dense,structured --quiet");
    assert_int_equal(lines(&output), 5);
    for (size_t line = 1; line < 5; line++) {
        char options[256];
        cell(options, sizeof options, &output, line, "options");
        bool large = strstr(options, "score-scale=1e300") != NULL ||
                     strstr(options, "score-scale=1e+300") != NULL;
        expect_cell(&output, line, "status", large ? "overflow" : "ok");
    }
    assert_int_equal(output.code, 1);
}

SUBJECT(kernels_norms)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_their_closed_form),
        cmocka_unit_test(the_bias_row_has_no_beta),
        cmocka_unit_test(a_sublayer_reads_the_norm_and_adds_to_x),
        cmocka_unit_test(a_variance_that_overflows_is_nan),
        cmocka_unit_test(an_overflow_is_the_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
