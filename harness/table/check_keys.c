/*
 * Rows of a table found by their key columns.
 */
#include <stdio.h>

#include "check_keys.h"

#include "columns.h"
#include "options_cell.h"

#include "../base/message.h"
#include "../grid/axes.h"

#include <stdlib.h>
#include <string.h>

static int compare_keys(const void *a, const void *b)
{
    const Keyed *left = a, *right = b;
    int order = strcmp(left->key, right->key);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

/* Where the key columns of a table are, in order. */
typedef struct {
    size_t columns[AXIS_COUNT + 2], count;
} KeyColumns;

/* Reads the axes' values from a row's columns. */
static void read_axes(AxisCell cells[AXIS_COUNT], const Csv *csv, size_t row)
{
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const char *name = axis_info(axis)->column;
        size_t column = name != NULL ? csv_find(csv, name) : csv->columns;
        const char *cell = column < csv->columns ? csv_cell(csv, row, column) : NULL;
        cells[axis] = (AxisCell){cell, cell != NULL ? strlen(cell) : 0};
    }
}

static char *join_key(const Csv *csv, const KeyColumns *keys, size_t row)
{
    AxisCell axes[AXIS_COUNT];
    size_t length = 1, options = csv_find(csv, OPTIONS_COLUMN);
    for (size_t i = 0; i < keys->count; i++) {
        length += strlen(csv_cell(csv, row, keys->columns[i])) + 1;
    }
    char *key = malloc(length), *end = key;
    read_axes(axes, csv, row);
    for (size_t i = 0; key != NULL && i < keys->count; i++) {
        const char *cell = csv_cell(csv, row, keys->columns[i]);
        if (keys->columns[i] == options) {
            end += options_canonical(end, cell, strlen(cell), axes);
            end += sprintf(end, ",");
        } else {
            end += sprintf(end, "%s,", cell);
        }
    }
    return key;
}

void key_index_clear(KeyIndex *index)
{
    for (size_t i = 0; i < index->count; i++) {
        free(index->rows[i].key);
    }
    free(index->rows);
    *index = (KeyIndex){0};
}

int key_index_make(KeyIndex *index, const Csv *csv)
{
    KeyColumns keys = {.count = 0};
    for (; column_key(keys.count) != NULL; keys.count++) {
        keys.columns[keys.count] = csv_find(csv, column_key(keys.count));
    }
    index->rows = calloc(csv->rows > 0 ? csv->rows : 1, sizeof *index->rows);
    for (; index->rows != NULL && index->count < csv->rows; index->count++) {
        char *key = join_key(csv, &keys, index->count);
        if (key == NULL) {
            break;
        }
        index->rows[index->count] = (Keyed){key, index->count};
    }
    if (index->rows == NULL || index->count < csv->rows) {
        key_index_clear(index);
        return memory_fault();
    }
    qsort(index->rows, index->count, sizeof *index->rows, compare_keys);
    return 0;
}

size_t key_index_find(const KeyIndex *index, const char *key)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(index->rows[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < index->count && strcmp(index->rows[low].key, key) == 0 ? index->rows[low].row
                                                                        : NO_ROW;
}

const char **key_index_rows(const KeyIndex *index)
{
    const char **keys = calloc(index->count > 0 ? index->count : 1, sizeof *keys);
    for (size_t i = 0; keys != NULL && i < index->count; i++) {
        keys[index->rows[i].row] = index->rows[i].key;
    }
    return keys;
}
