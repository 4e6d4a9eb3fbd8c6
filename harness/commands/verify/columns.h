/*
 * The columns of the CSV of `headproof verify`, and what its rows are made of: the worst of a
 * layer, means over positions; merge reads and writes the same.
 *
 * Umbrella header: for positions.c, those means, too.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_COLUMNS_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_COLUMNS_H

#include "../../evaluate/position.h"
#include "../../table/table.h"

/* The columns of its rows, in order: up to VERIFY_INPUTS what decides a row; VERIFY_ERRORS + kind
 * is that of an error's largest entry, VERIFY_LOGS + kind of its logarithm. */
enum {
    VERIFY_MODEL,
    VERIFY_CONSTRUCTION,
    VERIFY_ARITHMETIC,
    VERIFY_KERNEL,
    VERIFY_OMEGA,
    VERIFY_OPTIONS,
    VERIFY_INPUTS,
    VERIFY_LAYER,
    VERIFY_INPUT, /* these three of positions alone */
    VERIFY_POSITION,
    VERIFY_TOKEN,
    VERIFY_ERRORS,
    VERIFY_LOGS = VERIFY_ERRORS + ERROR_KINDS,
    VERIFY_BOUNDS = VERIFY_LOGS + ERROR_KINDS,
    VERIFY_JUDGED_LOG2,
    VERIFY_WORST_INPUT,
    VERIFY_LOGIT_ERROR,
    VERIFY_MARGIN,
    VERIFY_SAFETY,
    VERIFY_CHANGED,
    VERIFY_PREDICTION, /* these two of positions alone */
    VERIFY_MACHINE_PREDICTION,
    VERIFY_LOSS, /* of r(T), r(T'), m(T'), m(T) */
    VERIFY_KL = VERIFY_LOSS + LOSSES,
    VERIFY_KL_MAX = VERIFY_KL + AGAINST_COUNT,
    VERIFY_STATUS = VERIFY_KL_MAX + AGAINST_COUNT,
    VERIFY_COLUMNS,
    /* What a journal has behind them, of layers and of positions. */
    VERIFY_JUDGED = VERIFY_COLUMNS,
    VERIFY_SCORE = VERIFY_JUDGED + ERROR_KINDS,
    VERIFY_PASSED,
    VERIFY_NATIVE_CHANGED,
    VERIFY_LOST,
    VERIFY_KEPT
};

/* The name of a column < VERIFY_SCORE; the judged errors have that of a norm, whichever it is. */
const char *verify_column(size_t column);

/* How many times larger the error could be: margin over error, and of no error no limit. */
double verify_safety(double margin, double error);

void verify_write_header(FILE *file, const RunOptions *run);

/* The first cells of a row, up to the options; of a template's point at an Omega. */
void verify_write_key(FILE *file, const Point *point);

/* The cells of a row behind them, as text, or blank.  bound: it is only that. */
typedef struct {
    struct {
        char text[CELL_TEXT];
        bool bound;
    } cells[VERIFY_KEPT];
} VerifyRow;

void verify_row_count(VerifyRow *row, size_t column, size_t value);
void verify_row_number(VerifyRow *row, size_t column, double value);
void verify_row_cell(VerifyRow *row, size_t column, const RefCell *cell);

/* The cells of a layer at the input of that number, but for its logits'. */
void verify_row_layer(VerifyRow *row, size_t number, const Point *point, const Row *layer);

/* Of rows of a layer, over other inputs: all = the worst of both, in any order the same, and how
 * many there are together; of none yet it is all zero. */
void verify_row_join(VerifyRow *all, const VerifyRow *one);

/* The cells from logit_error to predictions_changed. */
void verify_row_logits(VerifyRow *row, double error, double margin, size_t changed);

/* A mean of figures as they are printed, so that a reader of the table finds the same; one that is
 * absent does not count. */
typedef struct {
    mpfr_t sum;
    size_t count;
    bool bound; /* one of them is only a bound */
} Mean;

/* Over positions: means of their losses and divergences; the largest of these. */
typedef struct {
    Mean mean[POSITION_MEANS];
    Figure most[AGAINST_COUNT];
} PositionMeans;

void position_means_init(PositionMeans *means);
void position_means_clear(PositionMeans *means);

/* figures [POSITION_MEANS]. */
void position_means_add(PositionMeans *means, const Figure *figures);

/* The row's cells from the first loss to the last largest divergence; or, in a table without
 * positions, whose means nobody can make again, the largest alone. */
void position_means_put(VerifyRow *row, const PositionMeans *means, bool listed);

/* As many columns of them behind the key, with the names of the bounds, and the end of the line. */
void verify_row_write(FILE *file, const VerifyRow *row, size_t columns);

/* ---- What is read of a row ------------------------------------------------------------------- */

/* Cells as they stand in a line, by their columns. */
typedef const char *VerifyCells[VERIFY_KEPT];

/* Cuts the line at *next into its cells from a column to another, and moves it behind; the row has
 * those behind the key.  false: there is no line, or it has not as many, or one that is none. */
bool verify_row_cut(VerifyRow *row, VerifyCells cells, size_t from, size_t to, char **next)
    __attribute__((warn_unused_result));

/* Cells as they were when they were written, to the digits that are there. */
void verify_cell(RefCell *cell, const VerifyRow *row, size_t column);
void verify_figures(Figure *figures, const VerifyRow *row, size_t first, size_t count);
size_t verify_count(const VerifyRow *row, size_t column);
double verify_number(const VerifyRow *row, size_t column);
Status verify_status(const VerifyRow *row);

/* The binary logarithm of a size: infinite where it is not finite, or zero, or absent. */
double verify_log2(const VerifyRow *row, size_t column);

/* Of a journal's row; input and index stay. */
void position_read(Position *position, const VerifyRow *row);

#endif
