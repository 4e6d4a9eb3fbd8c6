/*
 * Columns for the axes that vary, and lines for those that are too many.
 */
#include "axis_columns.h"

#include "../point/point.h"
#include "eyes.h"

#include <string.h>

/* The point's value, "": it does not matter; point NULL: the axis's name. */
static void value_text(char text[VALUE_TEXT], const Point *point, Axis axis)
{
    snprintf(text, VALUE_TEXT, "%s", point == NULL ? axis_info(axis)->name : "");
    if (point != NULL && point_axis_matters(point, axis)) {
        value_print(text, &axis_info(axis)->domain, point_get(point, axis));
    }
}

static bool varies(const Point *const *points, size_t count, Axis axis)
{
    const Point *first = NULL;
    bool two = false, chosen = false;
    for (size_t i = 0; i < count && !(two && chosen); i++) {
        if (point_axis_matters(points[i], axis)) {
            first = first == NULL ? points[i] : first;
            AxisValue value = point_get(points[i], axis), other = point_get(first, axis);
            two = two || value_compare(&value, &other) != 0;
            chosen = chosen || point_axis_differs(points[i], axis);
        }
    }
    return two && chosen;
}

static void add(AxisColumns *columns, const Point *const *points, size_t count, Axis axis)
{
    size_t width = strlen(axis_info(axis)->name);
    for (size_t i = 0; i < count; i++) {
        char text[VALUE_TEXT];
        value_text(text, points[i], axis);
        width = strlen(text) > width ? strlen(text) : width;
    }
    columns->axes[columns->count] = axis;
    columns->widths[columns->count] = width;
    columns->width += width + (columns->count > 0 ? 2 : 0);
    columns->count++;
}

void axis_columns_find(AxisColumns *columns, const Point *const *points, size_t count,
                       bool together)
{
    *columns = (AxisColumns){0};
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        bool apart = !together || (axis != AXIS_SEED && axis != AXIS_INPUT);
        if (apart && varies(points, count, axis)) {
            add(columns, points, count, axis);
        }
    }
    if (columns->count == 0 && count > 0 && point_axis_matters(points[0], AXIS_OMEGA)) {
        add(columns, points, count, AXIS_OMEGA);
    }
}

int axis_columns_compare(const AxisColumns *columns, const Point *a, const Point *b)
{
    int order = 0;
    for (size_t i = 0; i < columns->count && order == 0; i++) {
        AxisValue left = point_get(a, columns->axes[i]), right = point_get(b, columns->axes[i]);
        order = value_compare(&left, &right);
    }
    return order;
}

/* "construction fused, omega 20", broken between axes. */
static void print_folded(FILE *file, const AxisColumns *columns, const Point *point, size_t line)
{
    size_t at = 0;
    for (size_t i = 0; i < columns->count; i++) {
        char text[VALUE_TEXT];
        value_text(text, point, columns->axes[i]);
        folded_add(file, &at, line, axis_info(columns->axes[i])->name, text);
    }
    putc('\n', file);
}

void axis_columns_print(FILE *file, const AxisColumns *columns, const Point *point, size_t least,
                        size_t line)
{
    size_t width = columns->folded ? 0 : columns->width;
    if (columns->folded && point != NULL) {
        print_folded(file, columns, point, line);
    }
    for (size_t i = 0; i < columns->count && !columns->folded; i++) {
        char text[VALUE_TEXT];
        bool words = axis_info(columns->axes[i])->domain.kind == DOMAIN_WORDS;
        int own = (int)columns->widths[i]; /* words to the left, numbers to the right */
        value_text(text, point, columns->axes[i]);
        fprintf(file, "%s%*s", i > 0 ? "  " : "", words ? -own : own, text);
    }
    fprintf(file, "%*s", width < least ? (int)(least - width) : 0, "");
}
