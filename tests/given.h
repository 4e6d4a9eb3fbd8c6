/*
 * Grids that tests read from flags and case files, and the rows of their points.
 */
#ifndef HEADPROOF_TESTS_GIVEN_H
#define HEADPROOF_TESTS_GIVEN_H

#include "../harness/commands/commands.h"
#include "scratch.h"

#define GIVEN_TRAINED "cases/models/modadd53-silu.safetensors"

typedef struct {
    Scratch scratch;
    char file[SCRATCH_PATH];      /* a case file */
    char words[4 * SCRATCH_PATH]; /* the line read last, which run points into */
    Grid grid;
    RunOptions run;
    char message[SCRATCH_TEXT];
} Given;

int given_set_up(void **state);
int given_tear_down(void **state);
#define GIVEN_TEST(test) cmocka_unit_test_setup_teardown(test, given_set_up, given_tear_down)

/* line: arguments separated by blanks; FILE stands for the case file, a word with a % in it for
 * itself with the scratch directory and a / in the %'s place.  The grid's exit code. */
int given_read(Given *given, Command command, const char *line);

/* The same for a good line of sweep that gives count points. */
const Point *given_points(Given *given, const char *line, size_t count);

/* What a table says of the point, key columns left out where asked; free it. */
char *given_rows(const Point *point, bool with_key);

#endif
