/*
 * The rows of a table in a report.
 */

#include "section.h"

#include "../../../memory/need.h"
#include "../../base/number.h"
#include "../../table/columns.h"
#include "../../table/format.h"

#include <stdlib.h>
#include <string.h>

/* Rows that are shown; the rest is counted.  A table of more columns than these stands upright
 * where it has few rows. */
enum { ROWS_SHOWN = 40, COLUMNS_MOST = 8, UPRIGHT_MOST = 4 };

/* A number with an exponent has three digits, as on a terminal. */
void listing_value(FILE *file, const char *text)
{
    Number number;
    if (strchr(text, 'e') != NULL && number_read(&number, text) && number.kind == NUMBER_FINITE &&
        number.digits != 0) {
        double mantissa = (double)number.digits / 1e16;
        bool carries = mantissa >= 9.995;
        fprintf(file, "%s%.2fe%+03ld", number.negative ? "&minus;" : "", carries ? 1 : mantissa,
                number.exponent + carries);
    } else {
        section_text(file, text);
    }
}

/* As in a table for eyes: keys that vary, of a row that is alone those that every command says, and
 * the figures. */
static bool is_shown(const Csv *csv, size_t column)
{
    const char *name = csv_name(csv, column), *first = "";
    bool varies = false;
    for (size_t row = 0; row < csv->rows; row++) {
        const char *text = csv_cell(csv, row, column);
        varies = varies || (*text != '\0' && *first != '\0' && strcmp(text, first) != 0);
        first = *first == '\0' ? text : first;
    }
    Axis axis = column_axis(name);
    bool said = csv->rows == 1 && axis < AXIS_COUNT && axis_info(axis)->always_said;
    return *first != '\0' &&
           (column_names_row(name) ? varies || said : column_is_seen(name, NORM_MAX));
}

/* The rows that are shown, those that fail first; returns their number. */
static size_t choose_rows(size_t rows[ROWS_SHOWN], const Subject *subject)
{
    size_t count = 0;
    for (int fails = 1; fails >= 0; fails--) {
        for (size_t row = 0; row < subject->csv.rows && count < ROWS_SHOWN; row++) {
            if (subject_row_fails(subject, row) == (fails == 1)) {
                rows[count++] = row;
            }
        }
    }
    return count;
}

static void write_data(FILE *file, const Subject *subject, size_t row, size_t column)
{
    const char *text = csv_cell(&subject->csv, row, column);
    bool number = format_is_number(text), fails = subject_row_fails(subject, row);
    fprintf(file, "<td%s%s%s%s>", number || fails ? " class=\"" : "", number ? "n" : "",
            fails ? (number ? " fail" : "fail") : "", number || fails ? "\"" : "");
    listing_value(file, text);
    fputs("</td>", file);
}

static void write_name(FILE *file, const Csv *csv, size_t column, const char *scope)
{
    fprintf(file, "<th scope=\"%s\">", scope);
    section_text(file, csv_name(csv, column));
    fputs("</th>", file);
}

/* The part of a table that is listed: columns, and rows [count]. */
typedef struct {
    const Subject *subject;
    const bool *columns;
    size_t rows[ROWS_SHOWN], count;
} Listing;

/* A line a row. */
static void write_lines(FILE *file, const Listing *listing)
{
    const Csv *csv = &listing->subject->csv;
    fputs("<div class=\"wide\"><table>\n<thead><tr>", file);
    for (size_t column = 0; column < csv->columns; column++) {
        if (listing->columns[column]) {
            write_name(file, csv, column, "col");
        }
    }
    fputs("</tr></thead>\n<tbody>\n", file);
    for (size_t i = 0; i < listing->count; i++) {
        fputs("<tr>", file);
        for (size_t column = 0; column < csv->columns; column++) {
            if (listing->columns[column]) {
                write_data(file, listing->subject, listing->rows[i], column);
            }
        }
        fputs("</tr>\n", file);
    }
    fputs("</tbody>\n</table></div>\n", file);
}

/* A line a column: of a few rows that no page is wide enough for. */
static void write_upright(FILE *file, const Listing *listing)
{
    const Csv *csv = &listing->subject->csv;
    fputs("<div class=\"wide\"><table class=\"upright\">\n<tbody>\n", file);
    for (size_t column = 0; column < csv->columns; column++) {
        if (listing->columns[column]) {
            fputs("<tr>", file);
            write_name(file, csv, column, "row");
            for (size_t i = 0; i < listing->count; i++) {
                write_data(file, listing->subject, listing->rows[i], column);
            }
            fputs("</tr>\n", file);
        }
    }
    fputs("</tbody>\n</table></div>\n", file);
}

void listing_write(FILE *file, const Subject *subject)
{
    const Csv *csv = &subject->csv;
    bool *shown_columns = need_zeros(csv->columns + 1, sizeof *shown_columns);
    Listing listing = {.subject = subject, .columns = shown_columns};
    size_t columns = 0;
    for (size_t column = 0; column < csv->columns; column++) {
        shown_columns[column] = is_shown(csv, column);
        columns += shown_columns[column];
    }
    listing.count = choose_rows(listing.rows, subject);
    fputs("<h3>Rows</h3>\n", file);
    bool upright = listing.count <= UPRIGHT_MOST && columns > COLUMNS_MOST;
    (upright ? write_upright : write_lines)(file, &listing);
    if (csv->rows > ROWS_SHOWN) {
        fprintf(file, "<p>%d of %zu rows, those that fail first.</p>\n", ROWS_SHOWN, csv->rows);
    }
    fputs("<p>Keys that do not vary are left out; the file has them.</p>\n", file);
    free(shown_columns);
}
