/*
 * The formats of a table: what --format names, and how rows of CSV become rows of it.
 *
 * A row travels through the program as a line of CSV: between threads, ranks and runs.  A format
 * is a writer that takes the cells of such lines, one row after another.  A new one is a file of
 * its own, and its name here, in both lines.
 */
#ifndef HEADPROOF_HARNESS_TABLE_FORMAT_H
#define HEADPROOF_HARNESS_TABLE_FORMAT_H

#include "../grid/grid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A column of the table; text: its cells are words, even where one looks like a number. */
typedef struct {
    const char *name;
    bool text;
} FormatColumn;

/* A cell as CSV has it, "" where it is blank; bound: it is only an upper bound, which its column
 * is named for in `bounds`. */
typedef struct {
    const char *text;
    bool bound;
} FormatCell;

/* A table on its way to a file.  columns [count]; rows: written so far; state: the writer's own;
 * whole: with columns that a format for eyes leaves out otherwise; brief: with ROWS_SEEN rows. */
typedef struct {
    FILE *file;
    const FormatColumn *columns;
    size_t count, rows;
    void *state;
    bool whole, brief;
} FormatTable;

/* begin: before the first row; row: cells [table->count]; end: behind the last row; begin and end
 * may be NULL.  clear: frees the state, if there is any, whether or not the end was reached.  A
 * format without rows is CSV, which is written as it is. */
typedef struct {
    const char *name;
    void (*begin)(FormatTable *table);
    void (*row)(FormatTable *table, const FormatCell *cells);
    void (*end)(FormatTable *table);
    void (*clear)(FormatTable *table);
} Format;

extern const Format format_csv, format_table, format_json, format_jsonl, format_markdown;
#define FORMATS &format_csv, &format_table, &format_json, &format_jsonl, &format_markdown

/* Their names, in that order; returns how many. */
enum { FORMATS_MOST = 16 };
size_t format_names(const char *names[FORMATS_MOST]);

/* The format of that name; NULL: csv.  Returns NULL when there is none. */
const Format *format_find(const char *name);

/* Are rows written as they travel?  Only such a file can be read again. */
bool format_is_csv(const Format *format);

/* 0, or 2 after a message: --format names no format, or one that a flag beside it cannot use. */
int format_check(const RunOptions *run) __attribute__((warn_unused_result));

/* Is the text a number as JSON writes them? */
bool format_is_number(const char *text);

/* text = a cell that is a number as tables for eyes have it: to three digits where it has an
 * exponent, to five where it is a fraction of ten or more, with "<" before it where it is a bound,
 * which is rounded up. */
enum { SHORT_TEXT = 64 };
void format_short(char text[SHORT_TEXT], const FormatCell *cell);

/* Lines of CSV on their way into a format. */
typedef struct Formatter Formatter;

/* table: its file, and what is said of it before its columns are known. */
Formatter *formatter_open(const Format *format, FormatTable table)
    __attribute__((warn_unused_result));

/* Takes whole lines, the first of all being the header.  0, or -1 (errno): a line has not as many
 * cells, or the file failed. */
int formatter_take(Formatter *formatter, const char *lines) __attribute__((warn_unused_result));

/* Writes what comes behind the last row.  0, or -1 (errno). */
int formatter_end(Formatter *formatter) __attribute__((warn_unused_result));

/* NULL is fine. */
void formatter_clear(Formatter *formatter);

#endif
