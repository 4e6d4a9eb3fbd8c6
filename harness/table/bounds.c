/*
 * The column `bounds`: names of the cells of a row that are only upper bounds.
 */
#include <stdio.h>

#include "bounds.h"

#include "../grid/axes.h"

#include <string.h>

/* Cells that are no errors, by their columns' names; the first belong before the list. */
static const struct {
    const char *name;
    size_t offset;
} others[] = {
    {"rounding_ulp", offsetof(Row, rounding_ulp)},
    {"total_ulp", offsetof(Row, total_ulp)},
    {"construction_log10", offsetof(Row, construction_log10)},
    {"bias_row_max", offsetof(Row, errors.bias_row)},
    {"hidden_max", offsetof(Row, errors.hidden)},
    {"onehot_max", offsetof(Row, errors.onehot)},
    {"score_max", offsetof(Row, errors.score)},
};

enum { ERRORS = ERROR_KINDS * NORM_COUNT, CELLS = ERRORS + sizeof others / sizeof *others };

void error_name(char name[CELL_NAME], size_t kind, size_t norm)
{
    snprintf(name, CELL_NAME, "%s_%s", axis_info(AXIS_JUDGE)->domain.words[kind],
             axis_info(AXIS_NORM)->domain.words[norm]);
}

/* Where cell i < CELLS lies in a row, and its name. */
static size_t cell_offset(char name[CELL_NAME], size_t i)
{
    if (i < ERRORS) {
        error_name(name, i / NORM_COUNT, i % NORM_COUNT);
        return offsetof(Row, errors.error) + i * sizeof(RefCell);
    }
    snprintf(name, CELL_NAME, "%s", others[i - ERRORS].name);
    return others[i - ERRORS].offset;
}

void bounds_add(FILE *file, bool *first, const char *name)
{
    fprintf(file, "%s%s", *first ? "" : ";", name);
    *first = false;
}

int bounds_write(FILE *file, const Row *row)
{
    char name[CELL_NAME];
    bool first = true;
    for (size_t i = 0; i < CELLS; i++) {
        const RefCell *cell =
            (const void *)((const unsigned char *)(const void *)row + cell_offset(name, i));
        if (cell->state == CELL_BOUND) {
            bounds_add(file, &first, name);
        }
    }
    return ferror(file) ? -1 : 0;
}

bool bounds_read(Row *row, const char *text, size_t length)
{
    char name[CELL_NAME];
    const char *end = text + length;
    for (size_t i = 0; i < CELLS && text < end; i++) {
        RefCell *cell = (void *)((unsigned char *)(void *)row + cell_offset(name, i));
        size_t size = strlen(name), left = (size_t)(end - text);
        if (left < size || memcmp(text, name, size) != 0 || (left > size && text[size] != ';')) {
            continue;
        }
        if ((cell->state != CELL_VALUE && cell->state != CELL_NONFINITE) || left == size + 1) {
            return false;
        }
        cell->state = CELL_BOUND;
        text += left > size ? size + 1 : size;
    }
    return text == end;
}

bool bounds_has(const char *list, const char *name)
{
    size_t size = strlen(name);
    while (*list != '\0') {
        size_t length = strcspn(list, ";");
        if (length == size && memcmp(list, name, size) == 0) {
            return true;
        }
        list += length + (list[length] == ';');
    }
    return false;
}
