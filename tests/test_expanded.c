/*
 * --expand: columns of their own for the axes that share `options`.
 */
#include "shell.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP "sweep --construction silu,fused --n 2 --d 2 --omega 5 "

/* What was given has a column, default or not; blank where it does not matter. */
static void what_is_given_has_a_column(void **state)
{
    expect_shell(
        "$h " SWEEP "--penalty positive,negative --bias none --expand -o t.csv -q && "
        "tail -c +1 t.csv | cut -d, -f1,16,53- | sed s/^/:/",
        0,
        ":construction,options,bias,penalty\n:silu,penalty=positive,,positive\n"
        ":silu,penalty=negative,,negative\n:fused,bias=none;penalty=positive,none,positive\n"
        ":fused,bias=none;penalty=negative,none,negative\n");
    expect_shell("printf \"[a]\\nconstruction = silu\\nn = 2\\nd = 2\\nomega = 5\\n"
                 "penalty = positive\\n[b]\\nconstruction = silu\\nn = 2\\nd = 2\\n"
                 "omega = 6\\nshrink = 1\\n\" >a.case; $h sweep a.case --expand | cut -d, -f53-",
                 0, "shrink,penalty\n1,positive\n1,positive\n");
    expect_shell("$h " SWEEP "--penalty negative --expand --format jsonl | grep -c "
                 "\"\\\"penalty\\\": \\\"negative\\\"}\"",
                 0, "2\n");
}

/* Everything else stays, whatever the number of threads. */
static void the_other_columns_stay(void **state)
{
    expect_shell("$h " SWEEP "--seed 1:4 >a; $h " SWEEP "--seed 1:4 --expand --threads 2 >b\n"
                 "$h " SWEEP
                 "--seed 1:4 --bias none --expand | cut -d, -f-52 | sed s/bias=none// >c\n"
                 "cmp a b && cmp a c && echo the same",
                 0, "the same");
}

static void who_reads_rows_again_refuses(void **state)
{
    expect_shell("$h " SWEEP "--expand -o t.csv --resume", 2,
                 "expected it without --resume, which reads rows");
    expect_shell("$h " SWEEP "--expand -o t.csv --shard 1/2", 2, "expected it without --shard");
    expect_shell("$h min-omega --expand", 2, "min-omega, which has no --expand");
    expect_shell("$h " SWEEP "--bias none --expand -o t.csv -q; "
                 "$h check --n 2 --d 2 --baseline t.csv",
                 1, "bias: a column that is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(what_is_given_has_a_column),
        SHELL_TEST(the_other_columns_stay),
        SHELL_TEST(who_reads_rows_again_refuses),
    };
    return cmocka_run_group_tests_name("expanded", tests, NULL, NULL);
}
