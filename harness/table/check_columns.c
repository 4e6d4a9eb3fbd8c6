/*
 * Checks of a table's cells, by the names of their columns; rows found by their key
 * columns.
 */
#include <stdio.h>

#include "check_columns.h"

#include "bounds.h"
#include "columns.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/number.h"
#include "../base/text_stream.h"
#include "../point/axes.h"

#include <stdlib.h>
#include <string.h>

/* ---- Cells ----------------------------------------------------------------------------------- */

Status status_find(const char *text, size_t length)
{
    Status status = STATUS_ERROR;
    while (status <= STATUS_OK && (strlen(status_name(status)) != length ||
                                   memcmp(status_name(status), text, length) != 0)) {
        status++;
    }
    return status;
}

/* 10^(10^18) is larger than any error, even of a stack that has left the doubles' range, and than
 * the bounds of one where nothing could be measured, 2^(2^61). */
#define EXPONENT_MOST INT64_C(1000000000000000000)

/* The digits of 1. */
#define ONE UINT64_C(10000000000000000)

/* Of two doubles the difference is below 10^DIFFERENCE_EXPONENT. */
#define DIFFERENCE_EXPONENT 309

const char *column_fault(const Column *column, const Number *number, bool bound)
{
    bool measured = column->kind == COLUMN_MACHINE && column->unit == UNIT_ABSOLUTE;
    bool finite = number->kind == NUMBER_FINITE;
    bool is_log = column_is_size(column) && column->unit == UNIT_LOG10;
    if (finite && number->digits != 0 && number->exponent > EXPONENT_MOST) {
        return "a number below 10^1000000000000000000";
    }
    if (measured && !bound && finite && number->exponent >= DIFFERENCE_EXPONENT) {
        return "an error of doubles: only a bound, named in " BOUNDS_COLUMN ", is larger";
    }
    if (number->negative && !is_log) {
        return "a number that is not negative";
    }
    bool above_one = number->exponent > 0 || (number->exponent == 0 && number->digits > ONE);
    if (column->kind == COLUMN_SHARE && finite && number->digits != 0 && above_one) {
        return "a share from 0 to 1";
    }
    bool bits = column->kind == COLUMN_BITS || column->kind == COLUMN_DIFFERENCE_BITS;
    if (bits && number->text[strspn(number->text, "0123456789")] != '\0') {
        return "a count of bits";
    }
    return NULL;
}

/* Is it a column of errors and the like, whose cell in that row is a number? */
static bool may_be_bound(const Csv *csv, size_t row, const char *name)
{
    size_t at = csv_find(csv, name);
    const Column *column = at < csv->columns ? column_find(name) : NULL;
    Number number;
    if (column == NULL || !column_is_size(column) ||
        !number_read(&number, csv_cell(csv, row, at))) {
        return false;
    }
    return number.kind == NUMBER_FINITE ||
           (number.kind == NUMBER_ZERO && column->unit == UNIT_LOG10);
}

/* 0; 2 or 99 after a message. */
static int check_bounds(const Csv *csv, size_t row, const char *list)
{
    char *copy = need_copy(list), *name = copy;
    int status = 0;
    while (*list != '\0' && name != NULL && status == 0) {
        char *end = strchr(name, ';');
        if (end != NULL) {
            *end++ = '\0';
        }
        bool planned = end == NULL && strcmp(name, BOUNDS_PLANNED) == 0;
        if (!planned && !may_be_bound(csv, row, name)) {
            complain((Origin){.file = csv->path, .line = csv_line(row)}, name,
                     "expected columns whose cells are numbers, a ; between two (column %s)",
                     BOUNDS_COLUMN);
            status = 2;
        }
        name = end;
    }
    free(copy);
    return status;
}

/* A cell of a column that the table of columns has.  0; 2 or 99 after a message. */
static int check_cell(const Csv *csv, size_t row, const Column *column, const char *cell)
{
    Origin origin = {.file = csv->path, .line = csv_line(row)};
    Number number;
    if (column->kind == COLUMN_BOUNDS) {
        return check_bounds(csv, row, cell);
    }
    if (column->kind == COLUMN_WORD) {
        return 0;
    }
    if (column->kind == COLUMN_STATUS) {
        if (status_find(cell, strlen(cell)) > STATUS_OK && strcmp(cell, STATUS_NONE) != 0) {
            return complain(origin, cell, "expected a status (column %s)", column->name);
        }
        return 0;
    }
    if (!number_read(&number, cell)) {
        return complain(origin, cell, "expected a number of at most %d digits (column %s)",
                        NUMBER_DIGITS, column->name);
    }
    size_t bounds = csv_find(csv, BOUNDS_COLUMN);
    bool bound = bounds < csv->columns && bounds_has(csv_cell(csv, row, bounds), column->name);
    const char *fault = column_fault(column, &number, bound);
    if (fault != NULL) {
        return complain(origin, cell, "expected %s (column %s)", fault, column->name);
    }
    return 0;
}

int check_cells(const Csv *csv)
{
    for (size_t row = 0; row < csv->rows; row++) {
        for (size_t i = 0; i < csv->columns; i++) {
            const Column *column = column_find(csv_name(csv, i));
            int status = column == NULL ? 0 : check_cell(csv, row, column, csv_cell(csv, row, i));
            if (status != 0) {
                return status;
            }
        }
    }
    return 0;
}

/* ---- Rows by their keys ---------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    const Keyed *left = *(const Keyed *const *)a, *right = *(const Keyed *const *)b;
    int order = strcmp(left->key, right->key);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

void key_index_clear(KeyIndex *index)
{
    for (size_t row = 0; row < index->count; row++) {
        free(index->rows[row].key);
    }
    free(index->rows);
    free(index->order);
    *index = (KeyIndex){0};
}

void key_index_make(KeyIndex *index, const Csv *csv, unsigned without)
{
    *index = (KeyIndex){.rows = need_zeros(csv->rows + 1, sizeof *index->rows),
                        .order = need_zeros(csv->rows + 1, sizeof *index->order),
                        .count = csv->rows};
    for (size_t row = 0; row < csv->rows; row++) {
        Keyed *keyed = &index->rows[row];
        size_t size;
        FILE *key = text_stream(&keyed->key, &size);
        for (size_t i = 0; column_key(i) != NULL; i++) {
            Axis axis = column_axis(column_key(i));
            bool left = axis < AXIS_COUNT && (axis_info(axis)->roles & without) != 0;
            fprintf(key, "%s,", left ? "" : csv_cell(csv, row, csv_find(csv, column_key(i))));
        }
        (void)text_close(key, &keyed->key);
        keyed->row = row;
        index->order[row] = keyed;
    }
    qsort(index->order, index->count, sizeof *index->order, compare_keys);
}

size_t key_index_find(const KeyIndex *index, const char *key)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(index->order[middle]->key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < index->count && strcmp(index->order[low]->key, key) == 0;
    return found ? index->order[low]->row : NO_ROW;
}
