/*
 * The work for a point's rows, in layers that are evaluated and in bits: no more than they need,
 * and all of that.
 */
#include "../../harness/commands/verify/verify.h"
#include "../../harness/evaluate/predict.h"
#include "effort.h"
#include "../given.h"
#include "../recorded.h"
#include "../unit.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A point's rows, without its key, and what they took; free them. */
static char *counted_rows(Effort *effort, Given *given, const char *line)
{
    const Point *point = given_points(given, line, 1);
    (void)effort_taken();
    char *rows = given_rows(point, false);
    *effort = effort_taken();
    print_message("%zu layers, at most %ld bits: %s\n", effort->layers, effort->most, line);
    return rows;
}

/* A stack of normal weights, whose scores grow beyond Omega: a difference that is linear in
 * e^(-2 Omega) elsewhere says nothing of it. */
#define STACK                                                                                      \
    "--construction transformer --n 4 --d 5 --d-ff 6 --d-head 3 --depth 6 --omega 20 "             \
    "--seed 170760 --bias random --bias-row first --bias-row-content random --arithmetic none "    \
    "--kernel structured --weights normal"

static void scores_beyond_omega_ask_for_few_bits(void **state)
{
    static const char *const lines[] = {
        STACK,
        STACK " --activation gelu --gelu 8",
        STACK " --activation gelu --gelu 8 --certify",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char capped[512];
        Effort all, few;
        snprintf(capped, sizeof capped, "%s --max-bits 2048", lines[i]);
        char *rows = counted_rows(&all, *state, lines[i]);
        char *same = counted_rows(&few, *state, capped);
        assert_string_equal(rows, same);
        assert_int_equal(all.layers, few.layers);
        assert_int_equal(all.most, few.most);
        assert_in_range(all.most, 128, 512);
        assert_in_range(all.layers, 2 * 6, 3 * 2 * 6);
        free(same);
        free(rows);
    }
}

/* A plan that does not serve Omega does not say with how many bits the base begins. */
static void so_does_a_plan_that_does_not_serve(void **state)
{
    Effort effort;
    free(counted_rows(&effort, *state, STACK " --propagation"));
    assert_in_range(effort.most, 128, 512);
}

/* Bits of scores as large as Omega; those that hide Omega, up to the cap; and none in vain: all
 * others are known to lack at once, but an error of 17 binary
 * places lies where its 17th digit changes, at any precision.  Where coarse norms of large weights
 * lose too much, finer ones are tried before more bits. */
static void bits_are_had_where_they_count(void **state)
{
    static const struct {
        const char *line, *ends; /* of every row: bits of x and of e, status */
        size_t layers;
        long most;
    } cases[] = {
        {"--construction transformer3 --activation relu --n 2 --d 5 --d-ff 6 --d-head 2 --depth 3 "
         "--omega 38.7 --weights normal --seed 245638 --arithmetic none",
         ",192,192,ok\n", 12, 192},
        {"--construction silu --n 3 --d 2 --omega 5000 --reference subtract --arithmetic none",
         ",14528,,ok\n", 5, 14528},
        {"--construction silu --n 3 --d 2 --omega 5000 --reference subtract --arithmetic none "
         "--max-bits 4096",
         ",128,,unresolved\n", 3, 128},
        {"--construction masked --activation relu --n 4 --d 5 --d-ff 4 --weights normal "
         "--seed 343657 --bias random --score-scale 100 --arithmetic bf16 --kernel structured "
         "--digits 17 --tolerance 1e-30",
         ",576,576,unresolved\n", 8, 576},
        {"--construction transformer --n 32 --d 512 --heads 8 --d-head 64 --d-ff 512 "
         "--weights normal --scale 1 --omega 40 --arithmetic none",
         ",128,128,ok\n", 3, 128},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Effort effort;
        char *rows = counted_rows(&effort, *state, cases[i].line);
        assert_int_equal(count_words(rows, cases[i].ends), count_words(rows, "\n"));
        assert_int_equal(effort.layers, cases[i].layers);
        assert_int_equal(effort.most, cases[i].most);
        free(rows);
    }
}

/* In every construction, arithmetic and form, and of a file's model (tests/recorded.h). */
static void memory_is_foretold_as_recorded(void **state)
{
    static const char *const lines[] = {
        "--construction all --n 5 --d 8 --depth 3 --omega 40 --arithmetic all "
        "--kernel dense,structured --bias random",
        "--construction fused,transformer --n 5 --d 8 --depth 3 --omega 40 --propagation "
        "--normalization layernorm",
        "--construction transformer,transformer3 --n 3 --d 24 --d-ff 2 --depth 2 --omega 40",
        "--construction transformer --ffn gated --n 5 --d 8 --depth 2 --omega 40",
        "--weights cases/models/modadd53-silu.safetensors --n 2 --omega 40 --arithmetic all",
        "--weights cases/models/modadd53-silu.safetensors --n 2 --omega 40 "
        "--reference none,subtract",
    };
    int threads = omp_get_max_threads();
    double sum = 0;
    omp_set_num_threads(2);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Given *given = *state;
        assert_int_equal(given_read(given, COMMAND_SWEEP, lines[i]), 0);
        for (size_t k = 0; k < given->grid.count; k++) {
            const Point *point = &given->grid.points[k];
            const char *reason;
            PointBytes bytes;
            if (point_predict(&bytes, &reason, point) != CASE_OK) {
                continue;
            }
            const double all[] = {bytes.base,
                                  bytes.tape,
                                  bytes.kernel,
                                  bytes.run,
                                  point_model_bytes(point),
                                  point_pass_bytes(point),
                                  verify_shared_bytes(point, 3),
                                  verify_input_bytes(point)};
            for (size_t j = 0; j < sizeof all / sizeof *all; j++) {
                sum += log2(1 + all[j]);
            }
        }
    }
    omp_set_num_threads(threads);
    assert_recorded("memory of points", sum);
}

SUBJECT(effort)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_beyond_omega_ask_for_few_bits),
        cmocka_unit_test(so_does_a_plan_that_does_not_serve),
        cmocka_unit_test(bits_are_had_where_they_count),
        cmocka_unit_test(memory_is_foretold_as_recorded),
    };
    return cmocka_run_group_tests(tests, given_set_up, given_tear_down);
}
