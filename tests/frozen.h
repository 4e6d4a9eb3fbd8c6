/*
 * A model of heads with its attention patterns held fixed: each is a given matrix of rational
 * numbers, so that the whole is linear in the stream and exact.  The patterns are those that the
 * kernels compute; the values are the model's own numbers.
 */
#ifndef HEADPROOF_TESTS_FROZEN_H
#define HEADPROOF_TESTS_FROZEN_H

#include "../cases/model.h"
#include "rational.h"

#define FROZEN_HEADS 16
#define FROZEN_SUBLAYERS 4

/* Head h: X -> pattern[h] X value[h]; patterns [rows, rows], values [content, content] on the
 * content and hidden columns of the layout. */
typedef struct {
    size_t heads;
    Rat pattern[FROZEN_HEADS], value[FROZEN_HEADS];
} FrozenSublayer;

/* start: the stream that the patterns were found on, [rows, content].  end: what the kernel made
 * of it, in double. */
typedef struct {
    size_t sublayers;
    FrozenSublayer sublayer[FROZEN_SUBLAYERS];
    Rat start, end;
} Frozen;

/* model: of heads alone and without biases. */
Frozen frozen_make(const Model *model, const double *x, double omega);

/* x after all sublayers. */
Rat frozen_apply(const Frozen *frozen, Rat x);

#endif
