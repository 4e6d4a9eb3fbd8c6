/*
 * A table read back whole, for check and merge, which look its columns up by name.
 *
 * It is the simple CSV that table.h writes, read strictly: a header, as many cells in every row as
 * it has, no quotes, every line whole.  A byte order mark and a \r before newlines, which git and
 * editors put there, are no part of it.  (Rows of a point that is known, from the middle of a run's
 * file, are read by table_read_row.)
 */
#ifndef HEADPROOF_HARNESS_BASE_CSV_READ_H
#define HEADPROOF_HARNESS_BASE_CSV_READ_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    char *path;         /* for messages */
    char *text;         /* the file, with a NUL after every cell */
    const char **cells; /* [rows + 1][columns], pointers into text; the header comes first */
    size_t columns, rows;
    uint64_t digest; /* of the text's bytes (digest.h) */
} Csv;

/* Reads a whole file into *csv, which is empty ({0}) before.  0; 2 after a message with file, line
 * and token when it is not such a table; 99 after one when it is the machine's fault.  Clear the
 * table in every case. */
int csv_read(Csv *csv, const char *path) __attribute__((warn_unused_result));

/* The same for a text that is there, which becomes the table's: malloc'ed, with a NUL behind length
 * bytes.  name: for messages. */
int csv_take(Csv *csv, const char *name, char *text, size_t length)
    __attribute__((warn_unused_result));

/* Takes out what others put into a text [length], behind which there is a NUL: a byte order mark,
 * and every \r before a newline.  Returns how long it is then. */
size_t csv_plain(char *text, size_t length);

/* Prints that what is at path cannot be read, for that reason (errno); returns 2 or 99. */
int csv_unreadable(const char *path, int error);
void csv_clear(Csv *csv);

/* The name of a column < columns. */
const char *csv_name(const Csv *csv, size_t column);

/* The column of that name; columns when there is none. */
size_t csv_find(const Csv *csv, const char *name);

/* row < rows, which does not count the header; column < columns. */
const char *csv_cell(const Csv *csv, size_t row, size_t column);

/* The line of the file that a row is, from 1. */
size_t csv_line(size_t row);

#endif
