/*
 * Tables of sweeps read for a picture.
 */
#include "data.h"

#include "searched.h"

#include "../../base/digest.h"
#include "../../base/message.h"
#include "../../base/number.h"
#include "../../table/bounds.h"
#include "../../table/columns.h"
#include "../../table/format.h"
#include "../../table/options_cell.h"
#include "../../table/stream_sizes.h"

#include <math.h>
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
    bool searched;
    size_t errors[ERROR_KINDS];
    size_t logs[ERROR_KINDS]; /* of their logarithms, where it is they */
    Norm norm;
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

/* Where the text is among the slots, or would be. */
static size_t *find_slot(const PlotAxis *axis, const char *text, size_t length)
{
    size_t at = (size_t)digest_bytes(DIGEST_START, text, length);
    for (;; at++) {
        size_t *slot = &axis->slots[at % (2 * axis->room)];
        const char *found = *slot > 0 ? axis->texts[*slot - 1] : NULL;
        if (found == NULL || (strncmp(found, text, length) == 0 && found[length] == '\0')) {
            return slot;
        }
    }
}

static int grow(PlotAxis *axis)
{
    size_t room = axis->room == 0 ? 8 : 2 * axis->room;
    char **longer = realloc(axis->texts, room * sizeof *longer);
    if (longer == NULL) {
        return memory_fault();
    }
    axis->texts = longer;
    size_t *slots = calloc(2 * room, sizeof *slots);
    if (slots == NULL) {
        return memory_fault();
    }
    free(axis->slots);
    axis->slots = slots;
    axis->room = room;
    for (size_t i = 0; i < axis->count; i++) {
        *find_slot(axis, axis->texts[i], strlen(axis->texts[i])) = i + 1;
    }
    return 0;
}

/* *value = the index of a text of the axis.  0, or 99. */
static int take_value(PlotAxis *axis, size_t *value, const char *text, size_t length)
{
    if (axis->count == axis->room && grow(axis) != 0) {
        return 99;
    }
    size_t *slot = find_slot(axis, text, length);
    if (*slot == 0) {
        axis->texts[axis->count] = strndup(text, length);
        if (axis->texts[axis->count] == NULL) {
            return memory_fault();
        }
        *slot = ++axis->count;
    }
    *value = *slot - 1;
    return 0;
}

/* ---- Orders ---------------------------------------------------------------------------------- */

typedef struct {
    double number;
    size_t index;
    char *text;
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
    values->filled = 0;
    values->numeric = axis != PLOT_FILE;
    for (size_t i = 0; i < values->count; i++) {
        bool blank = *values->texts[i] == '\0';
        values->filled += !blank;
        values->numeric = values->numeric && (blank || format_is_number(values->texts[i]));
    }
    for (size_t i = 0; i < values->count; i++) {
        char *text = values->texts[i];
        double number = *text == '\0' ? -INFINITY : values->numeric ? strtod(text, NULL) : 0;
        ordered[i] = (Ordered){number, i, text};
    }
    qsort(ordered, values->count, sizeof *ordered, compare_ordered);
    for (size_t i = 0; i < values->count; i++) {
        values->texts[i] = ordered[i].text;
        values->slots[ordered[i].index] = i;
    }
    for (size_t row = 0; row < data->rows; row++) {
        data->values[row][axis] = values->slots[data->values[row][axis]];
    }
    free(ordered);
    return 0;
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void find_columns(Places *places, const Csv *csv, Norm norm)
{
    places->csv = csv;
    places->norm = norm;
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

/* A table of a sweep has its keys and the errors in question. */
static int check_columns(const Places *places)
{
    const Csv *csv = places->csv;
    const char *const needed[] = {"construction", LAYER_COLUMN,
                                  column_of_error(ERROR_CONSTRUCTION, places->norm)->name};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (csv_find(csv, needed[i]) == csv->columns) {
            return complain((Origin){.file = csv->path, .line = 1}, csv_name(csv, 0),
                            "expected a table of sweep, depth or min-omega, with the column %s",
                            needed[i]);
        }
    }
    return 0;
}

/* Tables of one picture hold the same. */
static int check_kind(PlotData *data, const Places *places)
{
    if (data->rows > 0 && data->searched != places->searched) {
        return complain((Origin){.file = places->csv->path, .line = 1}, csv_name(places->csv, 0),
                        "expected tables of searches alone, or of sweeps alone");
    }
    data->searched = places->searched;
    return places->searched ? 0 : check_columns(places);
}

/* Every name in `options` is an axis, and has a value. */
static int check_options(const Csv *csv, size_t row, const char *options)
{
    while (*options != '\0') {
        size_t length = strcspn(options, ";"), named = strcspn(options, "=;");
        char name[64] = "";
        memcpy(name, options, named < sizeof name ? named : 0);
        Axis axis = axis_find(name);
        if (axis == AXIS_COUNT || axis_info(axis)->column != NULL || named == length) {
            return complain((Origin){.file = csv->path, .line = csv_line(row)}, options,
                            "expected axes of %s, each with its value", OPTIONS_COLUMN);
        }
        options += length + (options[length] == ';');
    }
    return 0;
}

/* The row's options without what is a default all the same, to be freed.  NULL: memory is short. */
static char *canonical_options(const Places *places, size_t row, const char *options)
{
    AxisCell columns[AXIS_COUNT] = {{0}};
    size_t length = strlen(options);
    char *canonical = malloc(length + 1);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (places->axes[axis] < places->csv->columns) {
            const char *cell = csv_cell(places->csv, row, places->axes[axis]);
            columns[axis] = (AxisCell){cell, strlen(cell)};
        }
    }
    if (canonical == NULL) {
        memory_fault();
        return NULL;
    }
    options_canonical(canonical, options, length, columns);
    return canonical;
}

/* A row's values on the axes, its options being canonical. */
static int take_keys(PlotData *data, const Places *places, size_t row, const char *options)
{
    const Csv *csv = places->csv;
    int status = 0;
    for (size_t axis = 0; axis < PLOT_AXES && status == 0; axis++) {
        char standard[VALUE_TEXT] = "";
        const char *found = standard;
        size_t length = 0;
        if (places->axes[axis] < csv->columns) {
            found = csv_cell(csv, row, places->axes[axis]);
        } else if (axis == PLOT_FILE) {
            found = csv->path;
        } else if (axis < AXIS_COUNT && axis_info((Axis)axis)->column == NULL) {
            const AxisInfo *info = axis_info((Axis)axis);
            value_print(standard, &info->domain, info->standard);
            const char *option = options_find(&length, options, strlen(options), info->name);
            found = option != NULL ? option : standard;
        }
        length = found == standard || length == 0 ? strlen(found) : length;
        status = take_value(&data->axes[axis], &data->values[data->rows][axis], found, length);
    }
    return status;
}

static int take_row_keys(PlotData *data, const Places *places, size_t row)
{
    const Csv *csv = places->csv;
    const char *options = places->options < csv->columns ? csv_cell(csv, row, places->options) : "";
    int status = check_options(csv, row, options);
    char *canonical = status == 0 ? canonical_options(places, row, options) : NULL;
    if (canonical != NULL) {
        status = take_keys(data, places, row, canonical);
        free(canonical);
    }
    return status == 0 && canonical == NULL ? 99 : status;
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
    Number number;
    int status = 0;
    *cell = (PlotCell){.log10 = NAN};
    if (column == csv->columns) {
        return 0;
    }
    const char *text = csv_cell(csv, row, column);
    if (!number_read(&number, text) || number.negative) {
        return complain((Origin){.file = csv->path, .line = csv_line(row)}, text,
                        "expected a size in the column %s", csv_name(csv, column));
    }
    if (number.kind == NUMBER_ZERO) {
        cell->log10 = -INFINITY;
    } else if (number.kind == NUMBER_NONFINITE) {
        cell->log10 = INFINITY;
    } else if (number.kind == NUMBER_FINITE && number.digits != 0) {
        cell->mantissa = (double)number.digits / 1e16;
        cell->exponent = number.exponent;
        cell->log10 = log10(cell->mantissa) + (double)number.exponent;
    } else if (number.kind == NUMBER_FINITE) {
        status = take_log(cell, places, row, kind);
    }
    cell->bound = places->bounds < csv->columns &&
                  bounds_has(csv_cell(csv, row, places->bounds), csv_name(csv, column));
    return status;
}

static int make_room(PlotData *data, size_t rows)
{
    void *values = realloc(data->values, (data->rows + rows + 1) * sizeof *data->values);
    if (values == NULL) {
        return memory_fault();
    }
    data->values = values;
    void *cells = realloc(data->cells, (data->rows + rows + 1) * sizeof *data->cells);
    if (cells == NULL) {
        return memory_fault();
    }
    data->cells = cells;
    void *silent = realloc(data->silent, (data->rows + rows + 1) * sizeof *data->silent);
    if (silent == NULL) {
        return memory_fault();
    }
    data->silent = silent;
    return 0;
}

static bool is_silent(const Places *places, size_t row)
{
    const Csv *csv = places->csv;
    const char *status = places->status < csv->columns ? csv_cell(csv, row, places->status) : "";
    return strcmp(status, status_name(STATUS_VACUOUS)) == 0 ||
           strcmp(status, status_name(STATUS_ERROR)) == 0;
}

/* The rows of one table. */
static int take_table(PlotData *data, const Csv *csv, Norm norm)
{
    Places places;
    find_columns(&places, csv, norm);
    int status = check_kind(data, &places);
    status = status != 0 ? status : make_room(data, csv->rows);
    for (size_t row = 0; row < csv->rows && status == 0; row++) {
        status = take_row_keys(data, &places, row);
        data->silent[data->rows] = is_silent(&places, row);
        status = status != 0 || !places.searched ? status
                                                 : searched_take(data->cells[data->rows], csv, row);
        for (ErrorKind kind = 0; kind < ERROR_KINDS && status == 0 && !places.searched; kind++) {
            status = take_cell(&data->cells[data->rows][kind], &places, row, kind);
        }
        data->rows += status == 0;
    }
    return status;
}

/* The sizes of the streams of all rows. */
static StreamSizes find_sizes(const PlotData *absolute, const PlotData *relative)
{
    StreamSizes sizes = stream_sizes_none();
    for (size_t row = 0; row < absolute->rows; row++) {
        for (ErrorKind kind = ERROR_CONSTRUCTION; kind <= ERROR_NATIVE; kind++) {
            stream_sizes_add(&sizes, absolute->cells[row][kind].log10,
                             relative->cells[row][kind].log10);
        }
    }
    return sizes;
}

int plot_data_take(PlotData *data, const Csv *tables, size_t count, Norm norm)
{
    int status = 0;
    data->norm = norm;
    for (size_t i = 0; i < count && status == 0; i++) {
        status = take_table(data, &tables[i], norm);
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

/* The largest entry, unless streams shrink or grow: then relative errors. */
static int take_fitting(PlotData *data, const Csv *tables, size_t count)
{
    PlotData relative = {0};
    int status = plot_data_take(data, tables, count, NORM_MAX);
    bool has_relative = status == 0;
    for (size_t i = 0; i < count && has_relative; i++) {
        const char *name = column_of_error(ERROR_CONSTRUCTION, NORM_REL)->name;
        has_relative = csv_find(&tables[i], name) < tables[i].columns;
    }
    bool layers = data->axes[PLOT_LAYER].filled > 1;
    if (has_relative && !data->searched && layers) {
        status = plot_data_take(&relative, tables, count, NORM_REL);
        if (status == 0 && stream_sizes_norm(find_sizes(data, &relative), layers) == NORM_REL) {
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
        for (size_t i = 0; i < data->axes[axis].count; i++) {
            free(data->axes[axis].texts[i]);
        }
        free(data->axes[axis].texts);
        free(data->axes[axis].slots);
    }
    free(data->values);
    free(data->cells);
    free(data->silent);
    *data = (PlotData){0};
}
