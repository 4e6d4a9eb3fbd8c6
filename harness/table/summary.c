/*
 * What the short table after a sweep is made of.
 */
#include "summary.h"

#include <math.h>

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
    int count = summary_layers(layers, point->spec.depth);
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

int print_certified(FILE *file, size_t bounds)
{
    if (bounds == 0) {
        return fputs(", certified", file);
    }
    return fprintf(file, ", certified but for %zu cell%s, which %s", bounds, bounds == 1 ? "" : "s",
                   bounds == 1 ? "is a bound" : "are bounds");
}
