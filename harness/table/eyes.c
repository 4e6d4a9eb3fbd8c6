/*
 * The norm of a table for eyes, the columns that there is room for, and those of axes that vary.
 */
#include "eyes.h"

#include "columns.h"

#include <math.h>
#include <string.h>

/* Beyond this ratio of sizes of streams errors are compared relative to them. */
#define STREAM_RATIO 3 /* powers of ten */
/* Logarithms up to this size keep their first decimals, so that two can be subtracted. */
#define EXPONENT_SUBTRACTED 1e9

void stream_sizes_add(StreamSizes *sizes, double log10_error, double log10_relative)
{
    double size = log10_error - log10_relative;
    if (fabs(log10_error) < EXPONENT_SUBTRACTED && isfinite(size)) {
        stream_sizes_join(sizes, (StreamSizes){size, size});
    }
}

void stream_sizes_join(StreamSizes *sizes, StreamSizes other)
{
    sizes->least = fmin(sizes->least, other.least);
    sizes->most = fmax(sizes->most, other.most);
}

Norm stream_sizes_norm(StreamSizes sizes, bool many_layers)
{
    return many_layers && sizes.most - sizes.least > STREAM_RATIO ? NORM_REL : NORM_MAX;
}

const ErrorKind errors_by_use[ERROR_KINDS] = {ERROR_TOTAL,    ERROR_CONSTRUCTION,
                                              ERROR_NATIVE,   ERROR_ROUNDING,
                                              ERROR_OBSERVED, ERROR_APPROXIMATION};

/* Of the tables of laws. */
static const struct {
    const char *name;
    int rank;
} laws[] = {{"kind", RANK_KEPT}, {"axis", RANK_KEPT}, {"law", RANK_KEPT}, {"slope", RANK_KEPT},
            {"theory", 1},       {"constant", 2},     {"slope_error", 3}, {"from", 4},
            {"to", 4},           {"why", 5},          {"residual", 6},    {"seeds", 7}};

/* Of other commands than sweep, and of earlier versions: what another column says too, or how it
 * was found. */
static const char *const unseen[] = {
    "error_log10",       "logit_error_log10",  "judged_log2",      "error_below",
    "error_below_log10", "error_min",          "error_min_log10",  "seed_rule",
    "seed_scores",       "evaluations",        "best_error_log10", "floor_log10",
    "censored",          "evaluations_inside", "residual_max",     "other_residual",
    "seeds_below",       "seeds_above",        "end_slope",        "points",
    "theory_least",      "theory_most",        BOUNDS_COLUMN};

/* Two errors, the parts of those of --propagation, the other errors. */
static int sweep_rank(const Column *column, Norm norm)
{
    for (size_t part = 0; part < PROPAGATION_COUNT; part++) {
        if (column == column_of_part(part)) {
            return 1 + (int)part;
        }
    }
    for (int i = 0; i < ERROR_KINDS; i++) {
        if (column == column_of_error(errors_by_use[i], norm)) {
            return i < 2 ? RANK_KEPT : RANK_ERROR + i;
        }
    }
    return column->kind == COLUMN_STATUS ? RANK_KEPT : RANK_UNSEEN;
}

int column_rank(const char *name, Norm norm)
{
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        if (strcmp(name, laws[i].name) == 0) {
            return laws[i].rank;
        }
    }
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++) {
        if (strcmp(name, unseen[i]) == 0) {
            return RANK_UNSEEN;
        }
    }
    for (size_t i = 0; column_at(i) != NULL; i++) {
        if (strcmp(name, column_at(i)->name) == 0) {
            return sweep_rank(column_at(i), norm);
        }
    }
    return RANK_OTHER;
}

int columns_fit(SeenColumn *columns, size_t count, size_t line)
{
    size_t width = 0;
    int missing = RANK_UNSEEN;
    for (int rank = RANK_KEPT; rank < RANK_UNSEEN; rank++) {
        size_t own = 0;
        for (size_t i = 0; i < count; i++) {
            own += columns[i].rank == rank ? columns[i].width : 0;
        }
        bool fits = width + own <= line;
        bool takes = fits || rank == RANK_KEPT;
        for (size_t i = 0; i < count; i++) {
            columns[i].taken = columns[i].rank == rank ? takes : columns[i].taken;
        }
        width += takes ? own : 0;
        missing = !fits && missing == RANK_UNSEEN ? rank : missing;
    }
    return missing;
}

void folded_add(FILE *file, size_t *at, size_t line, const char *name, const char *value)
{
    size_t length = strlen(name) + 1 + strlen(value);
    if (*value == '\0') {
        return;
    }
    if (*at > 0) {
        bool fits = *at + 2 + length < line;
        fputs(fits ? ", " : ",\n", file);
        *at = fits ? *at + 2 : 0;
    }
    fprintf(file, "%s %s", name, value);
    *at += length;
}

/* ---- Axes ------------------------------------------------------------------------------------ */

static bool varies(const Grid *grid, const size_t *points, size_t count, Axis axis)
{
    const Point *first = NULL;
    bool two = false, chosen = false;
    for (size_t i = 0; i < count && !(two && chosen); i++) {
        const Point *point = &grid->points[points[i]];
        if (point_axis_matters(point, axis)) {
            first = first == NULL ? point : first;
            AxisValue value = point_get(point, axis), other = point_get(first, axis);
            two = two || value_compare(&value, &other) != 0;
            chosen = chosen || point_axis_differs(point, axis);
        }
    }
    return two && chosen;
}

static void add(AxisColumns *columns, const Grid *grid, const size_t *points, size_t count,
                Axis axis)
{
    size_t width = strlen(axis_info(axis)->name);
    for (size_t i = 0; i < count; i++) {
        char text[VALUE_TEXT];
        point_print_value(text, &grid->points[points[i]], axis);
        width = strlen(text) > width ? strlen(text) : width;
    }
    columns->axes[columns->count] = axis;
    columns->widths[columns->count] = width;
    columns->width += width + (columns->count > 0 ? 2 : 0);
    columns->count++;
}

void axis_columns_find(AxisColumns *columns, const Grid *grid, const size_t *points, size_t count,
                       bool together)
{
    *columns = (AxisColumns){0};
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        bool apart = !together || (axis != AXIS_SEED && axis != AXIS_INPUT);
        if (apart && varies(grid, points, count, axis)) {
            add(columns, grid, points, count, axis);
        }
    }
    const Point *first = count > 0 ? &grid->points[points[0]] : NULL;
    if (columns->count == 0 && first != NULL && point_axis_matters(first, AXIS_OMEGA)) {
        add(columns, grid, points, count, AXIS_OMEGA);
    }
}

int axis_columns_compare(const AxisColumns *columns, const Point *a, const Point *b)
{
    int order = 0;
    for (size_t i = 0; i < columns->count && order == 0; i++) {
        AxisValue left = point_get(a, columns->axes[i]), right = point_get(b, columns->axes[i]);
        order = value_compare(&left, &right);
    }
    return order;
}

/* "construction fused, omega 20", broken between axes. */
static void print_folded(FILE *file, const AxisColumns *columns, const Point *point, size_t line)
{
    size_t at = 0;
    for (size_t i = 0; i < columns->count; i++) {
        char text[VALUE_TEXT];
        point_print_value(text, point, columns->axes[i]);
        folded_add(file, &at, line, axis_info(columns->axes[i])->name, text);
    }
    putc('\n', file);
}

void axis_columns_print(FILE *file, const AxisColumns *columns, const Point *point, size_t least,
                        size_t line)
{
    size_t width = columns->folded ? 0 : columns->width;
    if (columns->folded && point != NULL) {
        print_folded(file, columns, point, line);
    }
    for (size_t i = 0; i < columns->count && !columns->folded; i++) {
        char text[VALUE_TEXT];
        bool words = axis_info(columns->axes[i])->domain.kind == DOMAIN_WORDS;
        int own = (int)columns->widths[i]; /* words to the left, numbers to the right */
        point_print_value(text, point, columns->axes[i]);
        fprintf(file, "%s%*s", i > 0 ? "  " : "", words ? -own : own, text);
    }
    fprintf(file, "%*s", width < least ? (int)(least - width) : 0, "");
}
