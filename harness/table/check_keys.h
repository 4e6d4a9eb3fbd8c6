/*
 * The keys of a table's rows.
 */
#ifndef HEADPROOF_HARNESS_TABLE_CHECK_KEYS_H
#define HEADPROOF_HARNESS_TABLE_CHECK_KEYS_H

#include "../base/csv_read.h"

#include <stdint.h>

#define NO_ROW SIZE_MAX

/* A row and its key: the key's cells joined by commas, which no cell holds, and the options as they
 * are canonical (options_cell.h). */
typedef struct {
    char *key;
    size_t row;
} Keyed;

/* rows [count]: by key, then by row. */
typedef struct {
    Keyed *rows;
    size_t count;
} KeyIndex;

/* The table has every key column.  0; 99 after a message. */
int key_index_make(KeyIndex *index, const Csv *csv) __attribute__((warn_unused_result));
void key_index_clear(KeyIndex *index);

/* The first row of that key, or NO_ROW. */
size_t key_index_find(const KeyIndex *index, const char *key);

/* [rows]: every row's key, the index's own; the caller frees the list.  NULL: memory is short. */
const char **key_index_rows(const KeyIndex *index);

#endif
