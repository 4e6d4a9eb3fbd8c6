/*
 * The text for a terminal, where a file gets a table: lines for a reader, with the numbers that the
 * table has.
 */
#include "../program.h"

#include "../../harness/point/axes.h"
#include "../unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_SIZE = 16384, WORDS = 16, WORD_SIZE = 64 };

/* The words of a line; text moves to the next. */
typedef struct {
    char word[WORDS][WORD_SIZE];
    size_t count;
} Words;

static void next_line(Words *words, const char **text)
{
    size_t length = strcspn(*text, "\r\n"), at = 0;
    words->count = 0;
    while (at < length) {
        size_t word = strcspn(*text + at, " \r\n");
        if (word > 0) {
            assert_true(words->count < WORDS && word < WORD_SIZE);
            snprintf(words->word[words->count++], WORD_SIZE, "%.*s", (int)word, *text + at);
        }
        at += word + 1;
    }
    *text += length + strspn(*text + length, "\r\n");
}

/* The table's column that the header's word i stands over: a kind of error, or with --propagation
 * a part of the kind before it. */
static void column_of(char column[WORD_SIZE], const Words *header, size_t i)
{
    static const char *const parts[] = {"injected", "inherited", "gain"};
    const char *word = header->word[i];
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        if (strcmp(word, parts[p]) == 0) {
            snprintf(column, WORD_SIZE, "%.20s_%.20s%s", header->word[i - p - 1], word,
                     p < 2 ? "_max" : "");
            return;
        }
    }
    snprintf(column, WORD_SIZE, "%.20s_max", word);
}

/* What is shown of a table's cell, to three digits. */
static void expect_shown(const char *shown, const Output *table, size_t line, const char *column)
{
    char exact[WORD_SIZE], names[256], expected[WORD_SIZE + 1];
    cell(exact, sizeof exact, table, line, column);
    cell(names, sizeof names, table, line, "bounds");
    bool bound = strstr(names, column) != NULL;
    if (*exact == '\0' || strcmp(exact, "0") == 0) {
        assert_string_equal(shown, *exact == '\0' ? "-" : "0");
        return;
    }
    assert_int_equal(shown[0] == '<', bound);
    double value = strtod(exact, NULL), read = strtod(shown + bound, NULL);
    snprintf(expected, sizeof expected, "%s%.2e", bound ? "<" : "", read);
    assert_string_equal(shown, expected);  /* three digits */
    double above = (read - value) / value; /* a bound is rounded up */
    if (bound ? above < -1e-11 || above > 0.01 : fabs(above) > 0.00501) {
        fail_msg("%s: shown as %s, the table has %s", column, shown, exact);
    }
}

/* An axis in a row: in its own column of the table, or in `options`, where its default is not. */
static void expect_axis(const char *shown, const char *axis, const Output *table, size_t line)
{
    char options[256], said[2 * WORD_SIZE + 2];
    const AxisInfo *info = axis_info(axis_find(axis));
    if (info->column != NULL) {
        expect_cell(table, line, info->column, shown);
        return;
    }
    cell(options, sizeof options, table, line, "options");
    snprintf(said, sizeof said, "%s=%s", axis, shown);
    if (strstr(options, said) == NULL && strstr(options, axis) != NULL) {
        fail_msg("%s is shown as %s, the table has %s", axis, shown, options);
    }
}

/* What a command's table is, and what a terminal gets in its place, with the same code. */
static Output table_and_text(char text[SHOWN_SIZE], const char *line)
{
    Output table = run(line);
    run_on_terminal(text, SHOWN_SIZE, line, table.code);
    return table;
}

/* A sweep's lines on a terminal are its table's, in their order, and no longer than 80 columns: the
 * axes that vary, the layer of stacks, errors, the status. */
static void expect_rows(const char *sweep, const char *header_expected, size_t axes)
{
    static char text[SHOWN_SIZE];
    char line[512];
    Words header = {0}, row = {0};
    snprintf(line, sizeof line, "%s --quiet --color never 2>/dev/null", sweep);
    Output table = table_and_text(text, line);
    if (strncmp(text, header_expected, strlen(header_expected)) != 0) {
        fail_msg("%s: expected %s, not %s", sweep, header_expected, text);
    }
    const char *at = text;
    next_line(&header, &at);
    for (size_t l = 1; l < lines(&table); l++) {
        assert_true(strcspn(at, "\r\n") <= 80);
        next_line(&row, &at);
        assert_int_equal(row.count, header.count);
        for (size_t i = 0; i < header.count; i++) {
            const char *name = header.word[i];
            char column[WORD_SIZE];
            if (i < axes) {
                expect_axis(row.word[i], name, &table, l);
            } else if (strcmp(name, "layer") == 0 || strcmp(name, "status") == 0) {
                expect_cell(&table, l, name, row.word[i]);
            } else {
                column_of(column, &header, i);
                expect_shown(row.word[i], &table, l, column);
            }
        }
    }
    assert_string_equal(at, "");
}

static void rows_are_the_tables(void **state)
{
    expect_rows("sweep --construction fused,silu --n 2 --d 2 --depth 2 --omega 5,20 --bias random",
                "construction  omega  layer  construction     native      total  status\r\n", 2);
    expect_rows("sweep --construction silu --n 2 --d 2 --omega 5 --penalty positive,negative",
                "penalty   construction   rounding     native      total   observed  status\r\n",
                1);
    expect_rows("sweep --construction ffn3 --n 3 --d 2 --omega 0.5 --arithmetic none",
                "omega  approximation  construction  status\r\n", 1);
    /* d_ff is 4D: it varies with d, and nobody chose it */
    expect_rows("sweep --construction fused --n 2 --d 2,3 --omega 5 --arithmetic f32",
                "d  construction   rounding     native      total   observed  status\r\n", 1);
    /* bounds, where no more bits may be taken */
    expect_rows("sweep --construction fused --n 2 --d 2 --omega 5,200 --reference subtract "
                "--max-bits 128 --arithmetic f64,none",
                "", 2);
    /* what is judged comes first, whatever there is no room for */
    expect_rows("sweep --construction transformer,silu --n 2,3 --d 2 --omega 5,20 "
                "--kernel dense,structured --tolerance 1e-300 --judge observed",
                "construction  n  omega  kernel         native      total   observed  status\r\n",
                4);
}

/* A stream of SiLU alone shrinks a thousandfold within 24 layers, one of networks does not: what
 * comes behind it has a header of its own. */
static void errors_of_streams_that_shrink_are_relative(void **state)
{
    static char text[SHOWN_SIZE];
    Words header = {0}, row = {0};
    Output table = table_and_text(text, "sweep --construction fused,silu --n 3 --d 3 --omega 5 "
                                        "--depth 24 --quiet --color never 2>/dev/null");
    const char *at = text;
    for (size_t l = 0; l <= 48; l++) {
        static const char said[] = "relative to r(T):\r\n";
        if (l == 25) {
            assert_int_equal(strncmp(at, said, strlen(said)), 0);
            at += strlen(said);
        }
        if (l == 0 || l == 25) {
            next_line(&header, &at);
            assert_string_equal(header.word[2], "construction");
        }
        if (l > 0) {
            next_line(&row, &at);
            expect_cell(&table, l, "layer", row.word[1]);
            expect_shown(row.word[2], &table, l, l < 25 ? "construction_max" : "construction_rel");
            expect_shown(row.word[5], &table, l, l < 25 ? "total_max" : "total_rel");
            expect_cell(&table, l, "status", row.word[6]);
        }
    }
    assert_string_equal(at, "");
}

/* All layers of 24; of more the first four, every eighth and the last. */
static void deep_stacks_are_shown_in_part(void **state)
{
    static const struct {
        const char *sweep, *layers;
    } stacks[] = {
        {"sweep --construction silu --n 1 --d 1 --omega 5 -q --depth 25", " 1 2 3 4 8 16 24 25"},
        {"sweep --construction silu --n 1 --d 1 --omega 5 -q --depth 32", " 1 2 3 4 8 16 24 32"},
    };
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        static char text[SHOWN_SIZE];
        char layers[256] = "";
        Words row = {0};
        run_on_terminal(text, sizeof text, stacks[i].sweep, 0);
        for (const char *at = text; *at != '\0';) {
            next_line(&row, &at);
            bool is_row = strcmp(row.word[0], "5") == 0; /* Omega, as nothing varies */
            size_t used = strlen(layers);
            if (is_row) {
                snprintf(layers + used, sizeof layers - used, " %s", row.word[1]);
            }
        }
        assert_string_equal(layers, stacks[i].layers);
    }
}

/* Two errors, and what each layer adds to them. */
static void propagation_has_its_own_columns(void **state)
{
    expect_rows("sweep --construction fused --n 2 --d 2 --omega 5 --depth 3 --propagation",
                "omega  layer  construction   injected  inherited       gain  status\r\n", 1);
}

/* Escape sequences only where they are wanted: TERM, NO_COLOR and --color say. */
static void set_environment(const char *term, const char *no_color)
{
    assert_int_equal(setenv("TERM", term, 1), 0);
    assert_int_equal(setenv("NO_COLOR", no_color, 1), 0);
}

static const struct {
    const char *term, *no_color, *flag;
    bool colours;
} coloured[] = {
    {"xterm", "", "", true},
    {"xterm", "", "--color auto", true},
    {"xterm", "1", "", false},
    {"dumb", "", "", false},
    {"xterm", "", "--color never", false},
    {"dumb", "1", "--color always", true},
};

static void what_passes_and_fails_has_colours(void **state)
{
    static const char sweep[] = "sweep --construction silu --n 2 --d 2 --omega 5,20 -q "
                                "--tolerance 1e-9 2>/dev/null";
    for (size_t i = 0; i < sizeof coloured / sizeof *coloured; i++) {
        static char text[SHOWN_SIZE];
        char line[512];
        snprintf(line, sizeof line, "%s %s", sweep, coloured[i].flag);
        set_environment(coloured[i].term, coloured[i].no_color);
        run_on_terminal(text, sizeof text, line, 1);
        assert_int_equal(strstr(text, "  \033[31mfail\033[0m\r\n") != NULL, coloured[i].colours);
        assert_int_equal(strstr(text, "  \033[32mok\033[0m\r\n") != NULL, coloured[i].colours);
        assert_int_equal(strchr(text, '\033') != NULL, coloured[i].colours);
    }
    /* What nothing judges is ok, and not good. */
    static char text[SHOWN_SIZE];
    run_on_terminal(text, sizeof text, "sweep --n 2 --d 2 --omega 1 --color always", 0);
    assert_non_null(strstr(text, "  ok\r\n"));
    assert_null(strchr(text, '\033'));
    Output output = run("check --n 2 --d 2 --omega 5 --tolerance 1e-9 --color always");
    expect_says(&output, 1, "\033[31mFAIL: 1 of 1 rows");
    output = run("check --n 2 --d 2 --omega 5 --tolerance 1 --color always");
    expect_says(&output, 0, "\033[32mPASS: 1 rows");
    output = run("check --n 2 --d 2 --omega 5 --tolerance 1");
    assert_null(strchr(output.text, '\033'));
    output = run("sweep --n 2 --d 2 --color red 2>&1");
    expect_says(&output, 2, "--color: token 'red': expected one of auto, always, never");
}

/* The one sentence of a search, and the row that a file gets of it. */
static Output sentence(char text[SHOWN_SIZE], const char *search)
{
    char line[512];
    snprintf(line, sizeof line, "min-omega %s --quiet", search);
    Output table = table_and_text(text, line);
    assert_int_equal(lines(&table), 2);
    for (const char *at = text; *at != 0; at += strcspn(at, "\n") + 1) {
        assert_true(strcspn(at, "\r\n") <= 80);
    }
    for (char *broken = text; (broken = strstr(broken, "\r\n  ")) != NULL;) {
        memmove(broken + 1, broken + 4, strlen(broken + 4) + 1);
        *broken = ' ';
    }
    return table;
}

/* before, the table's cell and after it, in a row. */
static void expect_said(const char *text, const char *before, const Output *table,
                        const char *column, const char *after)
{
    char exact[WORD_SIZE], said[256];
    cell(exact, sizeof exact, table, 1, column);
    assert_true(*exact != '\0');
    snprintf(said, sizeof said, "%s%s%s", before, exact, after);
    if (strstr(text, said) == NULL) {
        fail_msg("expected \"%s\" in: %s", said, text);
    }
}

/* before, and the table's cell to three digits. */
static void expect_rounded(const char *text, const char *before, const Output *table,
                           const char *column)
{
    char said[256];
    snprintf(said, sizeof said, "%s%.2e", before, number(table, 1, column));
    if (strstr(text, said) == NULL) {
        fail_msg("expected \"%s\" in: %s", said, text);
    }
}

static void a_search_ends_in_a_sentence(void **state)
{
    char text[SHOWN_SIZE];
    Output table = sentence(text, "--construction attention --n 3 --d 2 --tolerance 1e-6");
    assert_int_equal(strncmp(text, "attention, N=3: omega from ", 27), 0);
    expect_said(text, "omega from ", &table, "omega_min", " to ");
    expect_said(text, " to ", &table, "omega_max", " meets 1e-06 at all ");
    expect_said(text, "meets 1e-06 at all ", &table, "evaluations_inside", " evaluated there (");
    expect_said(text, " evaluated there (", &table, "omega_below", " and ");
    expect_said(text, " and ", &table, "omega_above", " do not); an omega between two that were");
    assert_non_null(strstr(text, "ln(N/tolerance) = 14.91 or more")); /* ln 3e6 = 14.914 */
    char score[96];
    snprintf(score, sizeof score, "largest score, %.4g. ", number(&table, 1, "seed_scores"));
    assert_non_null(strstr(text, score));
    expect_said(text, "The best evaluated is ", &table, "omega_best", ", with error ");
    expect_rounded(text, ", with error ", &table, "best_error");
    expect_rounded(text, "; the original itself loses ", &table, "floor");
}

/* Of the exact construction alone no Omega is too large; one row of one number is its own at
 * every Omega. */
static void open_ends_are_said(void **state)
{
    char text[SHOWN_SIZE];
    Output table =
        sentence(text, "--construction linear --n 3 --d 3 --tolerance 1e-6 --judge construction");
    expect_said(text, " omega from ", &table, "omega_min", " up meets 1e-06 at all ");
    expect_said(text, " (", &table, "omega_below", " does not); an omega between two");
    assert_null(strstr(text, "best evaluated"));
    table = sentence(text, "--construction silu --n 1 --d 1 --tolerance 1 --judge construction");
    assert_int_equal(strncmp(text, "silu, N=1: omega of any size meets 1 at all ", 44), 0);
    assert_non_null(
        strstr(text, " evaluated there; an omega between two that were evaluated may "));
}

/* Below what f64 can do. */
static void nothing_found_is_said(void **state)
{
    char text[SHOWN_SIZE];
    Output table = sentence(text, "--construction silu --n 2 --d 2 --tolerance 1e-30");
    assert_int_equal(table.code, 1);
    assert_int_equal(strncmp(text, "silu, N=2: none of ", 19), 0);
    assert_non_null(strstr(text, ", meets 1e-30. The best evaluated is "));
    expect_said(text, "The best evaluated is ", &table, "omega_best", ", with error ");
    expect_rounded(text, "; the original itself loses ", &table, "floor");
    assert_null(strstr(text, "ln(N/tolerance)"));
}

SUBJECT(terminal)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_tables),
        cmocka_unit_test(errors_of_streams_that_shrink_are_relative),
        cmocka_unit_test(deep_stacks_are_shown_in_part),
        cmocka_unit_test(propagation_has_its_own_columns),
        cmocka_unit_test(what_passes_and_fails_has_colours),
        cmocka_unit_test(a_search_ends_in_a_sentence),
        cmocka_unit_test(open_ends_are_said),
        cmocka_unit_test(nothing_found_is_said),
    };
    return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
