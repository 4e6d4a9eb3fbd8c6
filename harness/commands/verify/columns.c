/*
 * The columns of `verify`, and the cells that its tables have in common.
 */
#include "columns.h"

#include "../../base/decimal.h"
#include "../../table/bounds.h"
#include "../../table/columns.h"
#include "../../table/table.h"

#include <assert.h>
#include <math.h>
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
                                    : behind[column - VERIFY_BOUNDS];
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

void verify_row_write(FILE *file, const VerifyRow *row)
{
    BoundsList list = {file, false};
    for (size_t column = VERIFY_INPUTS; column < VERIFY_COLUMNS; column++) {
        fprintf(file, ",%s", row->cells[column].text);
        if (column != VERIFY_BOUNDS) {
            continue;
        }
        for (size_t of = VERIFY_INPUTS; of < VERIFY_COLUMNS; of++) {
            bounds_take(&list, verify_column(of), row->cells[of].bound ? CELL_BOUND : CELL_VALUE);
        }
    }
    fputc('\n', file);
}

void verify_row_layer(VerifyRow *row, size_t number, const LayerWorst *layer)
{
    RefCell log;
    ref_cell_init(&log, REF_DIGITS);
    verify_row_count(row, VERIFY_INPUTS, layer->inputs);
    verify_row_count(row, VERIFY_LAYER, number);
    for (size_t kind = 0; kind < ERROR_KINDS; kind++) {
        const bool known = layer->logs[kind].state != CELL_ABSENT;
        verify_row_cell(row, VERIFY_ERRORS + kind, &layer->worst[kind]);
        (known ? ref_cell_set : ref_cell_log10)(&log, (known ? layer->logs : layer->worst) + kind);
        verify_row_cell(row, VERIFY_LOGS + kind, &log);
    }
    ref_cell_clear(&log);
    verify_row_number(row, VERIFY_JUDGED_LOG2, layer->log2_judged);
    row->cells[VERIFY_JUDGED_LOG2].bound = layer->judged_bound;
    verify_row_count(row, VERIFY_WORST_INPUT, layer->worst_input);
    strcpy(row->cells[VERIFY_STATUS].text, status_name(layer->status));
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
