/*
 * Checks of a table's cells, by the names of their columns.
 */
#include <stdio.h>

#include "check_columns.h"

#include "columns.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/number.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

const char *cell_fault(Number *number, const Column *column, const char *cell, bool bound)
{
    static_assert(NUMBER_DIGITS == 17, "which is said");
    if (column->kind == COLUMN_WORD) {
        return NULL;
    }
    if (column->kind == COLUMN_STATUS) {
        bool known = status_find(cell, strlen(cell)) <= STATUS_OK || strcmp(cell, STATUS_NONE) == 0;
        return known ? NULL : "a status";
    }
    if (!number_read(number, cell)) {
        return "a number of at most 17 digits";
    }
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

bool csv_is_bound(const Csv *csv, size_t row, const char *name)
{
    size_t bounds = csv_find(csv, BOUNDS_COLUMN);
    return bounds < csv->columns && bounds_has(csv_cell(csv, row, bounds), name);
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
    Number number;
    if (column->kind == COLUMN_BOUNDS) {
        return check_bounds(csv, row, cell);
    }
    const char *fault = cell_fault(&number, column, cell, csv_is_bound(csv, row, column->name));
    return fault == NULL ? 0
                         : complain((Origin){.file = csv->path, .line = csv_line(row)}, cell,
                                    "expected %s (column %s)", fault, column->name);
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
