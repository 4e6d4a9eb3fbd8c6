/*
 * The column `bounds`: names of the cells of a row that are only upper bounds.
 */
#include <stdio.h>

#include "bounds.h"

#include "columns.h"

#include <string.h>

void bounds_take(BoundsList *list, const char *name, CellState state)
{
    if (state == CELL_BOUND) {
        fprintf(list->file, "%s%s", list->any ? ";" : "", name);
        list->any = true;
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
