/*
 * The columns of a results table written: header, keys, cells.
 */
#include <stdio.h>

#include "table.h"

#include "bounds.h"
#include "columns.h"
#include "options_cell.h"

#include "../base/text_stream.h"
#include "../point/point.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Every axis up to AXIS_SEED has a column of its own. */
static bool has_column(Axis axis, bool with_omega)
{
    return axis_info(axis)->column != NULL && (with_omega || axis != AXIS_OMEGA);
}

void table_write_key_header(FILE *file, bool with_omega)
{
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (has_column(axis, with_omega)) {
            fprintf(file, "%s,", axis_info(axis)->column);
        }
    }
    fputs(OPTIONS_COLUMN, file);
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

void table_write_key(FILE *file, const Point *point, bool with_omega, const char *seeds)
{
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (!has_column(axis, with_omega)) {
            continue;
        }
        bool matters = point_axis_matters(point, axis);
        if (matters && axis == AXIS_SEED && seeds != NULL) {
            fputs(seeds, file);
        } else if (matters) {
            char value[VALUE_TEXT];
            value_print(value, &axis_info(axis)->domain, point_get(point, axis));
            fputs(value, file);
        }
        putc(',', file);
    }
    options_write(file, point, NULL);
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
