/*
 * Rows of results, names of statuses, and the command line that reproduces a point.
 */
#include "point.h"

#include "model_source.h"
#include "point_axes.h"
#include "../base/shown.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

double point_omega(const Point *point)
{
    return point->shrink > 0 ? point->omega * point->shrink : point->omega;
}

bool point_has_difference(const Point *point)
{
    return point->reference == REFERENCE_DIFFERENCE;
}

bool point_has_reference(const Point *point)
{
    return point->reference != REFERENCE_NONE;
}

bool point_judges_rows(const Point *point)
{
    return point->judged && point->judge_of == JUDGE_STREAMS;
}

int point_digits(const Point *point)
{
    return point->digits > 0 ? point->digits : REF_DIGITS;
}

void row_init(Row *row, const Point *point)
{
    *row = (Row){.status = STATUS_OK};
    ref_errors_init(&row->errors);
    ref_errors_set_digits(&row->errors, point_digits(point));
}

void row_clear(Row *row)
{
    ref_errors_clear(&row->errors);
}

static void cell_visit(RefArchive *archive, RefCell *cell)
{
    cell->state = ref_archive_choice(archive, cell->state, CELL_NONFINITE + 1);
    cell->error = ref_archive_exponent(archive, cell->error);
    ref_archive_doubles(archive, &cell->lacking, 1, 0, INFINITY);
    ref_archive_number(archive, cell->value);
}

void row_visit(RefArchive *archive, Row *row)
{
    RefErrors *errors = &row->errors;
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        for (int norm = 0; norm < NORM_COUNT; norm++) {
            cell_visit(archive, &errors->error[kind][norm]);
        }
    }
    for (int i = 0; i < SCALAR_COUNT; i++) {
        cell_visit(archive, &errors->scalar[i]);
    }
    ref_archive_number(archive, errors->max_original);
    errors->contradiction = ref_archive_flag(archive, errors->contradiction);
    errors->left_range = ref_archive_flag(archive, errors->left_range);
    row->layer = ref_archive_count(archive, row->layer, SIZE_MAX);
    row->has_identical = ref_archive_flag(archive, row->has_identical);
    ref_archive_doubles(archive, &row->identical, 1, 0, 1);
    row->precision_bits = (long)ref_archive_count(archive, (size_t)row->precision_bits, LONG_MAX);
    row->difference_bits = (long)ref_archive_count(archive, (size_t)row->difference_bits, LONG_MAX);
    row->status = ref_archive_choice(archive, row->status, STATUS_OK + 1);
}

void row_visit_propagation(RefArchive *archive, Row *row)
{
    for (int i = 0; i < PROPAGATION_COUNT; i++) {
        cell_visit(archive, &row->errors.propagation[i]);
    }
}

const char *status_name(Status status)
{
    static const char *const names[] = {
        [STATUS_ERROR] = "error",     [STATUS_OVERFLOW] = "overflow",     [STATUS_FAIL] = "fail",
        [STATUS_VACUOUS] = "vacuous", [STATUS_UNRESOLVED] = "unresolved", [STATUS_OK] = "ok",
    };
    return names[status];
}

static bool axis_is_said(const Point *point, Axis axis)
{
    bool said = axis_info(axis)->always_said ? point_axis_matters(point, axis)
                                             : point_axis_differs(point, axis);
    return said || (point->source != NULL && model_source_lacks(point->source, axis));
}

/* What was said of its weights file that no axis has. */
static void print_model_flags(FILE *file, const ModelFileFlags *flags)
{
    const char *const said[][2] = {{"ignore-config", flags->ignored},
                                   {"position-embedding", flags->positions},
                                   {"blocks", flags->blocks},
                                   {"witness", flags->witness}};
    fputs(flags->ignore_extra ? " --ignore-extra" : "", file);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (said[i][1] != NULL) {
            fprintf(file, " --%s ", said[i][0]);
            shown_write(file, SHOWN_SHELL, said[i][1]);
        }
    }
}

void point_print_flags(FILE *file, const Point *point, bool taken(Axis axis), const char *seeds)
{
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (axis_is_said(point, axis) && (taken == NULL || taken(axis))) {
            char value[VALUE_TEXT];
            bool listed = axis == AXIS_SEED && seeds != NULL;
            value_print(value, &axis_info(axis)->domain, point_get(point, axis));
            fprintf(file, " --%s ", axis_info(axis)->name);
            shown_write(file, SHOWN_SHELL, listed ? seeds : value);
        }
    }
    if (point->digits > 0 && point->digits != REF_DIGITS) {
        fprintf(file, " --digits %d", point->digits);
    }
    if (point->source != NULL) {
        print_model_flags(file, &point->source->flags);
    }
    if (point->propagation) {
        fputs(" --propagation", file);
    }
    if (point->certify) {
        fputs(" --certify", file);
    }
}

void point_print_command(FILE *file, const Point *point)
{
    fprintf(file, "headproof %s", point->omega == 0 ? "min-omega" : "sweep");
    point_print_flags(file, point, NULL, NULL);
}
