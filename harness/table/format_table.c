/*
 * Tables for eyes: aligned columns for a terminal, and a table of Markdown.
 *
 * Numbers with an exponent have three digits, what is only an upper bound has "<" before it, and
 * columns that are blank in every row are left out.  So all rows are kept until the last is there.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_asprintf */

#include "format.h"

#include "../base/shown.h"
#include "../base/text_stream.h"

#include <errno.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

/* Digits enough for a number that is printed with three, and the longest that is left as it is:
 * "-1.23e..."; a rule of Markdown has three characters. */
enum { CELL_BITS = 64, MANTISSA_MOST = 5, RULE_LEAST = 3 };

/* cells [table->rows + 1][table->count], the names first: as they are shown; room: of how many. */
typedef struct {
    char **cells;
    size_t used, room;
} Shelf;

/* One syntax of such a table: texts as they are shown there, and what stands between columns. */
typedef struct {
    ShownPlace place;
    const char *left, *between, *right;
    bool ruled; /* a line below the names says how columns are aligned */
} Look;

static const Look plain = {SHOWN_TERMINAL, "", "  ", "", false};
static const Look markdown = {SHOWN_MARKDOWN, "| ", " | ", " |", true};

static int shelf_begin(FormatTable *table)
{
    table->state = calloc(1, sizeof(Shelf));
    return table->state == NULL ? -1 : 0;
}

static void shelf_clear(FormatTable *table)
{
    Shelf *shelf = table->state;
    for (size_t i = 0; shelf != NULL && i < shelf->used; i++) {
        free(shelf->cells[i]);
    }
    free(shelf == NULL ? NULL : (void *)shelf->cells);
    free(shelf);
    table->state = NULL;
}

/* The number to three digits, a bound rounded up. */
static int write_short(FILE *file, const FormatCell *cell)
{
    mpfr_t value;
    mpfr_init2(value, CELL_BITS);
    mpfr_strtofr(value, cell->text, NULL, 10, MPFR_RNDN);
    int length = mpfr_fprintf(file, cell->bound ? "<%.2RUe" : "%.2RNe", value);
    mpfr_clear(value);
    return length < 0 ? -1 : 0;
}

/* Puts a cell behind the others; the text is shown as `place` has it. */
static int shelf_add(Shelf *shelf, ShownPlace place, const FormatCell *cell, bool number)
{
    if (shelf->used == shelf->room) {
        size_t room = shelf->room > 0 ? 2 * shelf->room : 256;
        char **cells = realloc((void *)shelf->cells, room * sizeof *cells);
        if (cells == NULL) {
            return -1;
        }
        shelf->cells = cells;
        shelf->room = room;
    }
    size_t size;
    FILE *stream = text_stream(&shelf->cells[shelf->used], &size);
    if (stream == NULL) {
        return -1;
    }
    int status = 0;
    if (number && strchr(cell->text, 'e') != NULL && strcspn(cell->text, "e") > MANTISSA_MOST) {
        status = write_short(stream, cell);
    } else {
        fputs(cell->bound ? "<" : "", stream);
        shown_write(stream, number ? SHOWN_TERMINAL : place, cell->text);
    }
    shelf->used++;
    return fclose(stream) != 0 ? -1 : status;
}

static int shelf_row(FormatTable *table, const FormatCell *cells, const Look *look)
{
    int status = 0;
    for (size_t i = 0; table->rows == 0 && i < table->count && status == 0; i++) {
        const FormatCell name = {.text = table->columns[i].name};
        status = shelf_add(table->state, look->place, &name, false);
    }
    for (size_t i = 0; i < table->count && status == 0; i++) {
        bool number = !table->columns[i].text && format_is_number(cells[i].text);
        status = shelf_add(table->state, look->place, &cells[i], number);
    }
    return status;
}

/* Characters of a text, of which the first byte alone is not 10xxxxxx. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return width;
}

/* The width of a column; 0: it is blank in every row. */
static size_t column_width(const FormatTable *table, size_t column)
{
    const Shelf *shelf = table->state;
    size_t width = 0, least = shelf->used > 0 ? width_of(shelf->cells[column]) : 0;
    for (size_t at = table->count + column; at < shelf->used; at += table->count) {
        size_t own = width_of(shelf->cells[at]);
        width = own > width ? own : width;
    }
    return width > 0 && width < least ? least : width;
}

static void write_aligned(FILE *file, const char *text, size_t width, bool left, bool last)
{
    int blanks = (int)(width - width_of(text));
    if (!left) {
        fprintf(file, "%*s", blanks, "");
    }
    fputs(text, file);
    if (left && !last) {
        fprintf(file, "%*s", blanks, "");
    }
}

/* Dashes below the names, a colon where a column of numbers ends. */
static void write_rule(const FormatTable *table, const Look *look, const size_t *widths)
{
    const char *before = look->left;
    for (size_t i = 0; i < table->count; i++) {
        if (widths[i] > 0) {
            fputs(before, table->file);
            for (size_t c = 1; c < widths[i]; c++) {
                putc('-', table->file);
            }
            putc(table->columns[i].text ? '-' : ':', table->file);
            before = look->between;
        }
    }
    fprintf(table->file, "%s\n", look->right);
}

static void write_line(const FormatTable *table, const Look *look, const size_t *widths,
                       char *const *cells)
{
    const char *before = look->left;
    size_t last = 0;
    for (size_t i = 0; i < table->count; i++) {
        last = *cells[i] != '\0' || look->ruled ? i : last;
    }
    for (size_t i = 0; i <= last; i++) {
        if (widths[i] > 0) {
            fputs(before, table->file);
            write_aligned(table->file, cells[i], widths[i], table->columns[i].text,
                          i == last && !look->ruled);
            before = look->between;
        }
    }
    fprintf(table->file, "%s\n", look->right);
}

static int shelf_end(const FormatTable *table, const Look *look)
{
    const Shelf *shelf = table->state;
    size_t *widths = calloc(table->count, sizeof *widths);
    if (widths == NULL) {
        return -1;
    }
    for (size_t i = 0; i < table->count; i++) {
        widths[i] = column_width(table, i);
        if (look->ruled && widths[i] > 0 && widths[i] < RULE_LEAST) {
            widths[i] = RULE_LEAST;
        }
    }
    for (size_t at = 0; at < shelf->used; at += table->count) {
        write_line(table, look, widths, shelf->cells + at);
        if (at == 0 && look->ruled) {
            write_rule(table, look, widths);
        }
    }
    free(widths);
    return ferror(table->file) ? -1 : 0;
}

static int plain_row(FormatTable *table, const FormatCell *cells)
{
    return shelf_row(table, cells, &plain);
}

static int plain_end(FormatTable *table)
{
    return shelf_end(table, &plain);
}

const Format format_table = {.name = "table",
                             .begin = shelf_begin,
                             .row = plain_row,
                             .end = plain_end,
                             .clear = shelf_clear};

static int markdown_row(FormatTable *table, const FormatCell *cells)
{
    return shelf_row(table, cells, &markdown);
}

static int markdown_end(FormatTable *table)
{
    return shelf_end(table, &markdown);
}

const Format format_markdown = {.name = "markdown",
                                .begin = shelf_begin,
                                .row = markdown_row,
                                .end = markdown_end,
                                .clear = shelf_clear};
