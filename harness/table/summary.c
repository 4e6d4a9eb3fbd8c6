/*
 * The short table after a sweep: a point's errors at a few layers collected, lines by what varies,
 * and figures as far as there is room.
 */
#include "summary.h"

#include "../../memory/need.h"
#include "../base/terminal.h"
#include "columns.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- A point's errors ----------------------------------------------------------------------- */

int summary_layers(size_t layers[SUMMARY_LAYERS], size_t depth)
{
    int count = 0;
    layers[count++] = 1;
    if (depth > 12) {
        layers[count++] = 12;
    }
    if (depth > 1) {
        layers[count++] = depth;
    }
    return count;
}

/* -INFINITY where it is zero. */
static SummaryCell cell_summary(const RefCell *cell)
{
    long exponent;
    double mantissa;
    switch (cell->state) {
    case CELL_ABSENT: return (SummaryCell){NAN, false};
    case CELL_ZERO: return (SummaryCell){-INFINITY, false};
    case CELL_NONFINITE: return (SummaryCell){INFINITY, false};
    default: break;
    }
    mantissa = mpfr_get_d_2exp(&exponent, cell->value, MPFR_RNDN);
    return (SummaryCell){log10(mantissa) + (double)exponent * log10(2.0),
                         cell->state == CELL_BOUND};
}

static void take_errors(SummaryErrors *taken, int slot, const RefErrors *errors, Norm norm)
{
    for (int e = 0; e < SUMMARY_ERRORS; e++) {
        taken->of[e][slot] = cell_summary(&errors->error[errors_by_use[e]][norm]);
    }
}

void summary_add(PointSummary *summary, const Point *point, const Row *row)
{
    size_t layers[SUMMARY_LAYERS];
    int count = summary_layers(layers, point->spec.depth);
    const RefErrors *errors = &row->errors;
    summary->sizes = row->layer == 1 ? STREAM_SIZES_NONE : summary->sizes;
    for (int slot = 0; slot < count; slot++) {
        if (row->layer == layers[slot]) {
            take_errors(&summary->largest, slot, errors, NORM_MAX);
            take_errors(&summary->relative, slot, errors, NORM_REL);
        }
    }
    for (ErrorKind kind = ERROR_CONSTRUCTION; kind <= ERROR_NATIVE; kind++) {
        stream_sizes_add(&summary->sizes, cell_summary(&errors->error[kind][NORM_MAX]).log10,
                         cell_summary(&errors->error[kind][NORM_REL]).log10);
    }
}

void print_certified(FILE *file, size_t bounds)
{
    fputs(", certified", file);
    if (bounds > 0) {
        fprintf(file, " but for %zu cell%s, which %s", bounds, bounds == 1 ? "" : "s",
                bounds == 1 ? "is a bound" : "are bounds");
    }
}

/* ---- Lines: the worst over points that are the same in what varies ------------------------- */

typedef struct {
    const AxisColumns *axes;
    const Point *point;
    SummaryErrors worst;
    size_t order; /* of its first point */
} Line;

static void worsen(SummaryCell *worst, SummaryCell other)
{
    bool first = isnan(worst->log10), equal = other.log10 == worst->log10;
    if (first || other.log10 > worst->log10 || (equal && other.bound)) {
        *worst = other;
    }
}

static int compare_places(const void *a, const void *b)
{
    const Line *left = a, *right = b;
    return (left->order > right->order) - (left->order < right->order);
}

static int compare_lines(const void *a, const void *b)
{
    const Line *left = a, *right = b;
    int order = axis_columns_compare(left->axes, left->point, right->point);
    return order != 0 ? order : compare_places(a, b);
}

/* Joins the lines that are the same, in the order of their first points.  How many are left. */
static size_t gather(Line *lines, size_t count)
{
    size_t kept = 0;
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        Line *last = kept > 0 ? &lines[kept - 1] : NULL;
        if (last == NULL || axis_columns_compare(last->axes, last->point, lines[i].point) != 0) {
            lines[kept++] = lines[i];
            continue;
        }
        for (int figure = 0; figure < SUMMARY_ERRORS * SUMMARY_LAYERS; figure++) {
            int e = figure / SUMMARY_LAYERS, slot = figure % SUMMARY_LAYERS;
            worsen(&last->worst.of[e][slot], lines[i].worst.of[e][slot]);
        }
    }
    qsort(lines, kept, sizeof *lines, compare_places);
    return kept;
}

/* ---- The table ----------------------------------------------------------------------------- */

enum { CELL_WIDTH = 32, FIGURES = 2 * SUMMARY_LAYERS + 1 };

/* A column of figures: an error after a layer.  kept: how long it is kept where there is no room
 * for all, 0 longest.  over: of the first of an error, the room of all of them, for its name. */
typedef struct {
    int error, slot, kept;
    size_t layer, width, over;
} Figure;

enum { KEPT_LEAST_LONG = 4 };

/* Of the lines that have one depth; title: over its axes. */
typedef struct {
    const char *title;
    const AxisColumns *axes;
    const Line *lines;
    size_t count, depth;
    Figure figures[FIGURES];
    size_t figure_count, line_width;
} Shape;

static const char *error_name(int error)
{
    return axis_info(AXIS_JUDGE)->domain.words[errors_by_use[error]];
}

/* "2.5e-14" from its logarithm, "<2.5e-14" of a bound; an exponent of any length. */
static void write_power(char text[CELL_WIDTH], SummaryCell cell)
{
    double log10_value = cell.log10;
    if (isnan(log10_value)) {
        snprintf(text, CELL_WIDTH, "-");
    } else if (isinf(log10_value)) {
        snprintf(text, CELL_WIDTH, log10_value < 0 ? "0" : "inf");
    } else {
        double exponent = floor(log10_value), mantissa = pow(10, log10_value - exponent);
        if (mantissa >= 9.95) {
            mantissa = 1;
            exponent += 1;
        }
        snprintf(text, CELL_WIDTH, "%s%.1fe%+03.0f", cell.bound ? "<" : "", mantissa, exponent);
    }
}

static void write_figure(char text[CELL_WIDTH], const Figure *figure, const Line *line)
{
    write_power(text, line->worst.of[figure->error][figure->slot]);
}

/* All figures that any line has, with their widths.  How many. */
static size_t find_figures(Figure figures[FIGURES], const Shape *shape)
{
    size_t layers[SUMMARY_LAYERS], found = 0;
    int count = summary_layers(layers, shape->depth);
    for (int e = 0; e < SUMMARY_ERRORS; e++) {
        for (int slot = e < 2 ? 0 : count - 1; slot < count; slot++) {
            int kept = e == 2 ? 2 : slot == count - 1 ? e : slot == 0 ? 3 : KEPT_LEAST_LONG;
            Figure figure = {.error = e, .slot = slot, .kept = kept, .layer = layers[slot]};
            /* Without arithmetic no line has some; one error stands there all the same. */
            bool any = errors_by_use[e] == ERROR_CONSTRUCTION;
            for (size_t i = 0; i < shape->count; i++) {
                const Line *line = &shape->lines[i];
                if (line->point->spec.depth == shape->depth) {
                    char text[CELL_WIDTH];
                    write_figure(text, &figure, line);
                    figure.width = strlen(text) > figure.width ? strlen(text) : figure.width;
                    any = any || !isnan(line->worst.of[e][slot].log10);
                }
            }
            if (any) {
                figures[found++] = figure;
            }
        }
    }
    return found;
}

static size_t axes_width(const Shape *shape)
{
    size_t own = shape->axes->width, least = strlen(shape->title);
    return shape->axes->folded ? 0 : own > least ? own : least;
}

/* Takes the figures that there is room for, with names over those of an error: as long as the line
 * is too wide, those go that are kept least long. */
static void choose_figures(Shape *shape)
{
    Figure all[FIGURES];
    size_t count = find_figures(all, shape), width = SIZE_MAX;
    for (int most = KEPT_LEAST_LONG; most >= 0 && width > shape->line_width; most--) {
        width = axes_width(shape);
        shape->figure_count = 0;
        for (size_t i = 0, next; i < count; i = next) {
            size_t first = shape->figure_count, own = 0;
            size_t least = 2 + strlen(error_name(all[i].error));
            for (next = i; next < count && all[next].error == all[i].error; next++) {
                if (all[next].kept <= most) {
                    shape->figures[shape->figure_count++] = all[next];
                    own += 2 + all[next].width;
                }
            }
            if (own > 0) {
                Figure *figure = &shape->figures[first];
                figure->over = own > least ? own : least;
                figure->width += figure->over - own;
                width += figure->over;
            }
        }
    }
}

static void print_header(FILE *file, const Shape *shape)
{
    size_t count = shape->figure_count;
    fprintf(file, shape->axes->folded ? "%-*s\n" : "%-*s", (int)axes_width(shape), shape->title);
    for (const Figure *figure = shape->figures; figure < shape->figures + count; figure++) {
        if (figure->over > 0) {
            bool last = figure->error == shape->figures[count - 1].error;
            fprintf(file, "  %-*s", last ? 0 : (int)figure->over - 2, error_name(figure->error));
        }
    }
    putc('\n', file);
    axis_columns_print(file, shape->axes, NULL, axes_width(shape), shape->line_width);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "  %*zu", (int)shape->figures[i].width, shape->figures[i].layer);
    }
    putc('\n', file);
}

static void print_line(FILE *file, const Shape *shape, const Line *line)
{
    axis_columns_print(file, shape->axes, line->point, axes_width(shape), shape->line_width);
    for (size_t i = 0; i < shape->figure_count; i++) {
        char text[CELL_WIDTH];
        write_figure(text, &shape->figures[i], line);
        fprintf(file, "  %*s", (int)shape->figures[i].width, text);
    }
    putc('\n', file);
}

/* The lines of one depth. */
static void print_depth(FILE *file, Shape shape)
{
    AxisColumns own = *shape.lines[0].axes;
    shape.axes = &own;
    shape.line_width = terminal_width(file);
    /* The least of the figures, where there is no more room: two errors after the last layer. */
    own.folded = own.width + 2 * (2 + strlen("construction")) > shape.line_width;
    choose_figures(&shape);
    print_header(file, &shape);
    bool eyes = fileno(file) >= 0 && isatty(fileno(file));
    size_t printed = 0, most = eyes ? ROWS_SEEN : shape.count;
    for (size_t l = 0; l < shape.count; l++) {
        if (shape.lines[l].point->spec.depth == shape.depth && printed++ < most) {
            print_line(file, &shape, &shape.lines[l]);
        }
    }
    if (printed > most) {
        fprintf(file, "and %zu more lines, whose rows the table has\n", printed - most);
    }
}

/* The lines [count], gathered, depth by depth. */
static void print_depths(FILE *file, Norm norm, const Line *lines, size_t count)
{
    const char *title = norm == NORM_REL ? "relative, at layer" : "largest at layer";
    for (size_t l = 0; l < count; l++) {
        size_t depth = lines[l].point->spec.depth, before = 0;
        while (before < l && lines[before].point->spec.depth != depth) {
            before++;
        }
        if (before == l) {
            print_depth(file,
                        (Shape){.title = title, .lines = lines, .count = count, .depth = depth});
        }
    }
}

void summary_table_print(FILE *file, const Grid *grid, const size_t *points, size_t point_count,
                         const PointSummary *summaries)
{
    Line *lines = need_zeros(point_count + 1, sizeof *lines);
    AxisColumns axes;
    StreamSizes sizes = STREAM_SIZES_NONE;
    bool layers = false;
    for (size_t i = 0; i < point_count; i++) {
        stream_sizes_join(&sizes, summaries[i].sizes);
        layers = layers || grid->points[points[i]].spec.depth > 1;
    }
    Norm norm = stream_sizes_norm(sizes, layers);
    for (size_t i = 0; i < point_count; i++) {
        const PointSummary *own = &summaries[i];
        lines[i] = (Line){&axes, &grid->points[points[i]],
                          norm == NORM_REL ? own->relative : own->largest, i};
    }
    axis_columns_find(&axes, grid, points, point_count, true);
    print_depths(file, norm, lines, gather(lines, point_count));
    free(lines);
}
