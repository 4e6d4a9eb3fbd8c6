/*
 * Radii say how many bits digits take: what they prove with few is what many more give, and where
 * they say nothing there are more, until they do.
 */
#include "../fixture.h"
#include "../given.h"
#include "../written_model.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bits that no row asks for. */
enum { MORE = 1024 };

/* text without the two counts of bits of each row. */
static void drop_bits(char *text)
{
    for (char *line = text; *line != '\0'; line++) {
        char *end = strchr(line, '\n'), *cell = end;
        assert_non_null(end);
        for (int cells = 0; cells < 3; cells++) {
            do {
                cell--;
            } while (*cell != ',');
            for (char *c = cell + 1; cells > 0 && *c != ','; c++) {
                *c = '-';
            }
        }
        line = end;
    }
    for (char *at; (at = strstr(text, "--")) != NULL;) { /* of however many digits */
        memmove(at, at + 1, strlen(at));
    }
}

/* The points' rows, which have `expected` in them, are those of so many bits. */
static void check_line(Given *given, const char *line, size_t count, const char *expected,
                       long bits)
{
    const Point *points = given_points(given, line, count);
    for (size_t i = 0; i < count; i++) {
        Point more = points[i];
        more.precision = bits;
        char *rows = given_rows(&points[i], false), *others = given_rows(&more, false);
        if (strstr(rows, expected) == NULL) {
            fail_msg("expected '%s' in\n%s", expected, rows);
        }
        drop_bits(rows);
        drop_bits(others);
        assert_string_equal(rows, others);
        free(rows);
        free(others);
    }
}

static void rows_are_the_same(void **state)
{
    check_line(*state,
               "--construction silu,linear,attention,ffn3,fused,transformer3,transformer --mask "
               "none,causal --bias none,random --n 6 --d 8 --depth 4 --omega 3,20,1000",
               72, ",128,128,", MORE);
}

static void rows_are_the_same_by_subtracting(void **state)
{
    check_line(*state,
               "--construction silu,linear,attention,ffn3,fused,transformer3,transformer --mask "
               "none,causal --n 4 --d 6 --depth 2 --omega 3,20,1000 --reference subtract",
               42, ",,ok", 4096);
    check_line(*state,
               "--construction transformer3,fused --weights normal --n 4 --d 5 --depth 6 --omega "
               "20,200 --reference subtract --arithmetic none",
               4, ",,ok", MORE);
}

static void rows_are_the_same_with_norms(void **state)
{
    check_line(*state,
               "--construction linear,attention,ffn3,transformer --mask none,causal "
               "--normalization layernorm,rmsnorm --normalization-place pre,post --n 5 --d 6 "
               "--depth 3 --omega 20",
               32, ",", MORE);
}

/* As it is where digits come out, else with what they lack. */
static void a_given_precision_is_where_bits_begin(void **state)
{
    static const char line[] =
        "--construction transformer --n 6 --d 8 --depth 4 --omega 20 --precision ";
    char text[256];
    snprintf(text, sizeof text, "%s%d", line, 320);
    check_line(*state, text, 1, ",320,320,", MORE);
    snprintf(text, sizeof text, "%s%d", line, 80);
    check_line(*state, text, 1, ",144,144,ok", MORE);
    snprintf(text, sizeof text, "%s%d --max-bits 80", line, 80);
    const Point *points = given_points(*state, text, 1);
    char *rows = given_rows(points, false);
    assert_non_null(strstr(rows, ",80,80,"));
    free(rows);
}

/* N(0, 1) weights: radii of the difference, and then of r(T) too, say nothing of few bits. */
static void chaos_asks_for_more(void **state)
{
    check_line(*state,
               "--construction transformer3 --weights normal --n 4 --d 2 --heads 1 --depth 16 "
               "--omega 1000 --seed 4 --kernel structured",
               1, ",,", 4096);
    const Point *points = given_points(
        *state,
        "--construction transformer3 --weights normal --n 4 --d 6 --depth 24 --omega 20 --kernel "
        "structured",
        1);
    char *rows = given_rows(points, false);
    assert_null(strstr(rows, "unresolved"));
    free(rows);
}

/* A construction error that is 0 without a proof, as v_2 = 2 v_1 and x_b = 0 make v_1 + v_2 +
 * v_b = 3 v_1: its digits are never proven, and the precision is raised three times from 128. */
static void what_is_never_proven_ends(void **state)
{
    Given *given = *state;
    const double data[] = {3, 1, 2};
    written_model(
        &given->scratch, "cancels.safetensors",
        TENSOR("blocks.0.linear.W", "[1,1]", "0", "8") "," TENSOR("X", "[2,1]", "8", "24"), data,
        3);
    const Point *points = given_points(
        given, "--construction linear --weights %cancels.safetensors --omega 20,1000 --row 1", 2);
    for (size_t i = 0; i < 2; i++) {
        char *rows = given_rows(&points[i], true);
        if (strstr(rows, ",320,320,unresolved") == NULL) {
            fail_msg("%s", rows);
        }
        free(rows);
    }
}

SUBJECT(proven)
{
    const struct CMUnitTest tests[] = {
        GIVEN_TEST(rows_are_the_same),
        GIVEN_TEST(rows_are_the_same_with_norms),
        GIVEN_TEST(rows_are_the_same_by_subtracting),
        GIVEN_TEST(a_given_precision_is_where_bits_begin),
        GIVEN_TEST(chaos_asks_for_more),
        GIVEN_TEST(what_is_never_proven_ends),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
