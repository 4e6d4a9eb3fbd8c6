/*
 * What a verdict is under: every command says what was let through, and every report has it.
 */
#include "../given.h"
#include "../program.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED "under: tensors 'exp_avg' skipped (--ignore-extra); "
#define THROUGH SKIPPED "keys 'foo' not read (--ignore-config); nothing in the file shows that "
#define FLAGS " --ignore-extra --ignore-config foo "

static const char *path_of(const Given *given, const char *name)
{
    return path_in(&given->scratch, name);
}

/* A model with a tensor and a key beside it that it does not need. */
static const char *make_model(const Given *given)
{
    given_make(given, "extra.safetensors", MADE_FFN, 0, 4);
    file_write(path_of(given, "config.json"), "{\"foo\": 1}", 10);
    return path_of(given, "extra.safetensors");
}

/* A file of the scratch directory says that, so often. */
static void expect_in(const Given *given, const char *name, const char *says, size_t times)
{
    static char text[SCRATCH_TEXT];
    assert_true(file_read(text, path_of(given, name)) > 0);
    size_t found = 0;
    for (const char *at = strstr(text, says); at != NULL; at = strstr(at + 1, says)) {
        found++;
    }
    assert_int_equal(found, times);
}

/* Every command that reads a model, whether its rows go to a file or not, quiet or not; once. */
static void commands_say_what_was_let_through(void **state)
{
    static const char *const commands[] = {
        "verify %s --omega 20 --tolerance 1",
        "sweep --weights %s --omega 20 --tolerance 1",
        "depth --weights %s --omega 20",
        "check --weights %s --omega 20 --tolerance 1",
        "min-omega --weights %s --tolerance 1",
        "guarantee %s --input-norm 9 --tolerance 1",
        "cost %s",
        "convert %s --omega 20 -o \"$TMPDIR/t\"",
        "export --weights %s --omega 20 -o \"$TMPDIR/t\"",
    };
    const char *path = make_model(*state);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        for (int quiet = 0; quiet < 2; quiet++) {
            char line[SCRATCH_PATH + 256];
            snprintf(line, sizeof line, commands[i], path);
            Output said =
                expect_run(0, "%s" FLAGS "%s 2>&1 >/dev/null", line, quiet ? "--quiet" : "");
            Output rows = expect_run(0, "%s" FLAGS "%s", line, quiet ? "--quiet" : "");
            const char *place = strstr(said.text, THROUGH);
            bool verdict = place == NULL;
            place = verdict ? strstr(rows.text, THROUGH) : place;
            assert_non_null(place);
            assert_null(strstr(place + 1, THROUGH));
            assert_true(!verdict || strstr(rows.text, ",status,") == NULL); /* no table */
        }
        char line[SCRATCH_PATH + 256];
        snprintf(line, sizeof line, commands[i], path);
        expect_line(2, "unknown tensors: 'exp_avg'", "%s --ignore-config foo", line);
    }
}

static void reports_have_what_was_let_through(void **state)
{
    static const char *const reports =
        "--json \"$TMPDIR/r.json\" --markdown \"$TMPDIR/r.md\" --junit-xml \"$TMPDIR/r.xml\"";
    static const char *const commands[] = {
        "verify %s --omega 20 --tolerance 1 -o %s", "min-omega --weights %s --tolerance 1 -o %s",
        "check --weights %s --omega 20 --tolerance 1 --save-baseline %s --force"};
    const Given *given = *state;
    const char *path = make_model(given), *csv = path_of(given, "t.csv");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char line[2 * SCRATCH_PATH + 256];
        snprintf(line, sizeof line, commands[i], path, csv);
        (void)expect_run(0, "%s" FLAGS "-q %s", line, reports);
        Output all = run_program("cat", "\"$TMPDIR/r.json\" \"$TMPDIR/r.xml\"");
        const char *first = strstr(all.text, THROUGH);
        assert_true(first != NULL && strstr(first + 1, THROUGH) != NULL);
        all = run_program("cat", "\"$TMPDIR/r.md\"");
        assert_non_null(strstr(all.text, "skipped \\(--ignore-extra\\); keys "));
        expect_in(given, "t.csv.json", THROUGH, 1);
        if (strstr(line, "check") == NULL) {
            (void)expect_run(0, "report %s \"$TMPDIR/r.json\" -o %s", csv,
                             path_of(given, "r.html"));
            expect_in(given, "r.html", THROUGH, 2);
        }
    }
    (void)expect_run(0, "convert %s" FLAGS "--omega 20 -q -o \"$TMPDIR/T\"", path);
    Output header = run_program("tail", "-c +9 \"$TMPDIR/T\"");
    assert_non_null(strstr(header.text, "\"headproof.conditions\":\"" THROUGH));
}

/* A whole that is merged has its parts' conditions. */
static void a_merge_has_its_shards_conditions(void **state)
{
    const Given *given = *state;
    const char *path = make_model(given);
    for (int shard = 1; shard <= 2; shard++) {
        (void)expect_run(0, "sweep --weights %s --omega 10,20" FLAGS "-q --shard %d/2 -o %s%d",
                         path, shard, path_of(given, "s"), shard);
    }
    const char *whole = path_of(given, "whole");
    Output said =
        expect_run(0, "merge %s1 %s2 -o %s", path_of(given, "s"), path_of(given, "s"), whole);
    assert_non_null(strstr(said.text, THROUGH));
    expect_in(given, "whole.json", THROUGH, 1);
}

/* Where nothing was let through, what a witness shows, or that there is none, is said; --quiet
 * leaves it out of what has no verdict. */
static void a_witness_is_a_condition(void **state)
{
    const Given *given = *state;
    given_make(given, "x.safetensors", MADE_FFN, 0, 4);
    Output said = expect_run(0, "sweep --weights %s --omega 20 2>&1 >/dev/null",
                             path_of(given, "x.safetensors"));
    assert_non_null(strstr(said.text, "x.safetensors: nothing in the file shows that it is"));
    assert_null(strstr(said.text, "under: "));
    said = expect_run(0, "sweep --weights %s --omega 20 -q 2>&1 >/dev/null",
                      path_of(given, "x.safetensors"));
    assert_string_equal(said.text, "");
    (void)expect_run(0, "sweep --weights " GIVEN_TRAINED " --n 2 --omega 20 -q -o %s",
                     path_of(given, "w.csv"));
    expect_in(given, "w.csv.json", GIVEN_TRAINED ": agrees with its witness, which does not ", 1);
    said = run("sweep --construction silu --n 2 --omega 20 2>&1 >/dev/null");
    assert_string_equal(said.text, "");
}

SUBJECT(conditions)
{
    const struct CMUnitTest tests[] = {
        GIVEN_TEST(commands_say_what_was_let_through),
        GIVEN_TEST(reports_have_what_was_let_through),
        GIVEN_TEST(a_merge_has_its_shards_conditions),
        GIVEN_TEST(a_witness_is_a_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
