/*
 * A model's own answers: what agrees is said, what does not is refused with its likeliest cause,
 * and without them a verdict says that nothing shows what model it is.
 */
#include "oracle.h"
#include "shell.h"
#include "unit.h"

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
    expect_shell("cd \"$p\" && " VERIFY " | tail -n 1", 0,
                 "; its own logits agree to 2.4e-05 over 60 windows (float32, asked for: ");
    expect_shell("cd \"$p\" && \"$h\" sweep --weights " MODADD
                 " --n 3 --omega 20 -o /dev/null 2>&1 | tail -n 1",
                 0, MODADD ": its own logits agree to 2.4e-05");
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
                 "asked for: 1.0e+300");
    for (int i = 0; i < 4; i++) {
        static const char *const wrong[] = {"0", "-1", "nan", ""};
        expect_output(shell("cd \"$p\" && " VERIFY "--witness-tolerance \"%s\"", wrong[i]), 2,
                      "--witness-tolerance: token ");
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(random_models_are_told_apart),  SHELL_TEST(verdicts_say_what_is_shown),
        SHELL_TEST(the_tolerance_can_be_set),      SHELL_TEST(a_witness_may_be_another_file),
        SHELL_TEST(flags_need_what_they_speak_of), SHELL_TEST(paths_keep_their_blanks),
    };
    return cmocka_run_group_tests_name("witness", tests, NULL, NULL);
}
