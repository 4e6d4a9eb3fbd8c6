/*
 * The columns of `verify`, and the cells that its tables have in common; a layer's errors at one
 * input, and the worst of many: of a run's inputs, or of a table's shards.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "columns.h"

#include "../../base/decimal.h"
#include "../../evaluate/evaluate.h"
#include "../../table/columns.h"
#include "../../table/table.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
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

void layer_judge(LayerWorst *layer, ErrorKind judge)
{
    layer->log2_judged = layer_log2(&layer->judged[judge]);
    layer->judged_bound = layer->judged[judge].state == CELL_BOUND;
}

void layer_take(LayerWorst *layer, size_t number, const Point *point, const Row *row)
{
    const RefCell *score = &row->errors.scalar[SCALAR_SCORE];
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        ref_cell_set(&layer->worst[kind], &row->errors.error[kind][NORM_MAX]);
        ref_cell_set(&layer->judged[kind], &row->errors.error[kind][point->norm]);
    }
    layer->score = score->state == CELL_VALUE ? mpfr_get_d(score->value, MPFR_RNDN) : 0;
    layer->inputs = 1;
    layer->worst_input = number;
    layer->status = row->status;
    layer_judge(layer, point->judge);
}

void layer_join(LayerWorst *all, const LayerWorst *one)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        if (cell_is_worse(&one->worst[kind], &all->worst[kind])) {
            ref_cell_set(&all->worst[kind], &one->worst[kind]);
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
    all->status = one->status < all->status ? one->status : all->status;
}
