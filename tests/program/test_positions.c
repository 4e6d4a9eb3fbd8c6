/*
 * `--positions`: which positions of its inputs a verdict looks at, as lists and ranges of them say;
 * each row is the one that a run over all positions has.
 */
#include "../fixture.h"
#include "../program.h"
#include "../unit.h"

#include "../../harness/models/positions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODADD "cases/models/modadd53-silu.safetensors"
#define TEXTS "tests/data/texts.safetensors "
#define INPUTS "tests/data/texts.safetensors --tokens 0,3/1/2:3/0 "
#define SOME MODADD " --tokens 0:52:26/1/53 --omega 9 "

/* The table of `verify ARGUMENTS --positions WHICH`. */
static Output table(const char *arguments, const char *which)
{
    return expect_run(0, "verify %s --positions %s -q --format csv 2>/dev/null", arguments, which);
}

/* A classifier's answer stands at one token: the last, however it is counted. */
static void the_last_has_three_names(void **state)
{
    Output last = table(SOME, "last"), all = table(SOME, "all");
    static const char *const same[][2] = {{"-1", "2"}, {"2,-1", "-1,2:2"}, {"0:-1", "0,1,2"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const Output *expected = i < 2 ? &last : &all;
        assert_string_equal(table(SOME, same[i][0]).text, expected->text);
        assert_string_equal(table(SOME, same[i][1]).text, expected->text);
    }
    assert_int_equal(lines(&last), 1 + 3 + 1);
    assert_int_equal(lines(&all), 1 + 9 + 1);
}

/* Every row of a position in `some` is among the rows of `all`; there are `count`. */
static void expect_part(const Output *some, const Output *all, size_t count)
{
    assert_int_equal(lines(some), 1 + count + 1);
    const char *line = strchr(some->text, '\n') + 1;
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(line, "\n") + 1;
        char *own = strndup(line, length);
        if (strstr(all->text, own) == NULL) {
            fail_msg("not among all: %s", own);
        }
        free(own);
        line += length;
    }
}

/* Of windows that share tokens, too: what is named is looked at in each of them, and `all` has it
 * in the first alone. */
static void rows_are_those_of_all(void **state)
{
    static const struct {
        const char *which;
        size_t count;
    } parts[] = {{"0", 3}, {"1:2", 6}, {"0,2:3", 9}, {"-4,-1", 6}, {"3,0,3", 6}};
    Output text = run_program("sh", "-c 'echo 0 1 2 0 1 2 0 0 1 2 0 1 >\"$TMPDIR/t\"'");
    assert_int_equal(text.code, 0);
    Output all = table(TEXTS "--tokens-file \"$TMPDIR/t\" --omega 3", "all");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        Output some = table(TEXTS "--tokens-file \"$TMPDIR/t\" --omega 3", parts[i].which);
        expect_part(&some, &all, parts[i].count);
    }
    Output apart = table(TEXTS "--tokens-file \"$TMPDIR/t\" --stride 2 --omega 3", "0:-1");
    assert_int_equal(lines(&apart), 1 + 5 * 4 + 1);
    all = table(TEXTS "--tokens-file \"$TMPDIR/t\" --stride 2 --omega 3", "all");
    assert_int_equal(lines(&all), 1 + 12 + 1);
}

/* What a search finds of them is what their rows say: at the first position alone, at those that do
 * not lie together, and at all. */
static void a_search_is_of_the_same(void **state)
{
    static const char *const which[] = {"0", "0,2:3", "all"};
    for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
        char line[512];
        Output output = expect_run(
            0, "verify " INPUTS "--omega 20 --tolerance 1e-7 --judge kl --positions %s", which[i]);
        double omega = number_after(&output, "omega from ");
        for (int below = 0; below < 2; below++) {
            snprintf(line, sizeof line, INPUTS "--omega %.9g", omega * (below ? 1 - 2e-6 : 1));
            output = table(line, which[i]);
            size_t last = lines(&output) - 1;
            assert_true((number(&output, last, "kl_machine_max") > 1e-7) == below);
        }
    }
}

/* Places, without a model. */
static void places_are_counted(void **state)
{
    static const size_t expected[7] = {0, 5, 1, 2, 3, 5, 4};
    Positions positions;
    assert_int_equal(positions_make(&positions, "-1,0,2:-3", 7, "it"), 0);
    assert_int_equal(positions.count, 5);
    assert_false(positions.once);
    for (size_t p = 0; p < 7; p++) {
        assert_int_equal(positions.index[p], expected[p]);
    }
    positions_clear(&positions);
    assert_int_equal(positions_make(&positions, "all", 1, "it"), 0);
    assert_true(positions.once && positions.count == 1);
    positions_clear(&positions);
}

SUBJECT(positions)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_counted),
        cmocka_unit_test(the_last_has_three_names),
        cmocka_unit_test(rows_are_those_of_all),
        cmocka_unit_test(a_search_is_of_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
