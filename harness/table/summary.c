/*
 * The lines of the short table after a sweep, collected.
 */
#include "summary.h"

#include "columns.h"

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
    const SummaryCell absent = {NAN, false};
    for (int e = 0; e < SUMMARY_ERRORS; e++) {
        for (int slot = 0; slot < SUMMARY_LAYERS; slot++) {
            summary->largest.of[e][slot] = summary->relative.of[e][slot] = absent;
        }
    }
    summary->sizes = STREAM_SIZES_NONE;
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
