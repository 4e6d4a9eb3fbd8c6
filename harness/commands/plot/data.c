/*
 * Tables of sweeps read for a picture.
 */
#include "data.h"

#include "searched.h"

#include "../../base/message.h"
#include "../../table/bounds.h"
#include "../../table/columns.h"
#include "../../table/format.h"
#include "../../table/options_cell.h"
#include "../../table/summary.h"

#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Logarithms are below this, which a long holds. */
#define EXPONENT_MOST 1e18

/* Where the columns of one table are; csv->columns: it has no such column. */
typedef struct {
    const Csv *csv;
    size_t axes[PLOT_AXES];
    size_t options, bounds, status;
    size_t errors[ERROR_KINDS];
    size_t logs[ERROR_KINDS]; /* of their logarithms, where it is they */
    bool searched;
} Places;

const char *plot_axis_name(size_t axis)
{
    return axis == PLOT_FILE    ? "file"
           : axis == PLOT_LAYER ? LAYER_COLUMN
                                : axis_info((Axis)axis)->name;
}

void plot_cell_print(char text[PLOT_SIZE_TEXT], PlotCell cell)
{
    if (!isfinite(cell.log10)) {
        snprintf(text, PLOT_SIZE_TEXT, "%s",
                 isnan(cell.log10) ? "-"
                 : cell.log10 < 0  ? "0"
                                   : "not finite");
        return;
    }
    bool carries = cell.mantissa >= 9.95;
    snprintf(text, PLOT_SIZE_TEXT, "%s%.1fe%+03ld", cell.bound ? "<" : "",
             carries ? 1 : cell.mantissa, cell.exponent + carries);
}

const char *plot_text(const PlotData *data, size_t row, size_t axis)
{
    return data->axes[axis].texts[data->values[row][axis]];
}

bool plot_is_blank(const PlotData *data, size_t row, size_t axis)
{
    return *plot_text(data, row, axis) == '\0';
}

/* A text of an axis, and how many others came before it. */
typedef struct {
    size_t index;
    char text[];
} Known;

static int compare_known(const void *a, const void *b)
{
    return strcmp(((const Known *)a)->text, ((const Known *)b)->text);
}

/* The row that is read has that text on the axis.  0, or 99. */
static int take_value(PlotData *data, size_t at, const char *text, size_t length)
{
    PlotAxis *axis = &data->axes[at];
    size_t *value = &data->values[data->rows][at];
    const char *above = data->rows > 0 ? axis->texts[data->values[data->rows - 1][at]] : NULL;
    if (above != NULL && strlen(above) == length && memcmp(above, text, length) == 0) {
        *value = data->values[data->rows - 1][at];
        return 0;
    }
    bool full = (axis->count & (axis->count - 1)) == 0; /* a power of two */
    void *longer = full ? realloc(axis->texts, (2 * axis->count + 1) * sizeof *axis->texts) : NULL;
    axis->texts = longer != NULL ? longer : axis->texts;
    Known *known = full && longer == NULL ? NULL : malloc(sizeof *known + length + 1);
    if (known == NULL) {
        return memory_fault();
    }
    known->index = axis->count;
    memcpy(known->text, text, length);
    known->text[length] = '\0';
    Known *const *found = tsearch(known, &axis->tree, compare_known);
    if (found == NULL || *found != known) {
        free(known);
    } else {
        axis->texts[axis->count++] = known->text;
    }
    *value = found != NULL ? (*found)->index : 0;
    return found != NULL ? 0 : memory_fault();
}

/* ---- Orders ---------------------------------------------------------------------------------- */

typedef struct {
    double number;
    size_t index; /* in which it came */
    size_t place; /* of the text that came as this one stands */
    const char *text;
} Ordered;

static int compare_ordered(const void *a, const void *b)
{
    const Ordered *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->index > y->index) - (x->index < y->index);
}

/* Orders the values of an axis, once all rows are read. */
static int order_axis(PlotData *data, size_t axis)
{
    PlotAxis *values = &data->axes[axis];
    Ordered *ordered = calloc(values->count + 1, sizeof *ordered);
    if (ordered == NULL) {
        return memory_fault();
    }
    values->numeric = axis != PLOT_FILE;
    for (size_t i = 0; i < values->count; i++) {
        bool blank = *values->texts[i] == '\0';
        values->filled += !blank;
        values->numeric = values->numeric && (blank || format_is_number(values->texts[i]));
    }
    for (size_t i = 0; i < values->count; i++) {
        const char *text = values->texts[i];
        double number = *text == '\0' ? -INFINITY : values->numeric ? strtod(text, NULL) : 0;
        ordered[i] = (Ordered){.number = number, .index = i, .text = text};
    }
    qsort(ordered, values->count, sizeof *ordered, compare_ordered);
    for (size_t i = 0; i < values->count; i++) {
        values->texts[i] = ordered[i].text;
        ordered[ordered[i].index].place = i;
    }
    for (size_t row = 0; row < data->rows; row++) {
        data->values[row][axis] = ordered[data->values[row][axis]].place;
    }
    free(ordered);
    return 0;
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void find_columns(Places *places, const Csv *csv, Norm norm)
{
    places->csv = csv;
    places->searched = searched_is(csv);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const char *column = axis_info(axis)->column;
        places->axes[axis] = column != NULL ? csv_find(csv, column) : csv->columns;
    }
    places->axes[PLOT_LAYER] = csv_find(csv, LAYER_COLUMN);
    places->axes[PLOT_FILE] = csv->columns;
    places->options = csv_find(csv, OPTIONS_COLUMN);
    places->bounds = csv_find(csv, BOUNDS_COLUMN);
    places->status = csv_find(csv, column_name(COLUMN_STATUS));
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        places->errors[kind] = csv_find(csv, column_of_error(kind, norm)->name);
        bool logs = norm == NORM_MAX;
        places->logs[kind] = logs ? csv_find(csv, column_of_log(kind)->name) : csv->columns;
    }
}

/* Tables of one picture hold the same: searches, or sweeps with their keys and the errors in
 * question. */
static int check_columns(PlotData *data, const Places *places)
{
    const Csv *csv = places->csv;
    const char *const needed[] = {"construction", LAYER_COLUMN,
                                  column_of_error(ERROR_CONSTRUCTION, data->norm)->name};
    const Origin header = {.file = csv->path, .line = 1};
    if (data->rows > 0 && data->searched != places->searched) {
        return complain(header, csv_name(csv, 0),
                        "expected tables of searches alone, or of sweeps alone");
    }
    data->searched = places->searched;
    for (size_t i = 0; i < sizeof needed / sizeof *needed && !data->searched; i++) {
        if (csv_find(csv, needed[i]) == csv->columns) {
            return complain(header, csv_name(csv, 0),
                            "expected a table of sweep, depth or min-omega, with the column %s",
                            needed[i]);
        }
    }
    return 0;
}

/* The cell; "" where the table has no such column. */
static const char *cell_at(const Csv *csv, size_t row, size_t column)
{
    return column < csv->columns ? csv_cell(csv, row, column) : "";
}

/* Every name in `options` is an axis, and has a value. */
static int check_options(const Csv *csv, size_t row, const char *options)
{
    bool known = strlen(options) < OPTIONS_MOST;
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

/* A row's values on the axes; of those without a column what the row's options say, but for what is
 * a default all the same. */
static int take_keys(PlotData *data, const Places *places, size_t row)
{
    const Csv *csv = places->csv;
    const char *options = cell_at(csv, row, places->options);
    char canonical[OPTIONS_MOST + 1];
    AxisCell columns[AXIS_COUNT] = {{0}};
    int status = check_options(csv, row, options);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const char *cell = cell_at(csv, row, places->axes[axis]);
        columns[axis] =
            places->axes[axis] < csv->columns ? (AxisCell){cell, strlen(cell)} : (AxisCell){0};
    }
    size_t size = status == 0 ? options_canonical(canonical, options, strlen(options), columns) : 0;
    for (size_t axis = 0; axis < PLOT_AXES && status == 0; axis++) {
        char standard[VALUE_TEXT];
        const char *found = cell_at(csv, row, places->axes[axis]);
        size_t length = strlen(found);
        if (axis == PLOT_FILE) {
            found = csv->path;
            length = strlen(found);
        } else if (axis < AXIS_COUNT && axis_info((Axis)axis)->column == NULL) {
            const AxisInfo *info = axis_info((Axis)axis);
            found = options_find(&length, canonical, size, info->name);
            if (found == NULL) {
                value_print(standard, &info->domain, info->standard);
                found = standard;
                length = strlen(found);
            }
        }
        status = take_value(data, axis, found, length);
    }
    return status;
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

PlotCell plot_cell_of(const Number *number)
{
    PlotCell cell = {.log10 = number->kind == NUMBER_ZERO        ? -INFINITY
                              : number->kind == NUMBER_NONFINITE ? INFINITY
                                                                 : NAN};
    if (number->kind == NUMBER_FINITE && number->digits != 0) {
        cell.mantissa = (double)number->digits / 1e16;
        cell.exponent = number->exponent;
        cell.log10 = log10(cell.mantissa) + (double)number->exponent;
    }
    return cell;
}

/* From the logarithm, where a program that has doubles alone wrote the table anew and a size of
 * 1e-868 became 0.0: of a proven 0 it is blank. */
static int take_log(PlotCell *cell, const Places *places, size_t row, ErrorKind kind)
{
    const Csv *csv = places->csv;
    Number number;
    if (places->logs[kind] == csv->columns) {
        return 0;
    }
    const char *text = csv_cell(csv, row, places->logs[kind]);
    bool is_number = number_read(&number, text);
    double value = is_number && number.kind != NUMBER_BLANK ? strtod(text, NULL) : -INFINITY;
    if (!is_number || isnan(value) || (isfinite(value) && fabs(value) > EXPONENT_MOST)) {
        return complain((Origin){.file = csv->path, .line = csv_line(row)}, text,
                        "expected a logarithm in the column %s", csv_name(csv, places->logs[kind]));
    }
    cell->log10 = value;
    if (isfinite(value)) {
        cell->exponent = (long)floor(value);
        cell->mantissa = pow(10, value - floor(value));
    }
    return 0;
}

static int take_cell(PlotCell *cell, const Places *places, size_t row, ErrorKind kind)
{
    const Csv *csv = places->csv;
    size_t column = places->errors[kind];
    const char *text = cell_at(csv, row, column);
    Number number;
    if (!number_read(&number, text) || number.negative) {
        return complain((Origin){.file = csv->path, .line = csv_line(row)}, text,
                        "expected a size in the column %s", csv_name(csv, column));
    }
    *cell = plot_cell_of(&number);
    cell->bound = column < csv->columns &&
                  bounds_has(cell_at(csv, row, places->bounds), csv_name(csv, column));
    bool lost = number.kind == NUMBER_FINITE && number.digits == 0; /* 0.0, which is none of ours */
    return lost ? take_log(cell, places, row, kind) : 0;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The rows of one table, for which there is room. */
static int take_table(PlotData *data, const Csv *csv)
{
    Places places;
    find_columns(&places, csv, data->norm);
    int status = check_columns(data, &places);
    for (size_t row = 0; row < csv->rows && status == 0; row++) {
        PlotCell *cells = data->cells[data->rows];
        const char *word = cell_at(csv, row, places.status);
        data->silent[data->rows] = strcmp(word, status_name(STATUS_VACUOUS)) == 0 ||
                                   strcmp(word, status_name(STATUS_ERROR)) == 0;
        status = take_keys(data, &places, row);
        if (places.searched) {
            status = status != 0 ? status : searched_take(cells, csv, row);
        }
        for (ErrorKind kind = 0; kind < ERROR_KINDS && status == 0 && !places.searched; kind++) {
            status = take_cell(&cells[kind], &places, row, kind);
        }
        data->rows += status == 0;
    }
    return status;
}

int plot_data_take(PlotData *data, const Csv *tables, size_t count, Norm norm)
{
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        rows += tables[i].rows;
    }
    data->norm = norm;
    data->values = calloc(rows + 1, sizeof *data->values);
    data->cells = calloc(rows + 1, sizeof *data->cells);
    data->silent = calloc(rows + 1, sizeof *data->silent);
    bool room = data->values != NULL && data->cells != NULL && data->silent != NULL;
    int status = room ? 0 : memory_fault();
    for (size_t i = 0; i < count && status == 0; i++) {
        status = take_table(data, &tables[i]);
    }
    if (status == 0 && data->rows == 0) {
        return complain((Origin){.file = tables[0].path, .line = 1}, csv_name(&tables[0], 0),
                        "expected rows below the header");
    }
    for (size_t axis = 0; axis < PLOT_AXES && status == 0; axis++) {
        status = order_axis(data, axis);
    }
    return status;
}

/* The largest entry, unless streams of many layers shrink or grow: then relative errors. */
static int take_fitting(PlotData *data, const Csv *tables, size_t count)
{
    const char *name = column_of_error(ERROR_CONSTRUCTION, NORM_REL)->name;
    PlotData relative = {0};
    int status = plot_data_take(data, tables, count, NORM_MAX);
    bool layers = status == 0 && !data->searched && data->axes[PLOT_LAYER].filled > 1;
    for (size_t i = 0; i < count && layers; i++) {
        layers = csv_find(&tables[i], name) < tables[i].columns;
    }
    if (layers) {
        StreamSizes sizes = stream_sizes_none();
        status = plot_data_take(&relative, tables, count, NORM_REL);
        for (size_t row = 0; row < data->rows && status == 0; row++) {
            for (ErrorKind kind = ERROR_CONSTRUCTION; kind <= ERROR_NATIVE; kind++) {
                stream_sizes_add(&sizes, data->cells[row][kind].log10,
                                 relative.cells[row][kind].log10);
            }
        }
        if (status == 0 && stream_sizes_norm(sizes, layers) == NORM_REL) {
            PlotData absolute = *data;
            *data = relative;
            relative = absolute;
        }
    }
    plot_data_clear(&relative);
    return status;
}

int plot_data_read(PlotData *data, char *const *paths, size_t count, Norm norm)
{
    Csv *tables = calloc(count + 1, sizeof *tables);
    int status = tables == NULL ? memory_fault() : 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        status = csv_read(&tables[i], paths[i]);
    }
    if (status == 0) {
        status = norm == NORM_COUNT ? take_fitting(data, tables, count)
                                    : plot_data_take(data, tables, count, norm);
    }
    for (size_t i = 0; tables != NULL && i < count; i++) {
        csv_clear(&tables[i]);
    }
    free(tables);
    return status;
}

void plot_data_clear(PlotData *data)
{
    for (size_t axis = 0; axis < PLOT_AXES; axis++) {
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
    *data = (PlotData){0};
}
