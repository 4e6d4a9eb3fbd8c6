/*
 * The axes of layer norms: what they mean, where they do not matter, what is refused and why.
 */
#include "../fixture.h"
#include "../given.h"

#include "../../harness/grid/point_groups.h"
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

static void test_defaults(void **state)
{
    Given *given = *state;
    const Point *point = given_points(given, "--construction fused", 1);
    assert_int_equal(point->spec.norm, NORMALIZATION_NONE);
    point = given_points(given, "--construction fused --normalization rmsnorm", 1);
    assert_int_equal(point->spec.norm, NORMALIZATION_RMSNORM);
    assert_int_equal(point->spec.norm_place, NORM_PRE);
    assert_true(point->spec.norm_eps == 1e-5);
    assert_false(point->spec.norm_tokens_only);
    point = given_points(given,
                         "--construction fused --normalization layernorm --normalization-place "
                         "post --eps 0.25 --normalize-bias-row no",
                         1);
    assert_int_equal(point->spec.norm, NORMALIZATION_LAYERNORM);
    assert_int_equal(point->spec.norm_place, NORM_POST);
    assert_true(point->spec.norm_eps == 0.25);
    assert_true(point->spec.norm_tokens_only);
}

/* A point holds the defaults of what does not matter, so that two spellings are one point. */
static void test_where_they_matter(void **state)
{
    static const struct {
        const char *line;
        size_t points;
    } grids[] = {
        {"--construction fused --normalization-place pre,post --eps 1,2 --normalize-bias-row "
         "yes,no",
         1},
        {"--construction fused --normalization layernorm,rmsnorm --normalization-place pre,post "
         "--eps 1,2 --normalize-bias-row yes,no",
         16},
        /* A bias row that begins as zeros and sees itself alone has a norm of zero. */
        {"--construction fused,masked --normalization layernorm --mask causal "
         "--normalize-bias-row yes,no",
         2},
        {"--construction fused --normalization layernorm --mask pseudo-causal "
         "--normalize-bias-row yes,no",
         2},
        {"--construction attention --normalization layernorm --mask causal --bias-row-content "
         "none,random --normalize-bias-row yes,no",
         3},
        {"--construction silu --normalization layernorm --normalization-place post", 1},
        {"--construction linear --linear in-place,block,clear --normalization layernorm "
         "--normalization-place post",
         3},
    };
    Given *given = *state;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        given_points(given, grids[i].line, grids[i].points);
    }
}

/* A file whose metadata are silent holds a norm's weights or none; an X alone has them drawn. */
static void test_files(void **state)
{
    Given *given = *state;
    given_make(given, "silent.safetensors", MADE_FFN, 0, 2);
    given_make(given, "x.safetensors", MADE_INPUT, 0, 2);
    given_points(given, "--weights %silent.safetensors --activation gelu --normalization none", 1);
    given_expect_fault(
        given, COMMAND_SWEEP,
        "--weights %silent.safetensors --activation gelu --normalization layernorm",
        "--normalization: token 'layernorm': expected none: the weights file has no tensors of "
        "norms");
    const char *drawn =
        "--construction silu --weights %x.safetensors --activation silu --depth 3 "
        "--normalization layernorm --normalization-place post --reference none --seed 1,2";
    const Point *points = given_points(given, drawn, 2);
    free(given_rows(&points[0], false));
}

static void test_commands_reproduce(void **state)
{
    Given *given = *state;
    const Point *points = given_points(given,
                                       "--construction fused --normalization rmsnorm "
                                       "--normalization-place post --eps 0.001 "
                                       "--normalize-bias-row no",
                                       1);
    char *command = given_command(points);
    assert_non_null(strstr(command, " --normalization rmsnorm --normalization-place post --eps "
                                    "0.001 --normalize-bias-row no"));
    free(command);
}

SUBJECT(norm_axes)
{
    const struct CMUnitTest tests[] = {
        GIVEN_TEST(test_defaults),
        GIVEN_TEST(test_where_they_matter),
        GIVEN_TEST(test_files),
        GIVEN_TEST(test_commands_reproduce),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
