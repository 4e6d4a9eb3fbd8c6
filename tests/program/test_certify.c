/*
 * --certify from the command line: the same bytes, what is said of them, and what is refused.
 */
#include "../shell.h"
#include "../unit.h"

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

SUBJECT(certify)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(values_are_the_same),
        SHELL_TEST(bounds_are_counted),
        SHELL_TEST(large_scores_are_proven_or_bounds),
        SHELL_TEST(ends_of_omega_are_proven),
        SHELL_TEST(verify_says_so),
        SHELL_TEST(runs_with_and_without_merge),
    };
    return cmocka_run_group_tests_name("certify", tests, NULL, NULL);
}
