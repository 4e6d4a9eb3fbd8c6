/*
 * A row of a results table read back.
 */
#ifndef HEADPROOF_HARNESS_TABLE_TABLE_READ_H
#define HEADPROOF_HARNESS_TABLE_TABLE_READ_H

#include "../grid/grid.h"

/* Reads back the row of that key (of table_key) and layer at the beginning of text [size], of a
 * table with or without the columns of --propagation: its cells (every value to the digits that are
 * there) and its status.  Returns the length of its line, newline included; 0 when no such row is
 * there, whole. text ends in a NUL. */
size_t table_read_row(Row *row, const char *text, size_t size, const char *key, size_t layer,
                      bool propagation) __attribute__((warn_unused_result));

#endif
