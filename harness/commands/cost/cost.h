/*
 * The cost of one point, before and after the rewrite, and how it is written (docs/convert.md).
 *
 * Umbrella header: for count.c, what a model costs; measure.c, how long a pass takes; row.c, the
 * table's row.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_COST_COST_H
#define HEADPROOF_HARNESS_COMMANDS_COST_COST_H

#include "../../../kernels/kernel.h"
#include "../../grid/grid.h"

#include <gmp.h>
#include <stdio.h>

/* The most that a layer of any construction has, norms by themselves not counted. */
#define COST_SUBLAYERS_MOST 4

/* One sublayer of heads.  heads: after values of a rank above the limit are split over several
 * heads of one pattern.  score_rank, value_rank: the largest of a head's Q and, before that, V,
 * for weights in general position.  external: scores compare contents, so that the heads move
 * information between tokens; the others (internal) are those that stand for something else. */
typedef struct {
    size_t heads, score_rank, value_rank;
    bool external;
} SublayerCost;

/* sublayers [sublayer_count], external and internal heads: of one layer.  Of all layers:
 * attention, network: weights and biases of an original's heads and of its direct operations (a
 *   converted model is made of the same numbers);
 * norms: gammas and betas;
 * full: entries of all heads' Q and V as full matrices, which have no limit on a rank;
 * multiply_adds, exponentials: of one pass over the rows as each form of kernel makes it:
 *   products of matrices, and values of exp (or of GELU's function), without what is of lower
 *   order (sums of a row, norms, biases, a factor's scale, the product W_Q W_K^T of the dense form,
 *   made once a model). */
typedef struct {
    size_t rows, width;
    size_t sublayer_count;
    SublayerCost sublayers[COST_SUBLAYERS_MOST];
    size_t external, internal;
    mpz_t attention, network, norms, full;
    mpz_t multiply_adds[KERNEL_COUNT], exponentials[KERNEL_COUNT];
} ModelCost;

void model_cost_init(ModelCost *cost);
void model_cost_clear(ModelCost *cost);

/* Adds to *cost, which is as model_cost_init left it.  model: an outline will do; of one layer, or
 * of two that take turns for depth layers.  rank_limit: of one head's V; 0: none. */
void model_cost_count(ModelCost *cost, const Model *model, size_t depth, size_t rank_limit);

/* sum += times * a * b * c * d */
void cost_add(mpz_t sum, size_t times, size_t a, size_t b, size_t c, size_t d);

/* Adds a norm that is there so often, or that is none. */
void model_cost_add_norm(ModelCost *cost, const LayerNorm *norm, size_t times);

/* Seconds of one pass, the quickest of several. */
typedef struct {
    bool timed;
    double original, converted;
} CostTimes;

/* embedding: numbers that no construction touches.  times: of each form of kernel. */
typedef struct {
    const Point *point;
    const char *preset;
    ModelCost original, converted;
    mpz_t embedding;
    bool measured;
    CostTimes times[KERNEL_COUNT];
} Cost;

/* Times each form that can be timed here: *times; why the other forms cannot is said on stderr.  2
 * after that when it is none of them, 99 after a message when memory is short. */
int cost_measure(Cost *cost) __attribute__((warn_unused_result));

/* The names of the columns, and the row of a Cost. */
void cost_write_header(FILE *file, const RunOptions *run);
void cost_write_row(FILE *file, const void *row);

#endif
