/*
 * A model's own answers: what agrees is said, what does not is refused with its likeliest cause,
 * and without them a verdict says that nothing shows what model it is.
 */
#include "../oracle.h"
#include "../shell.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODADD "cases/models/modadd53-silu.safetensors"
#define VERIFY "\"$h\" verify " MODADD " --tokens 0/1/53 --omega 20 --tolerance 1e-9 "

/* Random models of both families by an independent program: 40 as they are, 40 with one thing
 * wrong.  300 of each are a nightly test. */
static void random_models_are_told_apart(void **state)
{
    const char *count = getenv("HEADPROOF_NIGHTLY") != NULL ? "300" : "40";
    expect_output(shell("cd $p/tests; %s oracle_witness.py $h %s", oracle_needed("numpy"), count),
                  0, " 0 answered wrongly");
}

static void verdicts_say_what_is_shown(void **state)
{
    expect_shell(
        "cd \"$p\" && " VERIFY " | tail -n 1", 0,
        "; agrees with its witness, which does not tell mask causal from none: logits off by "
        "2.4e-05, allowed ");
    expect_shell("cd \"$p\" && \"$h\" sweep --weights " MODADD
                 " --n 3 --omega 20 -o /dev/null 2>&1 | tail -n 1",
                 0,
                 MODADD ": agrees with its witness, which does not tell mask causal from none: ");
    expect_shell("cd \"$p\" && \"$h\" convert cases/models/chargpt/model.safetensors --n 4 "
                 "--omega 20 -o /dev/null 2>&1",
                 0,
                 "model.safetensors: same model as its witness: logits off by 4.7e-07, allowed ");
    expect_shell("\"$h\" export --construction transformer --n 3 --d 4 --omega 20 -q -o m.st\n"
                 "\"$h\" verify ./m.st --omega 20 | tail -n 1",
                 0, "; nothing in the file shows that it is the model you run: see docs/models.md");
}

/* A tolerance of one's own decides, either way. */
static void the_tolerance_can_be_set(void **state)
{
    expect_shell("cd \"$p\" && " VERIFY "--witness-tolerance 1e-6 2>&1", 2,
                 "tensor 'witness.logits': window ");
    expect_shell("cd \"$p\" && " VERIFY "--witness-tolerance 1e-6 2>&1", 2,
                 "expected them within 1e-06 (--witness-tolerance): this is another model; ");
    expect_shell("cd \"$p\" && " VERIFY "--witness-tolerance 1e300 | tail -n 1", 0,
                 "from 1, activation silu from relu or gelu or gelu_new, mask causal from none, "
                 "heads 4 from 2 or 8: logits off by 2.4e-05, allowed 1.0e+300");
    for (int i = 0; i < 4; i++) {
        static const char *const wrong[] = {"0", "-1", "nan", ""};
        expect_output(shell("cd \"$p\" && " VERIFY "--witness-tolerance \"%s\"", wrong[i]), 2,
                      "--witness-tolerance: token ");
    }
}

/* By every command that takes a model. */
static void every_command_compares(void **state)
{
    static const char *const commands[] = {"guarantee --tolerance 1e-9", "cost", "convert -o c.st",
                                           "attribute --tokens 0/1/53", "verify --tokens 0/1/53"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        expect_output(
            shell("$h %s $p/" MODADD " --witness-tolerance 1e-6 2>&1 >/dev/null", commands[i]), 2,
            "expected them within 1e-06 (--witness-tolerance): this is another model; ");
    }
    expect_shell("$h cost $p/" MODADD, 0, ": agrees with its witness, ");
}

/* They are a warning beside a witness that tells all readings, and refused beside another. */
static void unknown_keys_need_a_witness_that_tells(void **state)
{
    (void)shell("echo \"{\\\"colour\\\": 3}\" >config.json");
    expect_shell("cp $p/cases/models/chargpt/model.safetensors m.st; "
                 "$h convert m.st --n 4 --omega 20 -o c.st 2>&1",
                 0, "unknown keys 'colour' outweighed by the witness; same model as its witness: ");
    expect_shell("cp $p/" MODADD " m.st; $h guarantee m.st --tolerance 1e-9 2>&1", 2,
                 "'colour': expected those that docs/keys.md lists (--ignore-config KEY,... "
                 "takes the responsibility for others), as its witness does not tell mask causal "
                 "from none");
    expect_shell("$h guarantee m.st --tolerance 1e-9 --ignore-config colour 2>&1 >/dev/null", 0,
                 "");
}

/* What nobody says, a witness does, where one reading alone has its answers. */
static void open_properties_are_settled(void **state)
{
    (void)shell("cp $p/cases/models/chargpt/model.safetensors m.st");
    expect_shell("$h convert m.st --n 4 --omega 20 -o c.st 2>&1 >/dev/null", 0,
                 "m.st: its witness shows scale 1/sqrt(d_head), activation gelu_new, heads 4, eps "
                 "1e-05\n");
    expect_shell("$h convert m.st --n 4 --omega 20 -o d.st --heads 4 --activation gelu_new --scale "
                 "\"1/sqrt(d_head)\" --eps 1e-5 -q && cmp c.st d.st && echo same",
                 0, "same");
    expect_shell("$h convert m.st --n 4 --omega 20 -o c.st --heads 4 2>&1 >/dev/null", 0,
                 "shows scale 1/sqrt(d_head), activation gelu_new, eps 1e-05\n");
    expect_shell("$h convert m.st --n 4 --omega 20 -o c.st --activation silu 2>&1", 2,
                 "no reading of the open choices gives these answers: scale ");
    expect_shell(
        "$h convert m.st --n 4 --omega 20 -o c.st --witness-tolerance 1e-2 2>&1", 2,
        "heads 4, eps 1e-06; scale 1/sqrt(d_head), activation gelu_new, heads 4, eps 1e-05");
}

/* In a file of its own, which holds nothing else and is not there twice. */
static void a_witness_may_be_another_file(void **state)
{
    expect_shell("cd \"$p\" && " VERIFY "--witness cases/models/chargpt/expected.safetensors 2>&1",
                 2, "tensor 'tokens': expected names that begin with 'witness.' alone");
    expect_shell("cd \"$p\" && " VERIFY "--witness " MODADD " 2>&1", 2,
                 ": expected names that begin with 'witness.' alone");
    expect_shell("cd \"$p\" && " VERIFY "--witness /no/such 2>&1", 2, "/no/such: ");
    expect_shell("cd \"$p\" && " VERIFY "--witness \"\" 2>&1", 2,
                 "--witness: token '': expected a");
}

/* A flag that nothing could follow is not taken in silence. */
static void flags_need_what_they_speak_of(void **state)
{
    static const char *const flags[] = {"--witness w.st", "--witness-tolerance 1",
                                        "--blocks sequential", "--position-embedding none",
                                        "--ignore-config rope"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        expect_output(shell("$h sweep --n 2 --d 2 --omega 20 %s", flags[i]), 2,
                      ": expected a weights file");
    }
    expect_shell("$h sweep --weights $p/cases/models/silu-x.safetensors --construction silu "
                 "--omega 20 --normalization none --witness-tolerance 1 2>&1",
                 2, "expected a weights file with a witness");
}

/* A blank at an end of a path belongs to its name. */
static void paths_keep_their_blanks(void **state)
{
    expect_shell("cp $p/" MODADD " m.safetensors; $h verify \"m.safetensors \" --omega 20 2>&1", 2,
                 "token \x27m.safetensors\x27: expected a path without a blank before or behind");
    expect_shell("cp $p/" MODADD " m.safetensors; $h verify \" ./m.safetensors\" --omega 20 2>&1",
                 2, "expected a path without a blank before or behind it");
}

SUBJECT(witness)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(random_models_are_told_apart),
        SHELL_TEST(verdicts_say_what_is_shown),
        SHELL_TEST(the_tolerance_can_be_set),
        SHELL_TEST(every_command_compares),
        SHELL_TEST(unknown_keys_need_a_witness_that_tells),
        SHELL_TEST(open_properties_are_settled),
        SHELL_TEST(a_witness_may_be_another_file),
        SHELL_TEST(flags_need_what_they_speak_of),
        SHELL_TEST(paths_keep_their_blanks),
    };
    return cmocka_run_group_tests_name("witness", tests, NULL, NULL);
}
