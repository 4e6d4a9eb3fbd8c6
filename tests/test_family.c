/*
 * Inputs of one model, which share its weights' packing and a plan: each has the rows that it has
 * alone, and one that does not keep to the plan has its own.
 */
#include "../harness/evaluate/evaluate.h"
#include "../harness/models/inputs.h"
#include "../harness/table/table.h"
#include "../kernels/blas.h"
#include "fixture.h"
#include "given.h"
#include "operands.h"
#include "program.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#ifndef HEADPROOF_CHECK /* sanitizers keep what is freed */
/* The most that any program run so far has held, in KiB. */
static long most_memory(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    return usage.ru_maxrss;
}

static long memory_of(const char *tokens)
{
    char line[256];
    snprintf(line, sizeof line, "verify " GIVEN_TRAINED " --omega 20 --quiet --threads 2 %s",
             tokens);
    Output output = run(line);
    assert_int_equal(output.code, 0);
    free(output.text);
    return most_memory();
}

/* 48 inputs and 848: what is held of an input is its stream and its point, 2.3 kB; r(T) and its
 * logits would be 17 kB, and the record of r(T_infinity) 500. */
static void memory_does_not_grow(void **state)
{
    (void)state;
    long few = memory_of("--tokens 0:5/0:7/53"), many = memory_of("--tokens 0:15/0:52/53");
    print_message("%ld KiB, %ld KiB\n", few, many);
    assert_true(many - few < 8 * 1024);
}
#endif

/* The product by one backend, of kept weights or not. */
static void multiply(ApMat *c, ProductView a, ProductView b, ProductOptions options,
                     ProductWeights *weights)
{
    options.weights = weights;
    assert_true(product_mul(product_view(c), a, b, &options, NULL));
}

static void expect_same(const ApMat *c, const ApMat *d)
{
    for (size_t i = 0; i < c->rows * c->columns; i++) {
        assert_true(mpfr_equal_p(c->entry + i, d->entry + i));
    }
}

/* Of every kind of numbers and in both memory orders, at two precisions, of one matrix and then
 * others, with room for them and without. */
static void kept_weights_make_the_same_products(void **state)
{
    static const double rooms[] = {1e9, 3000, 0};
    (void)state;
    for (size_t i = 0; i < 3 * KINDS * 2; i++) {
        Kind kind = (Kind)(i / 6);
        Operand b;
        ProductWeights *weights = product_weights_make(rooms[i / 2 % 3]);
        assert_non_null(weights);
        operand_init(&b, i % 2 == 0 ? DOUBLES : DOUBLES_TURNED, kind, "b", 13, 11, 53);
        for (size_t j = 0; j < 4 * (PRODUCT_BACKENDS - 1); j++) {
            ProductOptions options = {.backend = (ProductBackend)(1 + j % (PRODUCT_BACKENDS - 1)),
                                      .add = j % 3 == 0,
                                      .guard = j % 2 == 0 ? 6 : 64};
            mpfr_prec_t bits = j < 2 * (PRODUCT_BACKENDS - 1) ? 128 : 256;
            Operand a;
            ApMat c, d;
            if (!product_has(options.backend)) {
                continue;
            }
            operand_init(&a, LONG, j % 7 == 0 ? ZEROS : NORMAL, "a", 5, 13, bits);
            assert_true(ap_init(&c, 5, 11, bits) && ap_init(&d, 5, 11, bits));
            multiply(&c, a.view, b.view, options, NULL);
            multiply(&d, a.view, b.view, options, weights);
            expect_same(&c, &d);
            ap_clear(&c);
            ap_clear(&d);
            operand_clear(&a);
        }
        operand_clear(&b);
        product_weights_clear(weights);
    }
}

enum { MEMBERS = 6 };

/* Some inputs of the trained model at one Omega, whose streams a test may change. */
typedef struct {
    Inputs inputs;
    GivenWeights given[MEMBERS];
    Point points[MEMBERS];
    const Point *list[MEMBERS];
} Members;

static void members_make(Members *members, Given *given, double omega, Arithmetic arithmetic)
{
    char line[256];
    snprintf(line, sizeof line,
             "--weights " GIVEN_TRAINED " --n 3 --kernel structured --omega %g --arithmetic %s",
             omega, arithmetic_names[arithmetic]);
    const Point *point = given_points(given, line, 1);
    const ModelFile *file = point->source->file;
    assert_int_equal(inputs_make(&members->inputs, file, "-", "0:52:26/5:7:2/53"), 0);
    assert_int_equal(members->inputs.count, MEMBERS);
    for (size_t i = 0; i < MEMBERS; i++) {
        members->given[i] = point->source->given;
        members->given[i].x = members->inputs.x + i * members->inputs.n * file->d;
        members->points[i] = *point;
        members->points[i].spec.n = members->inputs.n;
        members->points[i].spec.given = &members->given[i];
        members->list[i] = &members->points[i];
    }
}

static void scale_input(Members *members, size_t i, double factor)
{
    size_t size = members->inputs.n * members->points[i].spec.d;
    for (size_t c = 0; c < size; c++) {
        members->inputs.x[i * size + c] *= factor;
    }
}

/* Bits differ: a plan of several inputs asks for as many as the worst of them. */
static bool take_row(void *context, const Point *point, const Row *row)
{
    Row same = *row;
    same.precision_bits = same.difference_bits = 0;
    return table_write_row(context, point, &same) == 0;
}

/* The rows of member i by itself, or (family) with what its family shares. */
static char *rows_of(const Members *members, size_t i, Family *family)
{
    char *text = NULL;
    size_t size = 0;
    bool passed;
    Shared *shared;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    EvaluateStatus status = family != NULL
                                ? shared_make_member(&shared, family, members->list[i], 0)
                                : shared_make(&shared, &members->list[i], 1, false, 0, NULL);
    assert_int_equal(status, EVALUATE_OK);
    assert_int_equal(point_evaluate(&passed, shared, members->list[i], take_row, file),
                     EVALUATE_OK);
    shared_clear(shared);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void expect_rows_alone(const Members *members, size_t count)
{
    Family *family = family_make(members->list, count, 1e8);
    assert_non_null(family);
    for (size_t i = 0; i < count; i++) {
        char *alone = rows_of(members, i, NULL), *together = rows_of(members, i, family);
        assert_string_equal(together, alone);
        free(alone);
        free(together);
    }
    family_clear(family);
}

/* Where the plan is for every Omega (20) and where it is for this one alone (3); of all inputs, and
 * of fewer. */
static void inputs_have_the_rows_that_they_have_alone(void **state)
{
    static const double omegas[] = {20, 3};
    Given *given = *state;
    for (size_t i = 0; i < 2; i++) {
        Members members;
        members_make(&members, given, omegas[i], i == 0 ? ARITHMETIC_F64 : ARITHMETIC_F32);
        expect_rows_alone(&members, MEMBERS);
        expect_rows_alone(&members, 2);
        inputs_clear(&members.inputs);
    }
}

/* The first inputs' plan is the first one's: which of them have one of their own? */
static void expect_own(const Members *members, const bool own[], size_t count)
{
    Family *family = family_make(members->list, count, 1e8);
    assert_non_null(family);
    for (size_t m = 0; m < count; m++) {
        Shared *shared;
        assert_int_equal(shared_make_member(&shared, family, members->list[m], 0), EVALUATE_OK);
        if ((shared->own != NULL) != own[m]) {
            fail_msg("%s, input %zu", arithmetic_names[members->points[m].arithmetic], m);
        }
        shared_clear(shared);
    }
    family_clear(family);
}

/* The same where the plan is of an input that the others are not like: nothing in it, or much less;
 * then they have plans of their own. */
static void an_input_apart_has_its_own_plan(void **state)
{
    static const double factors[] = {0, 0x1p-40};
    static const bool own[] = {false, true, true};
    Given *given = *state;
    for (size_t i = 0; i < 2; i++) {
        Members members;
        members_make(&members, given, 20, ARITHMETIC_F64);
        scale_input(&members, 0, factors[i]);
        expect_rows_alone(&members, 3);
        expect_own(&members, own, 3);
        inputs_clear(&members.inputs);
    }
}

/* A machine of few digits vouches for no plan: its errors are soon as large as the stream, where
 * they grow no more and tell nothing. */
static void narrow_machines_vouch_for_nothing(void **state)
{
    static const bool own[] = {false, true, true};
    Given *given = *state;
    Members members;
    members_make(&members, given, 20, ARITHMETIC_BF16);
    scale_input(&members, 1, 0x1p8);
    scale_input(&members, 2, 0x1p8);
    expect_own(&members, own, 3);
    inputs_clear(&members.inputs);
}

/* Weights that are rounded to what is stored are the model: so is the input. */
static void inputs_are_rounded_as_alone(void **state)
{
    Given *given = *state;
    Members members;
    members_make(&members, given, 20, ARITHMETIC_BF16_FLASH);
    expect_rows_alone(&members, 3);
    inputs_clear(&members.inputs);
}

/* Inputs that are alike share one in every arithmetic. */
static void inputs_alike_share_a_plan(void **state)
{
    static const bool own[MEMBERS] = {false};
    Given *given = *state;
    for (Arithmetic a = ARITHMETIC_F64; a < ARITHMETIC_COUNT; a++) {
        Members members;
        members_make(&members, given, 20, a);
        expect_own(&members, own, MEMBERS);
        inputs_clear(&members.inputs);
    }
}

/* Is the first layer of a difference at this Omega covered by a plan of `planned`? */
static bool covered(const Pair *planned, const Pair *pair, double omega)
{
    RefPlan *plan = ref_plan_make(planned);
    RefRun *run = ref_difference_open(&pair->converted, pair->converted_x, pair->bias_row_content,
                                      omega, 128, NULL);
    assert_true(plan != NULL && run != NULL);
    ref_run_layer(run);
    bool covers = ref_plan_covers(plan, pair, run);
    ref_run_clear(run);
    ref_plan_clear(plan);
    return covers;
}

/* Leaks that are not linear in e^(-Omega gap); a stream where the plan's is nothing. */
static void what_a_plan_does_not_cover_is_seen(void **state)
{
    static const double zeros[4 * 6];
    Pair pair = pair_make(&(CaseSpec){
        .construction = CONSTRUCTION_ATTENTION, .n = 4, .d = 6, .heads = 2, .depth = 1, .seed = 3});
    Pair half = pair, nothing = pair;
    double halves[4 * 6];
    (void)state;
    for (size_t i = 0; i < 4 * 6; i++) {
        halves[i] = pair.converted_x[i] / 2;
    }
    half.converted_x = half.original_x = halves;
    nothing.converted_x = nothing.original_x = zeros;
    assert_true(covered(&pair, &pair, 20));
    assert_true(covered(&pair, &half, 20));
    assert_true(covered(&half, &pair, 20));
    assert_false(covered(&half, &pair, 1));
    assert_false(covered(&nothing, &pair, 20));
    case_clear(&pair);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest family[] = {
#ifndef HEADPROOF_CHECK
        cmocka_unit_test(memory_does_not_grow),
#endif
        cmocka_unit_test(kept_weights_make_the_same_products),
        GIVEN_TEST(inputs_have_the_rows_that_they_have_alone),
        GIVEN_TEST(an_input_apart_has_its_own_plan),
        GIVEN_TEST(narrow_machines_vouch_for_nothing),
        GIVEN_TEST(inputs_are_rounded_as_alone),
        GIVEN_TEST(inputs_alike_share_a_plan),
        cmocka_unit_test(what_a_plan_does_not_cover_is_seen),
    };
    (void)argc;
    blas_setup(argv);
    return cmocka_run_group_tests(family, reference_set_up, reference_tear_down);
}
