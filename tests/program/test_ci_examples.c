/*
 * The shell of action.yml, ci/gitlab.yml and docs/ci.md: what it does is no tier's.
 */
#include "../program.h"
#include "../unit.h"

static void examples_of_the_document_run(void **state)
{
    Output output = run_program("/bin/sh", "tests/ci_examples 2>&1");
    if (output.code != 0) {
        fail_msg("tests/ci_examples: exit %d\n%s", output.code, output.text);
    }
}

SUBJECT(ci_examples)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_of_the_document_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
