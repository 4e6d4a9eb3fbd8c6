/*
 * The table of a table's columns, and what a row holds in each.
 */
#include <stdio.h>

#include "columns.h"

#include "../point/axes.h"

#include <assert.h>
#include <string.h>

#define CELL(member) offsetof(Row, errors.member)
#define SCALAR(name, column, unit, meaning)                                                        \
    {                                                                                              \
        column, COLUMN_REFERENCE, UNIT_ABSOLUTE, CELL(scalar[SCALAR_##name]), NULL                 \
    }
#define PROPAGATION(name, column, kind, unit)                                                      \
    {                                                                                              \
        column, COLUMN_##kind, UNIT_##unit, CELL(propagation[PROPAGATION_##name]), NULL            \
    }
#define PART_LOG(kind, stem, name)                                                                 \
    {                                                                                              \
#stem "_log10", COLUMN_##kind, UNIT_LOG10, CELL(propagation[PROPAGATION_##name]), NULL     \
    }
#define ERROR(kind, norm) CELL(error[ERROR_##kind][NORM_##norm])

static const Column columns[] = {
    {"approximation_max", COLUMN_REFERENCE, UNIT_ABSOLUTE, ERROR(APPROXIMATION, MAX), NULL},
    {"approximation_rms", COLUMN_REFERENCE, UNIT_ABSOLUTE, ERROR(APPROXIMATION, RMS), NULL},
    {"approximation_rel", COLUMN_REFERENCE, UNIT_RELATIVE, ERROR(APPROXIMATION, REL), NULL},
    {"construction_max", COLUMN_REFERENCE, UNIT_ABSOLUTE, ERROR(CONSTRUCTION, MAX), NULL},
    {"construction_rms", COLUMN_REFERENCE, UNIT_ABSOLUTE, ERROR(CONSTRUCTION, RMS), NULL},
    {"construction_rel", COLUMN_REFERENCE, UNIT_RELATIVE, ERROR(CONSTRUCTION, REL), NULL},
    {"rounding_max", COLUMN_MACHINE, UNIT_ABSOLUTE, ERROR(ROUNDING, MAX), NULL},
    {"rounding_rms", COLUMN_MACHINE, UNIT_ABSOLUTE, ERROR(ROUNDING, RMS), NULL},
    {"rounding_rel", COLUMN_MACHINE, UNIT_RELATIVE, ERROR(ROUNDING, REL), NULL},
    {"native_max", COLUMN_MACHINE, UNIT_ABSOLUTE, ERROR(NATIVE, MAX), NULL},
    {"native_rms", COLUMN_MACHINE, UNIT_ABSOLUTE, ERROR(NATIVE, RMS), NULL},
    {"native_rel", COLUMN_MACHINE, UNIT_RELATIVE, ERROR(NATIVE, REL), NULL},
    {"total_max", COLUMN_MACHINE, UNIT_ABSOLUTE, ERROR(TOTAL, MAX), NULL},
    {"total_rms", COLUMN_MACHINE, UNIT_ABSOLUTE, ERROR(TOTAL, RMS), NULL},
    {"total_rel", COLUMN_MACHINE, UNIT_RELATIVE, ERROR(TOTAL, REL), NULL},
    {"observed_max", COLUMN_MACHINE, UNIT_ABSOLUTE, ERROR(OBSERVED, MAX), "native_max"},
    {"observed_rms", COLUMN_MACHINE, UNIT_ABSOLUTE, ERROR(OBSERVED, RMS), "native_rms"},
    {"observed_rel", COLUMN_MACHINE, UNIT_RELATIVE, ERROR(OBSERVED, REL), "native_rel"},
    {"rounding_ulp", COLUMN_MACHINE, UNIT_ULP, ERROR(ROUNDING, MAX), NULL},
    {"total_ulp", COLUMN_MACHINE, UNIT_ULP, ERROR(TOTAL, MAX), NULL},
    {"approximation_log10", COLUMN_REFERENCE, UNIT_LOG10, ERROR(APPROXIMATION, MAX), NULL},
    {"construction_log10", COLUMN_REFERENCE, UNIT_LOG10, ERROR(CONSTRUCTION, MAX), NULL},
    {"rounding_log10", COLUMN_MACHINE, UNIT_LOG10, ERROR(ROUNDING, MAX), NULL},
    {"native_log10", COLUMN_MACHINE, UNIT_LOG10, ERROR(NATIVE, MAX), NULL},
    {"total_log10", COLUMN_MACHINE, UNIT_LOG10, ERROR(TOTAL, MAX), NULL},
    {"observed_log10", COLUMN_MACHINE, UNIT_LOG10, ERROR(OBSERVED, MAX), "native_log10"},
    {BOUNDS_COLUMN, COLUMN_BOUNDS, 0, 0, NULL},
    {"identical", COLUMN_SHARE, 0, 0, NULL},
    REF_SCALARS(SCALAR),
    {"precision_bits", COLUMN_BITS, 0, 0, NULL},
    {"difference_bits", COLUMN_DIFFERENCE_BITS, 0, 0, NULL},
    {"status", COLUMN_STATUS, 0, 0, NULL},
    REF_PROPAGATION(PROPAGATION),
    PART_LOG(REFERENCE, construction_injected, CONSTRUCTION_INJECTED),
    PART_LOG(REFERENCE, construction_inherited, CONSTRUCTION_INHERITED),
    PART_LOG(MACHINE, rounding_injected, ROUNDING_INJECTED),
    PART_LOG(MACHINE, rounding_inherited, ROUNDING_INHERITED),
};

/* Of `guarantee`, by name alone: no Row holds them. */
static const Column proven[] = {
    {"tolerance", COLUMN_WORD, 0, 0, NULL},
    {"input_norm", COLUMN_REFERENCE, UNIT_ABSOLUTE, 0, NULL},
    {"rows", COLUMN_REFERENCE, UNIT_ABSOLUTE, 0, NULL},
    {"scores", COLUMN_REFERENCE, UNIT_ABSOLUTE, 0, NULL},
    {"bias_row", COLUMN_REFERENCE, UNIT_ABSOLUTE, 0, NULL},
    {"gain", COLUMN_REFERENCE, UNIT_RELATIVE, 0, NULL},
    {"leak", COLUMN_REFERENCE, UNIT_ABSOLUTE, 0, NULL},
    {"error", COLUMN_REFERENCE, UNIT_ABSOLUTE, 0, NULL},
    {"error_log10", COLUMN_REFERENCE, UNIT_LOG10, 0, NULL},
    {"logit_error", COLUMN_REFERENCE, UNIT_ABSOLUTE, 0, NULL},
    {"logit_error_log10", COLUMN_REFERENCE, UNIT_LOG10, 0, NULL},
    {"tau_error", COLUMN_REFERENCE, UNIT_ABSOLUTE, 0, NULL},
    {"logit_tau_error", COLUMN_REFERENCE, UNIT_ABSOLUTE, 0, NULL},
    {"from_sublayer", COLUMN_WORD, 0, 0, NULL},
    {"from_term", COLUMN_WORD, 0, 0, NULL},
    {"zero_leak_omega", COLUMN_WORD, 0, 0, NULL},
};

/* LAST: of --propagation, its cells and the logarithms of errors among them. */
enum {
    COUNT = sizeof columns / sizeof *columns,
    LAST = PROPAGATION_COUNT + 4,
    PROVEN = sizeof proven / sizeof *proven
};

static_assert(sizeof columns <= COLUMN_MOST * sizeof *columns, "lists have room");

const Column *column_at(size_t i)
{
    return i < COUNT ? &columns[i] : NULL;
}

size_t column_count(bool propagation)
{
    return COUNT - (propagation ? 0 : LAST);
}

const char *column_key(size_t i)
{
    enum { OPTIONS = AXIS_SEED + 1, LAYER };
    return i < OPTIONS    ? axis_info((Axis)i)->column
           : i == OPTIONS ? OPTIONS_COLUMN
           : i == LAYER   ? LAYER_COLUMN
                          : NULL;
}

const Column *column_find(const char *name)
{
    for (size_t i = 0; i < COUNT + PROVEN; i++) {
        const Column *column = i < COUNT ? &columns[i] : &proven[i - COUNT];
        if (strcmp(column->name, name) == 0) {
            return column;
        }
    }
    return NULL;
}

ColumnKind column_kind(const char *name)
{
    const Column *column = column_find(name);
    for (size_t i = 0; column == NULL && column_key(i) != NULL; i++) {
        if (strcmp(column_key(i), name) == 0) {
            return COLUMN_KEY;
        }
    }
    return column != NULL ? column->kind : COLUMN_UNKNOWN;
}

Axis column_axis(const char *name)
{
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const AxisInfo *info = axis_info(axis);
        if (strcmp(name, info->column != NULL ? info->column : info->name) == 0) {
            return axis;
        }
    }
    return AXIS_COUNT;
}

bool column_names_row(const char *name)
{
    return column_kind(name) == COLUMN_KEY || column_axis(name) < AXIS_COUNT ||
           strcmp(name, "model") == 0 || strcmp(name, "preset") == 0;
}

bool column_holds_text(const char *name)
{
    static const char *const words[] = {OPTIONS_COLUMN, BOUNDS_COLUMN, "status",   "model",
                                        "preset",       "tokens",      "kind",     "source",
                                        "law",          "axis",        "why",      "theory",
                                        "unfinished",   "positions",   "from_term"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(name, words[i]) == 0) {
            return true;
        }
    }
    Axis axis = column_axis(name);
    return axis < AXIS_COUNT && axis_info(axis)->domain.kind == DOMAIN_WORDS;
}

const char *column_name(ColumnKind kind)
{
    const Column *column = columns;
    while (column->kind != kind) { /* every kind of them has one */
        column++;
    }
    return column->name;
}

/* The column of the size at that place in a row, as it was measured, or of its logarithm. */
static const Column *column_of_cell(size_t cell, bool log10)
{
    const Column *column = columns;
    while (column->cell != cell || (column->unit == UNIT_LOG10) != log10) {
        column++; /* derived columns stand behind their errors */
    }
    return column;
}

static size_t error_cell(ErrorKind kind, Norm norm)
{
    return offsetof(Row, errors.error) + (kind * (size_t)NORM_COUNT + norm) * sizeof(RefCell);
}

const Column *column_of_error(ErrorKind kind, Norm norm)
{
    return column_of_cell(error_cell(kind, norm), false);
}

const Column *column_of_part(size_t part)
{
    return column_of_cell(offsetof(Row, errors.propagation) + part * sizeof(RefCell), false);
}

const Column *column_of_log(ErrorKind kind)
{
    return column_of_cell(error_cell(kind, NORM_MAX), true);
}

bool column_is_size(const Column *column)
{
    return column->kind == COLUMN_REFERENCE || column->kind == COLUMN_MACHINE;
}

/* cell = max / ulp(size), the ulp of the arithmetic's format. */
static void cell_in_ulps(RefCell *cell, const RefCell *max, mpfr_srcptr size,
                         const FormatInfo *format)
{
    cell->state = CELL_ABSENT;
    if (max->state == CELL_ABSENT || !mpfr_regular_p(size)) {
        return;
    }
    mpfr_exp_t ulp = mpfr_get_exp(size) - format->digits;
    if (ulp < format->least_exponent - format->digits) {
        ulp = format->least_exponent - format->digits;
    }
    ref_cell_scale(cell, max, -(long)ulp);
}

void column_value(RefCell *cell, const Column *column, const Point *point, const Row *row)
{
    const RefCell *measured =
        (const void *)((const unsigned char *)(const void *)row + column->cell);
    switch (column->unit) {
    case UNIT_ABSOLUTE:
    case UNIT_RELATIVE: ref_cell_set(cell, measured); break;
    case UNIT_ULP:
        cell->state = CELL_ABSENT;
        if (point->arithmetic != ARITHMETIC_NONE) {
            cell_in_ulps(cell, measured, row->errors.max_original,
                         arithmetic_format(arithmetic_info(point->arithmetic)));
        }
        break;
    case UNIT_LOG10: ref_cell_log10(cell, measured); break;
    }
}

/* ---- The column `bounds` --------------------------------------------------------------------- */

void bounds_take(BoundsList *list, const char *name, CellState state)
{
    if (state == CELL_BOUND) {
        fprintf(list->file, "%s%s", list->any ? ";" : "", name);
        list->any = true;
    }
}

size_t bounds_write(FILE *file, const Point *point, const Row *row)
{
    RefCell size;
    BoundsList list = {file, false};
    size_t count = 0;
    ref_cell_init(&size, point_digits(point));
    for (size_t i = 0; column_at(i) != NULL; i++) {
        const Column *column = column_at(i);
        if (!column_is_size(column)) {
            continue;
        }
        column_value(&size, column, point, row);
        count += size.state == CELL_BOUND;
        if (file != NULL) {
            bounds_take(&list, column->name, size.state);
        }
    }
    ref_cell_clear(&size);
    return count;
}

bool bounds_has(const char *list, const char *name)
{
    size_t size = strlen(name), length = strcspn(list, ";,\n");
    while (length != size || memcmp(list, name, size) != 0) {
        if (list[length] != ';') {
            return false;
        }
        list += length + 1;
        length = strcspn(list, ";,\n");
    }
    return true;
}
