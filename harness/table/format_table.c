/*
 * Tables for eyes: aligned columns for a terminal, and a table of Markdown.
 *
 * They have what a reader looks for: keys that differ from row to row, and each figure once.
 * Numbers with an exponent have three digits, fractions of more than ten have five, and what is
 * only an upper bound has "<" before it.  All rows are kept until the last is there.
 */
#include "format.h"

#include "../../memory/need.h"
#include "../base/number.h"
#include "../base/shown.h"
#include "../base/terminal.h"
#include "../base/text_stream.h"
#include "columns.h"
#include "eyes.h"

#include <math.h>
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

/* cells [table->rows + 1][table->count], the names first: as they are shown.  sizes: of the rows'
 * streams.  Once they are all there, seen [table->count], and of what is written the columns
 * [count], in order, and behind table->count those [keys] that stand in lines of their own, where
 * they are folded; left_out: so many have no room in a line; upright: a line each. */
typedef struct {
    const FormatTable *table;
    const Look *look;
    char **cells;
    size_t used;
    StreamSizes sizes;
    SeenColumn *seen;
    size_t *columns, count, keys, left_out, line;
    bool upright, folded;
} Shelf;

/* ---- Rows --------------------------------------------------------------------------------- */

static void shelf_clear(FormatTable *table)
{
    Shelf *shelf = table->state;
    for (size_t i = 0; shelf != NULL && i < shelf->used; i++) {
        free(shelf->cells[i]);
    }
    if (shelf != NULL) {
        free((void *)shelf->cells);
        free(shelf->seen);
        free(shelf->columns);
    }
    free(shelf);
    table->state = NULL;
}

/* Puts a cell behind the others. */
static void shelf_add(Shelf *shelf, const FormatCell *cell, bool number)
{
    shelf->cells = need_next((void *)shelf->cells, shelf->used, sizeof *shelf->cells);
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

static Shelf *shelf_begin(FormatTable *table)
{
    Shelf *shelf = table->state = need_zeros(1, sizeof *shelf);
    *shelf = (Shelf){.table = table,
                     .look = table->format == &format_markdown ? &markdown : &plain,
                     .sizes = STREAM_SIZES_NONE};
    for (size_t i = 0; i < table->count; i++) {
        const FormatCell name = {.text = table->cells[i].name};
        shelf_add(shelf, &name, false);
    }
    return shelf;
}

/* NaN where it is blank or no number. */
static double log10_of(const char *text)
{
    Number number;
    bool finite = number_read(&number, text) && number.kind == NUMBER_FINITE && number.digits != 0;
    return finite ? log10((double)number.digits / 1e16) + (double)number.exponent : NAN;
}

static void shelf_row(FormatTable *table)
{
    Shelf *shelf = table->state != NULL ? table->state : shelf_begin(table);
    const FormatCell *cells = table->cells;
    for (ErrorKind kind = ERROR_CONSTRUCTION; kind <= ERROR_NATIVE; kind++) {
        size_t error = format_column(table, column_of_error(kind, NORM_MAX)->name);
        size_t relative = format_column(table, column_of_error(kind, NORM_REL)->name);
        if (error < table->count && relative < table->count) {
            stream_sizes_add(&shelf->sizes, log10_of(cells[error].text),
                             log10_of(cells[relative].text));
        }
    }
    for (size_t i = 0; i < table->count; i++) {
        bool number = !table->cells[i].words && format_is_number(cells[i].text);
        shelf_add(shelf, &cells[i], number);
    }
}

/* ---- Which columns ------------------------------------------------------------------------- */

static char *cell_at(const Shelf *shelf, size_t line, size_t column)
{
    return shelf->cells[line * shelf->table->count + column];
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

static SeenColumn look_at(const Shelf *shelf, size_t column)
{
    SeenColumn seen = {.blank = true};
    const char *first = NULL;
    /* Options that are blank are at their defaults, which differ from others. */
    bool defaults = strcmp(shelf->table->cells[column].name, OPTIONS_COLUMN) == 0;
    for (size_t line = 0; line <= shelf->table->rows; line++) {
        const char *text = cell_at(shelf, line, column);
        size_t width = width_of(text) + strlen(shelf->look->between);
        seen.width = width > seen.width ? width : seen.width;
        if (line > 0 && (defaults || *text != '\0')) {
            seen.varies = seen.varies || (first != NULL && strcmp(text, first) != 0);
            seen.blank = seen.blank && *text == '\0';
            first = first == NULL ? text : first;
        }
    }
    return seen;
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
static void drop_common(const Shelf *shelf, size_t options)
{
    const FormatTable *table = shelf->table;
    char *common = need_copy(cell_at(shelf, 1, options));
    for (size_t line = 2; line <= table->rows; line++) {
        keep_parts(common, cell_at(shelf, line, options), true);
    }
    for (size_t line = 1; line <= table->rows; line++) {
        keep_parts(cell_at(shelf, line, options), common, false);
    }
    free(common);
}

/* Are all rows layers of one point? */
static bool is_one_stack(const Shelf *shelf)
{
    for (size_t i = 0; i < shelf->table->count; i++) {
        const char *name = shelf->table->cells[i].name;
        if (column_names_row(name) && strcmp(name, LAYER_COLUMN) != 0 && shelf->seen[i].varies) {
            return false;
        }
    }
    return true;
}

/* Kept are keys that vary, of a row that is alone those that every command says, and of a stack
 * that is alone its Omega; figures have ranks, each its own. */
static int rank_of(const Shelf *shelf, size_t column, Norm norm)
{
    const char *name = shelf->table->cells[column].name;
    const SeenColumn *seen = &shelf->seen[column];
    if (seen->blank) {
        return RANK_UNSEEN;
    }
    if (shelf->table->whole) {
        return RANK_KEPT;
    }
    if (column_names_row(name)) {
        Axis axis = column_axis(name);
        bool said =
            axis < AXIS_COUNT ? axis_info(axis)->always_said : strcmp(name, LAYER_COLUMN) != 0;
        bool own = axis == AXIS_OMEGA && is_one_stack(shelf);
        bool kept = shelf->table->rows == 1 ? said : own || seen->varies;
        return kept ? RANK_KEPT : RANK_UNSEEN;
    }
    int rank = column_rank(name, norm);
    return rank == RANK_OTHER ? RANK_OTHER + (int)column : rank;
}

/* The columns that are shown.  Where there is no room the errors go that a reader looks for last;
 * then few rows stand upright, a line a column, and many are without what is looked for last, or
 * have their names in lines of their own. */
static void choose(Shelf *shelf)
{
    const FormatTable *table = shelf->table;
    const size_t count = table->count, layer = format_column(table, LAYER_COLUMN);
    const size_t between = strlen(shelf->look->between);
    SeenColumn *seen = shelf->seen;
    Norm norm = stream_sizes_norm(shelf->sizes, layer < count && seen[layer].varies);
    for (size_t i = 0; i < count; i++) {
        seen[i].rank = rank_of(shelf, i, norm);
    }
    bool any = shelf->look->ruled || table->whole;
    size_t line = isatty(fileno(table->file)) ? terminal_width(table->file) : WIDTH_MOST;
    shelf->line = any ? SIZE_MAX : line + between;
    int missing = columns_fit(seen, count, shelf->line);
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        taken += seen[i].taken;
    }
    shelf->upright = table->rows <= UPRIGHT_MOST && (missing < RANK_ERROR || taken > COLUMNS_MOST);
    shelf->folded = !shelf->upright && missing == RANK_KEPT;
    for (size_t i = 0; i < count && shelf->folded; i++) {
        seen[i].width = column_names_row(table->cells[i].name) ? 0 : seen[i].width;
    }
    (void)columns_fit(seen, count, shelf->upright ? SIZE_MAX : shelf->line);
    for (size_t i = 0; i < count; i++) {
        bool key = shelf->folded && column_names_row(table->cells[i].name);
        if (seen[i].taken) {
            shelf->columns[key ? count + shelf->keys++ : shelf->count++] = i;
        }
        shelf->left_out += !seen[i].taken && seen[i].rank < RANK_UNSEEN;
    }
}

/* ---- Lines --------------------------------------------------------------------------------- */

static size_t columns_of(const Shelf *shelf)
{
    return shelf->upright ? shelf->table->rows + 1 : shelf->count;
}

static const char *text_of(const Shelf *shelf, size_t line, size_t i)
{
    return shelf->upright ? cell_at(shelf, i, shelf->columns[line])
                          : cell_at(shelf, line, shelf->columns[i]);
}

static bool is_left(const Shelf *shelf, size_t i)
{
    return shelf->upright ? i == 0 : shelf->table->cells[shelf->columns[i]].words;
}

/* Dashes below the names, a colon where a column of numbers ends. */
static void write_rule(const Shelf *shelf, const size_t *widths)
{
    FILE *file = shelf->table->file;
    for (size_t i = 0; i < columns_of(shelf); i++) {
        fputs(i == 0 ? shelf->look->left : shelf->look->between, file);
        for (size_t c = 1; c < widths[i]; c++) {
            putc('-', file);
        }
        putc(is_left(shelf, i) ? '-' : ':', file);
    }
    fprintf(file, "%s\n", shelf->look->right);
}

static void write_line(const Shelf *shelf, const size_t *widths, size_t line)
{
    const Look *look = shelf->look;
    FILE *file = shelf->table->file;
    size_t last = 0;
    for (size_t i = 0; i < columns_of(shelf); i++) {
        last = *text_of(shelf, line, i) != '\0' || look->ruled ? i : last;
    }
    for (size_t i = 0; i <= last; i++) {
        fputs(i == 0 ? look->left : look->between, file);
        const char *text = text_of(shelf, line, i);
        size_t blanks = widths[i] - width_of(text);
        bool left = is_left(shelf, i), ends = i == last && !look->ruled;
        fprintf(file, "%*s%s%*s", left ? 0 : (int)blanks, "", text, left && !ends ? (int)blanks : 0,
                "");
    }
    fprintf(file, "%s\n", look->right);
}

/* Before a row whose names are others than those of the row before it. */
static void write_folded(const Shelf *shelf, size_t line)
{
    const FormatTable *table = shelf->table;
    bool same = line > 1;
    size_t at = 0;
    for (size_t i = 0; i < shelf->keys && same; i++) {
        size_t column = shelf->columns[table->count + i];
        same = strcmp(cell_at(shelf, line, column), cell_at(shelf, line - 1, column)) == 0;
    }
    for (size_t i = 0; i < shelf->keys && !same && line > 0; i++) {
        size_t column = shelf->columns[table->count + i];
        folded_add(table->file, &at, shelf->line, table->cells[column].name,
                   cell_at(shelf, line, column));
    }
    fputs(at > 0 ? "\n" : "", table->file);
}

static void write_page(const Shelf *shelf)
{
    size_t lines = shelf->upright ? shelf->count : shelf->table->rows + 1;
    size_t *widths = need_zeros(columns_of(shelf) + 1, sizeof *widths);
    for (size_t i = 0; i < columns_of(shelf); i++) {
        widths[i] = shelf->look->ruled ? RULE_LEAST : 0;
        for (size_t line = 0; line < lines; line++) {
            size_t own = width_of(text_of(shelf, line, i));
            widths[i] = own > widths[i] ? own : widths[i];
        }
    }
    for (size_t line = 0; line < lines; line++) {
        write_folded(shelf, line);
        write_line(shelf, widths, line);
        if (line == 0 && shelf->look->ruled) {
            write_rule(shelf, widths);
        }
    }
    free(widths);
}

/* Keeps ROWS_SEEN rows, in their order: of those that fail as many as there are, then the first. */
static void keep_rows(FormatTable *table)
{
    const Shelf *shelf = table->state;
    size_t status = format_column(table, column_name(COLUMN_STATUS)), kept = 0, failing = 0, line;
    bool *keep = need_zeros(table->rows + 1, sizeof *keep);
    for (line = 1; line <= table->rows && status < table->count && failing < ROWS_SEEN; line++) {
        keep[line] = strcmp(cell_at(shelf, line, status), status_name(STATUS_FAIL)) == 0;
        failing += keep[line];
    }
    for (line = 1; line <= table->rows; line++) {
        bool first = !keep[line] && failing < ROWS_SEEN;
        failing += first;
        if (!first && !keep[line]) {
            continue;
        }
        kept++;
        for (size_t i = 0; i < table->count && kept < line; i++) {
            char **to = &shelf->cells[kept * table->count + i];
            char **from = &shelf->cells[line * table->count + i], *text = *to;
            *to = *from;
            *from = text; /* freed with the others */
        }
    }
    free(keep);
    table->rows = kept;
}

/* On a terminal what is not there is named, and where it is. */
static void say_rest(const Shelf *shelf, size_t rows)
{
    Wrapped said;
    const FormatTable *table = shelf->table;
    if (!table->brief || (rows == table->rows && shelf->left_out == 0)) {
        return;
    }
    FILE *file = wrapped_open(&said, table->file);
    fprintf(file, "%zu of %zu rows", table->rows, rows);
    if (shelf->left_out > 0) {
        fprintf(file, ", without %zu columns", shelf->left_out);
    }
    fputs("; -o FILE.csv writes all\n", file);
    wrapped_close(&said);
}

static void shelf_end(FormatTable *table)
{
    const size_t rows = table->rows, options = format_column(table, OPTIONS_COLUMN);
    Shelf *shelf = table->state;
    if (rows == 0) {
        return;
    }
    if (table->brief && rows > ROWS_SEEN) {
        keep_rows(table);
    }
    if (table->rows > 1 && options < table->count && !table->whole) {
        drop_common(shelf, options);
    }
    shelf->seen = need_zeros(table->count, sizeof *shelf->seen);
    shelf->columns = need_zeros(2 * table->count, sizeof *shelf->columns);
    for (size_t i = 0; i < table->count; i++) {
        shelf->seen[i] = look_at(shelf, i);
    }
    choose(shelf);
    write_page(shelf);
    say_rest(shelf, rows);
}

const Format format_table = {"table", shelf_row, shelf_end, shelf_clear};
const Format format_markdown = {"markdown", shelf_row, shelf_end, shelf_clear};
