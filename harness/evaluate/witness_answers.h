/*
 * m(T)'s answers at a witness's tokens, as the file says or with something changed (private to
 * witness*.c).
 *
 * Umbrella header: for witness_readings.c, too: which other readings of a model answer what its
 * witness does.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_WITNESS_ANSWERS_H
#define HEADPROOF_HARNESS_EVALUATE_WITNESS_ANSWERS_H

#include "../../kernels/kernel.h"
#include "../grid/grid.h"

/* One reading of a model.  The file's weights may be changed while it is there. */
typedef struct {
    Point point;      /* of T alone: nothing that T' would lose */
    size_t width;     /* numbers of an answer: classes, or d */
    size_t moved;     /* token i has the position i + moved, modulo the context */
    double tolerance; /* --witness-tolerance; 0: what rounding explains */
} WitnessModel;

void witness_model_init(WitnessModel *model, const Point *point, const RunOptions *run);

/* The witness's answers: [answers, width] of a window. */
const double *witness_said(const ModelFile *model, size_t window);

/* Where answers differ most: by how much, infinite where one is no number. */
typedef struct {
    double difference, here;
    size_t window, index; /* of [answers, width] */
    double most, lost;    /* the largest answer; what the witness's format loses of one at most */
    double allowed;       /* how far answers may be from the witness's */
} WitnessWorst;

/* Compares all windows, `first` first, with m(T) in double; unless they are all wanted, up to one
 * where the answers are far beyond what is allowed.  false: a layer cannot be had. */
bool witness_compare(WitnessWorst *worst, const WitnessModel *model, size_t first, bool all)
    __attribute__((warn_unused_result));

enum { WITNESS_TEXT = 800 };

/* Of answers that differ as *worst says.  text [WITNESS_TEXT]: what mends it, or comes closest, or
 * what cannot be tried.  The file's weights are changed and changed back, as below.  false: a layer
 * cannot be had. */
bool witness_causes(char *text, const WitnessModel *model, const WitnessWorst *worst)
    __attribute__((warn_unused_result));

/* Gives a reading a value of an axis; where it is the number of heads, splits the file's weights
 * otherwise, all of which are there. */
void witness_set(WitnessModel *model, Axis axis, AxisValue value);

/* Of answers that agree; heads: their number may be changed.  text [WITNESS_TEXT]: the readings
 * that the witness does not tell from the file's, "heads 4 from 2, mask causal from none"; "": it
 * tells them all.  *assumed: one of them is what the programs of the family alone say. */
bool witness_untold(char *text, bool *assumed, const WitnessModel *model, bool heads)
    __attribute__((warn_unused_result));

/* How many readings differ in the open axes (bit a: axis a); text [WITNESS_TEXT]: those axes. */
double witness_count(char *text, const WitnessModel *model, uint64_t open);

/* Those readings, tried together. */
typedef struct {
    size_t count;                 /* of those that agree */
    AxisValue chosen[AXIS_COUNT]; /* of the first of them */
    char fitting[WITNESS_TEXT],
        closest[WITNESS_TEXT]; /* in words: those, or the one that comes closest */
    double least, allowed;     /* how close the closest comes, and what it may be off by */
} WitnessFit;

bool witness_fit(WitnessFit *fit, const WitnessModel *model, uint64_t open)
    __attribute__((warn_unused_result));

#endif
