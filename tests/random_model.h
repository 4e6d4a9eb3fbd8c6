/*
 * Small random models of every kind that model_fault allows, biased towards corners; and a
 * place for models that a test writes down.
 */
#ifndef HEADPROOF_TESTS_RANDOM_MODEL_H
#define HEADPROOF_TESTS_RANDOM_MODEL_H

#include "../cases/model.h"

#include <stdint.h>

typedef enum {
    SCORES_NONE,
    SCORES_GATE_UNIT,
    SCORES_GATE,
    SCORES_BILINEAR,
    SCORES_FACTORED,
    SCORES_COUNT
} ScoreShape;

/* VALUES_GATE: one factor, the gate's own data. */
typedef enum {
    VALUES_NONE,
    VALUES_UNIT,
    VALUES_DENSE,
    VALUES_FACTORED,
    VALUES_GATE,
    VALUES_COUNT
} ValueShape;

#define RANDOM_BUNDLES 4
#define RANDOM_NUMBERS 131072
#define RANDOM_MARKS 131072

/* An owner of everything a model points to. */
typedef struct {
    uint64_t state;
    double number[RANDOM_NUMBERS];
    size_t numbers;
    signed char mark[RANDOM_MARKS];
    unsigned char listed[RANDOM_MARKS];
    size_t marks;
    bool turns; /* heads with factors may have rotary positions, whose tables are any numbers */
    Rotary rotary[RANDOM_BUNDLES];
    size_t rotaries;
    Bundle bundle[RANDOM_BUNDLES];
    Sublayer sublayer[RANDOM_BUNDLES];
    size_t layer_end[RANDOM_BUNDLES];
    Model model;
} RandomModel;

void random_start(RandomModel *random, uint64_t seed);

/* An integer below limit. */
size_t random_below(RandomModel *random, size_t limit);

/* count doubles: mostly in (-1, 1), some 0, some tiny, some up to 4. */
const double *random_numbers(RandomModel *random, size_t count);

/* The same times factor. */
const double *random_scaled(RandomModel *random, size_t count, double factor);

/* A bundle on random columns of the layout. */
Bundle random_bundle(RandomModel *random, const Layout *layout, ScoreShape score, ValueShape value,
                     size_t heads, bool causal);

/* Gives it any mask that fits, and, where there are position columns, sometimes extra
 * coefficients of Omega, of one head or of each; without them no position scores. */
void random_sight(RandomModel *random, const Layout *layout, Bundle *bundle);

/* What a model of one bundle a layer points to. */
typedef struct {
    Bundle bundle[3];
    Sublayer sublayer[3];
    size_t end[3];
} BundleStack;

/* The first depth bundles of the stack, a layer each. */
Model stack_model(BundleStack *stack, Layout layout, size_t depth);

/* Three layers of a bundle each, whose kinds go through all of them with `trial`, under any mask
 * that fits.  model_fault may refuse it. */
Model random_stack(RandomModel *random, BundleStack *stack, int trial);

#endif
