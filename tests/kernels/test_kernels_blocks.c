/*
 * The kernels where their work is cut: sizes about the edges of blocks and tiles against loops in
 * long double, the same bytes on any number of threads, and of patched heads and plain ones.
 */
#include "../../cases/case.h"
#include "../../kernels/blas.h"
#include "../../kernels/kernel.h"
#include "../fixture.h"
#include "../random_model.h"
#include "../streams.h"
#include "../unit.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20240807u
#define U 0x1p-53

static const char *const form_names[] = {"dense", "structured"};

/* A number, and the same sum of products of absolute values. */
typedef struct {
    long double value, size;
} Sum;

static void sum_add(Sum *sum, long double a, long double a_size, long double b)
{
    sum->value += a * b;
    sum->size += a_size * fabsl(b);
}

/* A head by its definition, never forming Q or V: scores from queries and keys, Omega by
 * score_position, keys by score_sees, values of every row. */
typedef struct {
    const Layout *layout;
    const Bundle *bundle;
    const double *x; /* [rows, content], in the stream's order */
    double omega;
    size_t head;
    Sum *values; /* [rows, write] */
} Head;

static bool is_token(const Layout *layout, size_t r)
{
    return r != layout_bias_row(layout);
}

static double entry(HeadWeight weight, size_t head, size_t r, size_t c)
{
    return weight.data[head * weight.head_stride + r * weight.ld + c];
}

/* x_r w + bias, column c; the bias is a token's alone. */
static Sum affine(const Head *h, size_t r, Columns read, HeadWeight weight, const double *bias,
                  size_t width, size_t c)
{
    const double *x = h->x + r * layout_content(h->layout) + read.first;
    Sum sum = {0, 0};
    for (size_t k = 0; k < read.count; k++) {
        sum_add(&sum, x[k], fabs(x[k]), entry(weight, h->head, k, c));
    }
    if (bias != NULL && is_token(h->layout, r)) {
        sum_add(&sum, 1, 1, bias[h->head * width + c]);
    }
    return sum;
}

static Sum bilinear_score(const Head *h, size_t i, size_t j)
{
    const Score *score = &h->bundle->score;
    const double *y = h->x + j * layout_content(h->layout) + score->read.first;
    long double scale = (long double)score->scale.num /
                        ((long double)score->scale.den * sqrtl((long double)score->scale.sqrt_den));
    size_t width = score->d_head > 0 ? score->d_head : score->read.count;
    Sum sum = {0, 0};
    for (size_t c = 0; c < width; c++) {
        Sum q = affine(h, i, score->read, score->q, score->q_bias, width, c);
        Sum k = {score->d_head > 0 ? 0 : y[c], score->d_head > 0 ? 0 : fabs(y[c])};
        if (score->d_head > 0) {
            k = affine(h, j, score->read, score->k, score->k_bias, width, c);
        }
        sum.value += scale * q.value * k.value;
        sum.size += scale * q.size * k.size;
    }
    return sum;
}

static Sum score_of(const Head *h, size_t i, size_t j)
{
    const Score *score = &h->bundle->score;
    Sum sum = {0, 0};
    if (score->kind == SCORE_BILINEAR) {
        sum = bilinear_score(h, i, j);
    } else if (score->kind == SCORE_GATE && is_token(h->layout, j)) {
        HeadWeight unit = {h->x, 0, 0};
        Sum gate = score->gate.data != NULL
                       ? affine(h, i, score->read, score->gate, score->gate_bias, 1, 0)
                       : affine(h, i, (Columns){0, 0}, unit, score->gate_bias, 1, 0);
        if (score->gate.data == NULL) {
            double own = h->x[i * layout_content(h->layout) + score->read.first + h->head];
            sum_add(&gate, own, fabs(own), score->gate_unit);
        }
        sum_add(&sum, gate.value, gate.size, score->gate_scale);
        if (score->gate_shift != NULL && is_token(h->layout, i)) {
            sum_add(&sum, score->gate_shift[h->head], fabs(score->gate_shift[h->head]), 1);
        }
    }
    int position = score_position(h->layout, score, h->head, i, j);
    sum_add(&sum, h->omega, fabs(h->omega), position);
    return sum;
}

/* What row j contributes to column c of the columns written. */
static Sum value_of(const Head *h, size_t j, size_t c)
{
    const Value *value = &h->bundle->value;
    const double *x = h->x + j * layout_content(h->layout) + value->read.first;
    Sum sum = {0, 0};
    if (value->d_head == 0 && value->v.data != NULL) {
        sum = affine(h, j, value->read, value->v, NULL, 0, c);
    } else if (value->unit != 0 && c == h->head) {
        sum_add(&sum, x[c], fabs(x[c]), value->scale * value->unit);
    }
    for (size_t k = 0; k < value->d_head; k++) {
        Sum inner = affine(h, j, value->read, value->v, value->inner_bias, value->d_head, k);
        sum_add(&sum, inner.value, inner.size, value->scale * entry(value->o, h->head, k, c));
    }
    if (value->bias != NULL && h->head == 0 && is_token(h->layout, j)) {
        sum_add(&sum, 1, 1, value->bias[c]);
    }
    return sum;
}

/* Row i's weights and their bounds, in units of u, as naive.h has them. */
static void weights_of(long double *p, long double *bound, const Head *h, size_t i)
{
    const Score *score = &h->bundle->score;
    size_t rows = layout_rows(h->layout);
    long double max = -INFINITY, size = 0, total = 0;
    for (size_t j = 0; j < rows; j++) {
        bool sees = score_sees(h->layout, score, i, j);
        Sum s = sees ? score_of(h, i, j) : (Sum){-INFINITY, 0};
        p[j] = s.value;
        max = fmaxl(max, s.value);
        size = fmaxl(size, s.size);
    }
    for (size_t j = 0; j < rows; j++) {
        p[j] = expl(p[j] - max);
        total += p[j];
    }
    size_t width = layout_width(h->layout);
    for (size_t j = 0; j < rows; j++) {
        p[j] /= total;
        bound[j] = p[j] * (2 * (long double)(2 * width + score->d_head + 9) * size +
                           (long double)(rows + 8)) +
                   4 * DBL_MIN;
    }
}

/* result and bound [rows, content] += the head. */
static void add_head(long double *result, long double *bound, Head *h)
{
    const Value *value = &h->bundle->value;
    size_t rows = layout_rows(h->layout), content = layout_content(h->layout);
    size_t width = value->write.count;
    long double each =
        (long double)(layout_width(h->layout) + rows + value->d_head + 9 + h->bundle->heads + 4);
    long double *p = calloc(2 * rows, sizeof *p), *lost = p + rows;
    assert_non_null(p);
    for (size_t e = 0; e < rows * width; e++) {
        h->values[e] = value_of(h, e / width, e % width);
    }
    for (size_t i = 0; i < rows; i++) {
        weights_of(p, lost, h, i);
        for (size_t e = 0; e < rows * width; e++) {
            size_t j = e / width, at = i * content + value->write.first + e % width;
            Sum v = h->values[e];
            result[at] += p[j] * v.value;
            bound[at] += (lost[j] + p[j] * each) * v.size + each * DBL_MIN;
            /* the sum over the other tokens as total minus own */
            Sum own = h->values[i * width + e % width];
            bound[at] += j == i ? 0 : p[j] * (long double)rows * own.size;
        }
        for (size_t e = 0; value->diagonal != 0 && e < rows * value->read.count; e++) {
            size_t j = e / value->read.count, c = value->read.first + e % value->read.count;
            long double x = (long double)value->diagonal * h->x[j * content + c];
            long double own = (long double)value->diagonal * h->x[i * content + c];
            result[i * content + c] += p[j] * x;
            bound[i * content + c] += (lost[j] + p[j] * each) * fabsl(x) +
                                      p[j] * (long double)rows * fabsl(own) + each * DBL_MIN;
        }
    }
    free(p);
}

typedef struct {
    ScoreShape score;
    ValueShape value;
    BiasRow bias_row;
    bool causal;
    bool irregular; /* any mask, extra coefficients of Omega */
    size_t n, d, heads;
} Shape;

typedef struct {
    double ratio;
    size_t count;
    char where[160];
} Worst;

static void check_entries(Worst *worst, const Shape *shape, KernelForm form, const Layout *layout,
                          KernelStream stream, const double *x, const long double *expected,
                          const long double *bound)
{
    size_t content = layout_content(layout);
    for (size_t e = 0; e < layout_rows(layout) * content; e++) {
        double got = stream.data[e / content * stream.ld + e % content];
        long double wanted = expected[e] + x[e];
        long double size = bound[e] + 2 * fabsl(expected[e]) + 2 * fabs(x[e]);
        double ratio = got == wanted ? 0 : (double)(fabsl(got - wanted) / (U * size));
        if (!(ratio <= worst->ratio)) {
            worst->ratio = ratio;
            snprintf(worst->where, sizeof worst->where,
                     "%s, scores %d, values %d, bias row %d%s%s, n %zu, d %zu, heads %zu, row %zu",
                     form_names[form], (int)shape->score, (int)shape->value, (int)shape->bias_row,
                     shape->causal ? ", causal" : "", shape->irregular ? ", irregular" : "",
                     shape->n, shape->d, shape->heads, e / content);
        }
        if (!(ratio <= 1)) {
            print_error("%s: got %.17g, expected %.17Lg\n", worst->where, got, wanted);
            fail();
        }
    }
}

/* x [rows, content] = the tokens and, where there is one, the bias row (NULL: zero). */
static void place(double *x, const Layout *layout, const double *tokens, const double *bias_row)
{
    size_t content = layout_content(layout), bias = layout_bias_row(layout);
    for (size_t i = 0; i < layout->n; i++) {
        memcpy(x + layout_token_row(layout, i) * content, tokens + i * content,
               content * sizeof *x);
    }
    if (bias_row != NULL && bias != SIZE_MAX) {
        memcpy(x + bias * content, bias_row, content * sizeof *x);
    }
}

/* One sublayer of one bundle, in every form. */
static void check_shape(Worst *worst, const Shape *shape)
{
    static RandomModel random;
    BundleStack stack;
    Layout layout = {shape->n, shape->d, 0, shape->bias_row};
    size_t content = layout_content(&layout), rows = layout_rows(&layout);
    random_start(&random, SEED + worst->count++);
    stack.bundle[0] =
        random_bundle(&random, &layout, shape->score, shape->value, shape->heads, shape->causal);
    if (shape->irregular) {
        random_sight(&random, &layout, &stack.bundle[0]);
    }
    const double *tokens = random_numbers(&random, shape->n * content);
    /* Every other bias row has a content, so that what its products lose is seen. */
    const double *bias_row = worst->count % 2 == 0 ? random_numbers(&random, content) : NULL;
    Model model = stack_model(&stack, layout, 1);
    assert_null(model_fault(&model));
    double *x = calloc(rows * content, sizeof *x);
    long double *expected = calloc(2 * rows * content, sizeof *expected);
    Head head = {.layout = &layout, .bundle = stack.bundle, .x = x, .omega = 20};
    head.values = calloc(rows * content, sizeof *head.values);
    assert_true(x != NULL && expected != NULL && head.values != NULL);
    place(x, &layout, tokens, bias_row);
    for (; head.head < shape->heads; head.head++) {
        add_head(expected, expected + rows * content, &head);
    }
    for (int form = 0; form < KERNEL_COUNT; form++) {
        Kernel *kernel =
            kernel_open(&(Start){&model, tokens, bias_row, head.omega}, (KernelForm)form, 1);
        check_entries(worst, shape, (KernelForm)form, &layout, kernel_layer(kernel), x, expected,
                      expected + rows * content);
        kernel_clear(kernel);
    }
    free(head.values);
    free(expected);
    free(x);
}

static void check_irregular(Worst *worst, Shape shape)
{
    bool gated = shape.score == SCORES_GATE || shape.score == SCORES_GATE_UNIT;
    shape.irregular = true;
    shape.bias_row = gated ? BIAS_ROW_FIRST : BIAS_ROW_NONE;
    for (; shape.bias_row <= BIAS_ROW_MASKED; shape.bias_row++) {
        check_shape(worst, &shape);
    }
}

static void check_masks(Worst *worst, Shape shape)
{
    for (shape.bias_row = BIAS_ROW_NONE; shape.bias_row <= BIAS_ROW_LAST; shape.bias_row++) {
        bool gated = shape.score == SCORES_GATE || shape.score == SCORES_GATE_UNIT;
        for (int causal = 0; causal < 2; causal++) {
            shape.causal = causal;
            if ((causal && shape.bias_row == BIAS_ROW_LAST) ||
                (gated && shape.bias_row == BIAS_ROW_NONE)) {
                continue;
            }
            check_shape(worst, &shape);
        }
    }
}

static void report(const char *what, const Worst *worst)
{
    print_message("%s: %zu shapes, worst error / (u bound) %.3g (%s); seed %u\n", what,
                  worst->count, worst->ratio, worst->where, SEED);
}

/* Blocks of 128 rows of a pattern, tiles of 256 rows of a product. */
static void rows_at_the_edges(void **state)
{
    static const size_t lengths[] = {1, 2, 31, 127, 128, 129, 256, 257};
    static const ValueShape values[] = {VALUES_DENSE, VALUES_FACTORED};
    Worst worst = {0};
    for (size_t i = 0; i < 2 * SCORES_COUNT * sizeof lengths / sizeof *lengths; i++) {
        Shape shape = {.n = lengths[i / (2 * SCORES_COUNT)], .d = 3};
        shape.score = (ScoreShape)(i / 2 % SCORES_COUNT);
        shape.value = values[i % 2];
        shape.heads = shape.value == VALUES_DENSE ? 1 : 2;
        /* Of long contexts, a score's values alternate. */
        if (shape.n < 100 || shape.score % 2 == i % 2) {
            check_masks(&worst, shape);
        }
        if (shape.n < 100 || (shape.n < 200 && shape.score % 2 == i % 2)) {
            check_irregular(&worst, shape);
        }
    }
    report("rows", &worst);
}

/* Dense: with n 7 and d 3 a block is 270 heads.  Structured: 256 columns of gates and of values at
 * a time, 1024 columns of a product. */
static void heads_at_the_edges(void **state)
{
    static const size_t counts[] = {85,  86,  127, 128, 129,  255,  256, 257,
                                    269, 270, 271, 541, 1023, 1024, 1025};
    Worst worst = {0};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        Shape shape = {.n = 7, .d = 3, .heads = counts[c]};
        shape.score = SCORES_GATE;
        shape.value = VALUES_GATE;
        check_masks(&worst, shape);
        check_irregular(&worst, shape);
        shape.value = VALUES_FACTORED;
        shape.score = (ScoreShape[]){SCORES_NONE, SCORES_GATE, SCORES_FACTORED}[c % 3];
        check_masks(&worst, shape);
        check_irregular(&worst, shape);
    }
    report("heads", &worst);
}

static void check_threads(const Model *model, const double *x, KernelForm form)
{
    const Start start = {model, x, NULL, 30};
    assert_true(streams_share_bits(ARITHMETIC_F64, &start, form, 2));
    assert_true(streams_share_bits(ARITHMETIC_F64, &start, form, 3));
}

static void check_threads_of_case(const CaseSpec *spec)
{
    Pair pair = pair_make(spec);
    for (int form = spec->n < 100 ? KERNEL_DENSE : KERNEL_STRUCTURED; form < KERNEL_COUNT; form++) {
        check_threads(&pair.original, pair.original_x, (KernelForm)form);
        check_threads(&pair.converted, pair.converted_x, (KernelForm)form);
    }
    case_clear(&pair);
}

static void bytes_do_not_depend_on_threads(void **state)
{
    for (Construction c = 0; c < CONSTRUCTION_COUNT; c++) {
        size_t masks = construction_info(c)->heads ? MASK_COUNT : MASK_CAUSAL + 1;
        for (size_t i = 0; i < 3 * masks; i++) {
            bool damaged = i % 3 == 1, large = i % 3 == 2;
            if (large && i / 3 > MASK_CAUSAL && !fixture_nightly()) {
                continue; /* what a mask cuts is cut at any size */
            }
            CaseSpec spec = {.construction = c,
                             .n = large ? 300 : 23,
                             .d = 40,
                             .d_ff = large ? 1100 : 70,
                             .heads = 3,
                             .d_head = i & 1 ? 8 : 0,
                             .depth = large ? 1 : 2,
                             .seed = i,
                             .bias = BIAS_RANDOM,
                             .mask = (Mask)(i / 3),
                             .band = 5,
                             .head_rank = damaged ? 7 : 0,
                             .dropout = damaged ? 0.02 : 0};
            check_threads_of_case(&spec);
        }
    }
}

/* Patched heads are the plain ones where Omega is absorbed, across blocks of rows too (under a
 * pseudo-mask it is not: e^-30). */
static void patched_is_plain_across_blocks(void **state)
{
    static const size_t widths[] = {0, 1, 8};
    static const double omegas[] = {30, 1000};
    for (size_t i = 0; i < 2 * 3 * 2; i++) {
        CaseSpec spec = {.construction = CONSTRUCTION_ATTENTION,
                         .n = 300,
                         .d = 24,
                         .heads = 3,
                         .d_head = widths[i / 2 % 3],
                         .depth = 2,
                         .seed = 5,
                         .mask = (Mask)(i / 6)};
        Pair pair = pair_make(&spec);
        const Start original = {&pair.original, pair.original_x, NULL, 30};
        const Start converted = pair_start(&pair, omegas[i % 2]);
        Streams plain = streams_of(ARITHMETIC_F64, &original, KERNEL_STRUCTURED, 2);
        Streams patched = streams_of(ARITHMETIC_F64, &converted, KERNEL_STRUCTURED, 1);
        size_t first = layout_token_row(&pair.converted.layout, 0);
        for (size_t l = 0; l < spec.depth; l++) {
            assert_memory_equal(streams_row(&patched, l, first), streams_row(&plain, l, 0),
                                spec.n * spec.d * sizeof *plain.data);
        }
        free(plain.data);
        free(patched.data);
        case_clear(&pair);
    }
}

/* The sum over the others overflows where its weight is 0. */
static void an_absent_group_does_not_enter(void **state)
{
    static const double x[] = {1e308, 1e308, 1e308};
    BundleStack stack = {
        .bundle = {{1,
                    {.kind = SCORE_NONE, .scale = {1, 1, 1}, .position = {2, 0, 0, 2, 0}},
                    {.read = {0, 1}, .write = {0, 1}, .unit = -1, .scale = 1}}}};
    Model model = stack_model(&stack, (Layout){3, 1, 0, BIAS_ROW_LAST}, 1);
    const Start start = {&model, x, NULL, 400};
    Streams stream = streams_of(ARITHMETIC_F64, &start, KERNEL_STRUCTURED, 1);
    for (size_t i = 0; i < 3; i++) {
        assert_true(*streams_row(&stream, 0, i) == 0);
    }
    free(stream.data);
}

static void bytes_are_numbers_at_absurd_sizes(void **state)
{
    BundleStack stack = {0};
    double one = 1;
    HeadWeight w = {&one, 1, 0};
    stack.bundle[0] = (Bundle){1,
                               {.kind = SCORE_BILINEAR, .read = {0, 1}, .q = w, .scale = {1, 1, 1}},
                               {.read = {0, 1}, .write = {0, 1}, .v = w, .scale = 1}};
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

static void threads_take_memory(void **state)
{
    CaseSpec spec = {.construction = CONSTRUCTION_ATTENTION,
                     .n = 20,
                     .d = 30,
                     .d_ff = 120,
                     .heads = 2,
                     .depth = 1};
    Pair pair = pair_make(&spec);
    for (int form = 0; form < KERNEL_COUNT; form++) {
        double one = kernel_bytes(&pair.converted, (KernelForm)form, 1);
        double two = kernel_bytes(&pair.converted, (KernelForm)form, 2);
        double three = kernel_bytes(&pair.converted, (KernelForm)form, 3);
        assert_true(one == kernel_bytes(&pair.converted, (KernelForm)form, 1));
        double patterns = form == KERNEL_DENSE ? 21 * 21 : 20 * 20;
        assert_true(two >= one + 8 * patterns && three >= two + 8 * patterns);
    }
    case_clear(&pair);
}

SUBJECT(kernels_blocks)
{
    const struct CMUnitTest kernels_blocks[] = {
        cmocka_unit_test(rows_at_the_edges),
        cmocka_unit_test(heads_at_the_edges),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(patched_is_plain_across_blocks),
        cmocka_unit_test(an_absent_group_does_not_enter),
        cmocka_unit_test(bytes_are_numbers_at_absurd_sizes),
        cmocka_unit_test(threads_take_memory),
    };
    print_message("OpenBLAS core %s (%s)\n", blas_core(), blas_core_origin());
    return cmocka_run_group_tests(kernels_blocks, NULL, NULL) == 0 ? 0 : 1;
}
