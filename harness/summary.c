#include "summary.h"

#include "decimal.h"

#include <math.h>
#include <stdlib.h>

/* The layers shown of a stack this deep: 1, 12 and the last, as far as they differ. */
static size_t shown_layer(size_t depth, int slot)
{
    const size_t layers[SUMMARY_LAYERS] = {1, depth > 12 ? 12 : 0, depth > 1 ? depth : 0};
    return layers[slot];
}

void summary_init(PointSummary *summary)
{
    for (int slot = 0; slot < SUMMARY_LAYERS; slot++) {
        summary->log10_total[slot] = NAN;
        summary->log10_construction[slot] = NAN;
        summary->log10_native[slot] = NAN;
    }
}

/* log10 of a cell, NAN where it is absent, -INFINITY where it is zero. */
static double cell_log10(const RefCell *cell)
{
    long exponent;
    if (cell->state == CELL_ABSENT) {
        return NAN;
    }
    if (cell->state == CELL_ZERO) {
        return -INFINITY;
    }
    double mantissa = mpfr_get_d_2exp(&exponent, cell->value, MPFR_RNDN);
    return cell->state == CELL_NONFINITE ? INFINITY
                                         : log10(mantissa) + (double)exponent * log10(2.0);
}

void summary_add(PointSummary *summary, const Point *point, const Row *row)
{
    for (int slot = 0; slot < SUMMARY_LAYERS; slot++) {
        if (row->layer != shown_layer(point->spec.depth, slot)) {
            continue;
        }
        const RefErrors *errors = &row->errors;
        summary->log10_total[slot] = cell_log10(&errors->error[ERROR_TOTAL][NORM_MAX]);
        summary->log10_native[slot] = cell_log10(&errors->error[ERROR_NATIVE][NORM_MAX]);
        summary->log10_construction[slot] =
            cell_log10(&errors->error[ERROR_CONSTRUCTION][NORM_MAX]);
    }
}

/* A line of the table: the worst over the points that share construction, Omega and depth. */
typedef struct {
    const Point *point;
    PointSummary worst;
} Line;

static void worsen(double worst[SUMMARY_LAYERS], const double other[SUMMARY_LAYERS])
{
    for (int slot = 0; slot < SUMMARY_LAYERS; slot++) {
        worst[slot] = fmax(worst[slot], other[slot]); /* fmax passes over an absent value */
    }
}

static bool same_line(const Point *a, const Point *b)
{
    return a->spec.construction == b->spec.construction && a->omega == b->omega &&
           a->spec.depth == b->spec.depth && a->arithmetic == b->arithmetic;
}

static size_t gather(Line *lines, const Grid *grid, const PointSummary *summaries)
{
    size_t count = 0;
    for (size_t i = 0; i < grid->count; i++) {
        size_t l = 0;
        while (l < count && !same_line(lines[l].point, &grid->points[i])) {
            l++;
        }
        if (l == count) {
            lines[count++] = (Line){&grid->points[i], summaries[i]};
            continue;
        }
        worsen(lines[l].worst.log10_total, summaries[i].log10_total);
        worsen(lines[l].worst.log10_construction, summaries[i].log10_construction);
        worsen(lines[l].worst.log10_native, summaries[i].log10_native);
    }
    return count;
}

/* "2.5e-14" from its logarithm, right-aligned; an exponent of any length. */
static void print_power(FILE *file, double log10_value)
{
    char text[32];
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
        snprintf(text, sizeof text, "%.1fe%+03.0f", mantissa, exponent);
    }
    fprintf(file, "  %9s", text);
}

static void print_line(FILE *file, const Line *line)
{
    char omega[DECIMAL_TEXT];
    decimal_print(omega, line->point->omega);
    fprintf(file, "%-12s  %8s", construction_info(line->point->spec.construction)->name, omega);
    for (int slot = 0; slot < SUMMARY_LAYERS; slot++) {
        bool reference_only = line->point->arithmetic == ARITHMETIC_NONE;
        print_power(file, reference_only ? NAN : line->worst.log10_total[slot]);
    }
    for (int slot = 0; slot < SUMMARY_LAYERS; slot++) {
        print_power(file, line->worst.log10_construction[slot]);
    }
    int last = isnan(line->worst.log10_native[2]) ? 0 : 2;
    print_power(file, line->worst.log10_native[last]);
    fputc('\n', file);
}

static void print_header(FILE *file, size_t depth)
{
    char last[32], label[SUMMARY_LAYERS][32];
    fprintf(file, "%-12s  %8s  %-31s  %-31s  %9s\n", "largest", "", "total error after layer",
            "construction error after layer", "native");
    snprintf(last, sizeof last, "%zu", depth);
    for (int slot = 0; slot < SUMMARY_LAYERS; slot++) {
        size_t layer = shown_layer(depth, slot);
        snprintf(label[slot], sizeof label[slot], layer > 0 ? "%zu" : "-", layer);
    }
    fprintf(file, "%-12s  %8s", "construction", "omega");
    for (int column = 0; column < 2 * SUMMARY_LAYERS; column++) {
        fprintf(file, "  %9s", label[column % SUMMARY_LAYERS]);
    }
    fprintf(file, "  %9s\n", last);
}

int summary_print(FILE *file, const Grid *grid, const PointSummary *summaries)
{
    Line *lines = calloc(grid->count + 1, sizeof *lines);
    if (lines == NULL) {
        return -1;
    }
    size_t count = gather(lines, grid, summaries), depth = 0;
    for (size_t l = 0; l < count; l++) {
        if (lines[l].point->spec.depth != depth) {
            depth = lines[l].point->spec.depth;
            print_header(file, depth);
        }
        print_line(file, &lines[l]);
    }
    free(lines);
    return ferror(file) ? -1 : 0;
}
