/*
 * A row of a results table read back.
 */
#include <stdio.h>

#include "table.h"

#include "bounds.h"
#include "check_columns.h"
#include "columns.h"

#include <stdlib.h>
#include <string.h>

/* A line that is being read: from the cell behind a comma to its newline. */
typedef struct {
    const char *next, *end;
    bool ok;
} Line;

/* The text of the next cell, up to the comma or the newline behind it. */
static const char *take_text(Line *line, size_t *length)
{
    const char *text = line->next + 1;
    line->ok = line->ok && line->next < line->end && *line->next == ',';
    if (!line->ok) {
        *length = 0;
        return "";
    }
    *length = strcspn(text, ",\n");
    line->next = text + *length;
    return text;
}

/* 17 digits name one double, whatever its exponent: 53 bits give back what was printed. */
static void take_cell(Line *line, RefCell *cell, Number *number)
{
    size_t length;
    const char *text = take_text(line, &length);
    char copy[CELL_TEXT] = "", *end;
    mpfr_t value;
    line->ok = line->ok && length < sizeof copy;
    memcpy(copy, text, line->ok ? length : 0);
    line->ok = line->ok && number_read(number, copy);
    cell->state = CELL_ABSENT;
    cell->error = mpfr_get_emin_min();
    cell->lacking = 0;
    if (length == 0) {
        return;
    }
    mpfr_init2(value, 53);
    mpfr_strtofr(value, text, &end, 10, MPFR_RNDN);
    line->ok = line->ok && end == text + length;
    mpfr_set(cell->value, value, MPFR_RNDN);
    cell->state = length == 1 && *text == '0' ? CELL_ZERO
                  : mpfr_number_p(value)      ? CELL_VALUE
                                              : CELL_NONFINITE;
    mpfr_clear(value);
}

static void take_identical(Line *line, Row *row)
{
    size_t length;
    const char *text = take_text(line, &length);
    char *end;
    row->has_identical = length > 0;
    row->identical = row->has_identical ? strtod(text, &end) : 0;
    line->ok = line->ok && (length == 0 || end == text + length);
}

static void take_bits(Line *line, long *bits)
{
    size_t length;
    const char *text = take_text(line, &length);
    char *end = NULL;
    *bits = length > 0 ? strtol(text, &end, 10) : 0;
    line->ok = line->ok && (length == 0 || end == text + length);
}

/* Bounds are powers of two, printed with as many digits as there are, upwards. */
static void take_bound(RefCell *cell)
{
    if (mpfr_regular_p(cell->value)) {
        mpfr_set_ui_2exp(cell->value, 1, mpfr_get_exp(cell->value) - 1, MPFR_RNDN);
    }
}

static void take_status(Line *line, Row *row)
{
    size_t length;
    const char *text = take_text(line, &length);
    Status status = status_find(text, length);
    line->ok = line->ok && status <= STATUS_OK;
    row->status = line->ok ? status : STATUS_ERROR;
}

/* A size: state is what it is; a derived one is only read over. */
static void take_size(Line *line, const Column *column, Row *row, CellState *state, Number *number)
{
    RefCell derived, *cell = column_cell(column, row);
    if (cell != NULL) {
        take_cell(line, cell, number);
        *state = cell->state;
        return;
    }
    ref_cell_init(&derived, REF_DIGITS_MOST);
    take_cell(line, &derived, number);
    *state = derived.state;
    ref_cell_clear(&derived);
}

/* Every column to the end of the line, in order. */
static bool take_columns(Line *line, Row *row, bool propagation)
{
    CellState states[COLUMN_MOST] = {CELL_ABSENT};
    Number numbers[COLUMN_MOST] = {{0}};
    const char *bounds = "";
    size_t length = 0;
    for (size_t i = 0; column_of_table(i, propagation) != NULL; i++) {
        switch (column_at(i)->kind) {
        case COLUMN_BOUNDS: bounds = take_text(line, &length); break;
        case COLUMN_SHARE: take_identical(line, row); break;
        case COLUMN_BITS: take_bits(line, &row->precision_bits); break;
        case COLUMN_DIFFERENCE_BITS: take_bits(line, &row->difference_bits); break;
        case COLUMN_STATUS: take_status(line, row); break;
        default: take_size(line, column_at(i), row, &states[i], &numbers[i]); break;
        }
    }
    if (!line->ok || !bounds_read(states, bounds, length)) {
        return false;
    }
    for (size_t i = 0; column_at(i) != NULL; i++) {
        bool is_size = column_is_size(column_at(i));
        RefCell *cell = is_size ? column_cell(column_at(i), row) : NULL;
        if (is_size && column_fault(column_at(i), &numbers[i], states[i] == CELL_BOUND) != NULL) {
            return false;
        }
        if (cell != NULL) {
            cell->state = states[i];
        }
        if (cell != NULL && cell->state == CELL_BOUND) {
            take_bound(cell);
        }
    }
    return true;
}

size_t table_read_row(Row *row, const char *text, size_t size, const char *key, size_t layer,
                      bool propagation)
{
    const char *newline = memchr(text, '\n', size);
    char layer_text[32];
    size_t layer_length = (size_t)snprintf(layer_text, sizeof layer_text, ",%zu", layer);
    size_t length = strlen(key);
    if (newline == NULL || strncmp(text, key, length) != 0 ||
        strncmp(text + length, layer_text, layer_length) != 0) {
        return 0;
    }
    Line line = {.next = text + length + layer_length, .end = newline, .ok = true};
    row->layer = layer;
    return take_columns(&line, row, propagation) && line.next == line.end
               ? (size_t)(line.end - text) + 1
               : 0;
}
