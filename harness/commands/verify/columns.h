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

/* A layer over inputs.  worst: the largest errors in the max norm; logs: their logarithms; judged:
 * in the norm that is judged; score: the largest content score, 0: none; worst_input: the number of
 * that with the largest judged error, of which log2_judged is the binary logarithm; judged_bound:
 * it is only a bound. */
typedef struct {
    RefCell worst[ERROR_KINDS], logs[ERROR_KINDS], judged[ERROR_KINDS];
    double score, log2_judged;
    size_t inputs, worst_input;
    bool judged_bound, passed;
    Status status;
} LayerWorst;

/* Of no input yet. */
void layer_init(LayerWorst *layer);
void layer_reset(LayerWorst *layer);
void layer_clear(LayerWorst *layer);

/* The row of a point is that of the input of that number. */
void layer_take(LayerWorst *layer, size_t number, const Point *point, const Row *row);

/* all = the worst of both, in any order the same. */
void layer_join(LayerWorst *all, const LayerWorst *one);

/* The binary logarithm of a cell as it is printed: infinite where it is not finite, or zero, or
 * absent. */
double layer_log2(const RefCell *cell);

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

/* The layer's cells, but for what its logits add. */
void verify_row_layer(VerifyRow *row, size_t number, const LayerWorst *layer);

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

/* Those figures of divergences alone [AGAINST_COUNT] go into the largest. */
void position_most_add(PositionMeans *means, const Figure *kl);

/* The row's cells from the first loss to the last largest divergence; or, in a table without
 * positions, whose means nobody can make again, the largest alone. */
void position_means_put(VerifyRow *row, const PositionMeans *means, bool listed);

/* As many columns of them behind the key, with the names of the bounds, and the end of the line. */
void verify_row_write(FILE *file, const VerifyRow *row, size_t columns);

/* ---- What is read back ----------------------------------------------------------------------- */

/* A row's cells by their columns.  Those of a journal alone are NULL in a table's; a layer then has
 * no judged errors and no score, and passed. */
typedef const char *VerifyCells[VERIFY_KEPT];

/* Cuts the line at *next into its cells from a column to another, and moves it behind.  false:
 * there is no line, or it has not as many. */
bool verify_read_row(VerifyCells cells, size_t from, size_t to, char **next)
    __attribute__((warn_unused_result));

/* Cells as they were when they were written, with as many digits. */
void verify_read_figures(Figure *figures, const VerifyCells cells, size_t first, size_t count);
size_t verify_read_count(const VerifyCells cells, size_t column);
double verify_read_number(const VerifyCells cells, size_t column);
void layer_read(LayerWorst *layer, const VerifyCells cells);

/* Of a journal; input and index stay. */
void position_read(Position *position, const VerifyCells cells);

#endif
