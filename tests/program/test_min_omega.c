/*
 * min-omega over several tolerances, constructions and penalties: an interval known by hand, the
 * matrix, and the same bytes however many searches run side by side.
 */
#include "../fixture.h"
#include "../given.h"
#include "../program.h"

#include "../../harness/commands/min_omega/search.h"
#include "../../harness/models/safetensors_write.h"
#include "../unit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Intervals ----------------------------------------------------------------------------- */

enum { N = 20, D = 30 };
#define B 3.2

/* The input for which the bounds of silu are attained: -b, b, b, ... in the first column, and in
 * the others a grid over +-b. */
static void worst_input(double x[N * D], double b)
{
    for (size_t i = 0; i < N; i++) {
        x[i * D] = i == 0 ? -b : b;
        for (size_t c = 1; c < D; c++) {
            x[i * D + c] = b * (2 * (double)((i * 7 + c * 11) % 101) / 100 - 1);
        }
    }
}

/* A search does not go where sweep says overflow, though patched heads stay finite there. */
static void searches_end_where_omega_overflows(void **state)
{
    Output output = run("min-omega --construction attention --n 4 --d 3 --arithmetic fp16 --kernel "
                        "structured --tolerance 2e-2 --penalty positive,negative --quiet");
    assert_int_equal(lines(&output), 3);
    assert_true(number(&output, 1, "omega_max") < 32760);
    assert_true(number(&output, 1, "omega_max") > 32759);
    assert_true(number(&output, 1, "omega_above") >= 32760);
    assert_true(number(&output, 2, "omega_max") > 1e308);
}

/* By hand, for the input that attains the bounds of docs/mathematics.md, section 3: K = 19 B
 * sigma(B) (1 + sigma(B)) = 114.7, Omega_min = ln(K/tol)/2, Omega_max = 2^e - 1.6 with e =
 * floor(log2(tol/0.22387)) + 53.  What is found begins within 0.3 and ends within the next power of
 * two; with penalties it does not end. */
static void the_worst_input_attains_the_bounds(void **state)
{
    static const double min[] = {13.88, 17.34}, max[] = {2097150.4, 2046.4};
    const Given *given = *state;
    const size_t shape[] = {N, D};
    double x[N * D];
    const char *path = path_in(&given->scratch, "x.safetensors");
    SafetensorsWriter *writer = safetensors_writer_make();
    worst_input(x, B);
    assert_int_equal(safetensors_writer_floats(writer, "X", 2, shape, NULL, x), 0);
    assert_int_equal(safetensors_writer_finish(writer, path), 0);
    safetensors_writer_clear(writer);
    Output output = expect_run(
        0,
        "min-omega --construction silu --weights %s --activation silu --normalization none "
        "--kernel structured --penalty positive,negative --tolerance 1e-10,1e-13 --quiet",
        path);
    assert_int_equal(lines(&output), 5);
    for (size_t k = 0; k < 4; k++) {
        double to = number(&output, k + 1, "omega_max");
        print_message("%.8g to %.8g\n", number(&output, k + 1, "omega_min"), to);
        assert_true(fabs(number(&output, k + 1, "omega_min") - min[k % 2]) < 0.3);
        assert_true(k < 2 ? to >= max[k] * (1 - 1e-4) && to <= 2 * max[k] + B : to > 1e307);
    }
}

/* ---- Searches ------------------------------------------------------------------------------ */

#define SEVERAL                                                                                    \
    "min-omega --construction silu,fused,linear --penalty positive,negative --n 4 --d 3 "          \
    "--seed 1:2 --tolerance 1e-6,1e-9 --quiet"

static void several_searches_have_the_same_bytes(void **state)
{
    Output one = run(SEVERAL " --threads 1");
    assert_int_equal(lines(&one), 1 + 3 * 2 * 2);
    for (int threads = 2; threads <= 7; threads += 5) {
        Output many = expect_run(0, "%s --threads %d", SEVERAL, threads);
        assert_string_equal(one.text, many.text);
    }
}

/* A row of a list is that of its search alone. */
static void a_list_is_its_searches(void **state)
{
    static const char *const tolerances[] = {"1e-6", "1e-9"}, *const penalties[] = {"positive",
                                                                                    "negative"};
    Output list = run("min-omega --construction fused --penalty positive,negative --n 5 --d 4 "
                      "--tolerance 1e-6,1e-9 --quiet");
    assert_int_equal(lines(&list), 5);
    for (int k = 0; k < 4; k++) {
        Output alone = expect_run(
            0, "min-omega --construction fused --n 5 --d 4 --penalty %s --tolerance %s --quiet",
            penalties[k / 2], tolerances[k % 2]);
        static const char *const names[] = {"options",   "tolerance", "omega_below", "omega_min",
                                            "omega_max", "floor",     "evaluations", "status"};
        for (size_t c = 0; c < sizeof names / sizeof *names; c++) {
            expect_same_cell(&list, (size_t)k + 1, &alone, 1, names[c]);
        }
    }
}

/* ---- The matrix ---------------------------------------------------------------------------- */

static void set_found(Search *search, double below, double min, double max, double above)
{
    OmegaSearch *s = &search->found.search;
    const double omegas[] = {below, min, max, above};
    for (size_t i = 0; i < 4; i++) {
        s->trial[i].omega = omegas[i];
    }
    s->below = below > 0 ? &s->trial[0] : NULL;
    s->min = &s->trial[1];
    s->max = &s->trial[2];
    s->above = above > 0 ? &s->trial[3] : NULL;
}

static const char matrix[] =
    "construction  penalty   omega        within 1e-09     within 1e-12\n"
    "silu          positive  found  12.35 to 4.096e+05             none\n"
    "silu          negative  found            12.35 up         15.01 up\n"
    "transformer   positive  found           all tried  up to 8.123e+05\n"
    "transformer   negative  found            10.01 up         11.01 up\n"
    "found: every omega evaluated within an interval meets the tolerance, the nearest outside do "
    "not; between two evaluated omegas nothing is proven\n";

static void the_matrix_has_a_cell_a_search(void **state)
{
    Given *given = *state;
    Search *searches[8];
    bool taken[8] = {false};
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(given_read(given, COMMAND_MIN_OMEGA,
                                "--construction silu,transformer --penalty positive,negative "
                                "--tolerance 1e-9,1e-12"),
                     0);
    assert_int_equal(given->grid.count, 8);
    for (size_t i = 0; i < 8; i++) {
        searches[i] = search_make(&given->grid, taken, i);
    }
    set_found(searches[0], 12.3, 12.3412, 409600.9, 5e5);
    set_found(searches[2], 12.3, 12.3412, 1e300, 0);
    set_found(searches[3], 15, 15.0001, 1e300, 0);
    set_found(searches[4], 0, 1e-300, 1e300, 0);
    set_found(searches[5], 0, 1e-300, 812345, 812346);
    set_found(searches[6], 10, 10.001, 1e300, 0);
    set_found(searches[7], 11, 11.001, 1e300, 0);
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    assert_int_equal(setenv("COLUMNS", "200", 1), 0);
    assert_int_equal(matrix_print(file, searches, 8), 0);
    fclose(file);
    assert_string_equal(text, matrix);
    free(text);
    for (size_t i = 0; i < 8; i++) {
        search_free(searches[i]);
    }
}

SUBJECT(min_omega)
{
    const struct CMUnitTest min_omega[] = {
        cmocka_unit_test(searches_end_where_omega_overflows),
        GIVEN_TEST(the_worst_input_attains_the_bounds),
        cmocka_unit_test(several_searches_have_the_same_bytes),
        cmocka_unit_test(a_list_is_its_searches),
        GIVEN_TEST(the_matrix_has_a_cell_a_search),
    };
    return cmocka_run_group_tests(min_omega, NULL, NULL);
}
