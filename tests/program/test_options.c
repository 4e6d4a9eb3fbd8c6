/*
 * The column `options`: it says what is not at its default, whatever was given.
 */
#include "../../harness/table/table.h"

#include "../interrupted.h"
#include "../shell.h"
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#define GRID "--construction silu,fused --n 2 --d 2 --omega 5,20 --arithmetic f64,bf16,none "
/* The same points, every default that can be said among them. */
#define SPELLED GRID "--tolerance none --row all --shrink 1 --bias none --weights-rounded "
#define MODEL "--weights $p/tests/data/all-biases.safetensors --n 3 --omega 3 "
#define OPTIONS "cut -d, -f16 | tail -n +2"

static void what_is_no_default_is_said(void **state)
{
    expect_shell("$h sweep " GRID "-q --format csv | " OPTIONS " | sort -u | sed s/^/:/", 0, ":\n");
    expect_shell(
        "$h sweep --construction silu,fused --n 2 --d 2 --bias none --norm max "
        "--score-scale 1 --shrink 1,2 --tolerance 1 --judge total -q --format csv | " OPTIONS,
        0, "tolerance=1\nshrink=2;tolerance=1\ntolerance=1\nshrink=2;tolerance=1\n");
    expect_shell(
        "$h depth --construction silu --n 2 --d 2 --depth 2 --row all -q --format csv | " OPTIONS,
        0, "\n\n");
    expect_shell("$h min-omega --construction silu --n 2 --d 2 --tolerance 1e-9 --bias none "
                 "--shrink 1 -q | cut -d, -f15",
                 0, "options\ntolerance=1e-09\n");
    expect_shell("$h verify $p/cases/models/modadd53-silu.safetensors --tokens 1/3/53 --omega 20 "
                 "--penalty positive -q -o v.csv; cut -d, -f6 v.csv",
                 0, "options\nmask=causal;scale=1/sqrt(d_head)\n");
}

/* A weights file says how its scores are scaled: who reads the table does not have it. */
static void scales_of_files_are_said(void **state)
{
    expect_shell("$h sweep " MODEL "-q -o a.csv; $h sweep " MODEL
                 "--scale \"1/sqrt(d_head)\" -q -o "
                 "b.csv; cmp a.csv b.csv && cat a.csv | " OPTIONS,
                 0, "scale=1/sqrt(d_head)\n");
    expect_shell("$h sweep " MODEL "--expand -q --format csv | cut -d, -f52-", 0,
                 "scale\n1/sqrt(d_head)\n");
    expect_shell("$h check " MODEL "--row all --baseline a.csv", 0, "PASS: 1 rows");
}

/* ---- Identity -------------------------------------------------------------------------------- */

static void checks_match_either_way(void **state)
{
    expect_shell("$h sweep " GRID "-q -o a.csv; $h sweep " SPELLED "yes -q -o b.csv; "
                 "cmp a.csv b.csv && echo the same",
                 0, "the same\n");
    expect_shell("$h check " GRID "--baseline b.csv", 0, "PASS: 12 rows");
    expect_shell("$h check " SPELLED "yes --baseline a.csv", 0, "PASS: 12 rows");
    expect_shell("$h check " SPELLED "no --baseline a.csv", 1, "a row that the baseline does not");
}

/* a.csv, as a run of it that was interrupted after 4 points of one row leaves it. */
static void interrupt_a(void)
{
    const char *path = shell_path("a.csv");
    Output whole = read_file(path);
    const char *end = whole.text;
    for (int line = 0; line < 5; line++) {
        end = strchr(end, '\n') + 1;
    }
    leave_interrupted(path, &whole, (size_t)(end - whole.text), 1, 0.001);
}

static void interrupted_runs_go_on(void **state)
{
    expect_shell("$h sweep " GRID "-q -o a.csv; cp a.csv whole; $h sweep " SPELLED
                 "yes --resume -o a.csv 2>&1",
                 0, "a.csv is complete");
    interrupt_a();
    expect_shell("$h sweep " SPELLED "yes --resume -o a.csv 2>&1", 0,
                 "4 of 12 points are there already");
    expect_shell("cmp a.csv whole && echo the same", 0, "the same\n");
    interrupt_a();
    expect_shell("$h sweep " SPELLED "no --resume -o a.csv", 2, "cannot be resumed");
}

static void shards_need_not_be_told_the_same(void **state)
{
    expect_shell("$h sweep " GRID "--shard 1/2 -q -o s1.csv; $h sweep " SPELLED
                 "yes --shard 2/2 -q -o s2.csv; $h merge s1.csv s2.csv -o m.csv && $h check " GRID
                 "--baseline m.csv",
                 0, "PASS: 12 rows");
    expect_shell("for i in 1 2; do $h verify $p/cases/models/modadd53-silu.safetensors --tokens "
                 "1:2/3/53 --omega 20 $([ $i = 1 ] && echo --shrink 1) --shard $i/2 -q "
                 "-o v$i.csv; done; $h merge v1.csv v2.csv -o v.csv && cut -d, -f6,7 v.csv",
                 0, "mask=causal;scale=1/sqrt(d_head);penalty=negative,2\n");
}

/* Without a reference what is observed is judged. */
static void shards_without_reference_keep_their_verdict(void **state)
{
    expect_shell("for i in 1 2; do $h sweep --construction silu --n 2 --d 2 --omega 5,20 "
                 "--reference none --tolerance 1e-2 --shard $i/2 -q -o s$i.csv; done; "
                 "$h merge s1.csv s2.csv -o m.csv",
                 0, "2 points of 2 shards");
}

static void pictures_see_one_value(void **state)
{
    expect_shell("$h sweep --construction silu --n 2 --d 2 --omega 5,6 -q -o a.csv; $h sweep "
                 "--construction silu --n 2 --d 2 --omega 7,8 --shrink 1 --row all -q -o b.csv; "
                 "$h plot a.csv b.csv -o ab.svg; grep -c shrink ab.svg",
                 1, "picture: ab.svg\n0\n");
}

/* ---- The cell -------------------------------------------------------------------------------- */

/* The point that a row's key is read to: of this arithmetic, reference and options. */
static Point point_of(const char *arithmetic, const char *reference, const char *options)
{
    Point point;
    char line[256];
    int key = snprintf(line, sizeof line, "fused,silu,none,3,2,8,2,0,7,20,%s,dense,%s,stable,1,%s",
                       arithmetic, reference, options);
    snprintf(line + key, sizeof line - (size_t)key, ",1,0.5\n");
    assert_int_equal(table_read_key(&point, line), key);
    assert_int_equal(point.spec.depth, 7);
    return point;
}

/* What a row says nothing of: expected as the flags' defaults are documented. */
static void defaults_hang_on_the_row(void **state)
{
    static const struct {
        const char *arithmetic, *reference, *options;
        ErrorKind judge;
    } rows[] = {
        {"f64", "difference", "tolerance=1e-09", ERROR_TOTAL},
        {"none", "difference", "tolerance=1e-09", ERROR_CONSTRUCTION},
        {"none", "difference", "tolerance=1e-09;judge=total", ERROR_TOTAL},
        {"f64", "none", "tolerance=1", ERROR_OBSERVED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Point point = point_of(rows[i].arithmetic, rows[i].reference, rows[i].options);
        assert_int_equal(point.judge, rows[i].judge);
        assert_true(point.judged && point.norm == NORM_MAX);
    }
}

static void values_are_found_by_their_whole_name(void **state)
{
    Point point = point_of("f64", "difference", "normalization=rmsnorm;xjudge=native");
    assert_true(point.norm == NORM_MAX && point.judge == ERROR_TOTAL && !point.judged);
    point = point_of("f64", "difference", "judge=native;norm=rel;tolerance=0.25");
    assert_true(point.norm == NORM_REL && point.judge == ERROR_NATIVE && point.judged);
    assert_true(point.tolerance == 0.25);
    assert_int_equal(table_read_key(&point, "fused,silu,none,3\n"), 0);
    assert_int_equal(table_read_key(&point, "a,b,c,3,2,8,2,0,7,20,f64,d,subtract,s,1,tolerance=\n"),
                     0);
    assert_int_equal(table_read_key(&point, "a,b,c,3,2,8,2,0,7,20,f65,d,subtract,s,1,\n"), 0);
}

#define VERIFIED                                                                                   \
    "$h verify $p/cases/models/modadd53-silu.safetensors --tokens 1/3/53 --omega 20 -q -o "

/* An old name is the flag's, with a word. */
static void old_names_are_taken(void **state)
{
    expect_shell(VERIFIED "a.csv --network three 2>a; " VERIFIED
                          "b.csv --form three 2>b; cmp a.csv b.csv && diff a b",
                 1, "headproof: --form is --network now\n");
    expect_shell(VERIFIED "c.csv --form=three --network three", 2, "expected the flag once");
    expect_shell(VERIFIED "c.csv --form four", 2, "--network: token \'four\'");
    expect_shell("$h sweep --form three", 2, "expected a flag of sweep, which has no --network");
}

SUBJECT(options)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(what_is_no_default_is_said),
        SHELL_TEST(scales_of_files_are_said),
        SHELL_TEST(checks_match_either_way),
        SHELL_TEST(interrupted_runs_go_on),
        SHELL_TEST(shards_need_not_be_told_the_same),
        SHELL_TEST(shards_without_reference_keep_their_verdict),
        SHELL_TEST(pictures_see_one_value),
        SHELL_TEST(old_names_are_taken),
        cmocka_unit_test(defaults_hang_on_the_row),
        cmocka_unit_test(values_are_found_by_their_whole_name),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
