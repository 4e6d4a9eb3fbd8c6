/*
 * Files of `convert` in both layouts: that they are one model, that PyTorch runs them from token
 * ids to logits with nothing else, and what is refused.
 */
#include "../oracle.h"
#include "../shell.h"
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#define MODADD "$p/cases/models/modadd53-silu.safetensors"
#define CHARGPT "$p/cases/models/chargpt"

static void the_shared_layout_is_the_plain_one(void **state)
{
    expect_output(shell("s=$PWD; cd $p && HEADPROOF=$h PYTHONDONTWRITEBYTECODE=1 "
                        "%s tests/converted_layouts.py $s",
                        oracle_needed("json")),
                  0, "all is well");
}

/* By the first Python that has PyTorch: the system's, for one. */
static void pytorch_alone_gives_the_logits(void **state)
{
    expect_output(shell("s=$PWD; cd $p; HEADPROOF=$h PYTHONDONTWRITEBYTECODE=1 "
                        "PYTHONPATH=$p/python %s tests/converted_alone.py $s",
                        oracle_needed("torch, numpy")),
                  0, "all is well");
}

/* Headproof itself reads a file without norms as a model with one more token.  Both compute the
 * same logits, so the smallest margin is the same. */
static void a_plain_file_is_a_model(void **state)
{
    expect_shell("margin() { sed -n \"s/.*smallest margin \\([^,]*\\),.*/\\1/p\"; }\n"
                 "$h convert " MODADD " --omega 20 -q -o t.safetensors || exit\n"
                 "a=$($h verify ./t.safetensors --tokens 54/0:3/7/53 --omega 20 | margin)\n"
                 "b=$($h verify " MODADD " --tokens 0:3/7/53 --omega 20 | margin)\n"
                 "echo \"margins $a $b\"; [ -n \"$a\" ] && [ \"$a\" = \"$b\" ]",
                 0, "margins 17.3 17.3");
}

static void a_context_is_what_was_asked(void **state)
{
    expect_shell("$h convert " CHARGPT " --omega 20 --n 1 -o t --layout shared", 0,
                 "t: 4 sublayers of 4 heads, 257, ... on a stream of 2 rows and 64 columns");
    expect_shell("$h convert " CHARGPT " --omega 20 --n 1 -o t", 0,
                 "t: 4 sublayers of 257 heads of rank 18 on a stream of 2 rows and 66 columns");
    expect_shell("$h convert " CHARGPT " --omega 20 -o t --layout shared", 0,
                 "on a stream of 65 rows and 64 columns");
    expect_shell("$h convert " CHARGPT " --omega 20 --n 65 -o none --layout shared", 2,
                 "64 positions: expected one for each of the 65 tokens of --n or of X");
    expect_shell("$h convert " MODADD " --omega 20 --n 4 -o none", 2, "'pos_embed.W_pos': 3 ");
    expect_shell("[ ! -e none ]", 0, "");
}

/* The file of a shared layout takes 456 kB: neither a smaller limit of files nor of memory lets it
 * begin, and a disk that is full leaves nothing behind. */
static void what_has_no_room_is_refused(void **state)
{
    expect_shell("ulimit -f 100; $h convert " MODADD " --omega 20 -o none --layout shared", 99,
                 "none: the converted model takes 0.000423 GiB; ");
    expect_shell("$h convert " MODADD " --omega 20 -o none --layout shared --memory 100KiB", 2,
                 "9.54e-05 GiB may be used");
    expect_shell("$h convert " MODADD " --omega 20 -o none --n 3 --memory 7MiB", 2,
                 "(--layout shared takes less)");
    expect_shell("$h convert " MODADD " --omega 20 -o t --layout shared --memory 7MiB", 0, "t: 2 ");
    expect_shell("[ ! -e none ]", 0, "");
}

static void what_cannot_be_is_refused(void **state)
{
    expect_shell("$h convert " MODADD " --omega 20 --layout both -o none", 2,
                 "expected one of plain, shared");
    expect_shell("$h sweep --layout shared", 2, "which has no --layout");
    expect_shell("cp " MODADD " own.safetensors\n"
                 "$h convert ./own.safetensors --omega 20 --layout shared -o own.safetensors; "
                 "code=$?; cmp own.safetensors " MODADD " || exit 3; exit $code",
                 2, "own.safetensors");
    expect_shell("cp -r " CHARGPT " folder\n"
                 "$h convert folder/ --omega 20 --layout shared -o folder/config.json; "
                 "code=$?; cmp folder/config.json " CHARGPT
                 "/config.json || code=3; rm -r folder; exit $code",
                 2, "config.json");
    expect_shell("$h export --construction fused --n 3 --d 4 --omega 9 -q -o f.safetensors\n"
                 "$h convert ./f.safetensors --omega 20 --construction masked --layout shared "
                 "-o none",
                 2, "masked");
    expect_shell("$h export --construction silu --n 3 --d 4 --omega 9 -q -o x.safetensors\n"
                 "$h convert ./x.safetensors --omega 20 --layout shared -o none",
                 2, "convert expects a model");
    expect_shell("[ ! -e none ]", 0, "");
}

SUBJECT(layouts)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(the_shared_layout_is_the_plain_one),
        SHELL_TEST(pytorch_alone_gives_the_logits),
        SHELL_TEST(a_plain_file_is_a_model),
        SHELL_TEST(a_context_is_what_was_asked),
        SHELL_TEST(what_has_no_room_is_refused),
        SHELL_TEST(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests_name("layouts", tests, NULL, NULL);
}
