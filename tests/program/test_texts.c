/*
 * Texts through `verify`, as token ids: losses and divergences at every position, tolerances for
 * them, the first prediction that changes, shards put together, and what are no ids.
 */
#include "../shell.h"
#include "../written_model.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL "tests/data/texts.safetensors"
#define MODADD "cases/models/modadd53-silu.safetensors"

/* Nine tokens: "ab", a line's end, "c\u00e9a \u0436b" as data/texts-characters.json has it. */
#define TEXT "0 1 4 2 3 0 5 6 1"
enum { POSITIONS = 9 };

/* `verify` of a text in the scratch directory, with the rest of the line. */
#define OF_TEXT(name) "$h verify $p/" MODEL " --positions all --tokens-file " name " "

/* Nine tokens in t.txt. */
static int set_up(void **state)
{
    (void)shell_set_up(state);
    shell_write("t.txt", TEXT);
    return 0;
}
#define TEXT_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, shell_tear_down)

/* The table that a command writes, with its exit code. */
static Output table(const char *command, int code)
{
    Output output = shell("%s -q --format csv 2>said", command);
    assert_int_equal(output.code, code);
    return output;
}

/* The last row of an Omega is of all positions: means of the cells above, and the largest. */
static void means_are_of_the_cells(void **state)
{
    static const char *const columns[] = {"loss_original", "loss_converted", "loss_machine",
                                          "loss_native",   "kl_converted",   "kl_machine",
                                          "kl_native"};
    Output output = table(OF_TEXT("t.txt") "--omega 3", 0);
    size_t last = lines(&output) - 1;
    assert_int_equal(last, POSITIONS + 1);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        double sum = 0, most = 0;
        size_t count = 0;
        for (size_t line = 1; line < last; line++) {
            char text[64];
            cell(text, sizeof text, &output, line, columns[i]);
            double value = strtod(text, NULL);
            sum += value;
            most = fmax(most, value);
            count += *text != '\0';
        }
        assert_int_equal(count, i < 4 ? POSITIONS - 1 : POSITIONS);
        double mean = number(&output, last, columns[i]);
        assert_true(fabs(mean - sum / (double)count) <= 1e-11 * mean);
        if (i >= 4) {
            char column[32];
            snprintf(column, sizeof column, "%s_max", columns[i]);
            assert_true(number(&output, last, column) == most);
        }
    }
}

/* Of the machine, double: its divergences are those of its logits' errors, which the construction
 * makes at Omega 2 and rounding at 400; and m(T) does not depend on Omega. */
static void the_machine_s_are_of_their_size(void **state)
{
    char native[2][64];
    Output output = table(OF_TEXT("t.txt") "--omega 2,400", 0);
    for (size_t p = 0; p < POSITIONS; p++) {
        size_t line = 1 + p, far = line + POSITIONS + 1;
        double kl = number(&output, line, "kl_converted");
        assert_true(fabs(number(&output, line, "kl_machine") - kl) < 1e-9 * kl);
        double error = number(&output, far, "logit_error");
        assert_true(number(&output, far, "kl_machine") <= error * error);
        assert_true(number(&output, far, "kl_machine") > 0);
        cell(native[0], sizeof native[0], &output, line, "kl_native");
        cell(native[1], sizeof native[1], &output, far, "kl_native");
        assert_string_equal(native[0], native[1]);
    }
}

/* At the ends of the interval found the largest is within the tolerance, and beyond them it is not;
 * the verdict says what was judged. */
static void expect_judged(const char *judge, const char *column, const char *named)
{
    static const char command[] =
        "$h verify $p/" MODADD " --tokens 0:52:26/1/53 --tolerance 1e-6 --judge %s --omega %.9g";
    Output output = shell(command, judge, 20.0);
    expect_says(&output, 0, named);
    assert_non_null(strstr(output.text, "in the stream"));
    double omega = number_after(&output, "omega from ");
    for (int below = 0; below < 2; below++) {
        char line[512];
        snprintf(line, sizeof line, command, judge, omega * (below ? 1 - 2e-6 : 1 + 1e-7));
        output = table(line, below);
        double worst = number(&output, 1, column);
        assert_true(below ? worst > 1e-6 : worst <= 1e-6);
        expect_cell(&output, 1, "status", below ? "fail" : "ok");
    }
}

static void tolerances_judge_logits_and_divergences(void **state)
{
    expect_judged("logits", "logit_error",
                  "verdict: PASS: at omega 20 the largest logit error is within 1e-06");
    expect_judged("kl", "kl_machine_max",
                  "verdict: PASS: at omega 20 the largest KL divergence of m(T') is within 1e-06");
}

/* Two tokens of two columns, one hidden unit, three classes. */
#define TENSORS                                                                                    \
    TENSOR("X", "[2,2]", "0", "32")                                                                \
    "," TENSOR("blocks.0.mlp.W_in", "[2,1]", "32", "48") "," TENSOR(                               \
        "blocks.0.mlp.W_out", "[1,2]", "48", "64") "," TENSOR("unembed.W_U", "[2,3]", "64", "112")

/* min-omega over a file's own inputs finds what verify finds, at all positions and at the last. */
static void min_omega_finds_the_same(void **state)
{
    static const double numbers[] = {0.5, 3, 1, -2, 1, 0.5, 0.5, -0.25, 1, 2, -1, 0.25, -1, 3};
    double found[2];
    written_model(shell_scratch(), "m.safetensors", TENSORS, numbers,
                  sizeof numbers / sizeof *numbers);
    for (int all = 0; all < 2; all++) {
        const char *positions = all ? "all" : "last";
        Output output = shell("$h verify m.safetensors --construction fused --omega 20 "
                              "--tolerance 1e-7 --judge kl --positions %s",
                              positions);
        found[all] = number_after(&output, "omega from ");
        output = shell("$h min-omega --weights ./m.safetensors --construction fused --kernel "
                       "structured --tolerance 1e-7 --judge kl --positions %s --quiet",
                       positions);
        assert_int_equal(output.code, 0);
        assert_true(number(&output, 1, "omega_min") == found[all]);
        assert_true(number(&output, 1, "error_min") <= 1e-7);
        assert_true(number(&output, 1, "error_below") > 1e-7);
        assert_true(number(&output, 1, "floor") < 1e-25);
    }
    assert_true(found[0] < found[1]);
}

/* At Omega 0.1 some predictions change; the first in the table is the one that is named. */
static void the_first_change_is_named(void **state)
{
    static const char command[] = "$h verify $p/" MODADD " --tokens 0:52:13/0:52:13/53 --omega 0.1";
    char named[128];
    Output output = shell("%s --positions last -q --format csv 2>said", command);
    size_t line = 1;
    while (number(&output, line, "predictions_changed") != 1) {
        line++;
        assert_true(line + 2 < lines(&output));
    }
    snprintf(named, sizeof named,
             "omega 0.1, the first change: input %.0f, position 3, from %.0f to %.0f\n",
             number(&output, line, "input"), number(&output, line, "prediction"),
             number(&output, line, "machine_prediction"));
    output = shell("%s", command);
    assert_non_null(strstr(output.text, named));
}

/* Parts of a text put together are the bytes of one run; so they are of inputs without positions.
 * Threads change nothing. */
static void parts_are_put_together(void **state)
{
    static const char *const what[] = {OF_TEXT("t.txt") "--stride 1 --omega 2,30 -q",
                                       "$h verify $p/" MODADD
                                       " --tokens 0:52:26/0:52:26/53 --omega 2,30 -q"};
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        Output output = shell("%s -o 0.csv --threads 1 && for s in 1 2 3; do "
                              "%s -o $s.csv --threads 3 --shard $s/3 || exit 1; done && "
                              "$h merge 1.csv 2.csv 3.csv -o m.csv && cmp m.csv 0.csv",
                              what[i], what[i]);
        assert_int_equal(output.code, 0);
    }
}

/* Texts that differ are not put together, though all flags agree. */
static void parts_of_other_texts_are_refused(void **state)
{
    for (int s = 1; s <= 2; s++) {
        shell_write("t.txt", s == 1 ? "0 1 2 0 1 2 0 1 2" : "0 1 2 0 1 2 0 1 0");
        Output output = shell(OF_TEXT("t.txt") "--omega 5 -q -o %d.csv --shard %d/2", s, s);
        assert_int_equal(output.code, 0);
    }
    expect_shell("$h merge 1.csv 2.csv -o m.csv", 2, "");
}

/* One token has none behind it, and no loss; what is printed says how windows lie. */
static void short_texts_are_one_window(void **state)
{
    shell_write("one.txt", "0");
    Output output = table(OF_TEXT("one.txt") "--omega 9", 0);
    assert_int_equal(lines(&output), 3);
    expect_cell(&output, 2, "inputs", "1");
    expect_cell(&output, 2, "loss_original", "");
    assert_true(number(&output, 2, "kl_machine") > 0);
    expect_shell(OF_TEXT("t.txt") "--omega 9", 0,
                 "3 windows of 4 tokens, 4 apart, a last one up to 3 earlier, to be");
    shell_write("two.txt", TEXT "\n0 1 4 2 3 0\n");
    expect_shell(OF_TEXT("two.txt") "--omega 9", 0,
                 "5 windows of 4 tokens, 4 apart, a last one up to 3 earlier, to be");
}

typedef struct {
    const char *text;
    size_t size;
    const char *says;
} Bad;

/* Each is the file f, and its bad line is named. */
static void expect_complaints(const Bad *bad, size_t count, const char *command)
{
    for (size_t i = 0; i < count; i++) {
        file_write(shell_path("f"), bad[i].text, bad[i].size);
        Output output = shell("%s", command);
        expect_says(&output, 2, bad[i].says);
        assert_int_equal(lines(&output), 1);
    }
}

#define BAD(text, says)                                                                            \
    {                                                                                              \
        (text), sizeof(text) - 1, (says)                                                           \
    }

static void bad_ids_are_named(void **state)
{
    static const Bad ids[] = {
        BAD("0 1\n2 7\n", "f:2: token '7': expected a token id from 0 to 6"),
        BAD("0 -1\n", "f:1: token '-1': expected a token id"),
        BAD("0,1,,2\n", "f:1: token '': expected a token id"),
        BAD("\n0,1,\n", "f:2: token '': expected a token id"),
        BAD("0 x1\n", "f:1: token 'x1': expected a token id"),
        BAD("0 1\0 2\n", "f:1: token '1\\x00': expected a token id"),
        BAD("99999999999999999999\n", "f:1: token '99999999999999999999': expected a token id"),
        BAD("0 1 2\n\n3 4\n", "f:3: 2 tokens: expected 3 or more, the window (--window)"),
        BAD(" \n\t\r\n", "f: is empty: expected a line of token ids"),
    };
    expect_complaints(ids, sizeof ids / sizeof *ids,
                      "$h verify $p/" MODEL " --tokens-file f --omega 9");
}

/* Windows longer than the context, strides longer than the window. */
static void windows_fit(void **state)
{
    static const struct {
        const char *flags, *says;
    } bad[] = {{"--window 5", "--window: token '5': expected at most 4, the context length"},
               {"--stride 5", "--stride: token '5': expected at most 4, the window"},
               {"--window 2 --stride 3", "--stride: token '3': expected at most 2, the window"},
               {"--window 0", "--window: token '0': expected an integer from 1"}};
    shell_write("f", "0 1 2 0 1");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Output output = shell(OF_TEXT("f") "%s", bad[i].flags);
        expect_says(&output, 2, bad[i].says);
        assert_int_equal(lines(&output), 1);
    }
    shell_write("two", "0 1");
    Output output = shell("$h verify $p/" MODEL " --tokens-file two --positions 2");
    expect_says(&output, 2, "two has 2 tokens");
}

/* Lines of ids are the same inputs as tuples, however they are written. */
static void ids_are_tuples(void **state)
{
    static const char ids[] = "0, 1,53\r\n0\t27 53\n\n26 1 53 \n26,27, 53";
    shell_write("ids", ids);
    Output read = table("$h verify $p/" MODADD " --omega 9 --tokens-file ids", 0);
    Output tuples = table("$h verify $p/" MODADD " --omega 9 --tokens 0,26/1,27/53", 0);
    assert_string_equal(read.text, tuples.text);
}

/* Of ten million tokens nothing is evaluated. */
static void long_texts_are_refused_first(void **state)
{
    Output output = shell("yes \"0 1 2 0\" | head -c 20000000 | tr \"\\n\" \" \" >f; " OF_TEXT(
        "f") "--stride 1 --omega 9");
    expect_says(&output, 2, "9999997 windows need ");
    assert_int_equal(lines(&output), 1);
}

SUBJECT(texts)
{
    const struct CMUnitTest texts[] = {
        TEXT_TEST(means_are_of_the_cells),
        TEXT_TEST(the_machine_s_are_of_their_size),
        TEXT_TEST(tolerances_judge_logits_and_divergences),
        TEXT_TEST(min_omega_finds_the_same),
        TEXT_TEST(the_first_change_is_named),
        TEXT_TEST(parts_are_put_together),
        TEXT_TEST(parts_of_other_texts_are_refused),
        TEXT_TEST(short_texts_are_one_window),
        TEXT_TEST(bad_ids_are_named),
        TEXT_TEST(windows_fit),
        TEXT_TEST(ids_are_tuples),
        TEXT_TEST(long_texts_are_refused_first),
    };
    return cmocka_run_group_tests(texts, NULL, NULL);
}
