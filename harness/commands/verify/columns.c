/*
 * The columns of `verify`, and the cells that its tables have in common; a layer's errors at one
 * input, and the worst of many: of a run's inputs, or of a table's shards.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "columns.h"

#include "../../base/decimal.h"
#include "../../base/number.h"
#include "../../evaluate/evaluate.h"
#include "../../evaluate/verdict.h"
#include "../../table/check_columns.h"
#include "../../table/columns.h"
#include "../../table/table.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *verify_column(size_t column)
{
    /* In order: those before the errors, and those behind them. */
    static const char *const before[] = {"model", "construction", "arithmetic", "kernel",
                                         "omega", OPTIONS_COLUMN, "inputs",     LAYER_COLUMN,
                                         "input", "position",     "token"};
    static const char *const behind[] = {
        BOUNDS_COLUMN,        "judged_log2",    "worst_input",         "logit_error",
        "logit_margin",       "safety_factor",  "predictions_changed", "prediction",
        "machine_prediction", "loss_original",  "loss_converted",      "loss_machine",
        "loss_native",        "kl_converted",   "kl_machine",          "kl_native",
        "kl_converted_max",   "kl_machine_max", "kl_native_max",       "status"};
    static_assert(sizeof before == VERIFY_ERRORS * sizeof *before &&
                      sizeof behind == (VERIFY_COLUMNS - VERIFY_BOUNDS) * sizeof *behind,
                  "every column has a name");
    return column < VERIFY_ERRORS ? before[column]
           : column < VERIFY_LOGS
               ? column_of_error((ErrorKind)(column - VERIFY_ERRORS), NORM_MAX)->name
           : column < VERIFY_BOUNDS ? column_of_log((ErrorKind)(column - VERIFY_LOGS))->name
           : column < VERIFY_COLUMNS
               ? behind[column - VERIFY_BOUNDS]
               : column_of_error((ErrorKind)(column - VERIFY_JUDGED), NORM_REL)->name;
}

void verify_write_header(FILE *file, const RunOptions *run)
{
    (void)run; /* whatever is asked */
    for (size_t column = 0; column < VERIFY_COLUMNS; column++) {
        fprintf(file, "%s%s", column == 0 ? "" : ",", verify_column(column));
    }
    fputc('\n', file);
}

double verify_safety(double margin, double error)
{
    return error == 0 ? INFINITY : isinf(error) ? 0 : margin / error;
}

void verify_row_count(VerifyRow *row, size_t column, size_t value)
{
    snprintf(row->cells[column].text, CELL_TEXT, "%zu", value);
}

void verify_row_number(VerifyRow *row, size_t column, double value)
{
    snprintf(row->cells[column].text, CELL_TEXT, "%.16e", value);
}

void verify_row_cell(VerifyRow *row, size_t column, const RefCell *cell)
{
    table_print_cell(row->cells[column].text, cell);
    row->cells[column].bound = cell->state == CELL_BOUND;
}

void verify_row_logits(VerifyRow *row, double error, double margin, size_t changed)
{
    verify_row_number(row, VERIFY_LOGIT_ERROR, error);
    verify_row_number(row, VERIFY_MARGIN, margin);
    verify_row_number(row, VERIFY_SAFETY, verify_safety(margin, error));
    verify_row_count(row, VERIFY_CHANGED, changed);
}

void verify_row_write(FILE *file, const VerifyRow *row, size_t columns)
{
    BoundsList list = {file, false};
    for (size_t column = VERIFY_INPUTS; column < columns; column++) {
        fprintf(file, ",%s", row->cells[column].text);
        for (size_t of = VERIFY_INPUTS; column == VERIFY_BOUNDS && of < columns; of++) {
            if (row->cells[of].bound) {
                bounds_take(&list, verify_column(of), CELL_BOUND);
            }
        }
    }
    fputc('\n', file);
}

/* The axes that decide a row and have no column here, beside the sizes of the file. */
static const uint64_t decisive = UINT64_C(1) << AXIS_ACTIVATION | UINT64_C(1) << AXIS_MASK |
                                 UINT64_C(1) << AXIS_REFERENCE | UINT64_C(1) << AXIS_SEED;

void verify_write_key(FILE *file, const Point *point)
{
    char omega[DECIMAL_TEXT];
    decimal_print(omega, point->omega);
    fprintf(file, "%s,%s,%s,%s,%s,", point->source->path,
            construction_names[point->spec.construction], arithmetic_names[point->arithmetic],
            point->kernel == KERNEL_DENSE ? "dense" : "structured", omega);
    options_write(file, point, decisive);
}

/* The binary logarithm of a cell as it is printed: infinite where it is not finite, or zero, or
 * absent. */
static double log2_of(const RefCell *cell)
{
    long exponent;
    mpfr_t printed; /* not what rounding left behind its digits, so that shards agree */
    if (cell->state == CELL_NONFINITE) {
        return INFINITY;
    }
    if (cell->state == CELL_ABSENT || cell->state == CELL_ZERO) {
        return -INFINITY;
    }
    mpfr_init2(printed, REF_CELL_BITS);
    ref_cell_printed(printed, cell);
    double mantissa = mpfr_get_d_2exp(&exponent, printed, MPFR_RNDN);
    mpfr_clear(printed);
    return log2(mantissa) + (double)exponent;
}

/* ---- What is read of a row ------------------------------------------------------------------- */

bool verify_row_cut(VerifyRow *row, VerifyCells cells, size_t from, size_t to, char **next)
{
    char *line = *next, *end = strchr(line, '\n');
    Number number;
    if (end == NULL) {
        return false;
    }
    *end = '\0';
    *next = end + 1;
    *row = (VerifyRow){0};
    bool read = table_cut(cells + from, to - from, line) == to - from;
    for (size_t column = VERIFY_INPUTS; column < to && read; column++) {
        const char *text = cells[column];
        if (column != VERIFY_BOUNDS) {
            size_t length = strlen(text);
            read = length < CELL_TEXT &&
                   (column == VERIFY_STATUS ? status_find(text, length) <= STATUS_OK
                                            : number_read(&number, text));
            strncpy(row->cells[column].text, text, CELL_TEXT - 1);
            row->cells[column].bound = length > 0 && column < VERIFY_SCORE &&
                                       bounds_has(cells[VERIFY_BOUNDS], verify_column(column));
        }
    }
    return read;
}

void verify_cell(RefCell *cell, const VerifyRow *row, size_t column)
{
    const char *text = row->cells[column].text;
    bool bound = row->cells[column].bound, size = column < VERIFY_LOGS || column >= VERIFY_BOUNDS;
    mpfr_t value; /* in 53 bits, which tell its digits apart, as figure_of */
    cell->state = CELL_ABSENT;
    if (*text == '\0') {
        return;
    }
    mpfr_init2(value, 53);
    mpfr_strtofr(value, text, NULL, 10, bound ? MPFR_RNDD : MPFR_RNDN);
    mpfr_set(cell->value, value, MPFR_RNDN);
    mpfr_clear(value);
    cell->state = bound                         ? CELL_BOUND
                  : mpfr_zero_p(cell->value)    ? CELL_ZERO
                  : !mpfr_number_p(cell->value) ? CELL_NONFINITE
                                                : CELL_VALUE;
    if (bound && size && mpfr_regular_p(cell->value)) { /* a power of two, rounded up */
        mpfr_set_ui_2exp(cell->value, 1, mpfr_get_exp(cell->value) - 1, MPFR_RNDN);
    }
}

void verify_figures(Figure *figures, const VerifyRow *row, size_t first, size_t count)
{
    RefCell cell;
    ref_cell_init(&cell, REF_DIGITS_MOST);
    for (size_t i = 0; i < count; i++) {
        verify_cell(&cell, row, first + i);
        figures[i] = figure_of(&cell);
    }
    ref_cell_clear(&cell);
}

size_t verify_count(const VerifyRow *row, size_t column)
{
    return strtoul(row->cells[column].text, NULL, 10);
}

double verify_number(const VerifyRow *row, size_t column)
{
    return strtod(row->cells[column].text, NULL);
}

Status verify_status(const VerifyRow *row)
{
    const char *text = row->cells[VERIFY_STATUS].text;
    return status_find(text, strlen(text));
}

double verify_log2(const VerifyRow *row, size_t column)
{
    RefCell cell;
    ref_cell_init(&cell, REF_DIGITS);
    verify_cell(&cell, row, column);
    double log = log2_of(&cell);
    ref_cell_clear(&cell);
    return log;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

void verify_row_layer(VerifyRow *row, size_t number, const Point *point, const Row *layer)
{
    const RefErrors *errors = &layer->errors;
    const RefCell *judged = &errors->error[point->judge][point->norm];
    const RefCell *score = &errors->scalar[SCALAR_SCORE];
    RefCell log;
    ref_cell_init(&log, REF_DIGITS);
    verify_row_count(row, VERIFY_INPUTS, 1);
    verify_row_count(row, VERIFY_LAYER, layer->layer);
    for (size_t kind = 0; kind < ERROR_KINDS; kind++) {
        verify_row_cell(row, VERIFY_ERRORS + kind, &errors->error[kind][NORM_MAX]);
        verify_row_cell(row, VERIFY_JUDGED + kind, &errors->error[kind][point->norm]);
        ref_cell_log10(&log, &errors->error[kind][NORM_MAX]);
        verify_row_cell(row, VERIFY_LOGS + kind, &log);
    }
    ref_cell_clear(&log);
    verify_row_number(row, VERIFY_JUDGED_LOG2, log2_of(judged));
    row->cells[VERIFY_JUDGED_LOG2].bound = judged->state == CELL_BOUND;
    verify_row_count(row, VERIFY_WORST_INPUT, number);
    strcpy(row->cells[VERIFY_STATUS].text, status_name(layer->status));
    verify_row_number(row, VERIFY_SCORE,
                      score->state == CELL_VALUE ? mpfr_get_d(score->value, MPFR_RNDN) : 0);
    verify_row_count(row, VERIFY_PASSED, row_passes(point, layer));
}

static bool is_same(const VerifyRow *one, const VerifyRow *other, size_t column)
{
    return one->cells[column].bound == other->cells[column].bound &&
           strcmp(one->cells[column].text, other->cells[column].text) == 0;
}

static bool is_worse(const VerifyRow *one, const VerifyRow *other, size_t column)
{
    RefCell a, b;
    if (is_same(one, other, column)) {
        return false;
    }
    ref_cell_init(&a, REF_DIGITS);
    ref_cell_init(&b, REF_DIGITS);
    verify_cell(&a, one, column);
    verify_cell(&b, other, column);
    bool worse = cell_is_worse(&a, &b);
    ref_cell_clear(&a);
    ref_cell_clear(&b);
    return worse;
}

/* The errors, with their logarithms.  Of equals the larger one of these, too: errors that differ
 * behind what is printed of them may show it there. */
static void join_errors(VerifyRow *all, const VerifyRow *one)
{
    for (size_t error = VERIFY_ERRORS, log = VERIFY_LOGS; error < VERIFY_LOGS; error++, log++) {
        bool same = is_same(one, all, error);
        if (same ? is_worse(one, all, log) : is_worse(one, all, error)) {
            all->cells[error] = one->cells[error];
            all->cells[log] = one->cells[log];
        }
    }
}

/* Where the judged error is the largest; of equals a bound, and the first input. */
static void join_judged(VerifyRow *all, const VerifyRow *one)
{
    double here = verify_number(one, VERIFY_JUDGED_LOG2);
    double there = verify_number(all, VERIFY_JUDGED_LOG2);
    bool before = verify_count(one, VERIFY_WORST_INPUT) < verify_count(all, VERIFY_WORST_INPUT);
    bool bound = one->cells[VERIFY_JUDGED_LOG2].bound || all->cells[VERIFY_JUDGED_LOG2].bound;
    if (here > there || (here == there && before)) {
        all->cells[VERIFY_JUDGED_LOG2] = one->cells[VERIFY_JUDGED_LOG2];
        all->cells[VERIFY_WORST_INPUT] = one->cells[VERIFY_WORST_INPUT];
    }
    all->cells[VERIFY_JUDGED_LOG2].bound =
        here == there ? bound : all->cells[VERIFY_JUDGED_LOG2].bound;
}

static void join_logits(VerifyRow *all, const VerifyRow *one)
{
    if (*one->cells[VERIFY_MARGIN].text != '\0') {
        double error = verify_number(one, VERIFY_LOGIT_ERROR);
        double margin = verify_number(one, VERIFY_MARGIN);
        verify_row_logits(all, worse(error, verify_number(all, VERIFY_LOGIT_ERROR)),
                          fmin(margin, verify_number(all, VERIFY_MARGIN)),
                          verify_count(one, VERIFY_CHANGED) + verify_count(all, VERIFY_CHANGED));
    }
}

void verify_row_join(VerifyRow *all, const VerifyRow *one)
{
    if (*all->cells[VERIFY_INPUTS].text == '\0') {
        *all = *one;
        return;
    }
    join_errors(all, one);
    join_judged(all, one);
    join_logits(all, one);
    for (size_t column = VERIFY_KL_MAX; column < VERIFY_SCORE; column++) {
        bool size = column < VERIFY_STATUS || column >= VERIFY_JUDGED;
        if (size ? is_worse(one, all, column)
                 : column == VERIFY_STATUS && verify_status(one) < verify_status(all)) {
            all->cells[column] = one->cells[column];
        }
    }
    verify_row_count(all, VERIFY_INPUTS,
                     verify_count(one, VERIFY_INPUTS) + verify_count(all, VERIFY_INPUTS));
    verify_row_number(all, VERIFY_SCORE,
                      fmax(verify_number(one, VERIFY_SCORE), verify_number(all, VERIFY_SCORE)));
    verify_row_count(all, VERIFY_PASSED,
                     verify_count(one, VERIFY_PASSED) && verify_count(all, VERIFY_PASSED));
}

void position_read(Position *position, const VerifyRow *row)
{
    position->predicted = verify_count(row, VERIFY_PREDICTION);
    position->machine = verify_count(row, VERIFY_MACHINE_PREDICTION);
    position->error = verify_number(row, VERIFY_LOGIT_ERROR);
    position->margin = verify_number(row, VERIFY_MARGIN);
    position->changed = verify_count(row, VERIFY_CHANGED) == 1;
    position->native_changed = verify_count(row, VERIFY_NATIVE_CHANGED) == 1;
    position->lost = verify_count(row, VERIFY_LOST) == 1;
    position->known = position->taken = true;
    verify_figures(position->means, row, VERIFY_LOSS, POSITION_MEANS);
    verify_figures(position->errors, row, VERIFY_ERRORS, ERROR_KINDS);
    verify_figures(position->logs, row, VERIFY_LOGS, ERROR_KINDS);
}
