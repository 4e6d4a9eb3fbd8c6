/*
 * No false value: what is proven of an evaluation with few bits, a radius or a cell, holds beside
 * one with four times as many, whatever the weights: of all magnitudes, zeros, repeated, such that
 * sums cancel to what rounding leaves.  HEADPROOF_NIGHTLY=1: 100000 stacks; HEADPROOF_STACKS=N,
 * HEADPROOF_FIRST_STACK=N: so many, from the N-th on.
 */
#include "../../reference/run/run.h"
#include "../drawn_numbers.h"
#include "enclosures.h"
#include "../fixture.h"
#include "../program.h"
#include "radii.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_MOST = 6, DEPTH_MOST = 3, TENSORS = 13, TIMES = 4, NIGHTLY = 100000 };

/* A stack's weights, and what it is evaluated with. */
typedef struct {
    CaseSpec spec;
    GivenWeights given;
    GivenLayer layers[DEPTH_MOST];
    double weights[DEPTH_MOST * TENSORS + 2][4 * SIZE_MOST * SIZE_MOST];
    size_t count;
    double omega;
    mpfr_prec_t bits;
    Penalty penalty;
    char what[PLACE];
} Trial;

/* What was looked at. */
typedef struct {
    Tally rows;
    size_t stacks, cells, values, zeros;
} Looked;

static double draw_scale(void)
{
    static const double spread[] = {0, 0, 0, 3, 30, 150};
    double most = spread[drawn_below(sizeof spread / sizeof *spread)];
    return pow(10, most * drawn_uniform() - (most > 100 ? 50 : 0));
}

/* A tensor of one magnitude, or of many, with zeros. */
static double *draw_tensor(Trial *stack, size_t count)
{
    double *w = stack->weights[stack->count++], scale = draw_scale();
    bool mixed = drawn_below(4) == 0;
    size_t zeros = drawn_below(4);
    for (size_t i = 0; i < count; i++) {
        double size = mixed ? draw_scale() : scale;
        w[i] = drawn_below(8) < zeros ? 0 : size * (drawn_below(3) == 0 ? 1 : 2 * drawn_uniform());
    }
    return w;
}

/* Hidden units whose sum cancels: unit k is unit j, or takes column c away. */
static void cancel(const CaseSpec *s, double *w_in, double *w_out)
{
    size_t d = s->d, h = s->d_ff;
    for (size_t k = 0; k < h; k++) {
        size_t kind = drawn_below(4), j = drawn_below(h), at = drawn_below(d);
        for (size_t c = 0; kind == 0 && c < d; c++) {
            w_in[c * h + k] = w_in[c * h + j];
            w_out[k * d + c] = (drawn_below(4) == 0 ? 1 : -1) * w_out[j * d + c];
        }
        for (size_t c = 0; kind == 1 && c < d; c++) {
            w_in[c * h + k] = c == at;
            w_out[k * d + c] = c == at ? -1 : w_out[k * d + c];
        }
    }
}

static GivenLayer draw_layer(Trial *stack)
{
    const CaseSpec *s = &stack->spec;
    size_t d = s->d, h = s->d_ff, k = s->heads, r = s->d_head;
    double *w_in = draw_tensor(stack, d * h), *w_out = draw_tensor(stack, h * d);
    double *linear = draw_tensor(stack, d * d);
    if (drawn_below(4) > 0) {
        cancel(s, w_in, w_out);
    }
    for (size_t c = 0; c < d && drawn_below(2) == 0; c++) {
        linear[c * d + c] = drawn_below(2) == 0 ? 0 : 1;
    }
    GivenLayer layer = {.w_q = draw_tensor(stack, k * d * r),
                        .w_k = draw_tensor(stack, k * d * r),
                        .w_v = draw_tensor(stack, k * d * r),
                        .w_o = draw_tensor(stack, k * r * d),
                        .w_in = w_in,
                        .w_out = w_out,
                        .linear_w = linear,
                        .ln1_w = draw_tensor(stack, d),
                        .ln2_w = draw_tensor(stack, d)};
    if (s->bias == BIAS_RANDOM) {
        layer.b_in = draw_tensor(stack, h);
        layer.b_out = draw_tensor(stack, d);
        layer.linear_b = draw_tensor(stack, d);
    }
    return layer;
}

static void draw_stack(Trial *stack, size_t trial)
{
    static const Construction kinds[] = {CONSTRUCTION_FUSED,       CONSTRUCTION_FUSED,
                                         CONSTRUCTION_SILU,        CONSTRUCTION_FFN3,
                                         CONSTRUCTION_LINEAR,      CONSTRUCTION_ATTENTION,
                                         CONSTRUCTION_TRANSFORMER, CONSTRUCTION_TRANSFORMER3};
    static const double omegas[] = {0.01, 0.5, 2, 2, 10, 40, 300, 1000};
    drawn_numbers = 1 + trial;
    memset(stack, 0, sizeof *stack);
    CaseSpec *s = &stack->spec;
    *s =
        (CaseSpec){.construction = kinds[drawn_below(8)],
                   .n = 1 + drawn_below(3),
                   .d = 1 + drawn_below(SIZE_MOST),
                   .d_ff = 1 + drawn_below(4),
                   .heads = 1 + drawn_below(2),
                   .d_head = 1 + drawn_below(2),
                   .depth = 1 + drawn_below(DEPTH_MOST),
                   .mask = drawn_below(2) == 0 ? MASK_CAUSAL : MASK_NONE,
                   .bias = drawn_below(3) == 0 ? BIAS_RANDOM : BIAS_NONE,
                   .activation = drawn_below(2) == 0 ? ACTIVATION_SILU : (Activation)drawn_below(3),
                   .gelu = (GeluForm)drawn_below(4),
                   .slope = 3,
                   .norm_eps = 1e-5};
    if (drawn_below(5) == 0 && s->construction != CONSTRUCTION_SILU) {
        s->norm = (Normalization)drawn_below(NORMALIZATION_COUNT);
    }
    bool gates = s->construction == CONSTRUCTION_SILU || s->construction == CONSTRUCTION_FUSED;
    s->drop_entry = gates && drawn_below(3) == 0 ? 1 + drawn_below(4) : 0;
    stack->given = (GivenWeights){.layers = stack->layers, .scale = {1, 1, 1}};
    for (size_t l = 0; l < s->depth; l++) {
        stack->layers[l] = draw_layer(stack);
    }
    stack->given.x = draw_tensor(stack, s->n * s->d);
    s->given = &stack->given;
    stack->omega = omegas[drawn_below(sizeof omegas / sizeof *omegas)];
    stack->bits = 64 + 8 * (mpfr_prec_t)drawn_below(17);
    stack->penalty =
        s->drop_entry == 0 && drawn_below(4) == 0 ? PENALTY_NEGATIVE : PENALTY_POSITIVE;
    snprintf(stack->what, PLACE, "stack %zu: %s depth %zu omega %g bits %ld drop %zu", trial,
             construction_names[s->construction], s->depth, stack->omega, (long)stack->bits,
             s->drop_entry);
}

/* low <= high where either is a cell's value less or more what it may be off by. */
static bool at_most(const RefCell *a, const RefCell *b)
{
    mpfr_t low, high, off;
    mpfr_inits2(REF_CELL_BITS, low, high, off, (mpfr_ptr)0);
    mpfr_set_ui_2exp(off, a->state == CELL_VALUE, a->error, MPFR_RNDU);
    mpfr_sub(low, a->value, off, MPFR_RNDD);
    mpfr_set_ui_2exp(off, b->state == CELL_VALUE, b->error, MPFR_RNDU);
    mpfr_add(high, b->value, off, MPFR_RNDU);
    bool most = mpfr_lessequal_p(low, high);
    mpfr_clears(low, high, off, (mpfr_ptr)0);
    return most;
}

/* What few bits say of a cell can be what many say. */
static void compare_cell(Looked *looked, const RefCell *few, const RefCell *many, const char *what)
{
    bool known = many->state == CELL_VALUE || many->state == CELL_ZERO;
    bool right = true;
    looked->cells++;
    switch (few->state) {
    case CELL_VALUE:
        right =
            many->state == CELL_NONFINITE || (at_most(few, many) && (!known || at_most(many, few)));
        looked->values++;
        break;
    case CELL_ZERO:
        right = many->state != CELL_VALUE;
        looked->zeros++;
        break;
    case CELL_BOUND: right = !known || at_most(many, few); break;
    default: break;
    }
    if (!right) {
        fail_msg("%s: 2^%g (state %d, off by 2^%ld) is false: 2^%g (state %d)", what,
                 log2_of(few->value), (int)few->state, (long)few->error, log2_of(many->value),
                 (int)many->state);
    }
}

/* A layer's cells, with few bits and with many. */
static void compare_cells(Looked *looked, RefErrors *errors, const RefLayer *at, const char *what)
{
    for (int i = 0; i < 2; i++) {
        ref_compare(&errors[i], &at[i]);
        if (errors[i].contradiction) {
            fail_msg("%s: a contradiction", what);
        }
    }
    for (int e = 0; e < ERROR_KINDS * NORM_COUNT; e++) {
        compare_cell(looked, &errors[0].error[e / NORM_COUNT][e % NORM_COUNT],
                     &errors[1].error[e / NORM_COUNT][e % NORM_COUNT], what);
    }
    for (int i = 0; i < SCALAR_COUNT; i++) {
        compare_cell(looked, &errors[0].scalar[i], &errors[1].scalar[i], what);
    }
}

/* r(T') by itself, and as a difference. */
static void compare_stack(Looked *looked, const Trial *stack, const Pair *pair)
{
    const Start start = case_start(pair, stack->penalty, stack->omega);
    RefErrors errors[2];
    RefBase *base[2];
    for (int i = 0; i < 2; i++) {
        mpfr_prec_t bits = (i == 0 ? 1 : TIMES) * stack->bits;
        base[i] = ref_base_make(pair, bits, REF_LIMIT_STREAMS, NULL);
        assert_non_null(base[i]);
        ref_errors_init(&errors[i]);
    }
    for (int difference = 0; difference < 2; difference++) {
        RefRun *run[2];
        for (int i = 0; i < 2; i++) {
            mpfr_prec_t bits = (i == 0 ? 1 : TIMES) * stack->bits;
            run[i] = with_radii(difference ? ref_difference_open(&start, bits, NULL)
                                           : ref_run_open(&start, bits));
        }
        for (size_t l = 1; l <= stack->spec.depth; l++) {
            ref_run_layer(run[0]);
            ref_run_layer(run[1]);
            tally_rows(&looked->rows, run[0], run[1], RADIUS_SUM, stack->what);
            if (difference) {
                tally_rows(&looked->rows, run[0], run[1], RADIUS_DIFFERENCE, stack->what);
            }
            compare_cells(looked, errors,
                          (const RefLayer[]){{pair, base[0], l, run[0], NULL, NULL},
                                             {pair, base[1], l, run[1], NULL, NULL}},
                          stack->what);
        }
        ref_run_clear(run[0]);
        ref_run_clear(run[1]);
    }
    for (int i = 0; i < 2; i++) {
        ref_errors_clear(&errors[i]);
        ref_base_clear(base[i]);
    }
}

/* Fused stacks of one token and one column, bits beyond which two numbers are multiplied
 * exactly. */
enum { FEW = 80, UNITS = 3 };

typedef struct {
    double in[UNITS], out[UNITS];
} Units;

static void compare_units(const Units *layers, size_t depth, double omega, size_t drop_entry)
{
    const double x = 1.0 / 3;
    static Trial trial;
    Looked looked = {.rows = tally_none};
    trial = (Trial){.spec = {.construction = CONSTRUCTION_FUSED,
                             .n = 1,
                             .d = 1,
                             .d_ff = UNITS,
                             .depth = depth,
                             .mask = MASK_CAUSAL,
                             .drop_entry = drop_entry,
                             .given = &trial.given},
                    .given = {.layers = trial.layers, .x = &x, .scale = {1, 1, 1}},
                    .omega = omega,
                    .bits = FEW,
                    .what = "units"};
    for (size_t l = 0; l < depth; l++) {
        trial.layers[l] = (GivenLayer){.w_in = layers[l].in, .w_out = layers[l].out};
    }
    Pair pair = pair_make(&trial.spec);
    compare_stack(&looked, &trial, &pair);
    tally_holds("units", &looked.rows);
    case_clear(&pair);
}

/* Values of 1e-170, whose squares are 0, cancel beside factors of 1e200. */
static void squares_may_underflow(void **state)
{
    (void)state;
    for (int i = 1; i < 8; i++) {
        const double a = 0x1p-600 * 3002399751580333, b = 0x1p-600 * (2573485501354569 + 2 * i);
        compare_units(&(Units){{a, b, a + b}, {0x1p700, 0x1p700, -0x1p700}}, 1, 2, 0);
    }
}

/* A token that has lost its entry toward the bias row, with z = -1000 and 2 Omega = 1800: its own
 * key, e^-1000, is heavier than that of e^-1800, which a double does not hold. */
static void gates_may_outweigh_omega(void **state)
{
    (void)state;
    const double a = 3002399751580331 * 0x1p17, b = 2573485501354569 * 0x1p17;
    const Units layers[] = {{{a, b, a + b + 0x1p17}, {1, 1, -1}},
                            {{0.02, 0.02, 0.02}, {0x1p40, 0x1p40, 0x1p40}}};
    for (size_t drop = 1; drop <= 18; drop++) {
        compare_units(layers, 2, 900, drop);
    }
}

/* Where SiLU(x) is e^-2e18, an error relative to it is larger than what stands for nothing
 * known. */
static void relative_errors_have_no_largest(void **state)
{
    (void)state;
    const double x[] = {-1.8e18, -1.7e18};
    static Trial trial;
    Looked looked = {.rows = tally_none};
    for (trial.bits = 64; trial.bits <= 192; trial.bits += 64) {
        trial.spec = (CaseSpec){.construction = CONSTRUCTION_SILU,
                                .n = 2,
                                .d = 1,
                                .depth = 1,
                                .mask = MASK_NONE,
                                .given = &trial.given};
        trial.given = (GivenWeights){.layers = trial.layers, .x = x, .scale = {1, 1, 1}};
        trial.omega = 0.5;
        Pair pair = pair_make(&trial.spec);
        compare_stack(&looked, &trial, &pair);
        case_clear(&pair);
    }
    tally_holds("relative", &looked.rows);
}

static size_t asked(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoul(text, NULL, 10) : otherwise;
}

static void what_few_bits_prove_holds(void **state)
{
    (void)state;
    static Trial stack;
    Looked looked = {.rows = tally_none};
    size_t first = asked("HEADPROOF_FIRST_STACK", 0);
    size_t count = asked("HEADPROOF_STACKS", fixture_nightly() ? NIGHTLY : SMALL_GRIDS ? 50 : 400);
    for (size_t trial = first; trial < first + count; trial++) {
        Pair pair;
        const char *reason;
        draw_stack(&stack, trial);
        if (case_build(&pair, &reason, &stack.spec) != CASE_OK) {
            continue; /* fewer entries than the one that is lost, or a mask that does not fit */
        }
        compare_stack(&looked, &stack, &pair);
        case_clear(&pair);
        looked.stacks++;
    }
    print_message("%zu stacks, %zu cells, %zu values, %zu zeros\n", looked.stacks, looked.cells,
                  looked.values, looked.zeros);
    tally_holds("rows", &looked.rows);
    assert_true(looked.stacks > 0 && looked.values > looked.stacks / 4);
}

/* Its last layer's gate reads what two layers of 1e70 cancel to, and is 0; as computed with few
 * bits it is e^-1e27, beside a radius of more than that. */
static void a_gate_may_be_noise(void **state)
{
    (void)state;
    Output output =
        expect_run(0, "sweep --weights tests/data/false-value.safetensors --construction "
                      "fused --omega 2 --row 2 --arithmetic none --reference subtract "
                      "--max-bits 136");
    for (size_t line = 1; line <= 3; line++) {
        expect_cell(&output, line, "status", "unresolved");
    }
    output =
        expect_run(0, "sweep --weights tests/data/false-value.safetensors --construction fused "
                      "--omega 2 --row 2 --arithmetic none --reference subtract --max-bits 400");
    assert_true(number(&output, 3, "construction_max") < 1e-40);
}

SUBJECT(false_values)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gate_may_be_noise),
        cmocka_unit_test(squares_may_underflow),
        cmocka_unit_test(gates_may_outweigh_omega),
        cmocka_unit_test(relative_errors_have_no_largest),
        cmocka_unit_test(what_few_bits_prove_holds),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
