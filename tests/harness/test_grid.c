/*
 * Grids: order, defaults, overriding, blank axes, duplicates; and the strictness of flags and
 * case files.
 */
#include "../given.h"

#include "../../harness/point/point.h"
#include "../../harness/table/table.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_case(Given *given, const char *text)
{
    file_write(given->file, text, strlen(text));
}

static void test_defaults(void **state)
{
    Given *given = *state;
    const Point *point = given_points(given, "", 1); /* its key: test_keys */
    assert_int_equal(point->precision, 0);
    assert_int_equal(point->max_bits, 65536);
    assert_false(point->judged);
    assert_string_equal(given->grid.section[0], "");
    assert_int_equal(given_read(given, COMMAND_DEPTH, ""), 0);
    assert_int_equal(given->grid.points[0].spec.depth, 96);
    assert_int_equal(given_read(given, COMMAND_DEPTH, "--depth 3"), 0);
    assert_int_equal(given->grid.points[0].spec.depth, 3);
}

static void test_order(void **state)
{
    Given *given = *state;
    const char *line = "--seed 2,1 --omega 30,20 --construction linear,silu --n 4,3";
    const Point *points = given_points(given, line, 16);
    for (size_t i = 0; i < 16; i++) {
        assert_int_equal(points[i].spec.construction,
                         i < 8 ? CONSTRUCTION_LINEAR : CONSTRUCTION_SILU);
        assert_int_equal(points[i].spec.n, (i / 4) % 2 == 0 ? 4 : 3);
        assert_true(points[i].omega == ((i / 2) % 2 == 0 ? 30 : 20));
        assert_true(points[i].spec.seed == (i % 2 == 0 ? 2 : 1));
    }
}

/* Axes that do not matter hold their defaults. */
static void test_blank_axes(void **state)
{
    const Point *point = given_points(
        *state, "--construction silu --heads 3:5 --d-ff 2D,7 --weights normal --bias random", 1);
    assert_int_equal(point->spec.heads, 2);
    assert_int_equal(point->spec.d_ff, 120);
    assert_int_equal(point->spec.weights, WEIGHTS_STABLE);
    assert_int_equal(point->spec.bias, BIAS_NONE);
}

/* Points that differ in nothing that matters are one, and so are two spellings of one. */
static void test_counts(void **state)
{
    static const struct {
        const char *line;
        size_t points;
    } grids[] = {
        {"--construction silu,attention --heads 1:3", 4},
        {"--construction fused --linear in-place,block,clear", 1},
        {"--construction linear --linear in-place,block,clear --d-ff 1D,2D", 5},
        {"--arithmetic none,f64 --kernel dense,structured", 3},
        {"--judge rounding --norm rel", 1},
        {"--d-ff 4D,120", 1},
        {"--bias-row auto,last", 1},
        {"--bias-row auto,first", 2},
        {"--mask causal --bias-row auto,first", 1},
        /* The bias row's random content is scaled as the weights are. */
        {"--construction silu --weights stable,normal", 1},
        {"--construction silu --weights stable,normal --bias-row-content random", 2},
        /* Norms. */
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
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        given_points(*state, grids[i].line, grids[i].points);
    }
}

static void test_sections(void **state)
{
    Given *given = *state;
    write_case(given, "[a]\nomega = 10:30:10\n[b]\nomega = 40,20,10\n");
    const Point *points = given_points(given, "FILE FILE", 4);
    assert_true(points[0].omega == 10 && points[1].omega == 20 && points[2].omega == 30 &&
                points[3].omega == 40);
    assert_string_equal(given->grid.section[1], "a");
    assert_string_equal(given->grid.section[3], "b");
}

static void test_widths(void **state)
{
    Given *given = *state;
    const Point *points = given_points(given, "--d 10,20 --d-ff 2D,40", 3);
    assert_int_equal(points[0].spec.d_ff, 20);
    assert_int_equal(points[1].spec.d_ff, 40);
    assert_int_equal(points[1].spec.d, 10);
    assert_int_equal(points[2].spec.d_ff, 40);
    assert_int_equal(points[2].spec.d, 20);
}

static void test_precision(void **state)
{
    Given *given = *state;
    const Point *points = given_points(given, "--precision auto,128,100000 --max-bits 4096", 3);
    assert_int_equal(points[0].precision, 0);
    assert_int_equal(points[0].max_bits, 4096);
    assert_int_equal(points[1].precision, 128);
    assert_int_equal(points[1].max_bits, 4096);
    assert_int_equal(points[2].precision, 100000); /* no cap below what begins */
    assert_true(points[2].max_bits >= points[2].precision);
}

static void test_judge(void **state)
{
    Given *given = *state;
    const Point *point = given_points(given, "--tolerance 1e-9 --norm rel", 1);
    assert_true(point->judged && point->tolerance == 1e-9);
    assert_int_equal(point->judge, ERROR_TOTAL);
    assert_int_equal(point->norm, NORM_REL);
    point = given_points(given, "--tolerance 1e-9 --arithmetic none", 1);
    assert_int_equal(point->judge, ERROR_CONSTRUCTION);
    point = given_points(given, "--judge observed", 1);
    assert_int_equal(point->judge, ERROR_TOTAL);
}

static void test_norms(void **state)
{
    const Point *point = given_points(*state, "--construction fused", 1);
    assert_int_equal(point->spec.norm, NORMALIZATION_NONE);
    point = given_points(*state, "--construction fused --normalization rmsnorm", 1);
    assert_int_equal(point->spec.norm, NORMALIZATION_RMSNORM);
    assert_int_equal(point->spec.norm_place, NORM_PRE);
    assert_true(point->spec.norm_eps == 1e-5);
    assert_false(point->spec.norm_tokens_only);
    point = given_points(*state,
                         "--construction fused --normalization layernorm --normalization-place "
                         "post --eps 0.001 --normalize-bias-row no",
                         1);
    assert_int_equal(point->spec.norm, NORMALIZATION_LAYERNORM);
    assert_int_equal(point->spec.norm_place, NORM_POST);
    assert_true(point->spec.norm_eps == 0.001);
    assert_true(point->spec.norm_tokens_only);
    char *command = given_command(point);
    assert_non_null(strstr(command, " --normalization layernorm --normalization-place post --eps "
                                    "0.001 --normalize-bias-row no"));
    free(command);
}

static void test_case_files(void **state)
{
    Given *given = *state;
    write_case(given, "\xEF\xBB\xBF# a comment\n\n[first]\r\nn = 3, 4  # tokens\r\nd: 5\n"
                      "; another\n[second]\nn=6\nomega = 8\t# Omega");
    const Point *points = given_points(given, "FILE", 3);
    assert_int_equal(points[1].spec.n, 4);
    assert_int_equal(points[1].spec.d, 5);
    assert_int_equal(points[2].spec.d, 30);
    assert_true(points[2].omega == 8);
    assert_string_equal(given->grid.section[1], "first");
    assert_string_equal(given->grid.section[2], "second");
    points = given_points(given, "--n 7 FILE --omega 9", 2);
    assert_int_equal(points[0].spec.n, 7);
    assert_int_equal(points[1].spec.n, 7);
    assert_true(points[0].omega == 9 && points[1].omega == 9);
}

static void test_run_options(void **state)
{
    Given *given = *state;
    given_points(given, "--threads=2 -o out.csv --dry-run -q", 1);
    assert_string_equal(given->run.output, "out.csv");
    assert_int_equal(given->run.threads, 2);
    assert_true(given->run.dry_run && given->run.quiet && !given->run.verbose);
    given_points(given, "", 1);
    assert_null(given->run.output);
    assert_int_equal(given->run.threads, 0);
    assert_false(given->run.dry_run || given->run.quiet || given->run.verbose);
}

static void test_min_omega(void **state)
{
    Given *given = *state;
    assert_int_equal(
        given_read(given, COMMAND_MIN_OMEGA, "--tolerance 1e-6 --seed 1:3 --construction silu"), 0);
    assert_int_equal(given->grid.count, 3);
    assert_int_equal(given_read(given, COMMAND_MIN_OMEGA, "--omega 3 --tolerance 1"), 2);
    assert_non_null(strstr(given->message, "--omega"));
    assert_int_equal(given_read(given, COMMAND_MIN_OMEGA, "--n 3"), 2);
    assert_non_null(strstr(given->message, "tolerance"));
    write_case(given, "[a]\ntolerance = 1\nomega = 3\n");
    assert_int_equal(given_read(given, COMMAND_MIN_OMEGA, "FILE"), 2);
    assert_non_null(strstr(given->message, ":3: token"));
}

/* One line that begins with (or, for a path in front, holds) what is expected. */
static void expect_fault(Given *given, const char *line, const char *expected)
{
    given_expect_fault(given, COMMAND_SWEEP, line, expected);
}

static void test_faults_of_flags(void **state)
{
    Given *given = *state;
    expect_fault(given, "--ome 5", "token '--ome'");
    expect_fault(given, "--ome=5", "token '--ome=5'");
    expect_fault(given, "--dry", "token '--dry'");
    expect_fault(given, "--zzzzzzz", "(see headproof help sweep)");
    expect_fault(given, "-x", "token '-x'");
    expect_fault(given, "--omega", "token '--omega': expected a value");
    expect_fault(given, "--ome", "token '--ome': expected a flag");
    expect_fault(given, "--dry-run=1", "token '--dry-run=1': expected no value");
    expect_fault(given, "--omega 1 --omega=2", "--omega: token '2': expected omega once");
    expect_fault(given, "-o a --output b", "--output: token 'b': expected the flag once");
    expect_fault(given, "--omega=", "--omega: token ''");
    expect_fault(given, "--quiet -v", "not both");
    expect_fault(given, "--threads -1", "--threads: token '-1'");
    expect_fault(given, "--threads 1,2", "expected one value");
    expect_fault(given, "--activation tanh", "--activation: token 'tanh': expected one of silu");
    expect_fault(given, "--reference ball", "token 'ball': expected one of auto, subtract, diff");
    expect_fault(given, "--precision 63", "auto or an integer from 64 to 1048576");
    expect_fault(given, "--mask causal --bias-row last",
                 "--bias-row: token 'last': expected auto or first with --mask causal");
    expect_fault(given, "--tolerance 1 --arithmetic f64,none --judge total",
                 "--judge: token 'total'");
    expect_fault(given, "nowhere.case", "nowhere.case: cannot be opened");
}

static void test_faults_of_sizes(void **state)
{
    Given *given = *state;
    expect_fault(given, "--n 2147483648", "--n: token '2147483648'");
    expect_fault(given, "--d 2000000000 --construction attention",
                 "--d: token '2000000000': expected a case that fits into this machine");
    expect_fault(given, "--d 2000000000", "--d: token '2000000000': expected a d-ff of at most");
    expect_fault(given, "--d-ff 2000000000D", "--d-ff: token '2000000000D'");
    expect_fault(given, "--depth 2147483647", "--depth: token '2147483647'");
    expect_fault(given, "--d 1000 --heads 1000000000", "--heads: token '1000000000'");
    expect_fault(given, "--n 1:1000 --d 1:1000 --seed 0:1", "expected a grid of at most 1000000");
    expect_fault(given,
                 "--n 1:1000000 --d 1:1000000 --d-ff 1:1000000 --heads 1:1000000 --seed 1:65536",
                 "expected a grid of at most 1000000");
    given_points(given, "--construction silu --heads 2000000000", 1);
}

static void test_faults_of_case_files(void **state)
{
    static const struct {
        const char *text, *expected;
    } faults[] = {
        {"[a]\nomgea = 3\n",
         ":2: token 'omgea': expected the name of an axis (did you mean omega?)"},
        {"[a]\nomega = 3\n\nomega = 4\n", ":4: token '4': expected omega once"},
        {"# c\nomega = 3\n", ":2: token 'omega': expected a [section]"},
        {"[a]\nn = 3\n[b]\n[c]\nn = 3\n", ":3: token 'b': expected a section with at least one"},
        {"[a]\n", ":1: token 'a': expected a section with at least one"},
        {"", ":1: token '': expected at least one [section]"},
        {"# only a comment\n", ":1: token '': expected at least one [section]"},
        {"[a]\nn = 3\n[a]\nn = 4\n", ":3: token '[a]': expected every section once"},
        {"[a]\nn = 3,\n  4\n", ":2: token '': expected a value"},
        {"[a]\nn = 3\n  4\n", ":3: token '4': expected a line that begins without blanks"},
        {"[a]\nfoo\n", ":2: token 'foo': expected [section] or key = value"},
        {"[a]\nfoo", ":2: token 'foo': expected [section] or key = value"},
        {"[a]\nfoo\nn = 10:5\n", ":2: token 'foo': expected [section] or key = value"},
        {"[a] b\nn = 3\n", ":1: token '[a] b': expected [name] and nothing after it"},
        {"[a\nn = 3\n", ":1: token '[a': expected [name]"},
        {"[]\nn = 3\n", ":1: token '[]': expected a section name"},
        {"[a]\nn =\n", ":2: token '': expected a value"},
        {"[a]\n\n\nomega = 10:5\n", ":4: token '10:5': expected a range that ascends"},
        {"[a]\nn = 3\n[b]\nn = 1:5:0\n", ":4: token '1:5:0': expected a step"},
        {"[a]\nd = 3;x\n", ":2: token '3;x'"},
        {"[a]\n\xEF\xBB\xBFn = 3\n", ":2: token '\\u{feff}n'"},
        {"[a]\noutput = x\n", ":2: token 'output': expected the name of an axis"},
        {"[a]\nreference-form = dense\n",
         ":2: token 'reference-form': this key is gone: leave it out"},
        {"[a]\nmask = causal\n\nbias-row = last\n", ":4: token 'last': expected auto or first"},
        {"[a]\nn = 3\nd = 2147483647\n", ":3: token '2147483647'"},
    };
    Given *given = *state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char expected[SCRATCH_PATH + 128];
        snprintf(expected, sizeof expected, "%s%s", given->file, faults[i].expected);
        write_case(given, faults[i].text);
        expect_fault(given, "FILE", expected);
    }
}

static void test_faults_of_lines(void **state)
{
    Given *given = *state;
    char text[1024] = "[a]\nn = 3\nomega = ";
    size_t head = strlen(text);
    memset(text + head, '0', 300);
    memcpy(text + head + 299, "7\n", 3);
    write_case(given, text);
    expect_fault(given, "FILE", ":3: token 'omega = 00");
    assert_non_null(strstr(given->message, "expected a line of at most 199 characters"));
    memset(text + head, '0', 190);
    memcpy(text + head + 190, "7\n", 3);
    write_case(given, text);
    const Point *point = given_points(given, "FILE", 1);
    assert_true(point->omega == 7);
    file_write(given->file, "[a]\nn = 3\0\nd = 5\n", 17);
    expect_fault(given, "FILE", ":2: token 'n = 3': expected text");
    snprintf(text, sizeof text, "[%050d]\nn = 3\n", 0);
    write_case(given, text);
    expect_fault(given, "FILE", "expected a section name of 1 to 49 characters");
}

static char *key_of(const Point *point)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    table_write_key(stream, point, true, NULL);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void test_keys(void **state)
{
    static const char *const lines[][2] = {
        {"", "transformer,silu,none,20,30,120,2,0,1,1000,f64,dense,difference,stable,1,"},
        {"--reference subtract",
         "transformer,silu,none,20,30,120,2,0,1,1000,f64,dense,subtract,stable,1,"},
        {"--construction silu --arithmetic none",
         "silu,silu,none,20,30,,,,1,1000,none,,difference,,1,"},
        {"--construction linear --linear block --bias random --omega 0.1",
         "linear,,none,20,30,120,,,1,0.1,f64,dense,difference,stable,1,bias=random;linear=block"},
        {"--construction attention --mask causal --d-head 3 --precision 128 --tolerance 1e-9",
         "attention,,causal,20,30,,2,3,1,1000,f64,dense,difference,stable,1,"
         "precision=128;tolerance=1e-09"},
        {"--construction silu --bias-row first --bias-row-content random --reference subtract "
         "--max-bits 4096 --tolerance 1 --judge rounding --norm rel",
         "silu,silu,none,20,30,,,,1,1000,f64,dense,subtract,stable,1,"
         "bias-row=first;bias-row-content=random;max-bits=4096;tolerance=1;"
         "judge=rounding;norm=rel"},
    };
    Given *given = *state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *key = key_of(given_points(given, lines[i][0], 1));
        assert_string_equal(key, lines[i][1]);
        free(key);
    }
}

SUBJECT(grid)
{
    const struct CMUnitTest tests[] = {
        GIVEN_TEST(test_defaults),
        GIVEN_TEST(test_order),
        GIVEN_TEST(test_blank_axes),
        GIVEN_TEST(test_counts),
        GIVEN_TEST(test_sections),
        GIVEN_TEST(test_norms),
        GIVEN_TEST(test_widths),
        GIVEN_TEST(test_precision),
        GIVEN_TEST(test_judge),
        GIVEN_TEST(test_case_files),
        GIVEN_TEST(test_run_options),
        GIVEN_TEST(test_min_omega),
        GIVEN_TEST(test_faults_of_flags),
        GIVEN_TEST(test_faults_of_sizes),
        GIVEN_TEST(test_faults_of_case_files),
        GIVEN_TEST(test_faults_of_lines),
        GIVEN_TEST(test_keys),
    };
    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
