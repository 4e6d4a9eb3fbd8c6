/*
 * The column `bounds`: names of the cells of a row that are only upper bounds.
 */
#include <stdio.h>

#include "bounds.h"

#include "columns.h"

#include <string.h>

static void add(BoundsList *list, const char *name)
{
    fprintf(list->file, "%s%s", list->any ? ";" : "", name);
    list->any = true;
}

void bounds_take(BoundsList *list, const char *name, CellState state)
{
    if (state == CELL_BOUND) {
        add(list, name);
    }
}

size_t bounds_write(FILE *file, const Point *point, const Row *row)
{
    RefCell size;
    BoundsList list = {file, false};
    size_t count = 0;
    ref_cell_init(&size, point_digits(point));
    for (size_t i = 0; column_at(i) != NULL; i++) {
        const Column *column = column_at(i);
        if (!column_is_size(column)) {
            continue;
        }
        column_value(&size, column, point, row);
        count += size.state == CELL_BOUND;
        if (file != NULL) {
            bounds_take(&list, column->name, size.state);
        }
    }
    ref_cell_clear(&size);
    return count;
}

bool bounds_read(CellState *states, const char *text, size_t length)
{
    const char *end = text + length;
    for (size_t i = 0; column_at(i) != NULL && text < end; i++) {
        const char *name = column_at(i)->name;
        size_t size = strlen(name), left = (size_t)(end - text);
        if (left < size || memcmp(text, name, size) != 0 || (left > size && text[size] != ';')) {
            continue;
        }
        bool log = column_is_size(column_at(i)) && column_at(i)->unit == UNIT_LOG10;
        bool number = states[i] == CELL_VALUE || states[i] == CELL_NONFINITE ||
                      (log && states[i] == CELL_ZERO);
        if (!number || left == size + 1) {
            return false;
        }
        states[i] = CELL_BOUND;
        text += left > size ? size + 1 : size;
    }
    return text == end;
}

bool bounds_has(const char *list, const char *name)
{
    size_t size = strlen(name), length = strcspn(list, ";,\n");
    while (length != size || memcmp(list, name, size) != 0) {
        if (list[length] != ';') {
            return false;
        }
        list += length + 1;
        length = strcspn(list, ";,\n");
    }
    return true;
}
