/*
 * The project's own baseline, to the last digit of what no machine changes.  The tree is left as it
 * is: what is written goes to a scratch directory.
 */
#include "../program.h"
#include "../scratch.h"
#include "../unit.h"

#include <stdio.h>

static void figures_are_those_of_the_baseline(void **state)
{
    Scratch scratch;
    char command[2 * SCRATCH_PATH];
    scratch_make(&scratch);
    snprintf(command, sizeof command, "-c 'cp results/baseline.csv results/baseline.csv.json %s'",
             scratch.directory);
    Output copied = run_program("/bin/sh", command);
    assert_int_equal(copied.code, 0);
    expect_run(0, "check cases/regression.case --baseline %s/baseline.csv --exact 2>&1",
               scratch.directory);
    scratch_remove(&scratch);
}

SUBJECT(regression)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_baseline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
