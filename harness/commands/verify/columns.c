/*
 * The columns of `verify`, and the cells that its tables have in common; a layer's errors at one
 * input, and the worst of many: of a run's inputs, or of a table's shards.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "columns.h"

#include "../../base/decimal.h"
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

void verify_row_layer(VerifyRow *row, size_t number, const LayerWorst *layer)
{
    verify_row_count(row, VERIFY_INPUTS, layer->inputs);
    verify_row_count(row, VERIFY_LAYER, number);
    for (size_t kind = 0; kind < ERROR_KINDS; kind++) {
        verify_row_cell(row, VERIFY_ERRORS + kind, &layer->worst[kind]);
        verify_row_cell(row, VERIFY_LOGS + kind, &layer->logs[kind]);
        verify_row_cell(row, VERIFY_JUDGED + kind, &layer->judged[kind]);
    }
    verify_row_number(row, VERIFY_JUDGED_LOG2, layer->log2_judged);
    row->cells[VERIFY_JUDGED_LOG2].bound = layer->judged_bound;
    verify_row_count(row, VERIFY_WORST_INPUT, layer->worst_input);
    strcpy(row->cells[VERIFY_STATUS].text, status_name(layer->status));
    verify_row_number(row, VERIFY_SCORE, layer->score);
    verify_row_count(row, VERIFY_PASSED, layer->passed);
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

/* ---- Layers ---------------------------------------------------------------------------------- */

void layer_init(LayerWorst *layer)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        ref_cell_init(&layer->worst[kind], REF_DIGITS);
        ref_cell_init(&layer->logs[kind], REF_DIGITS);
        ref_cell_init(&layer->judged[kind], REF_DIGITS);
    }
    layer_reset(layer);
}

void layer_reset(LayerWorst *layer)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        layer->worst[kind].state = CELL_ABSENT;
        layer->logs[kind].state = CELL_ABSENT;
        layer->judged[kind].state = CELL_ABSENT;
    }
    layer->score = 0;
    layer->log2_judged = -INFINITY;
    layer->inputs = 0;
    layer->worst_input = SIZE_MAX;
    layer->judged_bound = false;
    layer->passed = true;
    layer->status = STATUS_OK;
}

void layer_clear(LayerWorst *layer)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        ref_cell_clear(&layer->worst[kind]);
        ref_cell_clear(&layer->logs[kind]);
        ref_cell_clear(&layer->judged[kind]);
    }
}

double layer_log2(const RefCell *cell)
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

void layer_take(LayerWorst *layer, size_t number, const Point *point, const Row *row)
{
    const RefCell *score = &row->errors.scalar[SCALAR_SCORE];
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        ref_cell_set(&layer->worst[kind], &row->errors.error[kind][NORM_MAX]);
        ref_cell_log10(&layer->logs[kind], &layer->worst[kind]);
        ref_cell_set(&layer->judged[kind], &row->errors.error[kind][point->norm]);
    }
    layer->score = score->state == CELL_VALUE ? mpfr_get_d(score->value, MPFR_RNDN) : 0;
    layer->inputs = 1;
    layer->worst_input = number;
    layer->status = row->status;
    layer->passed = row_passes(point, row);
    layer->log2_judged = layer_log2(&layer->judged[point->judge]);
    layer->judged_bound = layer->judged[point->judge].state == CELL_BOUND;
}

void layer_join(LayerWorst *all, const LayerWorst *one)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        const bool more = cell_is_worse(&one->worst[kind], &all->worst[kind]);
        const bool less = cell_is_worse(&all->worst[kind], &one->worst[kind]);
        if (more) {
            ref_cell_set(&all->worst[kind], &one->worst[kind]);
        }
        /* Of equals, too: errors that differ behind what is printed of them may show it here. */
        if (more || (!less && cell_is_worse(&one->logs[kind], &all->logs[kind]))) {
            ref_cell_set(&all->logs[kind], &one->logs[kind]);
        }
        if (cell_is_worse(&one->judged[kind], &all->judged[kind])) {
            ref_cell_set(&all->judged[kind], &one->judged[kind]);
        }
    }
    const bool more = one->log2_judged > all->log2_judged;
    const bool equal = one->log2_judged == all->log2_judged;
    if (more || equal) { /* of equals a bound, as with worst */
        all->judged_bound = one->judged_bound || (equal && all->judged_bound);
    }
    if (more || (equal && one->worst_input < all->worst_input)) {
        all->log2_judged = one->log2_judged;
        all->worst_input = one->worst_input;
    }
    all->score = fmax(all->score, one->score);
    all->inputs += one->inputs;
    all->passed = all->passed && one->passed;
    all->status = one->status < all->status ? one->status : all->status;
}

/* ---- What is read back ----------------------------------------------------------------------- */

bool verify_read_row(VerifyCells cells, size_t from, size_t to, char **next)
{
    char *line = *next, *end = strchr(line, '\n');
    if (end == NULL) {
        return false;
    }
    *end = '\0';
    *next = end + 1;
    return table_cut(cells + from, to - from, line) == to - from;
}

static bool is_bound(const VerifyCells cells, size_t column)
{
    return bounds_has(cells[VERIFY_BOUNDS], verify_column(column));
}

/* In 53 bits, which tell its digits apart, as figure_of.  A bound of a size is a power of two,
 * rounded up to them. */
static void read_cell(RefCell *cell, const VerifyCells cells, size_t column)
{
    const char *text = cells[column] != NULL ? cells[column] : "";
    bool bound = *text != '\0' && is_bound(cells, column);
    bool size = column < VERIFY_LOGS || column >= VERIFY_BOUNDS;
    mpfr_t value;
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
    cell->digits = 0;
    for (; *text != 'e' && *text != '\0'; text++) {
        cell->digits += *text >= '0' && *text <= '9';
    }
    if (bound && size && mpfr_regular_p(cell->value)) {
        mpfr_set_ui_2exp(cell->value, 1, mpfr_get_exp(cell->value) - 1, MPFR_RNDN);
    }
}

void verify_read_figures(Figure *figures, const VerifyCells cells, size_t first, size_t count)
{
    RefCell cell;
    ref_cell_init(&cell, REF_DIGITS);
    for (size_t i = 0; i < count; i++) {
        read_cell(&cell, cells, first + i);
        figures[i] = figure_of(&cell);
    }
    ref_cell_clear(&cell);
}

size_t verify_read_count(const VerifyCells cells, size_t column)
{
    return strtoul(cells[column], NULL, 10);
}

double verify_read_number(const VerifyCells cells, size_t column)
{
    return strtod(cells[column], NULL);
}

void layer_read(LayerWorst *layer, const VerifyCells cells)
{
    const char *status = cells[VERIFY_STATUS];
    layer_reset(layer);
    for (size_t kind = 0; kind < ERROR_KINDS; kind++) {
        read_cell(&layer->worst[kind], cells, VERIFY_ERRORS + kind);
        read_cell(&layer->logs[kind], cells, VERIFY_LOGS + kind);
        read_cell(&layer->judged[kind], cells, VERIFY_JUDGED + kind);
    }
    layer->log2_judged = verify_read_number(cells, VERIFY_JUDGED_LOG2);
    layer->judged_bound = is_bound(cells, VERIFY_JUDGED_LOG2);
    layer->inputs = verify_read_count(cells, VERIFY_INPUTS);
    layer->worst_input = verify_read_count(cells, VERIFY_WORST_INPUT);
    layer->status = status_find(status, strlen(status));
    if (cells[VERIFY_SCORE] != NULL) {
        layer->score = verify_read_number(cells, VERIFY_SCORE);
        layer->passed = verify_read_count(cells, VERIFY_PASSED) == 1;
    }
}

void position_read(Position *position, const VerifyCells cells)
{
    position->predicted = verify_read_count(cells, VERIFY_PREDICTION);
    position->machine = verify_read_count(cells, VERIFY_MACHINE_PREDICTION);
    position->error = verify_read_number(cells, VERIFY_LOGIT_ERROR);
    position->margin = verify_read_number(cells, VERIFY_MARGIN);
    position->changed = verify_read_count(cells, VERIFY_CHANGED) == 1;
    position->native_changed = verify_read_count(cells, VERIFY_NATIVE_CHANGED) == 1;
    position->lost = verify_read_count(cells, VERIFY_LOST) == 1;
    position->known = position->taken = true;
    verify_read_figures(position->means, cells, VERIFY_LOSS, POSITION_MEANS);
    verify_read_figures(position->errors, cells, VERIFY_ERRORS, ERROR_KINDS);
    verify_read_figures(position->logs, cells, VERIFY_LOGS, ERROR_KINDS);
}
