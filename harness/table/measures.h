/*
 * What was measured, out of tables of sweeps and of searches, for pictures and laws: what each row
 * is of, and its errors, or the Omegas that a search found, as logarithms.
 *
 * A size of 1e-868 is below every double, so that none is ever made of a cell's text: its digits
 * and its exponent give the logarithm.
 *
 * Umbrella header: for searched.c, the tables of min-omega, too.
 */
#ifndef HEADPROOF_HARNESS_TABLE_MEASURES_H
#define HEADPROOF_HARNESS_TABLE_MEASURES_H

#include "../base/csv_read.h"
#include "../base/number.h"
#include "../point/axes.h"

#include <stdbool.h>
#include <stddef.h>

/* The ways in which rows differ: the axes of a sweep by their numbers, then these two. */
enum { MEASURE_LAYER = AXIS_COUNT, MEASURE_FILE, MEASURE_AXES };

/* A size: its logarithm to the base of ten, which is -INFINITY of a proven 0, INFINITY of what is
 * not finite, NAN of a blank; and mantissa times 10^exponent, where it is finite, since a logarithm
 * of -8e16 has no digits left for what is behind its point.  bound: the size is at most that. */
typedef struct {
    double log10, mantissa;
    long exponent;
    bool bound;
} Measure;

/* The size that a number says, or its logarithm. */
Measure measure_of(const Number *number);
Measure measure_at(double log10);

/* text = "2.5e-14", "<2.5e-14" of a bound, "0", "-" of a blank; an exponent of any length. */
enum { MEASURE_TEXT = 48 };
void measure_print(char text[MEASURE_TEXT], Measure cell);

/* The values of an axis as they are written, each once: numbers in order, words as they came;
 * blanks first. */
typedef struct {
    const char **texts; /* [count]; "": it does not matter in that row */
    size_t count;
    void *tree;    /* of tsearch: every text with its number while they are read */
    size_t filled; /* that are not blank */
    bool numeric;  /* those are all numbers */
} MeasureAxis;

typedef struct {
    MeasureAxis axes[MEASURE_AXES];
    size_t (*values)[MEASURE_AXES]; /* [rows]: indices of texts */
    Measure (*cells)[ERROR_KINDS];  /* [rows] */
    bool *silent; /* [rows]: its status is vacuous or error, its cells say nothing */
    size_t rows;
    Norm norm;     /* of the cells */
    bool searched; /* tables of min-omega: in place of errors the cells are those below */
} Measures;

/* The cells of a search: the ends and the best, bound where an end is open, which is as far as was
 * tried; is there none?  1, or 0; and what is proven of every input. */
enum { SEARCH_MIN, SEARCH_MAX, SEARCH_BEST, SEARCH_NONE, SEARCH_PROVEN, SEARCH_CELLS };

/* How the axis is called: by its flag, "layer" or "file". */
const char *measure_axis_name(size_t axis);

/* Reads the tables at paths [count], all of sweeps or all of searches, into *data, which is empty
 * ({0}) before.  norm: NORM_COUNT for the one that shows most: the largest entry, or relative
 * errors where streams shrink or grow.  0; 2 after a message with file, line and token; 99.  Clear
 * it in every case. */
int measures_read(Measures *data, char *const *paths, size_t count, Norm norm)
    __attribute__((warn_unused_result));

/* The same of tables that are read, in that norm; rows stand in the tables' order. */
int measures_take(Measures *data, const Csv *tables, size_t count, Norm norm)
    __attribute__((warn_unused_result));
void measures_clear(Measures *data);

/* The value that a row has of an axis. */
const char *measures_text(const Measures *data, size_t row, size_t axis);

/* Has the row none? */
bool measures_is_blank(const Measures *data, size_t row, size_t axis);

/* The cell of the column of that name; "" where the table has none. */
const char *measures_column(const Csv *csv, size_t row, const char *name);

/* Is it a table of min-omega?  Did any search in it find an interval? */
bool searched_is(const Csv *csv);
bool searched_any(const Csv *csv);

/* The cells of its row.  0; 2 after a message with file, line and token. */
int searched_take(Measure cells[ERROR_KINDS], const Csv *csv, size_t row)
    __attribute__((warn_unused_result));

#endif
