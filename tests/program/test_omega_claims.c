/*
 * An attack on what min-omega claims: random cases and tolerances, random Omegas in the interval,
 * each evaluated by a sweep.  The ends and the best must come out as they are printed.  Between the
 * Omegas that a search evaluates nothing is proven: how many samples fail there, and how many beat
 * the best, is counted, printed and bounded.
 *
 * HEADPROOF_NIGHTLY: 120 searches of 100 samples; else a few.
 */
#include "../drawn_numbers.h"
#include "../program.h"
#include "../unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 100, CASE_TEXT = 256 };

typedef struct {
    uint64_t state;
    size_t searches, samples, failed, failed_searches, beaten, beaten_searches, most_evaluations;
} Attack;

static unsigned below(Attack *attack, unsigned limit)
{
    return (unsigned)(drawn_word(&attack->state) % limit);
}

static double uniform(Attack *attack)
{
    return (double)(drawn_word(&attack->state) >> 11) * 0x1p-53;
}

static void draw_case(char text[CASE_TEXT], Attack *attack)
{
    static const char *const names[] = {"silu",  "linear",       "attention",  "ffn3",
                                        "fused", "transformer3", "transformer"};
    const char *name = names[below(attack, 7)];
    unsigned depth = 1 + below(attack, 3);
    snprintf(text, CASE_TEXT, "--construction %s --n %u --d %u --kernel %s --seed %u --depth %u",
             name, 2 + below(attack, 7), 1 + below(attack, 6),
             below(attack, 2) ? "dense" : "structured", below(attack, 1000000),
             strcmp(name, "silu") == 0 ? 1 : depth);
}

static Output search(const char *which, const char *tolerance)
{
    return run_formatted("min-omega %s --tolerance %s --quiet", which, tolerance);
}

/* The largest total error, in one of its columns, over the layers of every Omega of a list, no
 * number where a row overflows, however small its error: worst [count], in the list's order, which
 * rises. */
static void sweep_column(double *worst, size_t count, const char *which, const char *list,
                         const char *column)
{
    Output rows = run_formatted("sweep %s --omega %s --quiet 2>/dev/null", which, list);
    double last = NAN;
    size_t points = 0;
    for (size_t row = 1; row < lines(&rows); row++) {
        char status[32];
        cell(status, sizeof status, &rows, row, "status");
        bool overflows = strcmp(status, "overflow") == 0;
        double omega = number(&rows, row, "omega");
        double error = overflows ? NAN : number(&rows, row, column);
        if (points == 0 || omega != last) {
            assert_true(points < count);
            worst[points++] = 0;
        }
        last = omega;
        worst[points - 1] = error > worst[points - 1] || isnan(error) ? error : worst[points - 1];
    }
    assert_int_equal(points, count);
}

static void sweep_errors(double *worst, size_t count, const char *which, const char *list)
{
    sweep_column(worst, count, which, list, "total_max");
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Over the interval by ratio (half of them), in its upper half, and close to its lower end. */
static double sample(Attack *attack, double min, double max)
{
    double u = uniform(attack);
    switch (below(attack, 4)) {
    case 0: return fmin(max, min + u);
    case 1: return fmax(min, max * (0.5 + u / 2));
    default: return min * exp(u * log(max / min));
    }
}

/* Random Omegas in the interval of a found search. */
static void attack_inside(Attack *attack, const char *which, const Output *found, double tolerance)
{
    double omega[SAMPLES], worst[SAMPLES], last = 0;
    double min = number(found, 1, "omega_min"), max = number(found, 1, "omega_max");
    double best = number(found, 1, "best_error");
    size_t count = 0, failed = 0, beaten = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        omega[i] = sample(attack, min, max);
    }
    qsort(omega, SAMPLES, sizeof *omega, by_size);
    char list[20 * SAMPLES] = "", *end = list;
    for (size_t i = 0; i < SAMPLES; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.11g", omega[i]);
        double value = strtod(text, NULL);
        if (value > last && value >= min && value <= max) {
            end += sprintf(end, "%s%s", count > 0 ? "," : "", text);
            last = value;
            count++;
        }
    }
    if (count > 0) {
        sweep_errors(worst, count, which, list);
    }
    for (size_t i = 0; i < count; i++) {
        failed += !(worst[i] <= tolerance);
        beaten += worst[i] < best;
    }
    attack->samples += count;
    attack->failed += failed;
    attack->beaten += beaten;
    attack->failed_searches += failed > 0;
    attack->beaten_searches += beaten > 0;
}

/* What the table says of one Omega is what a sweep says, to 17 digits. */
static void expect_evaluated(const char *which, const Output *found, const char *omega,
                             const char *error, double tolerance, bool meets)
{
    char text[64];
    double worst = NAN;
    cell(text, sizeof text, found, 1, omega);
    if (*text == '\0') {
        return;
    }
    sweep_errors(&worst, 1, which, text);
    if ((worst <= tolerance) != meets || (error != NULL && worst != number(found, 1, error))) {
        fail_msg("%s: %s %s: a sweep has %.17g", which, omega, text, worst);
    }
}

static void attack_once(Attack *attack)
{
    char which[CASE_TEXT], text[32];
    draw_case(which, attack);
    Output found = search(which, "1e-9");
    double best = number(&found, 1, "best_error");
    double tolerance = best > 0 ? best * pow(10, 0.1 + 6 * uniform(attack)) : 1e-15;
    snprintf(text, sizeof text, "%.6g", tolerance);
    tolerance = strtod(text, NULL);
    found = search(which, text);
    double evaluations = number(&found, 1, "evaluations");
    assert_true(evaluations <= 200);
    attack->most_evaluations = (size_t)fmax((double)attack->most_evaluations, evaluations);
    if (found.code == 0) {
        attack->searches++;
        expect_evaluated(which, &found, "omega_below", "error_below", tolerance, false);
        expect_evaluated(which, &found, "omega_min", "error_min", tolerance, true);
        expect_evaluated(which, &found, "omega_max", NULL, tolerance, true);
        expect_evaluated(which, &found, "omega_above", NULL, tolerance, false);
        expect_evaluated(which, &found, "omega_best", "best_error", tolerance, true);
        attack_inside(attack, which, &found, tolerance);
    }
}

static void claims_hold(void **state)
{
    Attack attack = {.state = 1};
    size_t runs = getenv("HEADPROOF_NIGHTLY") != NULL ? 120 : 3;
    for (size_t i = 0; i < runs; i++) {
        attack_once(&attack);
    }
    print_message(
        "%zu intervals, %zu Omegas sampled in them: %zu in %zu intervals fail, %zu in %zu "
        "beat the best; at most %zu evaluations\n",
        attack.searches, attack.samples, attack.failed, attack.failed_searches, attack.beaten,
        attack.beaten_searches, attack.most_evaluations);
    assert_true(attack.searches > runs / 2);
    assert_true(attack.failed <= 1 + attack.samples / 1000);
    assert_true(attack.beaten <= 1 + attack.samples / 200);
}

/* The number of bfloat16 after one that is positive: its first 16 bits are counted up. */
static float next_number(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits = (bits & 0xffff0000) + 0x10000;
    memcpy(&number, &bits, sizeof bits);
    return number;
}

static const struct {
    const char *which, *column;
    double tolerance;
} between[] = {
    {"--construction transformer --n 2 --d 5 --d-ff 4 --seed 56301 --mask causal --norm rel "
     "--arithmetic bf16",
     "total_rel", 0.01},
    {"--construction transformer --n 6 --d 5 --d-ff 8 --depth 2 --seed 68468 --mask causal "
     "--arithmetic bf16",
     "total_max", 0.09757},
    {"--construction ffn3 --n 5 --d 4 --d-ff 6 --seed 6804 --bias random --arithmetic bf16",
     "total_max", 0.02},
};

/* Searches in each of which some Omega failed when gaps alone chose them.  2 Omega is rounded to
 * bfloat16, so the total error has one value for each number of that: all meet the tolerance. */
static void no_number_between_fails(void **state)
{
    for (size_t c = 0; c < sizeof between / sizeof *between; c++) {
        char tolerance[32];
        size_t numbers = 0;
        snprintf(tolerance, sizeof tolerance, "%g", between[c].tolerance);
        Output found = search(between[c].which, tolerance);
        double max = number(&found, 1, "omega_max");
        float at = next_number((float)(2 * number(&found, 1, "omega_min")));
        while (at < 2 * max) {
            char list[20 * SAMPLES] = "", *end = list;
            double worst[SAMPLES];
            size_t count = 0;
            for (; count < SAMPLES && at < 2 * max; at = next_number(at)) {
                end += sprintf(end, "%s%.9g", count++ > 0 ? "," : "", at / 2);
            }
            sweep_column(worst, count, between[c].which, list, between[c].column);
            for (size_t i = 0; i < count; i++) {
                assert_true(worst[i] <= between[c].tolerance);
            }
            numbers += count;
        }
        print_message("%zu numbers\n", numbers);
        assert_true(numbers > 200);
    }
}

/* Seeds are printed as runs without gaps; what no Omega meets is a failure, found by its exit
 * code. */
static void rows_say_seeds_and_failures(void **state)
{
    Output found = run("min-omega --construction silu --n 2 --d 2 --seed 1:2,4 --tolerance 1e-3 "
                       "--quiet");
    Output none = run("min-omega --construction silu --n 2 --d 2 --seed 1,3 --tolerance 1e-300 "
                      "--quiet");
    assert_int_equal(found.code, 0);
    expect_cell(&found, 1, "seed", "1:2;4");
    expect_cell(&found, 1, "status", "ok");
    assert_int_equal(none.code, 1);
    expect_cell(&none, 1, "seed", "1;3");
    expect_cell(&none, 1, "status", "none");
    expect_cell(&none, 1, "omega_min", "");
}

SUBJECT(omega_claims)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_say_seeds_and_failures),
        cmocka_unit_test(no_number_between_fails),
        cmocka_unit_test(claims_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
