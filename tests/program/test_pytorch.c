/*
 * The package in python/ beside PyTorch, by tests/walk_pytorch.py with a Python that has it.
 */
#include "../oracle.h"
#include "../shell.h"
#include "../unit.h"

/* From models of PyTorch's, file or Module, to attention-only modules with their logits. */
static void models_of_pytorch_get_in(void **state)
{
    expect_output(shell("s=$PWD/own; mkdir $s; trap \"rm -rf $s\" EXIT; cd $p; "
                        "HEADPROOF=$h PYTHONDONTWRITEBYTECODE=1 "
                        "PYTHONPATH=$p/python:$PYTHONPATH %s tests/walk_pytorch.py $s",
                        oracle_needed("numpy, torch")),
                  0, "all is well");
}

SUBJECT(pytorch)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(models_of_pytorch_get_in),
    };
    return cmocka_run_group_tests_name("pytorch", tests, NULL, NULL);
}
