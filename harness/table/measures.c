/*
 * Rows of sweeps by their axes, and their errors as logarithms.
 */
#include "measures.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "bounds.h"
#include "check_columns.h"
#include "columns.h"
#include "format.h"
#include "options_cell.h"
#include "summary.h"

#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Logarithms are below this, which a long holds. */
#define EXPONENT_MOST 1e18

const char *measure_axis_name(size_t axis)
{
    return axis == MEASURE_FILE    ? "file"
           : axis == MEASURE_LAYER ? LAYER_COLUMN
                                   : axis_info((Axis)axis)->name;
}

void measure_print(char text[MEASURE_TEXT], Measure cell)
{
    bool carries = cell.mantissa >= 9.95;
    if (isfinite(cell.log10)) {
        snprintf(text, MEASURE_TEXT, "%s%.1fe%+03ld", cell.bound ? "<" : "",
                 carries ? 1 : cell.mantissa, cell.exponent + carries);
    } else {
        snprintf(text, MEASURE_TEXT, "%s",
                 isnan(cell.log10) ? "-"
                 : cell.log10 < 0  ? "0"
                                   : "not finite");
    }
}

const char *measures_text(const Measures *data, size_t row, size_t axis)
{
    return data->axes[axis].texts[data->values[row][axis]];
}

bool measures_is_blank(const Measures *data, size_t row, size_t axis)
{
    return *measures_text(data, row, axis) == '\0';
}

/* ---- Values of axes -------------------------------------------------------------------------- */

/* A text of an axis, and how many others came before it. */
typedef struct {
    size_t index;
    char text[];
} Known;

static int compare_known(const void *a, const void *b)
{
    return strcmp(((const Known *)a)->text, ((const Known *)b)->text);
}

/* The row that is read has that text on the axis. */
static void take_value(Measures *data, size_t at, const char *text, size_t length)
{
    MeasureAxis *axis = &data->axes[at];
    size_t *value = &data->values[data->rows][at];
    const char *above = data->rows > 0 ? axis->texts[data->values[data->rows - 1][at]] : NULL;
    if (above != NULL && strlen(above) == length && memcmp(above, text, length) == 0) {
        *value = data->values[data->rows - 1][at];
        return;
    }
    if ((axis->count & (axis->count - 1)) == 0) { /* a power of two */
        axis->texts = need_more(axis->texts, 2 * axis->count + 1, sizeof *axis->texts);
    }
    Known *known = need_room(1, sizeof *known + length + 1);
    known->index = axis->count;
    memcpy(known->text, text, length);
    known->text[length] = '\0';
    Known *const *found = tsearch(known, &axis->tree, compare_known);
    if (found == NULL) {
        need_is_short();
    } else if (*found != known) {
        *value = (*found)->index;
        free(known);
    } else {
        *value = known->index;
        axis->texts[axis->count++] = known->text;
    }
}

typedef struct {
    double number;
    size_t index; /* in which it came */
    const char *text;
} Ordered;

static int compare_ordered(const void *a, const void *b)
{
    const Ordered *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->index > y->index) - (x->index < y->index);
}

/* Orders the values of an axis, once all rows are read. */
static void order_axis(Measures *data, size_t axis)
{
    MeasureAxis *values = &data->axes[axis];
    Ordered *ordered = need_zeros(values->count + 1, sizeof *ordered);
    size_t *places = need_zeros(values->count + 1, sizeof *places);
    values->numeric = axis != MEASURE_FILE;
    for (size_t i = 0; i < values->count; i++) {
        bool blank = *values->texts[i] == '\0';
        values->filled += !blank;
        values->numeric = values->numeric && (blank || format_is_number(values->texts[i]));
    }
    for (size_t i = 0; i < values->count; i++) {
        const char *text = values->texts[i];
        double number = *text == '\0' ? -INFINITY : values->numeric ? strtod(text, NULL) : 0;
        ordered[i] = (Ordered){number, i, text};
    }
    qsort(ordered, values->count, sizeof *ordered, compare_ordered);
    for (size_t i = 0; i < values->count; i++) {
        values->texts[i] = ordered[i].text;
        places[ordered[i].index] = i;
    }
    for (size_t row = 0; row < data->rows; row++) {
        data->values[row][axis] = places[data->values[row][axis]];
    }
    free(ordered);
    free(places);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

const char *measures_column(const Csv *csv, size_t row, const char *name)
{
    size_t column = csv_find(csv, name);
    return column < csv->columns ? csv_cell(csv, row, column) : "";
}

/* Tables of one picture hold the same: searches, or sweeps with their keys and the errors in
 * question. */
static int check_columns(Measures *data, const Csv *csv)
{
    const char *const needed[] = {"construction", LAYER_COLUMN,
                                  column_of_error(ERROR_CONSTRUCTION, data->norm)->name};
    const Origin header = {.file = csv->path, .line = 1};
    if (data->rows > 0 && data->searched != searched_is(csv)) {
        return complain(header, csv_name(csv, 0),
                        "expected tables of searches alone, or of sweeps alone");
    }
    data->searched = searched_is(csv);
    for (size_t i = 0; i < sizeof needed / sizeof *needed && !data->searched; i++) {
        if (csv_find(csv, needed[i]) == csv->columns) {
            return complain(header, csv_name(csv, 0),
                            "expected a table of sweep, depth or min-omega, with the column %s",
                            needed[i]);
        }
    }
    return 0;
}

/* Every name in `options` is an axis, and has a value. */
static int check_options(const Csv *csv, size_t row, const char *options)
{
    bool known = true;
    for (const char *rest = options; *rest != '\0' && known;) {
        size_t length = strcspn(rest, ";"), named = strcspn(rest, "=;");
        char name[64] = "";
        memcpy(name, rest, named < sizeof name ? named : 0);
        Axis axis = axis_find(name);
        known = axis < AXIS_COUNT && axis_info(axis)->column == NULL && named < length;
        rest += length + (rest[length] == ';');
    }
    return known ? 0
                 : complain((Origin){.file = csv->path, .line = csv_line(row)}, options,
                            "expected axes of %s, each with its value", OPTIONS_COLUMN);
}

/* A number, and none that an axis takes? */
static bool is_beyond_doubles(AxisCell cell)
{
    char *end;
    return !isfinite(strtod(cell.text, &end)) && end == cell.text + cell.length;
}

/* A row's values on the axes, whose columns are known; of those without one what the row's options
 * say. */
static int take_keys(Measures *data, const Csv *csv, size_t row, const size_t at[AXIS_COUNT])
{
    const char *options = measures_column(csv, row, OPTIONS_COLUMN);
    char standard[VALUE_TEXT];
    AxisCell columns[AXIS_COUNT] = {{0}};
    int status = check_options(csv, row, options);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (at[axis] < csv->columns) {
            const char *cell = csv_cell(csv, row, at[axis]);
            columns[axis] = (AxisCell){cell, strlen(cell)};
        }
    }
    for (Axis axis = 0; axis < AXIS_COUNT && status == 0; axis++) {
        const AxisInfo *info = axis_info(axis);
        AxisCell cell = {columns[axis].text != NULL ? columns[axis].text : "",
                         columns[axis].length};
        if (info->column == NULL) {
            cell.text = options_find(&cell.length, options, strlen(options), info->name);
        }
        if (cell.text == NULL) {
            value_print(standard, &info->domain, info->standard);
            cell = (AxisCell){standard, strlen(standard)};
        }
        if (is_beyond_doubles(cell)) {
            status = complain((Origin){.file = csv->path, .line = csv_line(row)}, cell.text,
                              "expected a value of %s", info->name);
        }
        take_value(data, axis, cell.text, cell.length);
    }
    const char *layer = measures_column(csv, row, LAYER_COLUMN);
    if (status == 0) {
        take_value(data, MEASURE_LAYER, layer, strlen(layer));
        take_value(data, MEASURE_FILE, csv->path, strlen(csv->path));
    }
    return status;
}

Measure measure_of(const Number *number)
{
    Measure cell = {.log10 = number->kind == NUMBER_ZERO        ? -INFINITY
                             : number->kind == NUMBER_NONFINITE ? INFINITY
                                                                : NAN};
    if (number->kind == NUMBER_FINITE && number->digits != 0) {
        cell.mantissa = (double)number->digits / 1e16;
        cell.exponent = number->exponent;
        cell.log10 = log10(cell.mantissa) + (double)number->exponent;
    }
    return cell;
}

Measure measure_at(double log10)
{
    bool finite = isfinite(log10);
    return (Measure){.log10 = log10,
                     .exponent = finite ? (long)floor(log10) : 0,
                     .mantissa = finite ? pow(10, log10 - floor(log10)) : 0};
}

/* From the logarithm, where a program that has doubles alone wrote the table anew and a size of
 * 1e-868 became 0.0: of a proven 0 it is blank. */
static int take_log(Measure *cell, const Csv *csv, size_t row, const char *column)
{
    const char *text = measures_column(csv, row, column);
    Number number;
    bool is_number = number_read(&number, text);
    double value = is_number && number.kind != NUMBER_BLANK ? strtod(text, NULL) : -INFINITY;
    if (!is_number || isnan(value) || (isfinite(value) && fabs(value) > EXPONENT_MOST)) {
        return complain((Origin){.file = csv->path, .line = csv_line(row)}, text,
                        "expected a logarithm in the column %s", column);
    }
    *cell = measure_at(value);
    return 0;
}

static int take_cell(Measure *cell, const Csv *csv, size_t row, ErrorKind kind, Norm norm)
{
    const char *column = column_of_error(kind, norm)->name,
               *text = measures_column(csv, row, column);
    const char *log = column_of_log(kind)->name;
    Number number;
    bool bound = bounds_has(measures_column(csv, row, BOUNDS_COLUMN), column);
    bool is_number = number_read(&number, text);
    const char *fault =
        is_number ? column_fault(column_of_error(kind, norm), &number, bound) : "a number";
    if (fault != NULL) {
        return complain((Origin){.file = csv->path, .line = csv_line(row)}, text,
                        "expected %s (column %s)", fault, column);
    }
    *cell = measure_of(&number);
    bool lost = number.kind == NUMBER_FINITE && number.digits == 0; /* 0.0, which is none of ours */
    lost = lost && norm == NORM_MAX && csv_find(csv, log) < csv->columns;
    int status = lost ? take_log(cell, csv, row, log) : 0;
    cell->bound = *text != '\0' && bound;
    return status;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The rows of one table, for which there is room. */
static int take_table(Measures *data, const Csv *csv)
{
    size_t columns[AXIS_COUNT];
    int status = check_columns(data, csv);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const char *name = axis_info(axis)->column;
        columns[axis] = name != NULL ? csv_find(csv, name) : csv->columns;
    }
    for (size_t row = 0; row < csv->rows && status == 0; row++) {
        Measure *cells = data->cells[data->rows];
        const char *word = measures_column(csv, row, column_name(COLUMN_STATUS));
        data->silent[data->rows] = strcmp(word, status_name(STATUS_VACUOUS)) == 0 ||
                                   strcmp(word, status_name(STATUS_ERROR)) == 0;
        status = take_keys(data, csv, row, columns);
        if (data->searched) {
            status = status != 0 ? status : searched_take(cells, csv, row);
        }
        for (ErrorKind kind = 0; kind < ERROR_KINDS && status == 0 && !data->searched; kind++) {
            status = take_cell(&cells[kind], csv, row, kind, data->norm);
        }
        data->rows += status == 0;
    }
    return status;
}

int measures_take(Measures *data, const Csv *tables, size_t count, Norm norm)
{
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        rows += tables[i].rows;
    }
    data->norm = norm;
    data->values = need_zeros(rows + 1, sizeof *data->values);
    data->cells = need_zeros(rows + 1, sizeof *data->cells);
    data->silent = need_zeros(rows + 1, sizeof *data->silent);
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        status = take_table(data, &tables[i]);
    }
    if (status == 0 && data->rows == 0) {
        return complain((Origin){.file = tables[0].path, .line = 1}, csv_name(&tables[0], 0),
                        "expected rows below the header");
    }
    for (size_t axis = 0; axis < MEASURE_AXES && status == 0; axis++) {
        order_axis(data, axis);
    }
    return status;
}

/* The largest entry, unless streams of many layers shrink or grow: then relative errors. */
static Norm fitting_norm(const Csv *tables, size_t count)
{
    StreamSizes sizes = stream_sizes_none();
    const char *first = tables[0].rows > 0 ? measures_column(&tables[0], 0, LAYER_COLUMN) : "";
    bool layers = false, relative = true;
    for (size_t i = 0; i < count; i++) {
        const Csv *csv = &tables[i];
        const char *name = column_of_error(ERROR_CONSTRUCTION, NORM_REL)->name;
        relative = relative && csv_find(csv, name) < csv->columns;
        for (size_t row = 0; row < csv->rows; row++) {
            layers = layers || strcmp(measures_column(csv, row, LAYER_COLUMN), first) != 0;
            for (ErrorKind kind = ERROR_CONSTRUCTION; kind <= ERROR_NATIVE && relative; kind++) {
                stream_sizes_add_texts(
                    &sizes, measures_column(csv, row, column_of_error(kind, NORM_MAX)->name),
                    measures_column(csv, row, column_of_error(kind, NORM_REL)->name));
            }
        }
    }
    return relative ? stream_sizes_norm(sizes, layers) : NORM_MAX;
}

int measures_read(Measures *data, char *const *paths, size_t count, Norm norm)
{
    Csv *tables = need_zeros(count + 1, sizeof *tables);
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        status = csv_read(&tables[i], paths[i]);
    }
    if (status == 0) {
        norm = norm == NORM_COUNT ? fitting_norm(tables, count) : norm;
        status = measures_take(data, tables, count, norm);
    }
    for (size_t i = 0; i < count; i++) {
        csv_clear(&tables[i]);
    }
    free(tables);
    return status;
}

void measures_clear(Measures *data)
{
    for (size_t axis = 0; axis < MEASURE_AXES; axis++) {
        while (data->axes[axis].tree != NULL) {
            Known *known = *(Known **)data->axes[axis].tree;
            (void)tdelete(known, &data->axes[axis].tree, compare_known);
            free(known);
        }
        free(data->axes[axis].texts);
    }
    free(data->values);
    free(data->cells);
    free(data->silent);
    *data = (Measures){0};
}
