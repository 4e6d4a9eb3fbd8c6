/*
 * Weights rounded to what an arithmetic stores: drawn or given, they are the model for everything.
 */
#include "../fixture.h"
#include "../program.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that are bfloat16 already: rounding them changes nothing. */
static void weights_are_rounded_once(void **state)
{
    static const char *const columns[] = {"construction_max", "native_max", "total_max"};
    const Scratch *scratch = *state;
    const char *path = path_in(scratch, "rounded.safetensors");
    expect_run(
        0,
        "export --construction fused --n 3 --d 4 --omega 5 --arithmetic bf16 --precision 128 "
        "--quiet -o %s",
        path);
    Output given =
        expect_run(0,
                   "sweep --weights %s --construction fused --omega 5 --arithmetic bf16,none "
                   "--weights-rounded yes,no --precision 128 --quiet",
                   path);
    assert_int_equal(lines(&given), 4);
    for (size_t i = 0; i < 3; i++) {
        expect_same_cell(&given, 1, &given, 2, columns[i]);
    }
    expect_same_cell(&given, 1, &given, 3, columns[0]);
}

/* Points of one sweep that store differently share no reference. */
static void what_is_stored_otherwise_is_another_model(void **state)
{
    static const char error[] = "construction_max";
    Output drawn = run("sweep --construction fused --n 3 --d 4 --omega 5 --arithmetic bf16 "
                       "--weights-rounded yes,no --precision 128 --quiet");
    assert_true(number(&drawn, 1, error) != number(&drawn, 2, error));
    Output both = run("sweep --construction fused --n 3 --d 4 --omega 5 --arithmetic bf16,fp16 "
                      "--precision 128 --quiet");
    Output half = run("sweep --construction fused --n 3 --d 4 --omega 5 --arithmetic fp16 "
                      "--precision 128 --quiet");
    assert_true(number(&both, 1, error) == number(&drawn, 1, error));
    assert_true(number(&both, 2, error) == number(&half, 1, error));
    assert_true(number(&both, 1, error) != number(&both, 2, error));
    Output kept = run("sweep --construction fused --n 3 --d 4 --omega 5 --arithmetic fp16 "
                      "--weights-rounded no --precision 128 --quiet");
    assert_true(number(&kept, 1, error) != number(&half, 1, error));
}

/* Every tensor of a file is rounded as what is drawn: the doubles of a draw, given, are the same
 * model. */
static void what_is_given_is_rounded_as_what_is_drawn(void **state)
{
    static const char *const drawn[] = {
        "--construction transformer --n 3 --d 4 --d-ff 5 --d-head 2 --bias random",
        "--construction attention --n 3 --d 4", "--construction linear --n 3 --d 4 --bias random",
        "--construction silu --n 3 --d 4"};
    static const char *const columns[] = {"construction_max", "native_max", "total_max"};
    const Scratch *scratch = *state;
    for (size_t k = 0; k < sizeof drawn / sizeof *drawn; k++) {
        const char *path = path_in(scratch, "doubles.safetensors");
        expect_run(0, "export %s --omega 5 --quiet -o %s", drawn[k], path);
        Output of_draw = expect_run(
            0, "sweep %s --omega 5 --arithmetic bf16,fp16 --kernel structured --quiet", drawn[k]);
        const char *construction = strchr(drawn[k], ' ') + 1;
        Output of_file =
            expect_run(0,
                       "sweep --construction %.*s --weights %s --omega 5 --arithmetic bf16,fp16 "
                       "--kernel structured --quiet",
                       (int)strcspn(construction, " "), construction, path);
        assert_int_equal(lines(&of_file), 3);
        for (size_t i = 0; i < 6; i++) {
            expect_same_cell(&of_draw, 1 + i / 3, &of_file, 1 + i / 3, columns[i % 3]);
        }
    }
}

SUBJECT(storage)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_stored_otherwise_is_another_model),
        SCRATCH_TEST(weights_are_rounded_once),
        SCRATCH_TEST(what_is_given_is_rounded_as_what_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
