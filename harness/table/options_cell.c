/*
 * The cell `options` written and read.
 */
#include "options_cell.h"

#include "../point/point.h"

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

const char *options_of_line(AxisCell columns[AXIS_COUNT], AxisCell *options, const char *line)
{
    memset(columns, 0, AXIS_COUNT * sizeof *columns);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (axis_info(axis)->column != NULL) {
            columns[axis] = (AxisCell){line, strcspn(line, ",\n")};
            line += columns[axis].length;
            if (*line++ != ',') {
                return NULL;
            }
        }
    }
    *options = (AxisCell){line, strcspn(line, ",\n")};
    return line + options->length;
}

const char *options_find(size_t *length, const char *options, size_t size, const char *name)
{
    const char *end = options + size;
    size_t named = strlen(name);
    while (options < end) {
        const char *separator = memchr(options, ';', (size_t)(end - options));
        *length = (size_t)((separator != NULL ? separator : end) - options);
        if (*length > named && memcmp(options, name, named) == 0 && options[named] == '=') {
            *length -= named + 1;
            return options + named + 1;
        }
        options += *length + 1;
    }
    return NULL;
}

bool options_judge(const char *options, size_t size)
{
    const AxisInfo *axis = axis_info(AXIS_TOLERANCE);
    const char *none = axis->domain.words[0];
    size_t length = 0;
    const char *value = options_find(&length, options, size, axis->name);
    return value != NULL && (length != strlen(none) || memcmp(value, none, length) != 0);
}

/* The word's place in the domain; word_count: it is none of its words. */
static size_t find_word(const Domain *domain, AxisCell cell)
{
    size_t i = 0;
    while (i < domain->word_count && (strlen(domain->words[i]) != cell.length ||
                                      memcmp(domain->words[i], cell.text, cell.length) != 0)) {
        i++;
    }
    return i;
}

/* A row's value on an axis; text NULL: it says none. */
static AxisCell find_cell(Axis axis, const char *options, size_t size, const AxisCell *columns)
{
    AxisCell cell = columns[axis];
    if (cell.text == NULL) {
        cell.text = options_find(&cell.length, options, size, axis_info(axis)->name);
    }
    return cell;
}

/* A point with what defaults hang on, which are words: of the row's axes those that it says. */
static void read_words(Point *point, const char *options, size_t size, const AxisCell *columns)
{
    *point = (Point){0};
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const Domain *domain = &axis_info(axis)->domain;
        AxisCell cell = {0};
        if (domain->kind == DOMAIN_WORDS) {
            cell = find_cell(axis, options, size, columns);
        }
        size_t word = cell.text != NULL ? find_word(domain, cell) : domain->word_count;
        if (word < domain->word_count) {
            point_set(point, axis, (AxisValue){.form = FORM_WORD, .integer = word});
        }
    }
}

void options_value(char text[VALUE_TEXT], Axis axis, const char *options, size_t size,
                   const AxisCell columns[AXIS_COUNT])
{
    AxisCell cell = find_cell(axis, options, size, columns);
    if (cell.text != NULL) {
        snprintf(text, VALUE_TEXT, "%.*s", (int)cell.length, cell.text);
        return;
    }
    Point point;
    read_words(&point, options, size, columns);
    value_print(text, &axis_info(axis)->domain, point_default(&point, axis));
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
