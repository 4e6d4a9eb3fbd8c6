/*
 * growth: its statistics by hand, tables whose laws are known (tests/growth_tables.py), tables
 * whose laws another program works out (tests/oracle_growth.py), and what is held against them.
 */
#include "../oracle.h"
#include "../shell.h"

#include "../../harness/commands/growth/fit.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 1e-12

/* ---- Statistics ------------------------------------------------------------------------------ */

static void a_median_is_in_the_middle(void **state)
{
    double odd[] = {3, -1, 7}, even[] = {4, 1, 3, 2}, one[] = {5};
    double low[] = {2, -INFINITY, -INFINITY, 1}, high[] = {INFINITY, 2, 1, INFINITY};
    double known[] = {1, -INFINITY, 2};
    assert_true(fit_median(odd, 3) == 3);
    assert_true(fit_median(even, 4) == 2.5);
    assert_true(fit_median(one, 1) == 5);
    assert_true(fit_median(low, 4) == -INFINITY); /* and no mean of it and 1 */
    assert_true(fit_median(high, 4) == INFINITY);
    assert_true(fit_median(known, 3) == 1);
}

static bool find_line(Fit *fit, const GrowthPoint *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fit_add(fit, &points[i]);
    }
    bool found = fit_solve(fit);
    if (found) {
        fit_judge(fit, points);
    }
    return found;
}

/* y = 1, 3, 2 at x = 0, 1, 2: the mean is 2, the slope 1/2, the residuals -1/2, 1, -1/2. */
static void a_line_is_the_textbooks(void **state)
{
    const GrowthPoint points[] = {{.x = {0}, .y = {1}}, {.x = {1}, .y = {3}}, {.x = {2}, .y = {2}}};
    const GrowthPoint same[] = {{.x = {7}}, {.x = {7}}, {.x = {7}}};
    const double far = 4;
    Fit fit = {LAW_LINEAR, .terms = 1}, flat = {LAW_FLOOR, .terms = 0}, none = fit, one = fit;
    assert_true(find_line(&fit, points, 3) && find_line(&flat, points, 3));
    assert_true(fabs(fit.slope[0] - 0.5) < NEAR && fabs(fit.constant - 1.5) < NEAR);
    assert_true(fabs(fit.residual - sqrt(1.5)) < NEAR && fabs(fit.worst - 1) < NEAR);
    assert_true(fit.freedom == 1 && fit.seed_noise == 0 && fit.noise == fit.residual);
    assert_true(fabs(fit_slope_error(&fit, 0) - sqrt(1.5 / 2)) < NEAR);
    /* A new point at x = 4, three beyond the mean: 1 + 1/3 + 9/2 of the variance. */
    assert_true(fabs(fit_error_at(&fit, &far) - sqrt(1.5 * (1 + 1 / 3.0 + 4.5))) < NEAR);
    assert_true(fit_at(&flat, &far) == 2 && flat.freedom == 2 && fabs(flat.residual - 1) < NEAR);
    assert_true(fit_slope_error(&flat, 0) == 0);
    assert_false(find_line(&none, same, 3));
    assert_false(find_line(&one, points, 1));
}

/* A median of four seeds of variance 1/2 is off by sqrt(pi/2 / 8), more than by the residuals. */
static void seeds_are_a_noise(void **state)
{
    const GrowthPoint points[] = {{.x = {1}, .variance = 0.5, .values = 4},
                                  {.x = {10}, .variance = 0.5, .values = 4},
                                  {.x = {100}, .y = {0.1}, .variance = 0.5, .values = 4}};
    Fit fit = {LAW_POWER, .terms = 1};
    assert_true(find_line(&fit, points, 3) && fit.residual < fit.seed_noise);
    assert_true(fabs(fit.noise - sqrt(acos(-1) / 16)) < NEAR && fit.noise == fit.seed_noise);
}

/* Residuals -1/2, 1, -1/2: the middle one may be three times sqrt(pi/2 4/9/2) by its seeds, the
 * others 1/10. */
static void a_point_is_judged_by_its_own_seeds(void **state)
{
    const GrowthPoint points[] = {{.x = {0}, .y = {1}},
                                  {.x = {1}, .y = {3}, .variance = 4 / 9.0, .values = 2},
                                  {.x = {2}, .y = {2}}};
    Fit fit = {LAW_LINEAR, .terms = 1};
    assert_true(find_line(&fit, points, 3));
    assert_true(fabs(fit.misfit - sqrt(25 + 1 / acos(-1) + 25)) < NEAR);
}

/* Student's distribution has closed forms for one and for two degrees: of one it is Cauchy's. */
static void student_holds_95_percent(void **state)
{
    assert_true(fabs(fit_student(1) - tan(0.475 * acos(-1))) < 1e-3);
    assert_true(fabs(fit_student(2) - 0.95 * sqrt(2 / (1 - 0.95 * 0.95))) < 1e-3);
    assert_true(fabs(fit_student(20) - 2.086) < 0.02 && fabs(fit_student(10000) - 1.96) < 1e-3);
    assert_true(isinf(fit_student(0)));
}

/* y = 2 + 3 ln a - ln b + 1/2 c exactly; then with residuals that no plane takes up. */
static void a_plane_is_found(void **state)
{
    GrowthPoint points[8], twice[8];
    const double corner[FIT_MOST] = {exp(1), exp(1), 1};
    const Fit plane = {LAW_LINEAR, .terms = 3};
    Fit fit = plane, again = plane, same = {LAW_LOGARITHM, .terms = 2};
    for (size_t i = 0; i < 8; i++) {
        double a = (i & 1) != 0, b = (i & 2) != 0, c = (i & 4) != 0;
        points[i] = (GrowthPoint){.x = {exp(a), exp(b), c}, .y = {2 + 3 * a - b + c / 2}};
        twice[i] = (GrowthPoint){.x = {exp(a), exp(a), c}};
    }
    assert_true(find_line(&fit, points, 8));
    assert_true(fabs(fit.constant - 2) < NEAR && fabs(fit.slope[0] - 3) < NEAR);
    assert_true(fabs(fit.slope[1] + 1) < NEAR && fabs(fit.slope[2] - 0.5) < NEAR);
    assert_true(fit.residual < NEAR && fit.worst < NEAR);
    for (size_t i = 0; i < 8; i++) { /* +-1 by the parity, which is orthogonal to all three */
        points[i].y[MEDIAN] += ((i ^ i >> 1 ^ i >> 2) & 1) != 0 ? 1 : -1;
    }
    assert_true(find_line(&again, points, 8));
    assert_true(fabs(again.slope[0] - 3) < NEAR && fabs(again.worst - 1) < NEAR);
    assert_true(fabs(again.residual - sqrt(2)) < NEAR);       /* 8 squares, 4 degrees left */
    assert_true(fabs(fit_slope_error(&again, 1) - 1) < NEAR); /* 8 (1/2)^2 are 2 */
    assert_true(fabs(fit_error_at(&again, corner) - sqrt(2 * (1 + 1 / 8.0 + 3 / 8.0))) < NEAR);
    assert_false(find_line(&same, twice, 8));
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Ten tables, which differ in what varies. */
static const char *const swept[] = {
    "--construction all --n 4 --d 4 --depth 1,2,3,4 --omega 20 --seed 1:3",
    "--construction silu,linear --n 3,5,9,17 --d 4 --omega 20 --seed 1:4",
    "--construction transformer --n 3 --d 4,6,8,12,16 --omega 30 --seed 1:2",
    "--construction transformer,attention --n 4 --d 4 --omega 4:20:2,40,1000 --seed 1:3",
    "--construction fused --n 4 --d 4 --omega 5:17:3,100,1e4,1e6,1e8 --arithmetic f32,bf16",
    "--construction silu --n 4 --d 4 --omega 10,20,40,80,160 --penalty positive,negative",
    "--construction transformer --normalization none,layernorm --n 3 --d 4 --depth 1:5 --seed 1:5",
    "--construction silu --n 3 --d 4 --omega 30,100,300,1000 --precision 128 --reference subtract",
    "--construction attention --n 3 --d 4 --omega 10,20,30,100,400,1000 --score-scale 1,8",
    "--construction linear --arithmetic none --n 2,4,8,16 --depth 1,2,4 --d 5 --seed 1:3",
};

static void an_oracle_finds_the_same_laws(void **state)
{
    const char *interpreter = oracle_needed("numpy");
    for (size_t i = 0; i < sizeof swept / sizeof *swept; i++) {
        Output output = shell("$h sweep %s -q -o %zu.csv >/dev/null && %s "
                              "$p/tests/oracle_growth.py $h %zu.csv",
                              swept[i], i, interpreter, i);
        print_message("%s: %s", swept[i], output.text);
        expect_says(&output, 0, "numbers: the same");
    }
}

static void an_oracle_finds_the_same_bands(void **state)
{
    const char *interpreter = oracle_needed("numpy");
    Output output = shell("all=\"--construction silu,transformer --n 3 --d 4 --seed 1:3 -q\"; "
                          "$h sweep $all --depth 1,2,3,4,6 -o small.csv >/dev/null && "
                          "$h sweep $all --depth 12,24 -o large.csv >/dev/null && "
                          "%s $p/tests/oracle_growth.py $h small.csv large.csv",
                          interpreter);
    expect_output(output, 0, "numbers: the same");
}

static void an_oracle_finds_the_same_formulas(void **state)
{
    const char *interpreter = oracle_needed("numpy");
    Output output = shell("$h min-omega --construction silu --n 3,4,6 --d 3,4,5 --depth 1,2,4 "
                          "--tolerance 1e-6 --arithmetic none --every-input --input-norm 9 "
                          "-o needed.csv -q && %s $p/tests/oracle_growth.py $h needed.csv",
                          interpreter);
    expect_output(output, 0, "6 rows, 24 numbers: the same");
}

/* A row for each tolerance, and masked, which has no Omega, apart. */
static void a_tolerance_asks_for_the_omega_needed(void **state)
{
    expect_shell(
        "all=\"--construction silu,masked --n 4,8,16 --d 4 --depth 1,2,3 --tolerance 1e-6 "
        "--arithmetic none\"; $h growth $all --omega 10,20 -q -o a.csv && "
        "$h min-omega $(echo $all | sed s/,masked//) -q -o m.csv && "
        "$h growth m.csv -q -o b.csv && grep omega_min a.csv >a && grep omega_min b.csv >b && "
        "cmp a b && wc -l <a",
        0, "2\n");
}

/* Every Omega meets it, so that none is needed. */
static void an_open_end_is_no_omega_needed(void **state)
{
    expect_shell("$h min-omega --construction silu --n 3,6,9,12 --d 3 --tolerance 1e3 "
                 "--arithmetic none -q -o m.csv; "
                 "$h growth m.csv -o - -q | tail -n 1 | cut -d, -f 17-20,25",
                 0, "omega_min,n,none,few-points,4");
}

/* What is proven of attention grows with the depth faster than any formula of it. */
static void a_formula_far_off_is_none(void **state)
{
    expect_shell("$h min-omega --construction attention --n 3,5,6 --d 3 --depth 1,4,8 "
                 "--tolerance 1e-6 --arithmetic none --every-input --input-norm 9 -o a.csv -q; "
                 "$h growth a.csv -o - -q | cut -d, -f 17-20 | xargs",
                 0, "omega_min,depth,logarithm, omega_proven,n,none,residual");
}

/* Searches that follow 5 + ln(n)/2 + depth/4 in n.csv, and one behind them in h.csv. */
static Output hold_a_search(const char *size, const char *found, const char *flags)
{
    static const char header[] =
        "construction,n,d,depth,options,omega_below,omega_min,omega_max,omega_above,omega_best,"
        "status";
    char rows[2048];
    size_t length = 0;
    for (unsigned n = 4; n <= 16; n *= 2) {
        for (unsigned depth = 1; depth <= 4; depth *= 2) {
            length += (size_t)snprintf(rows + length, sizeof rows - length,
                                       "silu,%u,4,%u,,1,%.17g,1e9,,,ok\\n", n, depth,
                                       5 + log(n) / 2 + depth / 4.0);
        }
    }
    return shell("printf \"%s\\n%s\" >n.csv; printf \"%s\\nsilu,%s,,1,%s,1e9,,,ok\\n\" >h.csv; "
                 "$h growth n.csv -q %s",
                 header, rows, header, size, found, flags);
}

/* 5 + ln(64)/2 + 16/4 is 11.0794.  The band goes to what the other form says: its line in ln depth
 * through 1/4, 1/2, 1 at 1, 2, 4 is 1.7083 at 16, which is 2.2917 less than 4.  Of a width that no
 * search fitted has nothing is known. */
static void searches_are_held_against_a_formula(void **state)
{
    const char *check = "--check h.csv -o c.csv";
    expect_output(hold_a_search("64,4,16", "13.37", check), 0,
                  "verdict: PASS: 0 of 1 errors outside their bands, 0 without a law");
    expect_output(hold_a_search("64,4,16", "13.38", check), 1,
                  "h.csv:2: silu: omega_min along n: expected 10^0.944 to 10^1.126 by "
                  "its law, not 1.3e+01");
    expect_output(hold_a_search("64,4,16", "8.78", check), 1, "verdict: FAIL: 1 of 1 errors");
    expect_output(hold_a_search("64,4,16", "", check), 1,
                  "0 without a law, 1 of rows that say nothing");
    expect_output(hold_a_search("64,5,16", "11.0794415", check), 2,
                  "expected sizes that some law is about");
    expect_output(hold_a_search("64,4,16", "12", "-o - | cut -d, -f 4,5,9,17-19,27"), 0,
                  ",4,,omega_min,n,logarithm,0.5\n,4,,omega_min,depth,linear,0.25\n");
    expect_output(hold_a_search("64,4,16", "12",
                                "--predict depth=64 -o - | cut -d, -f 4,5,9,18,19,38,41 | "
                                "grep ^16"),
                  0, "16,4,,depth,linear,64,1.34998221007\n");
}

/* Of two sizes no law can be told, though the formula has a term for them. */
static void two_sizes_tell_no_formula(void **state)
{
    expect_shell(
        "all=\"--construction silu --depth 1,2,4 --tolerance 1e-6 --arithmetic none -q\"; "
        "$h min-omega $all --n 3,6 --d 3 -o m.csv && $h min-omega $all --n 24 --d 3 -o l.csv;"
        " $h growth m.csv -o - -q | cut -d, -f 17-20,27 | grep -c omega_min,n,none,few-p; "
        "$h growth m.csv --check m.csv -o c.csv && $h growth m.csv --check l.csv -o c.csv",
        2,
        "verdict: PASS: 0 of 6 errors outside their bands, 0 without a law, 0 of rows that say "
        "nothing (vacuous or error)\nheadproof: --check: token \'l.csv\': expected sizes that some "
        "law is about");
}

static void laws_are_found_as_they_were_made(void **state)
{
    const char *interpreter = oracle_needed("numpy");
    Output output = shell("%s $p/tests/growth_tables.py $h .", interpreter);
    expect_output(output, 0, "200 of 200 tables found as they were made");
}

/* ---- The command ----------------------------------------------------------------------------- */

/* A row of `made` below: the depth, the seed, the error, and what of it is a bound. */
#define MADE                                                                                       \
    "made() { echo construction,depth,omega,seed,options,layer,construction_max,bounds,status; "   \
    "while read d s e b; do echo silu,$d,20,$s,,$d,$e,$b,ok; done; }; "
#define SMALL MADE "printf \"1 1 1e-900\\n2 1 2e-900\\n4 1 4e-900\\n8 1 8e-900\\n\" | made >s.csv; "

static void a_law_may_be_below_all_doubles(void **state)
{
    expect_shell(SMALL "$h growth s.csv --norm max -o - -q | cut -d, -f 17-20,21,26,27", 0,
                 "construction,depth,power,,1,-900,1");
}

/* The third seed may be between the others, or below both: no median is known at 8. */
static void a_bound_in_the_middle_is_no_value(void **state)
{
    expect_shell(MADE "printf \"1 1 1e-9\\n2 1 2e-9\\n4 1 4e-9\\n8 1 7e-9\\n8 2 9e-9\\n"
                      "8 3 8.5e-9 construction_max\\n\" | made >s.csv; "
                      "$h growth s.csv --norm max -o - -q | cut -d, -f 18,19,22,23,25",
                 0, "depth,power,4,3,1");
}

static void what_is_outside_the_band_fails(void **state)
{
    expect_shell(SMALL "printf \"32 1 3.2e-899\\n\" | made >l.csv; "
                       "$h growth s.csv --norm max --check l.csv -o c.csv",
                 0, "verdict: PASS: 0 of 1 errors outside their bands, 0 without a law");
    expect_shell(SMALL "printf \"32 1 3.2e-899\\n32 2 3.3e-899\\n\" | made >l.csv; "
                       "$h growth s.csv --norm max --check l.csv -o c.csv",
                 1,
                 "l.csv:3: silu: construction max along depth: expected 10^-898.495 to "
                 "10^-898.495 by its law, not 3.3e-899");
    expect_shell(SMALL "printf \"32 1 1e-800 construction_max\\n\" | made >l.csv; "
                       "$h growth s.csv --norm max --check l.csv -o c.csv",
                 0, "verdict: PASS");
    expect_shell(SMALL "printf \"32 1 1e-950 construction_max\\n\" | made >l.csv; "
                       "$h growth s.csv --norm max --check l.csv -o c.csv",
                 1, "verdict: FAIL: 1 of 1");
    expect_shell(SMALL "printf \"32 1 3.2e-899\\n64 1 6.4e-899\\n\" | made | "
                       "sed \"3s/,ok\\$/,error/\" >l.csv; grep -c error l.csv; "
                       "$h growth s.csv --norm max --check l.csv -o c.csv",
                 1,
                 "1\nverdict: FAIL: 0 of 1 errors outside their bands, 0 without a law, 1 of rows "
                 "that say nothing (vacuous or error)");
}

/* The rounding error stays at 1e-15, the construction error is n 1e-17, and what is total or
 * observed is the larger of them: 1e-15 up to 32, which is no law of 1000, where the construction
 * error has passed it.  Where that is not in the table, nothing foresees it. */
static void a_sum_follows_the_part_that_passes_it(void **state)
{
#define SUMS                                                                                       \
    "sums() { echo "                                                                               \
    "construction,n,omega,seed,options,layer,construction_max,rounding_max,total_max,"             \
    "observed_max,bounds,status; for n in $1; do s=$((n < 100 ? 100 : n))e-17; "                   \
    "echo silu,$n,20,1,,1,${n}e-17,1e-15,$s,$s,,ok; done; }; sums \"4 8 16 32\" >s.csv; "
    expect_shell(
        SUMS "sums 1000 >l.csv; $h growth s.csv --norm max --check l.csv -o c.csv && "
             "cut -d, -f 17,27,41 c.csv",
        0,
        "verdict: PASS: 0 of 4 errors outside their bands, 0 without a law, 0 of rows that "
        "say nothing (vacuous or error)\nkind,slope,predicted_log10\nconstruction,1,-14\n"
        "rounding,0,-15\ntotal,1,-14\nobserved,1,-14");
    expect_shell(SUMS "other() { sed \"s/silu/fused/; s/1,[0-9]*e-17/1,/; 1d\"; }; "
                      "other <s.csv >>s.csv; sums 1000 >l.csv; other <l.csv >>l.csv; "
                      "$h growth s.csv --norm max --check l.csv -o c.csv",
                 1, "verdict: FAIL: 2 of 7 errors outside their bands");
}

/* A machine's 0 at 1, 2 and 4 is expected between them, and says nothing of 32; that T is imitated
 * exactly is no matter of sizes. */
static void a_zero_says_nothing_of_larger_sizes(void **state)
{
    static const char zeros[] = MADE "printf \"1 1 0\\n2 1 0\\n4 1 0\\n\" | made >s.csv; "
                                     "printf \"2 2 %s\\n32 1 1e-20\\n\" | made >l.csv; "
                                     "sed -i \"s/n_max/&,%s_max/; s/,[^,]*,,ok/,&/\" ?.csv; "
                                     "$h growth s.csv --norm max --check l.csv -o c.csv";
    expect_output(shell(zeros, "0", "observed"), 0,
                  "verdict: PASS: 0 of 1 errors outside their bands, 1 without a law");
    expect_output(shell(zeros, "1e-30", "observed"), 1, "l.csv:2: silu: observed max along depth");
    expect_output(shell(zeros, "0", "approximation"), 1,
                  "l.csv:3: silu: approximation max along depth");
}

/* 10^-10, -9, -9, -9 is no power, however much the seeds of the last differ. */
static void noise_excuses_its_own_point_alone(void **state)
{
    expect_shell(MADE "for s in 1 2 3; do echo 1 $s 1e-10; echo 2 $s 1e-9; echo 4 $s 1e-9; "
                      "echo 8 $s 1e-$((5 * s - 1)); done | made >s.csv; "
                      "$h growth s.csv --norm max -o - -q | cut -d, -f 18-20",
                 0, "depth,none,residual\n");
}

static void a_terminal_gets_a_table_for_eyes(void **state)
{
    static char text[4096];
    run_on_terminal(text, sizeof text, "growth --construction silu --n 3,5,9 --d 3 --norm rel -q",
                    0);
    assert_memory_equal(text, "kind           axis  law    why", 31);
    assert_non_null(strstr(text, "\r\nconstruction   n     power  "));
    expect_shell("$h growth --construction silu --n 3,5,9 --d 3 -q | head -n 1 | cut -d, -f 1-3", 0,
                 "construction,activation,mask\n");
}

static void one_norm_is_fitted(void **state)
{
    for (size_t i = 0; i < 3; i++) {
        const char *const norms[] = {"max", "rms", "rel"};
        Output output = shell("$h growth --construction silu --n 3,5,9 --d 3 --norm %s -o - -q | "
                              "tail -n +2 | cut -d, -f 16 | sort -u | tr -d \"\\n\"",
                              norms[i]);
        assert_string_equal(output.text, norms[i]);
        free(output.text);
    }
    expect_shell("$h growth --construction silu --n 3,5,9 --d 3 -o - -q | tail -n +2 | "
                 "cut -d, -f 16 | uniq | xargs",
                 0, "max rel\n");
}

/* Three seeds of all, then more of what is not sure; never more than asked, nor than there are. */
static void seeds_come_where_laws_ask(void **state)
{
    expect_shell("all=\"--construction silu,attention --n 4,8,16 --d 4 --omega 20 --seed 1:40\"; "
                 "$h growth $all --evaluations 70 -o a.csv",
                 0, "; 70 points evaluated");
    expect_shell("$h growth --construction attention --arithmetic none --mask causal --n 4 --d 4 "
                 "--omega 10:30:5 --seed 1:40 --evaluations 1000 -o a.csv; "
                 "grep -c ,omega,arm-left,,10,30,5,3,0 a.csv",
                 0, "; 15 points evaluated\n2\n");
    expect_shell("all=\"--construction silu --n 4,8,16 --d 4 --omega 20 --seed 1:5\"; "
                 "$h growth $all --evaluations 999 -q -o a.csv && $h growth $all -q -o b.csv && "
                 "cmp a.csv b.csv && echo same",
                 0, "same");
    expect_shell(SMALL "$h growth s.csv --evaluations 9", 2, "nothing of a table is evaluated");
}

/* Each section has seeds of its own, and the first of them are in the first round. */
static void seeds_are_counted_in_their_section(void **state)
{
    expect_shell("for c in silu,1 linear,11; do echo \"[$c]\"; echo construction=${c%,*}; "
                 "echo n=4,8,16; echo d=4; echo seed=${c#*,}:$((${c#*,} + 8)); done >g.case; "
                 "$h growth g.case --evaluations 18 -o - -q | cut -d, -f 1,24 | sort | uniq -c",
                 0, "     12 linear,3\n     12 silu,3\n");
}

/* 2^7 1e-900, and 1e3 times that. */
static void sizes_are_predicted(void **state)
{
    expect_shell(SMALL "$h growth s.csv --predict depth=128,x", 2, "--predict: token 'x'");
    expect_shell(SMALL "$h growth s.csv --norm max --predict depth=128,1000 -o - -q | "
                       "cut -d, -f 38,41,45",
                 0, "at,predicted_log10,status\n128,-897.89279003,ok\n1000,-897,ok\n");
    expect_shell("$h growth --construction silu --n 3,5,9 --d 3,4,5 --predict n=20 -o - -q | "
                 "tail -n +2 | cut -d, -f 18 | uniq",
                 0, "n\n");
    expect_shell("$h growth --construction silu --n 3,5,9 --d 3,4,5 --predict n=20 -o - -q | "
                 "grep -c ,d,power",
                 1, "0");
    expect_shell(SMALL "$h growth s.csv --predict width=3", 2,
                 "expected omega, n, d, depth or layer, = and a list");
    expect_shell(SMALL "$h growth s.csv --predict depth", 2, "expected omega, n");
    expect_shell(SMALL "$h growth s.csv --norm max --predict n=5 -o p.csv", 2,
                 "--predict: token 'n=5': expected sizes that some law is about");
}

static void what_was_swept_is_the_same_as_its_table(void **state)
{
    expect_shell("all=\"--construction silu --n 3,5,9 --d 4 --seed 1:2\"; "
                 "$h sweep $all -q -o t.csv >/dev/null && $h growth t.csv -q -o a.csv && "
                 "$h growth $all -q -o b.csv && cmp a.csv b.csv && echo same; "
                 "for i in 1 2; do $h sweep $all -q --shard $i/2 -o $i.csv >/dev/null; done; "
                 "$h growth 2.csv 1.csv -q -o c.csv && cmp a.csv c.csv && echo of shards; "
                 "$h growth t.csv --format json | grep -c law",
                 0, "same\nof shards");
    expect_shell("$h growth --construction silu --n 3,5,9 --d 4 -q -o a.csv && "
                 "grep -c points a.csv.json",
                 1, "0");
}

/* Reads constant and slope of the next arm of the total error; returns what is behind it. */
static const char *read_arm(const char *line, double arm[2])
{
    const char *cells = strstr(line, ",total,omega,arm");
    assert_non_null(cells);
    for (size_t skipped = 0; skipped < 9; skipped++) {
        cells = strchr(cells + 1, ',');
        assert_non_null(cells);
    }
    assert_int_equal(sscanf(cells, ",%lf,%lf", &arm[0], &arm[1]), 2);
    return cells;
}

/* The arms say between which Omegas a tolerance is met, and so do searches. */
static void arms_agree_with_min_omega(void **state)
{
    const char *const names[] = {"silu", "fused", "ffn3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double left[2], right[2];
        Output arms = shell("$h growth --construction %s --kernel structured --norm max -o - -q "
                            "--omega 6:26:2,1e3,1e4,1e5,1e6",
                            names[i]);
        Output search = shell("$h min-omega --construction %s --kernel structured "
                              "--tolerance 1e-10 -o - -q",
                              names[i]);
        (void)read_arm(read_arm(arms.text, left), right);
        double least = (-10 - left[0]) * log(10) / left[1];
        double most = pow(10, (-10 - right[0]) / right[1]);
        print_message("%s: %.3f to %.3g\n", names[i], least, most);
        assert_true(fabs(least - number(&search, 1, "omega_min")) < 0.05);
        assert_true(fabs(log2(most / number(&search, 1, "omega_max"))) <
                    1); /* a step of ulp(2 Omega) */
    }
}

static void bad_requests_are_refused(void **state)
{
    expect_shell(SMALL "$h growth s.csv --n 4", 2, "--n: token 's.csv': expected a table, or axes");
    expect_shell(SMALL "$h growth s.csv x.case", 2, "expected tables, or case files, not both");
    expect_shell(SMALL "$h growth s.csv --dry-run", 2, "nothing of a table is evaluated");
    expect_shell(SMALL "$h growth s.csv --check s.csv -o s.csv", 2, "s.csv");
    expect_shell(MADE "printf \"1 1 1e-9\\n\" | made >s.csv; $h growth s.csv --norm max", 2,
                 "token 's.csv': growth: expected errors at two sizes or more");
    expect_shell(MADE "printf \"1 1 x\\n\" | made >s.csv; $h growth s.csv", 2, "token 'x'");
    expect_shell("$h growth --construction silu --n 2 --d 2 --omega 10 -q", 2,
                 "headproof: growth: expected errors at two sizes or more");
    expect_shell("$h growth --construction silu --n 2 --d 2 --tolerance 1e-6 -q", 2,
                 "headproof: growth: expected errors at two sizes or more");
    expect_shell("$h growth --construction silu --n 3,90 --depth 50 --memory 2MiB", 2,
                 "may be used: headproof sweep"); /* and the rows that are not there are not read */
    expect_shell(SMALL "sed s/silu/fused/ s.csv >o.csv; $h growth s.csv --norm max --check o.csv",
                 2, "expected sizes that some law is about");
    expect_shell(MADE "printf \"1 1 nan\\n2 1 nan\\n4 1 nan\\n\" | made >s.csv; "
                      "$h growth s.csv --norm max -o - -q | cut -d, -f 17-20",
                 0, "construction,depth,none,few-points");
}

SUBJECT(growth)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_median_is_in_the_middle),
        cmocka_unit_test(a_line_is_the_textbooks),
        cmocka_unit_test(seeds_are_a_noise),
        cmocka_unit_test(a_point_is_judged_by_its_own_seeds),
        cmocka_unit_test(student_holds_95_percent),
        cmocka_unit_test(a_plane_is_found),
        SHELL_TEST(an_oracle_finds_the_same_laws),
        SHELL_TEST(an_oracle_finds_the_same_bands),
        SHELL_TEST(an_oracle_finds_the_same_formulas),
        SHELL_TEST(a_tolerance_asks_for_the_omega_needed),
        SHELL_TEST(an_open_end_is_no_omega_needed),
        SHELL_TEST(a_formula_far_off_is_none),
        SHELL_TEST(searches_are_held_against_a_formula),
        SHELL_TEST(two_sizes_tell_no_formula),
        SHELL_TEST(laws_are_found_as_they_were_made),
        SHELL_TEST(a_law_may_be_below_all_doubles),
        SHELL_TEST(a_bound_in_the_middle_is_no_value),
        SHELL_TEST(what_is_outside_the_band_fails),
        SHELL_TEST(a_sum_follows_the_part_that_passes_it),
        SHELL_TEST(a_zero_says_nothing_of_larger_sizes),
        SHELL_TEST(noise_excuses_its_own_point_alone),
        SHELL_TEST(a_terminal_gets_a_table_for_eyes),
        SHELL_TEST(one_norm_is_fitted),
        SHELL_TEST(seeds_come_where_laws_ask),
        SHELL_TEST(seeds_are_counted_in_their_section),
        SHELL_TEST(sizes_are_predicted),
        SHELL_TEST(what_was_swept_is_the_same_as_its_table),
        SHELL_TEST(arms_agree_with_min_omega),
        SHELL_TEST(bad_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
