/*
 * One search of `min-omega`: the points that it is about, and what it found.
 *
 * Umbrella header: for row.c, a search in a table, and matrix.c, searches side by side, too.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MIN_OMEGA_SEARCH_H
#define HEADPROOF_HARNESS_COMMANDS_MIN_OMEGA_SEARCH_H

#include "../../evaluate/ensemble.h"
#include "../../grid/grid.h"
#include "../../models/positions.h"

#include <stdio.h>

typedef struct {
    size_t first; /* of its points in the grid */
    Ensemble seeds;
    char *seeds_cell; /* "1:20", "3", "1;5;7": no comma, so that it is one cell */
    char *seeds_flag; /* the same as --seed takes it */
    Found found;
    double seconds;
    double proven;       /* --every-input: the Omega proven for every input; INFINITY: none, 0: not
                           asked */
    Positions positions; /* whose logits are judged, where those are */
    const char *looked_at; /* the same in words; NULL: streams are judged */
} Search;

/* The search of the grid's point `first` and of those that go with it: all seeds, and all inputs of
 * a weights file unless some were chosen; on one thread.  taken [grid->count]: which points have a
 * search; its own are marked. */
Search *search_make(const Grid *grid, bool *taken, size_t first)
    __attribute__((warn_unused_result));

void search_free(Search *search);

/* search->positions, as --positions says, or the last.  0; 2 or 99 after a message. */
int search_take_positions(Search *search, const RunOptions *run)
    __attribute__((warn_unused_result));

/* search->proven of all, for --every-input: the largest of its seeds'.  0; 2 or 99 after a
 * message. */
int search_prove_all(Search *const *searches, size_t count, const RunOptions *run)
    __attribute__((warn_unused_result));

/* Predicted cost of a search for one point alone. */
double search_seconds(const Point *point);

/* Makes what the points share, within so many bytes, searches, and drops what they share; progress
 * is told of it under its lock.  false: a layer cannot be had. */
bool search_run(Search *search, double memory, Progress *progress, pthread_mutex_t *lock)
    __attribute__((warn_unused_result));

/* The names of the columns, and a row, which is a Search (outcome.h). */
void row_write_header(FILE *file, const RunOptions *run);
void row_write(FILE *file, const void *row);

/* The same of a report's table of cases. */
void row_write_case_header(FILE *file, const RunOptions *run);
void row_write_case(FILE *file, const void *row);

/* The command that repeats the search. */
void row_print_command(FILE *file, const void *row, const RunOptions *run);

/* Tolerances side by side; a line for every combination of the other axes that vary, with the
 * interval found, rounded inward to 4 digits.  0, or -1 (errno). */
int matrix_print(FILE *file, Search *const *searches, size_t count)
    __attribute__((warn_unused_result));

#endif
