/*
 * Tables as the subjects of fuzzing read them: by themselves, to judge what the program made.
 */
#ifndef HEADPROOF_TESTS_FUZZING_FUZZ_TABLES_H
#define HEADPROOF_TESTS_FUZZING_FUZZ_TABLES_H

#include "fuzz.h"

enum { LINES_MOST = 64, CELLS_MOST = 80 };

/* Lines without their newline.  whole: the last one had one too. */
typedef struct {
    const char *line[LINES_MOST];
    size_t length[LINES_MOST], count;
    bool whole;
} FuzzLines;

void fuzz_cut_lines(FuzzLines *lines, const FuzzText *text);

bool fuzz_same_line(const FuzzLines *a, size_t i, const FuzzLines *b, size_t j);

/* The cell of a line in the column that the header, line 0, names so; its length, and *cell; NULL:
 * there is none. */
size_t fuzz_cell(const char **cell, const FuzzLines *lines, size_t line, const char *column);

/* A cell as text [32], cut there; "" where there is none. */
void fuzz_cell_text(char text[32], const FuzzLines *lines, size_t line, const char *column);

/* Writes what an interrupted run leaves: the text of its sidecar in the first line, and the rows
 * behind a header as points of one row each, of which the last may be torn. */
void fuzz_write_journal(const char *path, const FuzzText *first, const FuzzText *rows);

/* A sidecar has the digest of the table that it was written with.  True when it has this one's, as
 * far as its text says; also where one of them is not there. */
bool fuzz_sealed(const FuzzText *table, const FuzzText *sidecar);

/* In the file `sidecar` the digest of `saved`, where it is there, becomes that of the file `table`:
 * what reads the rows of a changed table sees them. */
void fuzz_seal(const char *table, const char *sidecar, const FuzzText *saved);

/* argv with more behind it, both up to a NULL: all [ARGUMENTS_MOST]. */
enum { FUZZ_ARGUMENTS = 48 };
int fuzz_join(const char *all[FUZZ_ARGUMENTS], const char *const *argv, const char *const *more);

#endif
