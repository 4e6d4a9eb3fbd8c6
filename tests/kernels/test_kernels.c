/*
 * The kernels against the definition (naive.h).
 */
#include "../../kernels/blas.h"
#include "../../kernels/kernel.h"
#include "../naive.h"
#include "../random_model.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20240731u
#define U 0x1p-53

static const char *const form_names[] = {"dense", "structured"};

/* The largest error / (u bound) so far, and the case it came from. */
typedef struct {
    double ratio;
    char where[160];
} Worst;

typedef struct {
    ScoreShape score;
    ValueShape value;
    BiasRow bias_row;
    bool causal;
    bool irregular; /* any mask, extra coefficients of Omega */
    size_t heads, n, d, hidden;
    double omega;
    KernelForm form;
} Case;

static void describe(char *text, size_t size, const Case *c)
{
    static const char *const scores[] = {"none", "unit gate", "gate", "bilinear", "factored"};
    static const char *const values[] = {"none", "unit", "dense", "factored", "gate's"};
    static const char *const rows[] = {"no bias row", "bias row first", "bias row last",
                                       "bias row masked"};
    snprintf(text, size,
             "%s, scores %s, values %s, %s%s%s, heads %zu, n %zu, d %zu + %zu, Omega %g",
             form_names[c->form], scores[c->score], values[c->value], rows[c->bias_row],
             c->causal ? ", causal" : "", c->irregular ? ", irregular" : "", c->heads, c->n, c->d,
             c->hidden, c->omega);
}

/* A zero bound asks for equality. */
static void compare(Worst *worst, const Case *c, double got, long double expected,
                    long double bound)
{
    long double error = fabsl((long double)got - expected);
    double ratio = error == 0 ? 0 : bound > 0 ? (double)(error / (U * bound)) : INFINITY;
    if (!(ratio <= worst->ratio)) {
        worst->ratio = ratio;
        describe(worst->where, sizeof worst->where, c);
    }
    if (!(ratio <= 1)) {
        print_error("%s: got %.17g, expected %.17Lg, error %.3Lg = %.3g u bound\n", worst->where,
                    got, expected, error, ratio);
        fail();
    }
}

static void report(const char *what, const Worst *worst)
{
    print_message("%s: worst error / (u bound) %.3g (%s); seed %u\n", what, worst->ratio,
                  worst->where, SEED);
}

/* The stream as naive_sublayer wants it, from what the kernel starts with or has computed: with
 * its one-hot block, or an original's constant column. */
static void read_stream(NaiveMatrix *x, const Layout *layout, KernelStream stream)
{
    size_t content = layout_content(layout);
    memset(x, 0, sizeof *x);
    for (size_t r = 0; r < layout_rows(layout); r++) {
        for (size_t c = 0; c < content; c++) {
            x->value[r][c] = stream.data[r * stream.ld + c];
        }
        bool one = layout->bias_row == BIAS_ROW_NONE || layout->bias_row == BIAS_ROW_MASKED;
        x->value[r][content + (one ? 0 : r)] =
            layout->bias_row == BIAS_ROW_MASKED && r == layout_bias_row(layout) ? 0 : 1;
    }
}

static void start_stream(NaiveMatrix *x, const Layout *layout, const double *tokens,
                         const double *bias)
{
    size_t content = layout_content(layout);
    double rows[NAIVE_ROWS * NAIVE_WIDTH] = {0};
    for (size_t i = 0; i < layout->n; i++) {
        memcpy(rows + layout_token_row(layout, i) * content, tokens + i * content,
               content * sizeof *rows);
    }
    if (layout->bias_row != BIAS_ROW_NONE && bias != NULL) {
        memcpy(rows + layout_bias_row(layout) * content, bias, content * sizeof *rows);
    }
    read_stream(x, layout, (KernelStream){rows, content});
}

static void check_stream(Worst *worst, const Case *c, const Layout *layout, KernelStream stream,
                         const NaiveMatrix *expected)
{
    size_t width = c->form == KERNEL_DENSE ? layout_width(layout) : layout_content(layout);
    for (size_t r = 0; r < layout_rows(layout); r++) {
        for (size_t k = 0; k < width; k++) {
            compare(worst, c, stream.data[r * stream.ld + k], expected->value[r][k],
                    k < layout_content(layout) ? expected->bound[r][k] : 0);
        }
    }
}

static void check_pattern(Worst *worst, const Case *c, Kernel *kernel, const Layout *layout,
                          const NaiveMatrix *x, const Sublayer *sublayer)
{
    double got[NAIVE_ROWS * NAIVE_ROWS];
    NaiveMatrix pattern;
    size_t rows = layout_rows(layout), b = sublayer->bundle_count - 1;
    size_t head = sublayer->bundles[b].heads - 1;
    kernel_pattern(kernel, got, b, head);
    naive_pattern(&pattern, x, layout, &sublayer->bundles[b], head, c->omega);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < rows; j++) {
            compare(worst, c, got[i * rows + j], pattern.value[i][j], pattern.bound[i][j]);
        }
    }
}

/* Two layers: the bundle asked for, then it and another of any kind; or, in an original model
 * and as asked, an operation without heads between them. */
static void random_layers(RandomModel *random, const Case *c)
{
    Layout layout = {c->n, c->d, c->hidden, c->bias_row};
    bool gates = c->bias_row != BIAS_ROW_NONE;
    ScoreShape other = (ScoreShape)random_below(random, SCORES_COUNT);
    if (!gates && (other == SCORES_GATE || other == SCORES_GATE_UNIT)) {
        other = SCORES_NONE;
    }
    random->bundle[0] = random_bundle(random, &layout, c->score, c->value, c->heads, c->causal);
    random->bundle[1] = random_bundle(random, &layout, c->score, c->value, c->heads, c->causal);
    random->bundle[2] = random_bundle(random, &layout, other,
                                      (ValueShape)random_below(random, VALUES_COUNT), 1, c->causal);
    for (size_t b = 0; b < 3 && (c->irregular); b++) {
        random_sight(random, &layout, &random->bundle[b]);
    }
    random->sublayer[0] = (Sublayer){.bundles = random->bundle, .bundle_count = 1};
    random->sublayer[1] = (Sublayer){.bundles = random->bundle + 1, .bundle_count = 2};
    random->layer_end[0] = 1;
    random->layer_end[1] = 2;
    random->model = (Model){layout, random->sublayer, 2, random->layer_end, 2, NULL};
}

/* Each layer from the stream the kernel had before it, so that a bound is a sublayer's. */
static void check_layers(Worst *streams, Worst *patterns, const Case *c, RandomModel *random)
{
    const Model *model = &random->model;
    const Layout *layout = &model->layout;
    NaiveMatrix x, expected;
    size_t content = layout_content(layout);
    const double *tokens = random_numbers(random, layout->n * content);
    const double *bias = random_below(random, 2) ? random_numbers(random, content) : NULL;
    assert_null(model_fault(model));
    Kernel *kernel = kernel_open(&(Start){model, tokens, bias, c->omega}, c->form, 1);
    start_stream(&x, layout, tokens, bias);
    for (size_t l = 0; l < model->depth; l++) {
        naive_sublayer(&expected, &x, layout, &model->sublayers[l], c->omega);
        if (model->sublayers[l].bundle_count > 0) {
            check_pattern(patterns, c, kernel, layout, &x, &model->sublayers[l]);
        }
        KernelStream stream = kernel_layer(kernel);
        check_stream(streams, c, layout, stream, &expected);
        read_stream(&x, layout, stream);
    }
    kernel_clear(kernel);
}

typedef struct {
    Worst streams, patterns;
    size_t count;
} Tally;

static void check_case(Tally *tally, Case c)
{
    static RandomModel random;
    bool gated = c.score == SCORES_GATE || c.score == SCORES_GATE_UNIT;
    if ((c.bias_row == BIAS_ROW_NONE && gated) || (c.bias_row == BIAS_ROW_LAST && c.causal) ||
        (c.value == VALUES_GATE && c.score != SCORES_GATE)) {
        return;
    }
    if (c.d + c.hidden < c.heads && (c.score == SCORES_GATE_UNIT || c.value == VALUES_UNIT)) {
        c.hidden = c.heads;
    }
    for (c.form = KERNEL_DENSE; c.form < KERNEL_COUNT; c.form++) {
        random_start(&random, SEED + tally->count);
        random_layers(&random, &c);
        check_layers(&tally->streams, &tally->patterns, &c, &random);
    }
    tally->count++;
}

/* Every third size, not the same ones of every kind of head; all at night. */
static void check_sizes(Tally *tally, Case c)
{
    static const size_t lengths[] = {1, 2, 5, 7}, widths[] = {1, 3, 5};
    static const double omegas[] = {3, 20};
    size_t kind = (size_t)c.score + (size_t)c.value + (size_t)c.bias_row + c.causal;
    bool all = fixture_nightly();
    for (size_t i = all ? 0 : kind % 3; i < 4 * 3 * 2 * 2; i += all ? 1 : 3) {
        c.n = lengths[i % 4];
        c.d = widths[i / 4 % 3];
        c.omega = omegas[i / 12 % 2];
        c.heads = i < 24 ? 1 : 3;
        c.hidden = i % 2 ? 3 : 0;
        check_case(tally, c);
    }
}

static void test_heads_match_definition(void **state)
{
    Tally tally = {0};
    for (Case c = {0}; c.score < SCORES_COUNT; c.score++) {
        for (c.value = VALUES_NONE; c.value < VALUES_COUNT; c.value++) {
            for (c.bias_row = BIAS_ROW_NONE; c.bias_row <= BIAS_ROW_LAST; c.bias_row++) {
                c.causal = false;
                check_sizes(&tally, c);
                c.causal = true;
                check_sizes(&tally, c);
            }
        }
    }
    report("streams", &tally.streams);
    report("patterns", &tally.patterns);
    print_message("%zu models in each form\n", tally.count);
    assert_true(tally.count > 1100);
}

/* Masks of every kind, extra coefficients of Omega, the constant column. */
static void test_irregular_heads_match_definition(void **state)
{
    Tally tally = {0};
    for (Case c = {.irregular = true}; c.score < SCORES_COUNT; c.score++) {
        for (c.value = VALUES_NONE; c.value < VALUES_COUNT; c.value++) {
            for (c.bias_row = BIAS_ROW_NONE; c.bias_row <= BIAS_ROW_MASKED; c.bias_row++) {
                check_sizes(&tally, c);
            }
        }
    }
    report("streams", &tally.streams);
    report("patterns", &tally.patterns);
    print_message("%zu models in each form\n", tally.count);
    assert_true(tally.count > 900);
}

/* More heads than the dense form takes at a time, and no multiple of it. */
static void test_many_heads_match_definition(void **state)
{
    Tally tally = {0};
    Case c = {.bias_row = BIAS_ROW_LAST, .heads = 600, .n = 7, .d = 3, .omega = 20};
    for (c.score = SCORES_GATE; c.score < SCORES_COUNT; c.score++) {
        c.value = c.score == SCORES_GATE ? VALUES_GATE : VALUES_FACTORED;
        check_case(&tally, c);
    }
    report("many heads", &tally.streams);
    assert_true(tally.count == 3);
}

static Direct random_direct(RandomModel *random, DirectKind kind, size_t d, size_t hidden,
                            bool in_place, bool clear)
{
    Direct direct = {.kind = kind,
                     .activation = (Activation)random_below(random, ACTIVATION_PLAIN),
                     .read = {0, d},
                     .write = {0, d}};
    if (!in_place) {
        direct.write = (Columns){d, hidden};
    }
    size_t inner = 1 + random_below(random, 6);
    size_t middle = kind == DIRECT_FFN ? inner : direct.write.count;
    direct.hidden = kind == DIRECT_FFN ? inner : 0;
    direct.replace = kind == DIRECT_LINEAR && in_place;
    direct.clear = clear;
    if (kind != DIRECT_ACTIVATION) {
        direct.w1 = random_numbers(random, d * middle);
        direct.w2 = random_numbers(random, middle * direct.write.count);
    }
    if (random_below(random, 2)) {
        direct.b1 = random_numbers(random, middle);
        direct.b2 = random_numbers(random, direct.write.count);
    }
    return direct;
}

static void test_direct_operations_match_definition(void **state)
{
    Worst streams = {0}, patterns = {0};
    static RandomModel random;
    for (size_t i = 0; i < 5 * 200; i++) {
        Case c = {.n = 1 + i % 7, .d = 1 + i % 5, .hidden = 1 + i % 3, .form = i / 5 % 2};
        DirectKind kind = i % 5 == 0 ? DIRECT_FFN : i % 5 == 1 ? DIRECT_ACTIVATION : DIRECT_LINEAR;
        bool in_place = i % 5 < 3, clear = i % 5 == 4;
        c.d = 1 + i / 10 % 5;
        random_start(&random, SEED + i);
        random.sublayer[0] =
            (Sublayer){.direct = random_direct(&random, kind, c.d, c.hidden, in_place, clear)};
        random.layer_end[0] = 1;
        random.model = (Model){
            {c.n, c.d, c.hidden, BIAS_ROW_NONE}, random.sublayer, 1, random.layer_end, 1, NULL};
        check_layers(&streams, &patterns, &c, &random);
    }
    report("direct operations", &streams);
}

static void test_saturated_activations(void **state)
{
    enum { COUNT = 8 };
    double x[COUNT] = {-1000, 1000, -20, 40, 0, -746, NAN, -8};
    Worst worst = {0};
    size_t end = 1;
    for (Activation act = 0; act < ACTIVATION_PLAIN; act++) {
        Sublayer sublayer = {
            .direct = {DIRECT_ACTIVATION, act, .read = {0, COUNT}, .write = {0, COUNT}}};
        Model model = {{1, COUNT, 0, BIAS_ROW_NONE}, &sublayer, 1, &end, 1, NULL};
        NaiveMatrix start, expected;
        Case c = {.n = 1, .d = COUNT};
        Kernel *kernel = kernel_open(&(Start){&model, x, NULL, 0}, KERNEL_DENSE, 1);
        KernelStream stream = kernel_layer(kernel);
        const double *y = stream.data;
        assert_true(y[0] == 0 && y[1] == 1000 && y[3] == 40 && y[4] == 0 && y[5] == 0);
        assert_true(isnan(y[6]));
        start_stream(&start, &model.layout, x, NULL);
        naive_sublayer(&expected, &start, &model.layout, &sublayer, 0);
        compare(&worst, &c, y[2], expected.value[0][2], expected.bound[0][2]);
        compare(&worst, &c, y[7], expected.value[0][7], expected.bound[0][7]);
        kernel_clear(kernel);
    }
    report("saturated activations", &worst);
}

SUBJECT(kernels)
{
    const struct CMUnitTest kernels[] = {
        cmocka_unit_test(test_heads_match_definition),
        cmocka_unit_test(test_irregular_heads_match_definition),
        cmocka_unit_test(test_many_heads_match_definition),
        cmocka_unit_test(test_direct_operations_match_definition),
        cmocka_unit_test(test_saturated_activations),
    };
    print_message("OpenBLAS core %s (%s)\n", blas_core(), blas_core_origin());
    return cmocka_run_group_tests(kernels, NULL, NULL) == 0 ? 0 : 1;
}
