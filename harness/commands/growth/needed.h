/*
 * The Omega that a tolerance needs, as a formula of sizes: searches of min-omega on a grid.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_GROWTH_NEEDED_H
#define HEADPROOF_HARNESS_COMMANDS_GROWTH_NEEDED_H

#include "law.h"

/* Calls take for every term of
 *
 *     Omega = constant + b ln N + c ln D + d ln depth, or + d depth where that fits better,
 *
 * of the sizes that vary, by least squares over the searches in the first `rows` rows that share
 * all else: of the smallest Omega found (series.kind SEARCH_MIN), and of that which is proven for
 * every input (SEARCH_PROVEN).  Returns as series_each does. */
typedef int TakeTerm(void *context, const Series *series, const Law *law);
int needed_each(const PlotData *data, size_t rows, TakeTerm *take, void *context)
    __attribute__((warn_unused_result));

#endif
