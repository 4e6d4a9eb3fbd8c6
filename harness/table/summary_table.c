/*
 * The short table after a sweep: lines by what varies, and figures as far as there is room.
 */
#include "summary.h"

#include "../../memory/need.h"
#include "../base/terminal.h"
#include "axis_columns.h"
#include "columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
 * for all, 0 longest. */
typedef struct {
    const char *name; /* over the first column of an error */
    int error, slot, kept;
    size_t layer, width;
} Figure;

/* Of the lines that have one depth; title: over its axes. */
typedef struct {
    const char *title;
    const AxisColumns *axes;
    const Line *lines;
    size_t count, depth;
    Figure figures[FIGURES];
    size_t figure_count, line_width;
} Shape;

static SummaryCell cell_of(const Figure *figure, const SummaryErrors *errors)
{
    return errors->of[figure->error][figure->slot];
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

static void add_figure(Shape *shape, Figure figure)
{
    bool any = false;
    for (size_t i = 0; i < shape->count; i++) {
        const Line *line = &shape->lines[i];
        if (line->point->spec.depth == shape->depth) {
            char text[CELL_WIDTH];
            SummaryCell cell = cell_of(&figure, &line->worst);
            write_power(text, cell);
            figure.width = strlen(text) > figure.width ? strlen(text) : figure.width;
            any = any || !isnan(cell.log10);
        }
    }
    /* Without arithmetic no line has some of them; one error stands there all the same. */
    if (any || errors_by_use[figure.error] == ERROR_CONSTRUCTION) {
        shape->figures[shape->figure_count++] = figure;
    }
}

/* How wide the figures from i on are that belong to one error; *end: the first of the next. */
static size_t group_width(const Shape *shape, size_t i, size_t *end)
{
    size_t width = 0;
    for (*end = i; *end == i || (*end < shape->figure_count && shape->figures[*end].name == NULL);
         ++*end) {
        width += 2 + shape->figures[*end].width;
    }
    return width;
}

/* Gives names room over their figures; returns the width of all. */
static size_t fit_names(Shape *shape)
{
    size_t width = 0;
    for (size_t i = 0, end; i < shape->figure_count; i = end) {
        size_t own = group_width(shape, i, &end), least = 2 + strlen(shape->figures[i].name);
        shape->figures[i].width += own < least ? least - own : 0;
        width += own < least ? least : own;
    }
    return width;
}

/* Takes away the figures that are kept least long; false: there are none but the last. */
static bool drop_figures(Shape *shape)
{
    int worst = 0;
    size_t kept = 0;
    for (size_t i = 0; i < shape->figure_count; i++) {
        worst = shape->figures[i].kept > worst ? shape->figures[i].kept : worst;
    }
    for (size_t i = 0; i < shape->figure_count; i++) {
        const Figure *figure = &shape->figures[i];
        if (worst == 0 || figure->kept != worst) {
            shape->figures[kept] = *figure;
            kept++;
        } else if (figure->name != NULL && i + 1 < shape->figure_count) {
            Figure *next = &shape->figures[i + 1];
            next->name = next->name == NULL ? figure->name : next->name;
        }
    }
    shape->figure_count = kept;
    return worst > 0;
}

static size_t axes_width(const Shape *shape)
{
    size_t own = shape->axes->width, least = strlen(shape->title);
    return shape->axes->folded ? 0 : own > least ? own : least;
}

static void choose_figures(Shape *shape)
{
    size_t layers[SUMMARY_LAYERS];
    int count = summary_layers(layers, shape->depth);
    for (int e = 0; e < SUMMARY_ERRORS; e++) {
        const char *name = axis_info(AXIS_JUDGE)->domain.words[errors_by_use[e]];
        for (int slot = e < 2 ? 0 : count - 1; slot < count; slot++) {
            bool last = slot == count - 1, first = slot == 0 || e == 2;
            int kept = e == 2 ? 2 : last ? e : slot == 0 ? 3 : 4;
            const Figure figure = {first ? name : NULL, e, slot, kept, layers[slot], 0};
            add_figure(shape, figure);
        }
    }
    while (axes_width(shape) + fit_names(shape) > shape->line_width && drop_figures(shape)) {
    }
}

static void print_header(FILE *file, const Shape *shape)
{
    fprintf(file, shape->axes->folded ? "%-*s\n" : "%-*s", (int)axes_width(shape), shape->title);
    for (size_t i = 0, end; i < shape->figure_count; i = end) {
        int width = (int)group_width(shape, i, &end) - 2;
        fprintf(file, "  %-*s", end < shape->figure_count ? width : 0, shape->figures[i].name);
    }
    putc('\n', file);
    axis_columns_print(file, shape->axes, NULL, axes_width(shape), shape->line_width);
    for (size_t i = 0; i < shape->figure_count; i++) {
        fprintf(file, "  %*zu", (int)shape->figures[i].width, shape->figures[i].layer);
    }
    putc('\n', file);
}

static void print_line(FILE *file, const Shape *shape, const Line *line)
{
    axis_columns_print(file, shape->axes, line->point, axes_width(shape), shape->line_width);
    for (size_t i = 0; i < shape->figure_count; i++) {
        char text[CELL_WIDTH];
        write_power(text, cell_of(&shape->figures[i], &line->worst));
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
    axis_columns_fit(&own, 2 * (2 + strlen("construction")), shape.line_width);
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
    const Point **taken = need_zeros(point_count + 1, sizeof *taken);
    Line *lines = need_zeros(point_count + 1, sizeof *lines);
    AxisColumns axes;
    StreamSizes sizes = stream_sizes_none();
    bool layers = false;
    for (size_t i = 0; i < point_count; i++) {
        taken[i] = &grid->points[points[i]];
        stream_sizes_join(&sizes, summaries[i].sizes);
        layers = layers || taken[i]->spec.depth > 1;
    }
    Norm norm = stream_sizes_norm(sizes, layers);
    for (size_t i = 0; i < point_count; i++) {
        const PointSummary *own = &summaries[i];
        lines[i] = (Line){&axes, taken[i], norm == NORM_REL ? own->relative : own->largest, i};
    }
    axis_columns_find(&axes, taken, point_count, true);
    print_depths(file, norm, lines, gather(lines, point_count));
    free(taken);
    free(lines);
}
