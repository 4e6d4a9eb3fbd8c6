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

/* A column of the table, and its cell in the row at hand, as CSV has it, "" where it is blank.
 * words: its cells are words, even where one looks like a number; bound: the cell is only an upper
 * bound, which its column is named for in `bounds`. */
typedef struct {
    const char *name, *text;
    bool words, bound;
} FormatCell;

typedef struct Format Format;

/* A table on its way to a file.  Its opener says format, file, whole and brief.  state: of the
 * writer; whole: with columns that a format for eyes leaves out otherwise; brief: with ROWS_SEEN
 * rows.  cells, texts [count]: of the row at hand; rows: written so far; header: the line that the
 * names are in, cut; bounds: the column that names bounds, or count. */
typedef struct {
    const Format *format;
    FILE *file;
    void *state;
    bool whole, brief;
    const char **texts;
    FormatCell *cells;
    size_t count, rows, bounds;
    char *header;
} FormatTable;

/* row: writes table->cells; end: what comes behind the last row, NULL: nothing.  clear: frees the
 * state, whether or not the end was reached; NULL: there is none.  A format without rows is CSV,
 * which is written as it is. */
struct Format {
    const char *name;
    void (*row)(FormatTable *table);
    void (*end)(FormatTable *table);
    void (*clear)(FormatTable *table);
};

extern const Format format_csv, format_table, format_json, format_jsonl, format_markdown;
#define FORMATS &format_csv, &format_table, &format_json, &format_jsonl, &format_markdown

/* Their names, in that order; returns how many. */
enum { FORMATS_MOST = 16 };
size_t format_names(const char *names[FORMATS_MOST]);

/* The format of that name; NULL: csv.  Returns NULL when there is none. */
const Format *format_find(const char *name);

/* 0, or 2 after a message: --format names no format, or one that a flag beside it cannot use. */
int format_check(const RunOptions *run) __attribute__((warn_unused_result));

/* Is the text a number as JSON writes them? */
bool format_is_number(const char *text);

/* text = a cell that is a number as tables for eyes have it: to three digits where it has an
 * exponent, to five where it is a fraction of ten or more, with "<" before it where it is a bound,
 * which is rounded up. */
enum { SHORT_TEXT = 64 };
void format_short(char text[SHORT_TEXT], const FormatCell *cell);

/* The column of that name; count: there is none. */
size_t format_column(const FormatTable *table, const char *name);

/* Takes whole lines of CSV, the first of all being the header.  0, or -1 (errno): a line has not as
 * many cells, or the file failed. */
int format_take(FormatTable *table, const char *lines) __attribute__((warn_unused_result));

/* Writes what comes behind the last row.  0, or -1 (errno). */
int format_end(FormatTable *table) __attribute__((warn_unused_result));

/* All zero is fine. */
void format_clear(FormatTable *table);

#endif
