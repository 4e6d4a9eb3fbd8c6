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

static bool read_bits(long *bits, const char *text)
{
    char *end;
    *bits = strtol(text, &end, 10);
    return *end == '\0';
}

static bool read_identical(Row *row, const char *text)
{
    char *end;
    row->has_identical = *text != '\0';
    row->identical = strtod(text, &end);
    return *end == '\0';
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

/* The cells of columns that are sizes; bounds: names of those that are only bounds, in order. */
static bool read_sizes(Row *row, const Number *numbers, const char *bounds)
{
    for (size_t i = 0; column_at(i) != NULL; i++) {
        const Column *column = column_at(i);
        const bool is_size = column_is_size(column), bound = take_name(&bounds, column->name);
        CellState state = states_of[numbers[i].kind];
        bool is_log = is_size && column->unit == UNIT_LOG10;
        bool number =
            state == CELL_VALUE || state == CELL_NONFINITE || (is_log && state == CELL_ZERO);
        if ((bound && !number) || (is_size && column_fault(column, &numbers[i], bound) != NULL)) {
            return false;
        }
        if (is_size && (column->unit == UNIT_ABSOLUTE || column->unit == UNIT_RELATIVE)) {
            RefCell *cell = (void *)((unsigned char *)(void *)row + column->cell);
            set_cell(cell, &numbers[i], bound ? CELL_BOUND : state); /* others follow from it */
        }
    }
    return *bounds == '\0';
}

/* The cells of all columns, in order. */
static bool read_cells(Row *row, const char *const *cells, bool propagation)
{
    Number numbers[COLUMN_MOST] = {{0}};
    const char *bounds = "";
    bool ok = true;
    for (size_t i = 0; i < column_count(propagation) && ok; i++) {
        switch (column_at(i)->kind) {
        case COLUMN_BOUNDS: bounds = cells[i]; break;
        case COLUMN_SHARE: ok = read_identical(row, cells[i]); break;
        case COLUMN_BITS: ok = read_bits(&row->precision_bits, cells[i]); break;
        case COLUMN_DIFFERENCE_BITS: ok = read_bits(&row->difference_bits, cells[i]); break;
        case COLUMN_STATUS:
            row->status = status_find(cells[i], strlen(cells[i]));
            ok = row->status <= STATUS_OK;
            break;
        default: /* a size */
            ok = strlen(cells[i]) < CELL_TEXT && number_read(&numbers[i], cells[i]);
            break;
        }
    }
    return ok && read_sizes(row, numbers, bounds);
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
