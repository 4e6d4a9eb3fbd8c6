/*
 * The project's own baseline, to the last digit of what no machine changes, and the shell of
 * action.yml, ci/gitlab.yml and docs/ci.md.  Both leave the tree as it is: what is written goes to
 * a scratch directory.
 */
#include "../program.h"
#include "../scratch.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>

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

static void examples_of_the_document_run(void **state)
{
    Output output = run_program("/bin/sh", "tests/ci_examples 2>&1");
    if (output.code != 0) {
        fail_msg("tests/ci_examples: exit %d\n%s", output.code, output.text);
    }
}

SUBJECT(regression)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_baseline),
        cmocka_unit_test(examples_of_the_document_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
