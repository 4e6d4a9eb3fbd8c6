/*
 * The columns of a results table written: header, keys, cells.
 */
#include <stdio.h>

#include "table.h"

#include "columns.h"

#include "../../memory/need.h"
#include "../base/text_stream.h"
#include "../base/values.h"
#include "../point/point.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void axes_write(FILE *file, const Point *point, uint64_t axes)
{
    const char *separator = "";
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const AxisInfo *info = axis_info(axis);
        char text[VALUE_TEXT];
        if ((axes >> axis & 1) != 0) {
            point_print_value(text, point, axis);
            fprintf(file, "%s%s", separator,
                    point != NULL          ? text
                    : info->column != NULL ? info->column
                                           : info->name);
            separator = ",";
        }
    }
}

void table_write_key_header(FILE *file, bool with_omega)
{
    axes_write(file, NULL, with_omega ? AXES_KEY : AXES_KEY_WITHOUT(AXIS_OMEGA));
    fputs("," OPTIONS_COLUMN, file);
}

void table_write_header(FILE *file, bool propagation)
{
    table_write_key_header(file, true);
    fputs("," LAYER_COLUMN, file);
    for (size_t i = 0; i < column_count(propagation); i++) {
        fprintf(file, ",%s", column_at(i)->name);
    }
    putc('\n', file);
}

/* ---- Keys ----------------------------------------------------------------------------------- */

void options_write(FILE *file, const Point *point, uint64_t also)
{
    const char *separator = "";
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const AxisInfo *info = axis_info(axis);
        if (point_axis_tells(point, axis) && (info->column == NULL || (also >> axis & 1) != 0)) {
            char value[VALUE_TEXT];
            point_print_value(value, point, axis);
            fprintf(file, "%s%s=%s", separator, info->name, value);
            separator = ";";
        }
    }
}

void table_write_key(FILE *file, const Point *point, bool with_omega, const char *seeds)
{
    char seed[VALUE_TEXT];
    point_print_value(seed, point, AXIS_SEED);
    bool listed = seeds != NULL && *seed != '\0';
    axes_write(file, point, AXES_KEY_WITHOUT(AXIS_SEED) & ~(with_omega ? 0 : AXIS_BIT(AXIS_OMEGA)));
    fprintf(file, ",%s,", listed ? seeds : seed);
    options_write(file, point, 0);
}

char *table_key(const Point *point)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream(&text, &size);
    table_write_key(stream, point, true, NULL);
    return text_close(stream, &text);
}

void table_print_cell(char text[CELL_TEXT], const RefCell *cell)
{
    bool bound = cell->state == CELL_BOUND;
    bool logarithm_of_1 = bound && mpfr_zero_p(cell->value);
    text[0] = '\0';
    if (cell->state == CELL_ZERO || logarithm_of_1) {
        strcpy(text, "0");
    } else if (cell->state != CELL_ABSENT) {
        const char *format = bound ? "%.*RUe" : "%.*Re"; /* a bound is not below it */
        mpfr_snprintf(text, CELL_TEXT, format, cell->digits - 1, cell->value);
    }
}

void table_write_cell(FILE *file, const RefCell *cell)
{
    char text[CELL_TEXT];
    table_print_cell(text, cell);
    fputs(text, file);
}

/* Blank where nothing was evaluated with them. */
static void write_bits(FILE *file, long bits)
{
    if (bits > 0) {
        fprintf(file, "%ld", bits);
    }
}

/* Writes a column that is none of sizes. */
static void write_other(FILE *file, const Column *column, const Point *point, const Row *row)
{
    switch (column->kind) {
    case COLUMN_BOUNDS: (void)bounds_write(file, point, row); break;
    case COLUMN_SHARE:
        if (row->has_identical) {
            fprintf(file, "%.17g", row->identical);
        }
        break;
    case COLUMN_BITS: write_bits(file, row->precision_bits); break;
    case COLUMN_DIFFERENCE_BITS: write_bits(file, row->difference_bits); break;
    default: fputs(status_name(row->status), file); break;
    }
}

void table_write_row(FILE *file, const Point *point, const Row *row)
{
    RefCell size;
    table_write_key(file, point, true, NULL);
    fprintf(file, ",%zu", row->layer);
    ref_cell_init(&size, point_digits(point));
    for (size_t i = 0; i < column_count(point->propagation); i++) {
        const Column *column = column_at(i);
        putc(',', file);
        if (column_is_size(column)) {
            column_value(&size, column, point, row);
            table_write_cell(file, &size);
        } else {
            write_other(file, column, point, row);
        }
    }
    ref_cell_clear(&size);
    putc('\n', file);
}

/* ---- What is read back ----------------------------------------------------------------------- */

/* Sets the axis to what is at text; false: it is none of its values. */
static bool set_value(Point *point, Axis axis, const char *text, size_t length)
{
    ValueList list = {0};
    Message message;
    char *value = need_copy_of(text, length);
    bool read = values_read(&list, &message, &axis_info(axis)->domain, value) == 0;
    read = read && list.count == 1;
    if (read) {
        point_set(point, axis, list.values[0]);
    }
    values_clear(&list);
    free(value);
    return read;
}

/* Sets what judges a row to what the options say, or to its default. */
static bool set_judge(Point *point, Axis axis, const char *options)
{
    const char *name = axis_info(axis)->name, *end = options + strcspn(options, ",\n");
    point_set(point, axis, point_default(point, axis));
    while (options < end) {
        size_t length = strcspn(options, ";,\n"), named = strcspn(options, "=");
        if (named == strlen(name) && memcmp(options, name, named) == 0) {
            return named < length &&
                   set_value(point, axis, options + named + 1, length - named - 1);
        }
        options += length + 1;
    }
    return true;
}

size_t table_read_key(Point *point, const char *line)
{
    const char *cell = line;
    *point = (Point){0};
    for (Axis axis = 0; axis <= AXIS_SEED; axis++) {
        size_t length = strcspn(cell, ",\n");
        /* What defaults hang on, and how many rows there are. */
        bool wanted = axis == AXIS_DEPTH || axis == AXIS_ARITHMETIC || axis == AXIS_REFERENCE;
        if (cell[length] != ',' ||
            (wanted && length > 0 && !set_value(point, axis, cell, length))) {
            return 0;
        }
        cell += length + 1;
    }
    bool read = set_judge(point, AXIS_TOLERANCE, cell) && set_judge(point, AXIS_JUDGE, cell) &&
                set_judge(point, AXIS_NORM, cell);
    return read ? (size_t)(cell - line) + strcspn(cell, ",\n") : 0;
}

/* ---- --expand -------------------------------------------------------------------------------- */

void expanded_write(FILE *file, const Grid *grid, const Point *point, const char *lines,
                    size_t length)
{
    uint64_t axes = grid->listed & ~AXES_KEY;
    for (const char *end = lines + length; lines < end;) {
        size_t line = strcspn(lines, "\n");
        fprintf(file, "%.*s%s", (int)line, lines, axes != 0 ? "," : "");
        axes_write(file, point, axes);
        putc('\n', file);
        lines += line + 1;
    }
}
