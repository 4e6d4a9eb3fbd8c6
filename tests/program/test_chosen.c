/*
 * The choices of `verify` where nobody makes them: which Omega it takes, and which inputs; and that
 * its lines are not too long.
 */
#include "../../harness/models/safetensors_write.h"
#include "../drawn_numbers.h"
#include "../fixture.h"
#include "../shell.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODADD "cases/models/modadd53-silu.safetensors"
#define SOME "verify " MODADD " --tokens 0:52:26/1/53 "

/* The table of a run, in place of what it says. */
static Output table(const char *arguments)
{
    return run_formatted("%s -q -o \"$TMPDIR/c.csv\" >&2; cat \"$TMPDIR/c.csv\"", arguments);
}

/* It is what convert takes, and guarantee finds: for the tolerance, or for convert's own. */
static void the_proven_one_is_taken(void **state)
{
    Output converted = run("convert " MODADD " -o \"$TMPDIR/t\" 2>&1");
    double omega = number_after(&converted, "Omega = ");
    Output said = run(SOME), rows = table(SOME);
    assert_true(omega > 16 &&
                number_after(&said, "every input of up to 3 tokens: omega ") == omega);
    assert_true(number_after(&said, "no tolerance; at omega ") == omega);
    assert_true(number(&rows, 1, "omega") == omega);
    expect_cell(&rows, 1, "options", "mask=causal;scale=1/sqrt(d_head);penalty=negative");
    said = run(SOME "--tolerance 0.2 --arithmetic bf16 -q");
    Output proven = run("guarantee " MODADD " --tolerance 0.2 --arithmetic bf16 2>/dev/null");
    assert_true(number_after(&said, "PASS: at omega ") == number(&proven, 1, "omega"));
    assert_null(strstr(said.text, "chosen"));
    /* Parts of the inputs take the same; what is given is given. */
    assert_true(number(&(Output){.text = table(SOME "--shard 2/2").text}, 1, "omega") == omega);
    said = run(SOME "--omega 20 --penalty positive 2>&1");
    assert_non_null(strstr(said.text, ", penalty positive\nomega 20:\n"));
    said = run("convert " MODADD " -o \"$TMPDIR/t\" --omega 20 2>&1");
    assert_non_null(strstr(said.text, "headproof: Omega = 20, penalty negative\n"));
}

/* Of a divergence nothing is proven: the lower end of the plateau, which the inputs show. */
static void else_the_plateau_says_it(void **state)
{
    static const char judged[] = SOME "--tolerance 1e-9 --judge kl ";
    char line[512];
    Output said = run(judged);
    double omega = number_after(&said, "\nomega ");
    assert_non_null(strstr(said.text, " is chosen on these inputs, the smallest with at most 10 "));
    assert_true(number_after(&said, ": PASS: at omega ") == omega);
    assert_non_null(strstr(said.text, ", chosen on the same inputs, the largest KL divergence"));
    double least = number_after(&said, "with error ");
    for (int below = 0; below < 2; below++) {
        snprintf(line, sizeof line, "%s--omega %.17g", judged, omega * (below ? 0.95 : 1));
        Output rows = table(line);
        assert_true((number(&rows, 1, "kl_machine_max") <= 10 * least * (1 + 1e-2)) == !below);
    }
    said = run(SOME "--tolerance 1e-9 --norm rel --judge construction");
    omega = number_after(&said, "\nomega ");
    assert_non_null(strstr(said.text, ", the smallest found that meets 1e-09; for other inputs"));
    assert_true(number_after(&said, "the tolerance 1e-09 at all ") > 0);
    assert_true(number_after(&said, "omega from ") == omega);
    said = run(SOME "--tolerance 1e-9 --judge kl --shard 1/2 2>&1");
    expect_says(&said, 2, "--shard: expected --omega with it");
}

/* One that is proven and that the machine has no number for is not taken. */
static void what_overflows_is_not_taken(void **state)
{
    Output said =
        expect_run(0, "export --construction transformer --depth 8 --n 3 --d 4 --heads 1 --omega 9 "
                      "-q -o \"$TMPDIR/deep.safetensors\"");
    said = run("verify \"$TMPDIR/deep.safetensors\" --input-norm 10 --tolerance 1e-2 -q");
    assert_true(number_after(&said, "PASS: at omega ") > 65504);
    said = run("verify \"$TMPDIR/deep.safetensors\" --input-norm 10 --tolerance 1e-2 -q "
               "--arithmetic fp16");
    assert_true(number_after(&said, "PASS: at omega ") < 20);
    assert_non_null(strstr(said.text, ", chosen on the same inputs, "));
}

/* Announces a tensor of random numbers of that size, which stay in data. */
static double *draw(SafetensorsWriter *writer, const char *name, size_t rows, size_t columns,
                    double size, double *data)
{
    for (size_t i = 0; i < rows * columns; i++) {
        data[i] = size * drawn_uniform();
    }
    assert_int_equal(
        safetensors_writer_floats(writer, name, 2, (size_t[]){rows, columns}, NULL, data), 0);
    return data + rows * columns;
}

/* Writes m.st, a network alone on D columns whose logits are that small; returns its path. */
static const char *draw_model(size_t d, double logits, const char *activation)
{
    double data[200], *next = data;
    SafetensorsWriter *writer = safetensors_writer_make();
    next = draw(writer, "embed.W_E", 5, d, 2, next);
    next = draw(writer, "pos_embed.W_pos", 2, d, 2, next);
    next = draw(writer, "blocks.0.mlp.W_in", d, 3, 2, next);
    next = draw(writer, "blocks.0.mlp.W_out", 3, d, 2, next);
    (void)draw(writer, "unembed.W_U", d, 5, logits, next);
    const char *const said[][2] = {{"activation", activation}, {"mask", "none"},
                                   {"normalization", "none"},  {"positions", "learned"},
                                   {"blocks", "sequential"},   {"scale", "1"}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        safetensors_writer_metadata(writer, said[i][0], said[i][1]);
    }
    assert_int_equal(safetensors_writer_finish(writer, shell_path("m.st")), 0);
    safetensors_writer_clear(writer);
    return shell_path("m.st");
}

/* What is proven of logits is no verdict on streams: with one column, or with small logits, it is
 * too small for these, and another is chosen, which passes, and passes where it is asked for. */
static void what_is_chosen_passes(void **state)
{
    static const double logits[] = {1, 1e-3, 1e-6};
    size_t proven = 0, found = 0;
    const size_t trials = fixture_nightly() ? 24 : 16;
    drawn_numbers = 44;
    for (size_t trial = 0; trial < trials; trial++) {
        const char *path = draw_model(trial % 2 == 0 ? 1 : 3, logits[trial % 3], "silu");
        const char *more = trial % 4 == 0 ? "1e-9" : trial % 4 == 1 ? "1e-2" : "1e-13 --norm rel";
        Output said = run_formatted("verify %s --tolerance %s %s", path, more,
                                    trial % 5 == 0 ? "--quiet" : "");
        double omega = number_after(&said, ": PASS: at omega ");
        bool chosen = strstr(said.text, ", chosen on the same inputs, the error is within") != NULL;
        proven += !chosen;
        found += chosen;
        assert_true(chosen || strstr(more, "rel") == NULL);
        (void)expect_run(0, "verify %s --tolerance %s -q --omega %.17g", path, more, omega);
    }
    assert_true(proven > 2 && found > 2);
    Output said = run_formatted("verify %s --tolerance 1e-9", draw_model(3, 1e-3, "silu"));
    assert_non_null(strstr(said.text,
                           "it is evaluated (--omega names another)\nthere the verdict is "
                           "FAIL: omega "));
    double omega = number_after(&said, "there the verdict is FAIL: omega ");
    assert_true(number_after(&said, ": PASS: at omega ") == omega);
    assert_non_null(strstr(said.text, " is enough\n")); /* for every input */
}

/* A tolerance that the least error meets, and not twice that, is met. */
static void the_tolerance_ends_the_plateau(void **state)
{
    drawn_numbers = 9;
    for (size_t trial = 0; trial < 6; trial++) {
        const char *path = draw_model(3, 1, "silu");
        Output said = expect_run(1, "verify %s --tolerance 1e-30 --norm rel", path);
        double least = number_after(&said, ", with error ");
        assert_non_null(
            strstr(said.text, "; try a larger tolerance; ")
                ? said.text
                : strstr(said.text, " omegas evaluated meets the tolerance: try a larger "));
        (void)expect_run(0, "verify %s --tolerance %.17g --norm rel -q", path, 1.1 * least);
    }
}

/* No Omega helps where the imitation fails: nothing is searched for. */
static void an_imitation_is_not_searched_around(void **state)
{
    drawn_numbers = 7;
    const char *path = draw_model(3, 1, "gelu");
    Output said = expect_run(1, "verify %s --tolerance 1e-9 -q", path);
    assert_non_null(strstr(said.text, ": the imitation of gelu leaves "));
    assert_null(strstr(said.text, "chosen"));
}

/* Without inputs a sample is drawn, which the seed decides; every tuple is asked for. */
static void inputs_are_drawn(void **state)
{
    static const char *const seeds[] = {"", "--seed 1 ", "--seed 2 "};
    Output said, rows[3];
    for (size_t i = 0; i < 3; i++) {
        said = expect_run(0, "verify " MODADD " %s--omega 20 -q -o \"$TMPDIR/c.csv\"", seeds[i]);
        assert_non_null(strstr(said.text, "20 over a sample of 256 of 157464 inputs: "));
        rows[i] = run_program("/bin/sh", "-c 'cat \"$TMPDIR/c.csv\"'");
        expect_cell(&rows[i], 1, "inputs", "256");
    }
    double margin = number(&rows[0], 1, "logit_margin");
    assert_true(number(&rows[1], 1, "logit_margin") == margin);
    assert_true(number(&rows[2], 1, "logit_margin") != margin);
    Output all = run("verify " MODADD " --tokens all --dry-run 2>&1");
    assert_non_null(strstr(all.text, "headproof: 157464 inputs: about "));
    assert_null(strstr(all.text, "sample"));
}

/* --dry-run evaluates nothing, and says the command that does, with what is usual here alone. */
static void a_dry_run_foretells(void **state)
{
    Output said = run(SOME "--omega 5,20 --kernel dense --penalty positive --dry-run 2>/dev/null");
    assert_int_equal(lines(&said), 2);
    assert_non_null(strstr(said.text, "headproof verify " MODADD " "));
    assert_non_null(strstr(said.text, " --omega 20 --seed 1 --kernel dense --penalty positive"));
    said = run(SOME "--dry-run 2>&1 >/dev/null");
    assert_int_equal(strncmp(said.text, "headproof: 3 inputs: less than a second with ", 44), 0);
    said = run(SOME "--dry-run --judge kl --tolerance 1 2>/dev/null");
    assert_null(strstr(said.text, "--omega")); /* it is not known before */
}

/* A line has 100 columns at most, or as many as COLUMNS says, wherever it goes; nothing is lost. */
static void lines_are_not_too_long(void **state)
{
    static const char *const widths[] = {"-u COLUMNS", "COLUMNS=60", "COLUMNS=1000"};
    static const size_t most[] = {100, 60, 1000};
    size_t words[3] = {0, 0, 0};
    for (size_t i = 0; i < 3; i++) {
        char line[512];
        size_t longest = 0;
        snprintf(line, sizeof line, "%s \"$HEADPROOF\" " SOME "--omega 20 --tolerance 1e-9",
                 widths[i]);
        Output said = run_program("env", line);
        assert_int_equal(said.code, 0);
        for (const char *at = said.text; *at != '\0'; at += strcspn(at, "\n") + 1) {
            size_t length = strcspn(at, "\n");
            bool of_table = strncmp(at, "layer ", 6) == 0 || strncmp(at, "    1  ", 7) == 0;
            longest = !of_table && length > longest ? length : longest;
            assert_true(length <= 100 || i == 2);
        }
        assert_true(longest <= most[i] && (longest > 100) == (i == 2));
        for (const char *at = said.text + strspn(said.text, " \n"); *at != '\0'; words[i]++) {
            at += strcspn(at, " \n");
            at += strspn(at, " \n");
        }
    }
    assert_true(words[0] > 100 && words[0] == words[1] && words[1] == words[2]);
}

SUBJECT(chosen)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_proven_one_is_taken),
        cmocka_unit_test(else_the_plateau_says_it),
        cmocka_unit_test(what_overflows_is_not_taken),
        cmocka_unit_test(inputs_are_drawn),
        SHELL_TEST(what_is_chosen_passes),
        SHELL_TEST(the_tolerance_ends_the_plateau),
        SHELL_TEST(an_imitation_is_not_searched_around),
        cmocka_unit_test(a_dry_run_foretells),
        cmocka_unit_test(lines_are_not_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
