/*
 * Tests of weights that come from files: small files of every kind, and the rows of a point.
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

/* One line of message that holds `expected`, a % in which is the scratch directory. */
void given_expect_fault(Given *given, Command command, const char *line, const char *expected);

typedef enum {
    MADE_ATTENTION,
    MADE_MERGED,
    MADE_FFN,
    MADE_LINEAR,
    MADE_TRANSFORMER,
    MADE_INPUT, /* no layer */
    MADE_NORM
} Made;

/* Writes a file of two layers: heads 2, d 3, d_head 2, hidden 5, for MADE_LINEAR other columns;
 * scaled attention with biases under a causal mask, a gelu network (silu behind attention).
 * rows > 0: with an X; a name with "extra" in it: with a tensor of an optimizer; with "silent":
 * without metadata. */
void given_make(const Given *given, const char *name, Made made, size_t other, size_t rows);

/* One of most kinds: attention, x, merged, ffn and square.safetensors, the last of linear heads;
 * all but the first with an X of four rows. */
void given_make_all(const Given *given);

/* What a table says of the point, key columns left out where asked; free it. */
char *given_rows(const Point *point, bool with_key);

/* The command line that is printed for the point; free it. */
char *given_command(const Point *point);

/* The rows of that command, read as a shell reads it. */
char *given_rows_again(Given *given, const Point *point, bool with_key);

#endif
