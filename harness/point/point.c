/*
 * Rows of results, names of statuses, and the command line that reproduces a point.
 */
#include "point.h"

#include "model_source.h"

#include "../base/decimal.h"
#include "../base/shown.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

double point_factor(const Point *point)
{
    return point->shrink > 0 ? point->shrink : 1;
}

double point_omega(const Point *point)
{
    return point->omega * point_factor(point);
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

/* The flags about its weights file that are no axes. */
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
    if (flags->witness_tolerance > 0) {
        char text[DECIMAL_TEXT];
        decimal_print(text, flags->witness_tolerance);
        fprintf(file, " --witness-tolerance %s", text);
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
    fputs(point->over_tau ? " --over tau" : "", file);
}

void point_print_command(FILE *file, const Point *point)
{
    fprintf(file, "headproof %s", point->omega == 0 || point->over_tau ? "min-omega" : "sweep");
    point_print_flags(file, point, NULL, NULL);
}

/* ---- Axes ------------------------------------------------------------------------------------ */

void point_print_value(char text[VALUE_TEXT], const Point *point, Axis axis)
{
    snprintf(text, VALUE_TEXT, "%s", point == NULL ? axis_info(axis)->name : "");
    if (point != NULL && point_axis_matters(point, axis)) {
        value_print(text, &axis_info(axis)->domain, point_get(point, axis));
    }
}

static_assert(AXIS_COUNT <= 64, "Point.asked has a bit for every axis");

/* The integer in the axis's field; 0 where it has none. */
static uint64_t read_integer(const Point *point, const AxisInfo *info)
{
    const char *field = (const char *)point + info->offset;
    uint8_t flag;
    uint32_t word;
    uint64_t size;
    switch (info->bytes) {
    case 0: return 0;
    case sizeof flag: memcpy(&flag, field, sizeof flag); return flag;
    case sizeof word: memcpy(&word, field, sizeof word); return word;
    case sizeof size: memcpy(&size, field, sizeof size); return size;
    default: abort();
    }
}

static void write_integer(Point *point, const AxisInfo *info, uint64_t size)
{
    char *field = (char *)point + info->offset;
    uint8_t flag = (uint8_t)size;
    uint32_t word = (uint32_t)size;
    switch (info->bytes) {
    case 0: break;
    case sizeof flag: memcpy(field, &flag, sizeof flag); break;
    case sizeof word: memcpy(field, &word, sizeof word); break;
    case sizeof size: memcpy(field, &size, sizeof size); break;
    default: abort();
    }
}

AxisValue point_get(const Point *point, Axis axis)
{
    const AxisInfo *info = axis_info(axis);
    if (info->get != NULL) {
        return info->get(point);
    }
    if (info->domain.kind == DOMAIN_POSITIVE) {
        double real;
        memcpy(&real, (const char *)point + info->offset, sizeof real);
        if (info->domain.word_count > 0 && !(real > 0)) {
            return (AxisValue){.form = FORM_WORD};
        }
        bool stands = info->zero > 0 && !(real > 0);
        return (AxisValue){.form = FORM_REAL, .real = stands ? info->zero : real};
    }
    uint64_t value = read_integer(point, info);
    bool word = info->domain.kind == DOMAIN_WORDS || (value == 0 && info->domain.word_count > 0);
    return (AxisValue){.form = word ? FORM_WORD : FORM_INTEGER, .integer = value};
}

void point_set(Point *point, Axis axis, AxisValue value)
{
    const AxisInfo *info = axis_info(axis);
    bool word = value.form == FORM_WORD && info->domain.kind != DOMAIN_WORDS;
    if (info->set != NULL) {
        info->set(point, value);
    } else if (info->domain.kind == DOMAIN_POSITIVE) {
        double real = word ? 0 : value.real;
        memcpy((char *)point + info->offset, &real, sizeof real);
    } else {
        uint64_t times = value.form == FORM_MULTIPLE ? point->spec.d : 1;
        write_integer(point, info, word ? 0 : value.integer * times);
    }
}

AxisValue point_default(const Point *point, Axis axis)
{
    const AxisInfo *info = axis_info(axis);
    AxisValue standard = info->standard;
    if (standard.form == FORM_MULTIPLE) {
        return (AxisValue){.form = FORM_INTEGER, .integer = standard.integer * point->spec.d};
    }
    return info->standard_of != NULL ? info->standard_of(point) : standard;
}

bool point_axis_matters(const Point *point, Axis axis)
{
    const AxisInfo *info = axis_info(axis);
    return info->matters == NULL || info->matters(point);
}

bool point_axis_differs(const Point *point, Axis axis)
{
    AxisValue value = point_get(point, axis), standard = point_default(point, axis);
    return point_axis_matters(point, axis) && value_compare(&value, &standard) != 0;
}

bool point_axis_tells(const Point *point, Axis axis)
{
    const AxisInfo *info = axis_info(axis);
    bool gated = axis == AXIS_GELU && point->source != NULL && point->source->file->gated;
    bool unknown = gated || (point->source != NULL && info->of_file);
    unknown = unknown ||
              (info->automatic && info->column == NULL && !(point->over_tau && axis == AXIS_TAU));
    return point_axis_differs(point, axis) || (unknown && point_axis_matters(point, axis));
}

void point_canonicalise(Point *point)
{
    CaseSpec *spec = &point->spec;
    BiasRowPosition automatic = spec->mask == MASK_CAUSAL ? POSITION_FIRST : POSITION_LAST;
    if (spec->rotary_dim == spec->d_head) {
        spec->rotary_dim = 0;
    }
    if (spec->bias_row == automatic) {
        spec->bias_row = POSITION_AUTO;
    }
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        AxisValue value = point_get(point, axis);
        const AxisInfo *info = axis_info(axis);
        if (info->automatic && value_compare(&value, &info->standard) == 0) {
            point_set(point, axis, point_default(point, axis));
        }
    }
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        /* An Omega that is searched is 0 in the point, and no default takes its place. */
        bool searched = axis == AXIS_OMEGA && point->omega == 0;
        if (!point_axis_matters(point, axis) && !searched) {
            point_set(point, axis, point_default(point, axis));
        }
    }
    const FormatInfo *stored =
        point->weights_rounded ? arithmetic_format(arithmetic_info(point->arithmetic)) : NULL;
    spec->stored_digits = stored != NULL ? stored->digits : 0;
    spec->stored_least_exponent = stored != NULL ? stored->least_exponent : 0;
    if (point->precision > point->max_bits) {
        /* A precision asked for by number is not capped. */
        point->max_bits = point->precision;
    }
}

int point_compare(const Point *a, const Point *b)
{
    int order = 0;
    for (Axis axis = 0; axis < AXIS_COUNT && order == 0; axis++) {
        AxisValue left = point_get(a, axis), right = point_get(b, axis);
        order = value_compare(&left, &right);
    }
    return order;
}

int point_compare_bases(const Point *a, const Point *b)
{
    uintptr_t left_given = (uintptr_t)a->spec.given, right_given = (uintptr_t)b->spec.given;
    int order = (left_given > right_given) - (left_given < right_given);
    order = order != 0 ? order : a->spec.stored_digits - b->spec.stored_digits;
    for (Axis axis = 0; axis < AXIS_COUNT && order == 0; axis++) {
        if (!axis_info(axis)->base_free) {
            AxisValue left = point_get(a, axis), right = point_get(b, axis);
            order = value_compare(&left, &right);
        }
    }
    return order;
}
