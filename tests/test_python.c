/*
 * python/headproof.py, by tests/python_module.py, with the first Python that has numpy.
 */
#include "shell.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void the_module_does_what_it_says(void **state)
{
    expect_output_or_skip(shell("s=$PWD; cd $p; for python in python3 /usr/bin/python3; do\n"
                                "    $python -c \"import numpy\" 2>/dev/null || continue\n"
                                "    HEADPROOF=$h PYTHONDONTWRITEBYTECODE=1 "
                                "PYTHONPATH=$p/python:$PYTHONPATH $python tests/python_module.py "
                                "$s\n    exit\ndone; exit 77"),
                          "all is well", "python3 with numpy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(the_module_does_what_it_says),
    };
    return cmocka_run_group_tests_name("python", tests, NULL, NULL);
}
