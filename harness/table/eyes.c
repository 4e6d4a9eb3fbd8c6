/*
 * The norm of a table for eyes, and the columns that there is room for.
 */
#include "eyes.h"

#include "bounds.h"

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
