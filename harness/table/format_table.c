/*
 * Tables for eyes: aligned columns for a terminal, and a table of Markdown.
 *
 * They have what a reader looks for: keys that differ from row to row, and each figure once.
 * Numbers with an exponent have three digits, fractions of more than ten have five, and what is
 * only an upper bound has "<" before it.  All rows are kept until the last is there.
 */
#include "format.h"

#include "../../memory/need.h"
#include "../base/shown.h"
#include "../base/terminal.h"
#include "../base/text_stream.h"
#include "bounds.h"
#include "columns.h"
#include "summary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A rule of Markdown has three characters.  A table that is wider than its line, or has more
 * columns than these, stands upright where it has few rows: a line a column. */
enum { RULE_LEAST = 3, WIDTH_MOST = 100, COLUMNS_MOST = 14, UPRIGHT_MOST = 4 };

/* One syntax of such a table: texts as they are shown there, and what stands between columns. */
typedef struct {
    ShownPlace place;
    const char *left, *between, *right;
    bool ruled; /* a line below the first says how columns are aligned */
} Look;

static const Look plain = {SHOWN_TERMINAL, "", "  ", "", false};
static const Look markdown = {SHOWN_MARKDOWN, "| ", " | ", " |", true};

/* cells [table->rows + 1][table->count], the names first: as they are shown; room: of how many.
 * sizes: of the rows' streams. */
typedef struct {
    const Look *look;
    char **cells;
    size_t used, room;
    StreamSizes sizes;
} Shelf;

/* The part of a table that is written: its columns [count], in order; upright: a line each. */
typedef struct {
    const FormatTable *table;
    const Look *look;
    size_t *columns, count;
    bool upright;
} Page;

/* ---- Rows --------------------------------------------------------------------------------- */

static void shelf_begin(FormatTable *table, const Look *look)
{
    Shelf *shelf = need_zeros(1, sizeof *shelf);
    table->state = shelf;
    *shelf = (Shelf){.look = look, .sizes = stream_sizes_none()};
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

/* Puts a cell behind the others. */
static void shelf_add(Shelf *shelf, const FormatCell *cell, bool number)
{
    if (shelf->used == shelf->room) {
        size_t room = shelf->room > 0 ? 2 * shelf->room : 256;
        shelf->cells = need_more((void *)shelf->cells, room, sizeof *shelf->cells);
        shelf->room = room;
    }
    char text[SHORT_TEXT];
    size_t size;
    FILE *stream = text_stream(&shelf->cells[shelf->used], &size);
    shelf->used++;
    if (number && strlen(cell->text) < sizeof text) {
        format_short(text, cell);
        fputs(text, stream);
    } else {
        fputs(cell->bound ? "<" : "", stream);
        shown_write(stream, shelf->look->place, cell->text);
    }
    (void)text_close(stream, &shelf->cells[shelf->used - 1]);
}

static size_t find(const FormatTable *table, const char *name)
{
    size_t i = 0;
    while (i < table->count && strcmp(table->columns[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* Takes in the sizes of the stream that a row's errors tell of. */
static void take_sizes(StreamSizes *sizes, const FormatTable *table, const FormatCell *cells)
{
    for (ErrorKind kind = ERROR_CONSTRUCTION; kind <= ERROR_NATIVE; kind++) {
        size_t error = find(table, column_of_error(kind, NORM_MAX)->name);
        size_t relative = find(table, column_of_error(kind, NORM_REL)->name);
        if (error < table->count && relative < table->count) {
            stream_sizes_add_texts(sizes, cells[error].text, cells[relative].text);
        }
    }
}

static void shelf_row(FormatTable *table, const FormatCell *cells)
{
    Shelf *shelf = table->state;
    for (size_t i = 0; table->rows == 0 && i < table->count; i++) {
        const FormatCell name = {.text = table->columns[i].name};
        shelf_add(shelf, &name, false);
    }
    take_sizes(&shelf->sizes, table, cells);
    for (size_t i = 0; i < table->count; i++) {
        bool number = !table->columns[i].text && format_is_number(cells[i].text);
        shelf_add(shelf, &cells[i], number);
    }
}

/* ---- Which columns ------------------------------------------------------------------------- */

static char *cell_at(const FormatTable *table, size_t line, size_t column)
{
    const Shelf *shelf = table->state;
    return shelf->cells[line * table->count + column];
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

static bool is_blank(const FormatTable *table, size_t column)
{
    size_t line = 1;
    while (line <= table->rows && *cell_at(table, line, column) == '\0') {
        line++;
    }
    return line > table->rows;
}

/* Are there two that differ, of the rows where it means something? */
static bool varies(const FormatTable *table, size_t column)
{
    const char *first = "";
    for (size_t line = 1; line <= table->rows; line++) {
        const char *text = cell_at(table, line, column);
        if (*text != '\0' && *first != '\0' && strcmp(text, first) != 0) {
            return true;
        }
        first = *first == '\0' ? text : first;
    }
    return false;
}

/* Leaves of a list, with ; between two, the parts that others have, or those that they have not. */
static void keep_parts(char *list, const char *others, bool shared)
{
    char *end = list, *rest;
    for (char *part = strtok_r(list, ";", &rest); part != NULL; part = strtok_r(NULL, ";", &rest)) {
        size_t length = strlen(part);
        if (bounds_has(others, part) == shared) {
            if (end > list) {
                *end++ = ';';
            }
            memmove(end, part, length);
            end += length;
        }
    }
    *end = '\0';
}

/* Leaves of the options what not every row has. */
static void drop_common(const FormatTable *table, size_t options)
{
    char *common = need_copy(cell_at(table, 1, options));
    for (size_t line = 2; line <= table->rows; line++) {
        keep_parts(common, cell_at(table, line, options), true);
    }
    for (size_t line = 1; line <= table->rows; line++) {
        keep_parts(cell_at(table, line, options), common, false);
    }
    free(common);
}

/* Are all rows layers of one point? */
static bool is_one_stack(const FormatTable *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->columns[i].name;
        if (column_names_row(name) && strcmp(name, LAYER_COLUMN) != 0 && varies(table, i)) {
            return false;
        }
    }
    return true;
}

/* Keys that vary, of a row that is alone those that every command says, of a stack that is alone
 * its Omega, and figures; bounds have "<" before them. */
static bool is_chosen(const FormatTable *table, size_t column, Norm norm)
{
    const char *name = table->columns[column].name;
    if (is_blank(table, column)) {
        return false;
    }
    if (table->whole) {
        return true;
    }
    if (column_names_row(name)) {
        Axis axis = column_axis(name);
        bool said =
            axis < AXIS_COUNT ? axis_info(axis)->always_said : strcmp(name, LAYER_COLUMN) != 0;
        bool own = axis == AXIS_OMEGA && is_one_stack(table);
        return table->rows == 1 ? said : own || varies(table, column);
    }
    return strcmp(name, BOUNDS_COLUMN) != 0 && column_is_seen(name, norm);
}

static size_t line_width(FILE *file)
{
    return isatty(fileno(file)) ? terminal_width(file) : WIDTH_MOST;
}

/* The width of all columns in a line. */
static size_t width_of_page(const Page *page)
{
    size_t width = 0;
    for (size_t i = 0; i < page->count; i++) {
        size_t own = 0;
        for (size_t line = 0; line <= page->table->rows; line++) {
            size_t cell = width_of(cell_at(page->table, line, page->columns[i]));
            own = cell > own ? cell : own;
        }
        width += own + (i > 0 ? strlen(page->look->between) : 0);
    }
    return width;
}

static void drop_column(Page *page, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < page->count; i++) {
        page->columns[kept] = page->columns[i];
        kept += strcmp(page->table->columns[page->columns[i]].name, name) != 0;
    }
    page->count = kept;
}

static void take_columns(Page *page, Norm norm)
{
    page->count = 0;
    for (size_t i = 0; i < page->table->count; i++) {
        page->columns[page->count] = i;
        page->count += is_chosen(page->table, i, norm);
    }
}

/* The columns that are shown: where there is no room the errors go that a reader looks for last,
 * but for two; a line a column has room for all. */
static void choose(Page *page)
{
    const FormatTable *table = page->table;
    const Shelf *shelf = table->state;
    size_t layer = find(table, LAYER_COLUMN);
    Norm norm = stream_sizes_norm(shelf->sizes, layer < table->count && varies(table, layer));
    take_columns(page, norm);
    size_t line = page->look->ruled || table->whole ? SIZE_MAX : line_width(table->file);
    for (size_t last = ERROR_KINDS; last-- > 2 && width_of_page(page) > line;) {
        drop_column(page, column_of_error(errors_by_use[last], norm)->name);
    }
    bool wide = page->count > COLUMNS_MOST || width_of_page(page) > line;
    page->upright = wide && table->rows <= UPRIGHT_MOST;
    if (page->upright) {
        take_columns(page, norm);
    }
}

/* ---- Lines --------------------------------------------------------------------------------- */

static void write_blanks(FILE *file, size_t count)
{
    fprintf(file, "%*s", (int)count, "");
}

static size_t columns_of(const Page *page)
{
    return page->upright ? page->table->rows + 1 : page->count;
}

static const char *text_of(const Page *page, size_t line, size_t i)
{
    return page->upright ? cell_at(page->table, i, page->columns[line])
                         : cell_at(page->table, line, page->columns[i]);
}

static bool is_left(const Page *page, size_t i)
{
    return page->upright ? i == 0 : page->table->columns[page->columns[i]].text;
}

/* Dashes below the names, a colon where a column of numbers ends. */
static void write_rule(const Page *page, const size_t *widths)
{
    FILE *file = page->table->file;
    for (size_t i = 0; i < columns_of(page); i++) {
        fputs(i == 0 ? page->look->left : page->look->between, file);
        for (size_t c = 1; c < widths[i]; c++) {
            putc('-', file);
        }
        putc(is_left(page, i) ? '-' : ':', file);
    }
    fprintf(file, "%s\n", page->look->right);
}

static void write_line(const Page *page, const size_t *widths, size_t line)
{
    const Look *look = page->look;
    FILE *file = page->table->file;
    size_t last = 0;
    for (size_t i = 0; i < columns_of(page); i++) {
        last = *text_of(page, line, i) != '\0' || look->ruled ? i : last;
    }
    for (size_t i = 0; i <= last; i++) {
        fputs(i == 0 ? look->left : look->between, file);
        const char *text = text_of(page, line, i);
        size_t blanks = widths[i] - width_of(text);
        bool left = is_left(page, i), ends = i == last && !look->ruled;
        write_blanks(file, left ? 0 : blanks);
        fputs(text, file);
        write_blanks(file, left && !ends ? blanks : 0);
    }
    fprintf(file, "%s\n", look->right);
}

static void write_page(const Page *page)
{
    size_t lines = page->upright ? page->count : page->table->rows + 1;
    size_t *widths = need_zeros(columns_of(page) + 1, sizeof *widths);
    for (size_t i = 0; i < columns_of(page); i++) {
        widths[i] = page->look->ruled ? RULE_LEAST : 0;
        for (size_t line = 0; line < lines; line++) {
            size_t own = width_of(text_of(page, line, i));
            widths[i] = own > widths[i] ? own : widths[i];
        }
    }
    for (size_t line = 0; line < lines; line++) {
        write_line(page, widths, line);
        if (line == 0 && page->look->ruled) {
            write_rule(page, widths);
        }
    }
    free(widths);
}

static void shelf_end(FormatTable *table)
{
    const Shelf *shelf = table->state;
    size_t options = find(table, OPTIONS_COLUMN);
    if (table->rows > 1 && options < table->count && !table->whole) {
        drop_common(table, options);
    }
    Page page = {
        .table = table, .look = shelf->look, .columns = need_zeros(table->count, sizeof(size_t))};
    if (table->rows > 0) {
        choose(&page);
        write_page(&page);
    }
    free(page.columns);
}

static void plain_begin(FormatTable *table)
{
    shelf_begin(table, &plain);
}

static void markdown_begin(FormatTable *table)
{
    shelf_begin(table, &markdown);
}

const Format format_table = {"table", plain_begin, shelf_row, shelf_end, shelf_clear};
const Format format_markdown = {"markdown", markdown_begin, shelf_row, shelf_end, shelf_clear};
