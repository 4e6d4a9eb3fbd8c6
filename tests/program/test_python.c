/*
 * The package in python/: by tests/python_module.py with the first Python that has numpy, and as
 * pip installs it.
 */
#include "../oracle.h"
#include "../shell.h"
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

/* A directory $s that takes what is made along. */
#define OWN "s=$PWD/own; mkdir $s; trap \"rm -rf $s\" EXIT; "
/* Of the tree, beside the program that is tested. */
#define PACKAGE "HEADPROOF=$h PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$p/python:$PYTHONPATH "

static void the_module_does_what_it_says(void **state)
{
    expect_output(
        shell("s=$PWD; cd $p; " PACKAGE "%s tests/python_module.py $s", oracle_needed("numpy")), 0,
        "all is well");
}

/* What is there is a path, whatever it is called; PyTorch's own files are told how they get in. */
static void files_are_found_by_any_name(void **state)
{
    expect_shell(
        OWN "cp -r $p/cases/models/chargpt $s/hf; cd $s; mkdir old; echo x >m.pth\n"
            "cp m.pth old/pytorch_model.bin; cp hf/model.safetensors plain\n"
            "$h verify hf --tokens 1/2 --omega 20 -q | grep -c verdict; $h verify m.pth\n"
            "echo $?; $h verify old; echo $?; $h verify none.pth; echo $?; $h verify plain "
            "--tokens 1 --omega 20 --tolerance 1 2>&1 | "
            "head -1",
        0,
        "1\n"
        "m.pth: a file of PyTorch's own: expected one of safetensors, which python3 -m "
        "headproof save m.pth -o MODEL.safetensors writes (docs/python.md)\n2\n"
        "old: a file of PyTorch's own: expected one of safetensors, which python3 -m "
        "headproof save old -o MODEL.safetensors writes (docs/python.md)\n2\n"
        "headproof: token 'none.pth': expected a safetensors file, or a folder that has "
        "one; there is nothing of that name (python3 -m headproof save makes one of a "
        "model of PyTorch's)\n2\nplain: its witness shows scale 1/sqrt(d_head), activation ");
}

/* The version is the program's, wherever it is written. */
static void versions_are_one(void **state)
{
    expect_shell("set -- $($h --version); v=$2\n"
                 "grep -qx \"__version__ = .$v.\" $p/python/headproof/__init__.py &&\n"
                 "grep -qx \"version = .$v.\" $p/python/pyproject.toml &&\n"
                 "set -- $(grep -m 1 \"^## .[0-9]\" $p/CHANGELOG.md) && [ \"$2\" = \"[$v]\" ] &&\n"
                 "grep -qx \"version: $v\" $p/CITATION.cff &&\n"
                 "grep -qx \"date-released: $4\" $p/CITATION.cff && echo the same",
                 0, "the same");
}

/* Without a network, beside the system's packages. */
static void pip_installs_it(void **state)
{
    expect_output_or_skip(
        shell(OWN
              "cd $s; python=/usr/bin/python3; $python -c \"import numpy, venv, pip\" || exit 77\n"
              "cp -r $p/python source && $python -m venv --system-site-packages --without-pip v\n"
              "v/bin/python -m pip install -q --no-index --no-deps --disable-pip-version-check "
              "./source && cd v && env -u PYTHONPATH bin/python -c \"import headproof as h; "
              "print(h.__file__, h.__version__)\" && env -u PYTHONPATH bin/python -m headproof "
              "save -h | head -1"),
        "usage: python3 -m headproof save", "python3 with numpy, venv and pip");
}

SUBJECT(python)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(the_module_does_what_it_says),
        SHELL_TEST(files_are_found_by_any_name),
        SHELL_TEST(versions_are_one),
        SHELL_TEST(pip_installs_it),
    };
    return cmocka_run_group_tests_name("python", tests, NULL, NULL);
}
