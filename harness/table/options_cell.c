/*
 * The cell `options` written and read.
 */
#include "options_cell.h"

#include "../../memory/need.h"
#include "../base/values.h"
#include "../point/point.h"

#include <stdlib.h>
#include <string.h>

/* ---- The cell -------------------------------------------------------------------------------- */

static bool is_among(const Axis *axes, Axis axis)
{
    while (axes != NULL && *axes != AXIS_COUNT && *axes != axis) {
        axes++;
    }
    return axes != NULL && *axes == axis;
}

void options_write(FILE *file, const Point *point, const Axis *also)
{
    const char *separator = "";
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const AxisInfo *info = axis_info(axis);
        if (point_axis_tells(point, axis) && (info->column == NULL || is_among(also, axis))) {
            char value[VALUE_TEXT];
            value_print(value, &info->domain, point_get(point, axis));
            fprintf(file, "%s%s=%s", separator, info->name, value);
            separator = ";";
        }
    }
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

size_t key_read(Point *point, const char *line)
{
    const char *cell = line;
    *point = (Point){0};
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        size_t length = strcspn(cell, ",\n");
        /* What defaults hang on, and how many rows there are. */
        bool wanted = axis == AXIS_DEPTH || axis == AXIS_ARITHMETIC || axis == AXIS_REFERENCE;
        if (axis_info(axis)->column == NULL) {
            continue;
        }
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

static void write_cells(FILE *file, const Grid *grid, const Point *point)
{
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const AxisInfo *info = axis_info(axis);
        char value[VALUE_TEXT] = "";
        if (!grid->listed[axis] || info->column != NULL) {
            continue;
        }
        if (point != NULL && point_axis_matters(point, axis)) {
            value_print(value, &info->domain, point_get(point, axis));
        }
        fprintf(file, ",%s", point == NULL ? info->name : value);
    }
}

void expanded_write(FILE *file, const Grid *grid, const Point *point, const char *lines,
                    size_t length)
{
    for (const char *end = lines + length; lines < end;) {
        size_t line = strcspn(lines, "\n");
        fprintf(file, "%.*s", (int)line, lines);
        write_cells(file, grid, point);
        putc('\n', file);
        lines += line + 1;
    }
}
