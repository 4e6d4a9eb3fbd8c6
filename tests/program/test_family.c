/*
 * Inputs of one model, which share its weights' packing and their norms: each has the rows that it
 * has alone, whatever the others are.
 */
#include "../../harness/evaluate/evaluate.h"
#include "../../harness/models/inputs.h"
#include "../../harness/table/table.h"
#include "../fixture.h"
#include "../given.h"
#include "../operands.h"
#include "../program.h"
#include "../unit.h"

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
    expect_run(0, "verify " GIVEN_TRAINED " --omega 20 --quiet --threads 2 %s", tokens);
    return most_memory();
}

/* 48 inputs and 848: what is held of an input is its stream and its point, 2.3 kB; r(T) and its
 * logits would be 17 kB, and the record of r(T_infinity) 500. */
static void memory_does_not_grow(void **state)
{
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
    product_mul(product_view(c), a, b, &options, NULL);
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
    for (size_t i = 0; i < 3 * KINDS * 2; i++) {
        Kind kind = (Kind)(i / 6);
        ProductWeights *weights = product_weights_make(rooms[i / 2 % 3]);
        assert_non_null(weights);
        ProductView b =
            operand_make(i % 2 == 0 ? DOUBLES : DOUBLES_TURNED, kind, "b", 13, 11, 53)->view;
        for (size_t j = 0; j < 4 * (PRODUCT_BACKENDS - 1); j++) {
            ProductOptions options = {.backend = (ProductBackend)(1 + j % (PRODUCT_BACKENDS - 1)),
                                      .add = j % 3 == 0,
                                      .guard = j % 2 == 0 ? 6 : 64};
            mpfr_prec_t bits = j < 2 * (PRODUCT_BACKENDS - 1) ? 128 : 256;
            ProductView a = operand_make(LONG, j % 7 == 0 ? ZEROS : NORMAL, "a", 5, 13, bits)->view;
            ApMat *c = operand_zeros(5, 11, bits), *d = operand_zeros(5, 11, bits);
            multiply(c, a, b, options, NULL);
            multiply(d, a, b, options, weights);
            expect_same(c, d);
        }
        operands_clear();
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
    assert_int_equal(inputs_make(&members->inputs, file, "-", "0:52:26/5:7:2/53", 1), 0);
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

/* The rows of member i by itself, or (family) with what its family shares. */
static char *rows_of(const Members *members, size_t i, const Shared *family)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    Shared *shared = family != NULL ? shared_make_member(family, members->list[i], 0)
                                    : shared_make(&members->list[i], 1, 0);
    assert_non_null(shared);
    Row *rows = point_evaluate(shared, members->list[i], NULL, NULL);
    assert_non_null(rows);
    for (size_t l = 0; l < members->list[i]->spec.depth; l++) {
        table_write_row(file, members->list[i], &rows[l]);
    }
    point_rows_free(rows, members->list[i]);
    shared_clear(shared);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void expect_rows_alone(const Members *members, size_t count)
{
    Shared *family = shared_make_family(members->list[0], 1e8);
    assert_non_null(family);
    for (size_t i = 0; i < count; i++) {
        char *alone = rows_of(members, i, NULL), *together = rows_of(members, i, family);
        assert_string_equal(together, alone);
        free(alone);
        free(together);
    }
    shared_clear(family);
}

/* Where leaks are linear in e^(-2 Omega) and where they are not; of all inputs, and of fewer. */
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

/* The same where the first is not like the others: nothing in it, or much less. */
static void an_input_apart_has_its_own_bits(void **state)
{
    static const double factors[] = {0, 0x1p-40};
    Given *given = *state;
    for (size_t i = 0; i < 2; i++) {
        Members members;
        members_make(&members, given, 20, ARITHMETIC_F64);
        scale_input(&members, 0, factors[i]);
        expect_rows_alone(&members, 3);
        inputs_clear(&members.inputs);
    }
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

SUBJECT(family)
{
    const struct CMUnitTest family[] = {
#ifndef HEADPROOF_CHECK
        cmocka_unit_test(memory_does_not_grow),
#endif
        cmocka_unit_test(kept_weights_make_the_same_products),
        GIVEN_TEST(inputs_have_the_rows_that_they_have_alone),
        GIVEN_TEST(an_input_apart_has_its_own_bits),
        GIVEN_TEST(inputs_are_rounded_as_alone),
    };
    return cmocka_run_group_tests(family, reference_set_up, reference_tear_down);
}
