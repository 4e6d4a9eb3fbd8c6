/*
 * Rows of a table found by their key columns.
 */
#include <stdio.h>

#include "check_keys.h"

#include "../grid/axes.h"
#include "columns.h"
#include "../base/message.h"

#include <stdlib.h>
#include <string.h>

static int compare_keys(const void *a, const void *b)
{
    const Keyed *left = a, *right = b;
    int order = strcmp(left->key, right->key);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

static char *join_key(const Csv *csv, const size_t *columns, size_t count, size_t row)
{
    size_t length = 1;
    for (size_t i = 0; i < count; i++) {
        length += strlen(csv_cell(csv, row, columns[i])) + 1;
    }
    char *key = malloc(length), *end = key;
    for (size_t i = 0; key != NULL && i < count; i++) {
        end += sprintf(end, "%s,", csv_cell(csv, row, columns[i]));
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
    size_t columns[AXIS_COUNT + 2], count = 0;
    for (; column_key(count) != NULL; count++) {
        columns[count] = csv_find(csv, column_key(count));
    }
    index->rows = calloc(csv->rows > 0 ? csv->rows : 1, sizeof *index->rows);
    for (; index->rows != NULL && index->count < csv->rows; index->count++) {
        char *key = join_key(csv, columns, count, index->count);
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
