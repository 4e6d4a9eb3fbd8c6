/*
 * The short table after a sweep.
 */
#include "summary.h"

#include "../base/decimal.h"

#include <math.h>
#include <stdlib.h>

/* The layers shown of a stack: 1, 12 and the last, as far as they differ.  Returns how many. */
static int shown_layers(size_t layers[SUMMARY_LAYERS], size_t depth)
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

void summary_init(PointSummary *summary)
{
    for (int slot = 0; slot < SUMMARY_LAYERS; slot++) {
        summary->total[slot] = summary->construction[slot] = summary->native[slot] =
            (SummaryCell){NAN, false};
    }
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

void summary_add(PointSummary *summary, const Point *point, const Row *row)
{
    size_t layers[SUMMARY_LAYERS];
    int count = shown_layers(layers, point->spec.depth);
    for (int slot = 0; slot < count; slot++) {
        if (row->layer != layers[slot]) {
            continue;
        }
        const RefErrors *errors = &row->errors;
        summary->total[slot] = cell_summary(&errors->error[ERROR_TOTAL][NORM_MAX]);
        summary->native[slot] = cell_summary(&errors->error[ERROR_NATIVE][NORM_MAX]);
        summary->construction[slot] = cell_summary(&errors->error[ERROR_CONSTRUCTION][NORM_MAX]);
    }
}

/* A line of the table: the worst over the points that share construction, Omega and depth. */
typedef struct {
    const Point *point;
    PointSummary worst;
} Line;

static void worsen(SummaryCell worst[SUMMARY_LAYERS], const SummaryCell other[SUMMARY_LAYERS])
{
    for (int slot = 0; slot < SUMMARY_LAYERS; slot++) {
        bool first = isnan(worst[slot].log10), equal = other[slot].log10 == worst[slot].log10;
        if (first || other[slot].log10 > worst[slot].log10 || (equal && other[slot].bound)) {
            worst[slot] = other[slot];
        }
    }
}

static bool same_line(const Point *a, const Point *b)
{
    return a->spec.construction == b->spec.construction && a->omega == b->omega &&
           a->spec.depth == b->spec.depth && a->arithmetic == b->arithmetic;
}

static size_t gather(Line *lines, const Grid *grid, const size_t *points, size_t point_count,
                     const PointSummary *summaries)
{
    size_t count = 0;
    for (size_t i = 0; i < point_count; i++) {
        const Point *point = &grid->points[points[i]];
        size_t l = 0;
        while (l < count && !same_line(lines[l].point, point)) {
            l++;
        }
        if (l == count) {
            lines[count++] = (Line){point, summaries[i]};
            continue;
        }
        worsen(lines[l].worst.total, summaries[i].total);
        worsen(lines[l].worst.construction, summaries[i].construction);
        worsen(lines[l].worst.native, summaries[i].native);
    }
    return count;
}

/* "2.5e-14" from its logarithm, "<2.5e-14" of a bound, right-aligned; an exponent of any length. */
static void print_power(FILE *file, SummaryCell cell)
{
    char text[32];
    double log10_value = cell.log10;
    if (isnan(log10_value)) {
        snprintf(text, sizeof text, "-");
    } else if (isinf(log10_value)) {
        snprintf(text, sizeof text, log10_value < 0 ? "0" : "inf");
    } else {
        double exponent = floor(log10_value), mantissa = pow(10, log10_value - exponent);
        if (mantissa >= 9.95) {
            mantissa = 1;
            exponent += 1;
        }
        snprintf(text, sizeof text, "%s%.1fe%+03.0f", cell.bound ? "<" : "", mantissa, exponent);
    }
    fprintf(file, "  %9s", text);
}

static void print_line(FILE *file, const Line *line)
{
    char omega[DECIMAL_TEXT];
    size_t layers[SUMMARY_LAYERS];
    int count = shown_layers(layers, line->point->spec.depth);
    bool machine = line->point->arithmetic != ARITHMETIC_NONE;
    decimal_print(omega, line->point->omega);
    fprintf(file, "%-12s  %8s", construction_names[line->point->spec.construction], omega);
    for (int slot = 0; machine && slot < count; slot++) {
        print_power(file, line->worst.total[slot]);
    }
    for (int slot = 0; slot < count; slot++) {
        print_power(file, line->worst.construction[slot]);
    }
    if (machine) {
        print_power(file, line->worst.native[count - 1]);
    }
    fputc('\n', file);
}

/* One heading over the columns of each error, the layers below it. */
static void print_header(FILE *file, const Point *point)
{
    size_t layers[SUMMARY_LAYERS];
    int count = shown_layers(layers, point->spec.depth), width = 11 * count;
    bool machine = point->arithmetic != ARITHMETIC_NONE;
    const char *names[] = {"total", "construction"};
    fprintf(file, "%-12s  %8s", "largest", "");
    for (int kind = machine ? 0 : 1; kind < 2; kind++) {
        fprintf(file, "  %-*s", width - 2, names[kind]);
    }
    fprintf(file, machine ? "  native\n" : "\n");
    fprintf(file, "%-12s  %8s", "after layer", "omega");
    for (int kind = machine ? 0 : 1; kind < 2; kind++) {
        for (int slot = 0; slot < count; slot++) {
            fprintf(file, "  %9zu", layers[slot]);
        }
    }
    if (machine) {
        fprintf(file, "  %9zu", layers[count - 1]);
    }
    fputc('\n', file);
}

int summary_print(FILE *file, const Grid *grid, const size_t *points, size_t point_count,
                  const PointSummary *summaries)
{
    Line *lines = calloc(point_count + 1, sizeof *lines);
    if (lines == NULL) {
        return -1;
    }
    size_t count = gather(lines, grid, points, point_count, summaries);
    for (size_t l = 0; l < count; l++) {
        const Point *point = lines[l].point, *above = l > 0 ? lines[l - 1].point : NULL;
        if (above == NULL || above->spec.depth != point->spec.depth ||
            above->arithmetic != point->arithmetic) {
            print_header(file, point);
        }
        print_line(file, &lines[l]);
    }
    free(lines);
    return ferror(file) ? -1 : 0;
}

int print_certified(FILE *file, size_t bounds)
{
    if (bounds == 0) {
        return fputs(", certified", file);
    }
    return fprintf(file, ", certified but for %zu cell%s, which %s", bounds, bounds == 1 ? "" : "s",
                   bounds == 1 ? "is a bound" : "are bounds");
}
