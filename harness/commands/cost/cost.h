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

/* What is counted of all layers.  Multiply-adds and exponentials are of one pass over the rows as
 * each form of kernel makes it: products of matrices, and values of exp (or of GELU's function),
 * without what is of lower order (sums of a row, norms, biases, a factor's scale, the product
 * W_Q W_K^T of the dense form, made once a model). */
enum {
    COST_ATTENTION, /* weights and biases of an original's heads */
    COST_NETWORK,   /* of its direct operations; a converted model is made of the same numbers */
    COST_NORMS,     /* gammas and betas */
    COST_EMBEDDING, /* numbers that no construction touches, where they are counted */
    COST_FULL,      /* entries of heads' Q and V as full matrices, without a limit on a rank */
    COST_MULTIPLY_ADDS,                                    /* [KERNEL_COUNT] */
    COST_EXPONENTIALS = COST_MULTIPLY_ADDS + KERNEL_COUNT, /* [KERNEL_COUNT] */
    COST_COUNTS = COST_EXPONENTIALS + KERNEL_COUNT
};

/* sublayers [sublayer_count], external and internal heads: of one layer. */
typedef struct {
    size_t rows, width;
    size_t sublayer_count;
    SublayerCost sublayers[COST_SUBLAYERS_MOST];
    size_t external, internal;
    mpz_t counts[COST_COUNTS];
} ModelCost;

void model_cost_init(ModelCost *cost);
void model_cost_clear(ModelCost *cost);

/* Adds to *cost, which is as model_cost_init left it.  model: an outline will do; of one layer, or
 * of two that take turns for depth layers.  rank_limit: of one head's V; 0: none. */
void model_cost_count(ModelCost *cost, const Model *model, size_t depth, size_t rank_limit);

/* counts[of] += a * b * c * d */
void cost_add(ModelCost *cost, int of, size_t a, size_t b, size_t c, size_t d);

/* Adds a norm, or none where it is none. */
void model_cost_add_norm(ModelCost *cost, const LayerNorm *norm);

/* Seconds of one pass, the quickest of several. */
typedef struct {
    bool timed;
    double original, converted;
} CostTimes;

/* times: of each form of kernel. */
typedef struct {
    const Point *point;
    const char *preset;
    ModelCost original, converted;
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
