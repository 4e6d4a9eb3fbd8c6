/*
 * Checks of the cells of a table that is read back, and the keys of its rows.
 */
#ifndef HEADPROOF_HARNESS_TABLE_CHECK_COLUMNS_H
#define HEADPROOF_HARNESS_TABLE_CHECK_COLUMNS_H

#include "columns.h"

#include "../base/csv_read.h"
#include "../base/number.h"
#include "../point/point.h"

#include <stdint.h>

/* Of a row for which no Omega is there, in tables of other commands than sweep. */
#define STATUS_NONE "none"

/* The status that text [length] names; STATUS_OK + 1: none. */
Status status_find(const char *text, size_t length);

/* NULL, or the words for what a number of that column must be and this one is not.  bound: the
 * table says that it is only one. */
const char *column_fault(const Column *column, const Number *number, bool bound);

/* Every cell is what its column takes: blank, a status, names of cells, or a number in its
 * domain (an error is not negative, a share is from 0 to 1).  0; 2 after a message with file, line
 * and token. */
int check_cells(const Csv *csv) __attribute__((warn_unused_result));

#define NO_ROW SIZE_MAX

/* A row and its key: the key's cells joined by commas, which no cell holds. */
typedef struct {
    char *key;
    size_t row;
} Keyed;

/* rows, order [count]: as they stand, and by key, then as they stand. */
typedef struct {
    Keyed *rows;
    const Keyed **order;
    size_t count;
} KeyIndex;

/* The table has every key column.  without: roles of axes that the keys leave out. */
void key_index_make(KeyIndex *index, const Csv *csv, unsigned without);
void key_index_clear(KeyIndex *index);

/* The first row of that key, or NO_ROW. */
size_t key_index_find(const KeyIndex *index, const char *key);

#endif
