/*
 * Two equal tables of a small sweep, for rules that are tested by a violation planted in one.
 */
#ifndef HEADPROOF_TESTS_CHECK_FIXTURE_H
#define HEADPROOF_TESTS_CHECK_FIXTURE_H

#include "../harness/commands/check/check.h"
#include "scratch.h"

/* Rows of both: silu at Omega 2, 20, 1e6, then attention; two layers each. */
enum { SILU = 0, SILU_GOOD = 2, SILU_HUGE = 4, ATTENTION = 6, ATTENTION_GOOD = 8, ROWS = 12 };

typedef struct {
    Scratch scratch;
    char path[SCRATCH_PATH];
    Grid grid;
    RunOptions run;
    Check check;
} CheckFixture;

/* Of a group: the sweep.  Of every test: its table as what was obtained and as the baseline. */
int check_set_up_all(void **state);
int check_set_up(void **state);
int check_tear_down(void **state);

#define RULE(test) cmocka_unit_test_setup_teardown(test, check_set_up, check_tear_down)

/* A cell's text, kept by the caller where it is set. */
void set_text(Csv *csv, size_t row, const char *column, const char *text);
const char *text_at(const Csv *csv, size_t row, const char *column);

double number_of(const char *text);

/* Does the check pass? */
bool judge(CheckFixture *f);

/* It has one finding, in that row and column (or NULL), for that reason. */
void expect_finding(CheckFixture *f, size_t row, const char *column, const char *reason);

/* With these cells (NULL: as they are) it passes where reason is NULL, and has that finding else;
 * then tables are equal again. */
void expect_cells(CheckFixture *f, size_t row, const char *column, const char *obtained,
                  const char *baseline, const char *reason);

/* Makes the sidecar of the table at path, or a new one, say that its bytes are as they were
 * saved. */
void seal_table(const char *path);

/* Equal tables once more. */
void again(CheckFixture *f);

#endif
