/*
 * m(T)'s answers at a witness's tokens, as the file says or with one thing changed (private to
 * witness.c and witness_causes.c).
 *
 * Umbrella header: for witness_causes.c, too: why a model's own answers may be others than m(T)'s.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_WITNESS_ANSWERS_H
#define HEADPROOF_HARNESS_EVALUATE_WITNESS_ANSWERS_H

#include "../../kernels/kernel.h"
#include "../grid/grid.h"

/* T as one point reads it.  The file's weights may be changed while it is there. */
typedef struct {
    const ModelSource *source;
    CaseSpec spec; /* of T alone: nothing that T' would lose */
    size_t width;  /* numbers of an answer: classes, or d */
    size_t moved;  /* token i has the position i + moved, modulo the context */
} WitnessModel;

void witness_model_init(WitnessModel *model, const Point *point);

/* The witness's answers: [answers, width] of a window. */
const double *witness_said(const ModelFile *model, size_t window);

/* Where answers differ most: by how much, infinite where one is no number. */
typedef struct {
    double difference, here;
    size_t window, index; /* of [answers, width] */
    double most, lost;    /* the largest answer; what float loses of one at most, where asked */
    double allowed;       /* how far answers may be from the witness's, for witness_causes */
} WitnessWorst;

/* Windows, or layers, from `first` to before `end`. */
typedef struct {
    size_t first, end;
} Stretch;

/* *worst: over these windows, of m(T) in double.  false: a layer cannot be had. */
bool witness_compare(WitnessWorst *worst, const WitnessModel *model, Stretch windows, bool losses)
    __attribute__((warn_unused_result));

/* text [size]: what mends a difference at worst->window, or comes closest, or what cannot be tried.
 * The file's weights are changed and changed back.  false: a layer cannot be had. */
bool witness_causes(char *text, size_t size, const WitnessModel *model, const WitnessWorst *worst)
    __attribute__((warn_unused_result));

#endif
