/*
 * The regression verdict: an obtained table against a baseline, and against tolerances.  The rules
 * are in docs/ci.md.
 *
 * Umbrella header: for rules.c, which judges a row, and baseline.c, which says what is one, too.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_CHECK_CHECK_H
#define HEADPROOF_HARNESS_COMMANDS_CHECK_CHECK_H

#include "../../base/conclusion.h"
#include "../../base/digest.h"
#include "../../grid/grid.h"
#include "../../table/check_columns.h"

#include <jansson.h>

#define CHECK_TEXT 32
#define NO_ROW SIZE_MAX

/* Something that fails.  reason: a static phrase.  table and row: whose key it has, or NO_ROW;
 * point: NULL for a row that only the baseline has.  baseline and obtained are cells of the
 * tables, column one's name, or NULL; either may be named in its row's `bounds`.  ratio:
 * obtained over baseline; limit: the largest value, or for a reference column the largest
 * difference, that passes; either "" where there is none.  excess: how many times beyond the
 * limit, infinite where no number says; 0 until it is added.  command: that reproduces it, or NULL:
 * point or table say.
 */
typedef struct {
    const char *reason, *command;
    const Csv *table;
    size_t row;
    const Point *point;
    const char *column, *baseline, *obtained;
    bool baseline_bound, obtained_bound;
    char ratio[CHECK_TEXT], limit[CHECK_TEXT];
    double excess, worst; /* worst: the largest excess of its row */
    size_t order;         /* in which it was found */
} Finding;

/* command: whose verdict it is.  rows: of either table; failed: those with a finding; added, gone:
 * those of one table alone; edited: those of the same models, of which something else is asked;
 * cells: compared with the baseline's or judged.
 * mentions: sentences about what does not fail by itself. */
typedef struct {
    const char *command;
    bool tells;  /* cases say what their rows hold: of a command that compares with nothing */
    bool judged; /* by a baseline or, of one point at least, a tolerance */
    const Grid *grid;
    const RunOptions *run; /* every_input: what is compared is guarantee's table */
    Csv obtained, baseline;
    json_t *sidecar;     /* the baseline's, or NULL */
    double *seconds;     /* [obtained's rows] an equal share of what its point took, or NULL */
    int baseline_digits; /* significant digits that it has; 0: as many as there may be */
    /* Of the weights files that the rows are of; "" where there is none, or nothing says it. */
    char weights[DIGEST_TEXT], baseline_weights[DIGEST_TEXT];
    bool has_baseline;
    bool other_machine; /* the baseline is from one, or nobody knows which */
    Finding *findings;
    size_t finding_count;
    char **mentions;
    size_t mention_count;
    size_t rows, failed, added, gone, edited, cells;
} Check;

/* Joins and judges check->obtained: fills findings, worst first, and mentions. */
void check_judge(Check *check);

void check_clear(Check *check);

bool check_passes(const Check *check);

/* How the check ends, in one word; rows that pass were perhaps not judged. */
Conclusion check_conclude(const Check *check);

/* Adds a sentence. */
void check_mention(Check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds what the verdict is under, of every weights file. */
void check_mention_conditions(Check *check);

void check_find(Check *check, Finding finding);

/* Both about one row of one table, or both about none. */
bool finding_same_row(const Finding *a, const Finding *b);

/* Reads the baseline, if options name one: strictly, before any work.  It must be complete,
 * with the sidecar that it was saved with, and have every column of a table.  0; 2 after a message;
 * 99. */
int check_open(Check *check) __attribute__((warn_unused_result));

/* The rules for one obtained row, which is point's; other: the baseline's row, or NO_ROW.  pair: in
 * place of that the baseline's row of the same model of which something else is asked, or NO_ROW:
 * finds what was edited, and says the judged error of both.  columns [obtained's]: the baseline's
 * column of the same name, or NO_ROW. */
void check_row(Check *check, size_t row, const Point *point, size_t other, size_t pair,
               const size_t *columns);

#endif
