/*
 * Columns of --expand, put behind the lines of a table.
 */
#include "expanded.h"

#include "../grid/point_axes.h"

#include <string.h>

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

int expanded_write(FILE *file, const Grid *grid, const Point *point, const char *lines,
                   size_t length)
{
    for (const char *end = lines + length; lines < end;) {
        size_t line = strcspn(lines, "\n");
        fprintf(file, "%.*s", (int)line, lines);
        write_cells(file, grid, point);
        putc('\n', file);
        lines += line + 1;
    }
    return ferror(file) ? -1 : 0;
}
