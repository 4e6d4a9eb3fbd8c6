/*
 * A row of a results table read back.
 */
#include <stdio.h>

#include "table.h"

#include "../../memory/need.h"
#include "check_columns.h"
#include "columns.h"

#include <stdlib.h>
#include <string.h>

/* What a cell is that is written so, unless `bounds` names it. */
static const CellState states_of[] = {[NUMBER_BLANK] = CELL_ABSENT,
                                      [NUMBER_ZERO] = CELL_ZERO,
                                      [NUMBER_FINITE] = CELL_VALUE,
                                      [NUMBER_NONFINITE] = CELL_NONFINITE};

/* 17 digits name one double, whatever its exponent: 53 bits give back what was printed. */
static void set_cell(RefCell *cell, const Number *number, CellState state)
{
    mpfr_t value;
    cell->state = state;
    cell->error = mpfr_get_emin_min();
    cell->lacking = 0;
    if (state == CELL_ABSENT) {
        return;
    }
    mpfr_init2(value, 53);
    number_value(value, number);
    mpfr_set(cell->value, value, MPFR_RNDN);
    mpfr_clear(value);
    if (state == CELL_BOUND && mpfr_regular_p(cell->value)) {
        /* Bounds are powers of two, printed with as many digits as there are, upwards. */
        mpfr_set_ui_2exp(cell->value, 1, mpfr_get_exp(cell->value) - 1, MPFR_RNDN);
    }
}

/* Is the name the next of the list, the last or with another behind it?  Then *list is behind
 * it. */
static bool take_name(const char **list, const char *name)
{
    size_t size = strlen(name);
    const char *behind = *list + size;
    bool next = strncmp(*list, name, size) == 0 && (*behind == '\0' || *behind == ';');
    if (!next || strcmp(behind, ";") == 0) {
        return false;
    }
    *list = behind + (*behind == ';');
    return true;
}

/* The cell of a column that is not `bounds`; bound: that names it. */
static bool read_cell(Row *row, const Column *column, const char *text, bool bound)
{
    Number number;
    if (column->kind == COLUMN_STATUS) {
        row->status = status_find(text, strlen(text));
        return row->status <= STATUS_OK;
    }
    if (cell_fault(&number, column, text, bound) != NULL) {
        return false;
    }
    CellState state = states_of[number.kind];
    bool zero_of_log = state == CELL_ZERO && column->unit == UNIT_LOG10;
    bool some = state == CELL_VALUE || state == CELL_NONFINITE || zero_of_log;
    bool own = column->unit == UNIT_ABSOLUTE || column->unit == UNIT_RELATIVE;
    if (column_is_size(column) && own) { /* others follow from it */
        RefCell *cell = (void *)((unsigned char *)(void *)row + column->cell);
        set_cell(cell, &number, bound ? CELL_BOUND : state);
    }
    return some || !bound;
}

/* The cells of all columns, in order, as are the names of those that are only bounds. */
static bool read_cells(Row *row, const char *const *cells, bool propagation)
{
    const char *bounds = "";
    for (size_t i = 0; i < column_count(propagation); i++) {
        bounds = column_at(i)->kind == COLUMN_BOUNDS ? cells[i] : bounds;
    }
    for (size_t i = 0; i < column_count(propagation); i++) {
        const Column *column = column_at(i);
        bool bound = column_is_size(column) && take_name(&bounds, column->name);
        if (column->kind != COLUMN_BOUNDS && !read_cell(row, column, cells[i], bound)) {
            return false;
        }
    }
    return *bounds == '\0';
}

size_t table_cut(const char **cells, size_t most, char *line)
{
    size_t count = 0;
    for (char *next; line != NULL; line = next) {
        next = strchr(line, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (count < most) {
            cells[count] = line;
        }
        count++;
    }
    return count;
}

size_t table_read_row(Row *row, const char *text, size_t size, const char *key, size_t layer,
                      bool propagation)
{
    const char *newline = memchr(text, '\n', size);
    char layer_text[32];
    size_t before = strlen(key);
    size_t length = (size_t)snprintf(layer_text, sizeof layer_text, ",%zu", layer);
    if (newline == NULL || strncmp(text, key, before) != 0 ||
        strncmp(text + before, layer_text, length) != 0) {
        return 0;
    }
    const char *cells = text + before + length;
    const char *cut[COLUMN_MOST];
    char *line = need_copy_of(cells, (size_t)(newline - cells));
    bool whole = cells + strlen(line) == newline && *line == ',' &&
                 table_cut(cut, COLUMN_MOST, line + 1) == column_count(propagation) &&
                 read_cells(row, cut, propagation);
    free(line);
    row->layer = layer;
    return whole ? (size_t)(newline - text) + 1 : 0;
}
