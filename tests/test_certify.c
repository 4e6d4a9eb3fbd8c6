/*
 * --certify from the command line: the same bytes, what is said of them, and what is refused.
 */
#include "shell.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL "silu,linear,attention,ffn3,fused,transformer3,transformer"
#define GRID "--construction " ALL " --n 5 --d 4 --heads 2 --depth 3 --omega 3,20,1000 --quiet"

/* Rows, and the points of the sidecar. */
static void values_are_the_same(void **state)
{
    expect_shell("\"$HEADPROOF\" sweep " GRID " -o plain.csv && \"$HEADPROOF\" sweep " GRID
                 " --certify -o proven.csv && cmp plain.csv proven.csv && echo equal",
                 0, "equal");
    expect_shell("for i in plain proven; do grep command $i.csv.json >$i; done; "
                 "cmp plain proven && grep -c . plain",
                 0, "21\n");
}

/* Masks, biases, activations, factors, a row alone, subtraction. */
static void values_are_the_same_of_variants(void **state)
{
    static const char *const variants[] = {
        "--construction transformer --d-head 2 --bias random --mask causal",
        "--construction attention --mask pseudo-band --band 2 --d-head 2",
        "--construction fused --activation gelu --gelu two --row 2",
        "--construction fused --activation gelu_new --gelu 3 --bias random",
        "--construction ffn3 --activation relu --slope 1000 --head-rank 2",
        "--construction masked --bias random",
        "--construction transformer --normalization layernorm --bias random",
        "--construction ffn3 --normalization rmsnorm --normalization-place post --mask causal",
        "--construction linear --linear clear --d-ff 6",
        "--construction silu --bias-row-content random",
        "--construction transformer --reference subtract",
        "--construction transformer --reference-form dense",
        "--construction transformer --propagation"};
    char script[512];
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        snprintf(script, sizeof script,
                 "\"$HEADPROOF\" sweep %s --n 5 --d 4 --heads 2 --depth 2 --precision 512%s >a && "
                 "\"$HEADPROOF\" sweep %s --n 5 --d 4 --heads 2 --depth 2 --precision 512%s "
                 "--certify >b && cmp a b && echo equal",
                 variants[i], strstr(variants[i], "masked") != NULL ? "" : " --omega 8",
                 variants[i], strstr(variants[i], "masked") != NULL ? "" : " --omega 8");
        expect_shell(script, 0, "equal");
    }
}

/* What 64 bits prove of 17 digits is little, and said. */
static void bounds_are_counted(void **state)
{
    expect_shell(
        "\"$HEADPROOF\" sweep --construction fused --n 5 --d 4 --omega 20 --certify -o a.csv", 0,
        "1 point in a.csv, certified\n");
    expect_shell("\"$HEADPROOF\" sweep --construction fused --n 5 --d 4 --omega 20 --certify "
                 "--max-bits 64 --digits 17 -o b.csv",
                 0, "certified but for ");
    expect_shell("cut -d, -f44 b.csv | tail -1", 0,
                 "construction_max;construction_rms;construction_rel;rounding_max");
    /* Bits are raised until digits are there. */
    expect_shell("\"$HEADPROOF\" sweep --construction fused --n 5 --d 4 --omega 20 --certify "
                 "--precision 64 --digits 17 -o c.csv",
                 0, "1 point in c.csv, certified\n");
}

/* Scores too large for 256 bits take more, or are refused. */
static void large_scores_are_proven_or_bounds(void **state)
{
    expect_shell("\"$HEADPROOF\" sweep --construction transformer --n 7 --d 5 --heads 2 --omega 20 "
                 "--score-scale 1e100 --certify -o a.csv",
                 0, "1 point in a.csv, certified\n");
    expect_shell("\"$HEADPROOF\" sweep --construction transformer --n 7 --d 5 --heads 2 --omega 20 "
                 "--score-scale 1e100 --certify --max-bits 256 -o b.csv",
                 0, "certified but for ");
}

static void ends_of_omega_are_proven(void **state)
{
    expect_shell("\"$HEADPROOF\" min-omega --construction " ALL " --n 5 --d 4 --heads 2 "
                 "--tolerance 1e-10 --judge construction --quiet >a && \"$HEADPROOF\" min-omega "
                 "--construction " ALL
                 " --n 5 --d 4 --heads 2 --tolerance 1e-10 --judge construction "
                 "--quiet --certify >b && cmp a b && grep -c ,,ok$ b",
                 0, "7\n");
}

static void verify_says_so(void **state)
{
    static const char line[] = "verify cases/models/modadd53-silu.safetensors --tokens 0:1/0:1/53 "
                               "--tolerance 1e-9 --omega 20 ";
    Output output = expect_run(0, "%s--certify 2>&1", line);
    expect_says(&output, 0, "within 1e-09, certified");
    output = expect_run(0, "%s2>&1", line);
    assert_null(strstr(output.text, "certified"));
}

/* It is of a run, and not of what the run writes. */
static void runs_with_and_without_merge(void **state)
{
    expect_shell("\"$HEADPROOF\" sweep " GRID " --shard 1/2 -o 1.csv --certify && "
                 "\"$HEADPROOF\" sweep " GRID " --shard 2/2 -o 2.csv && "
                 "\"$HEADPROOF\" merge 1.csv 2.csv -o all.csv && "
                 "\"$HEADPROOF\" sweep " GRID
                 " -o plain.csv && cmp plain.csv all.csv && echo equal",
                 0, "equal\n");
}

static void what_has_no_radii_is_refused(void **state)
{
    static const char *const requests[] = {
        "sweep --construction silu --n 3 --d 2 --omega 20 --certify=yes",
        "sweep --construction silu --n 3 --d 2 --omega 20 --certify --certify",
        "export --construction silu --n 3 --d 2 --omega 20 --certify -o a.safetensors"};
    expect_refused(requests, sizeof requests / sizeof *requests, 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, shell_set_up, shell_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_are_the_same),         TEST(values_are_the_same_of_variants),
        TEST(bounds_are_counted),          TEST(large_scores_are_proven_or_bounds),
        TEST(ends_of_omega_are_proven),    TEST(verify_says_so),
        TEST(runs_with_and_without_merge), TEST(what_has_no_radii_is_refused),
    };
    return cmocka_run_group_tests_name("certify", tests, NULL, NULL);
}
