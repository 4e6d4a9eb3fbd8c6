/*
 * Radii: how far an evaluation may be from the exact value, proven (private to reference/;
 * docs/certify.md, whose inequalities (C1), (C2), ... are cited where they are coded).
 *
 * Beside the stream x^ of a run, and the difference e^ that it may carry, there are radii in the
 * 2-norm for every row and each of its two banks of columns, content and hidden:
 *     || x_i - x^_i ||_2 <= rho_i,      || e_i - e^_i ||_2 <= eta_i,
 * x and e what exact arithmetic gives for the doubles of the model.  They are carried from sublayer
 * to sublayer.  Infinity: nothing is known.
 *
 * Umbrella header: what runs use of radii, carried by radius.c, read by read.c, begun
 * elsewhere by restart.c, counted by bytes.c.
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_RADIUS_H
#define HEADPROOF_REFERENCE_RADIUS_RADIUS_H

#include "norm_table.h"

#include "../evaluator/layer_norm.h"
#include "../heads/heads.h"
#include "../reference.h"

typedef struct Radius Radius;

/* A run in the structured form that has just been opened: its streams, e and x + e or NULL; what
 * its norms write, of x and of e (or NULL). */
typedef struct {
    const Layout *layout;
    Evaluator *ev;
    const ApMat *x, *e, *sum;
    const ApMat *normed, *normed_e;
    bool limit;
    bool limit_change; /* e is T_infinity's answer: no key that the limit leaves out weighs in it */
} RadiusOfRun;

/* All that the run points to stays where it is. */
Radius *radius_open(const RadiusOfRun *run) __attribute__((warn_unused_result));
void radius_clear(Radius *radius);

/* Bytes that radii of a run of this model hold beside the run, at most; *norm: what the norm of one
 * matrix takes besides, as long as it is looked for. */
double radius_bytes(double *norm, const Model *model);

/* How a layer's streams x and e begin, a run `from` being behind the layer before.  CHANGE: they
 * are the run's, e where it is handed on; AT_SUM: x is the run's x + e where that is handed on, and
 * e 0; AT_MACHINE: x is exact numbers there, and x + e elsewhere.  All is handed on that tokens
 * have, but for the columns that were cleared. */
typedef enum { BEGINS_CHANGE, BEGINS_AT_SUM, BEGINS_AT_MACHINE } RadiusBegins;
void radius_restart(Radius *radius, const Radius *from, RadiusBegins begins, Columns cleared);

/* Before a layer: its scores alone count. */
void radius_begin_layer(Radius *radius);

/* Before a sublayer is evaluated, and after it has been added to the stream; record: of its norm,
 * if it has one; goes_on: one beside it comes next, and both are added to the stream then. */
void radius_before(Radius *radius);
void radius_after(Radius *radius, const Sublayer *sublayer, const ApMat *record, bool goes_on);

/* The radii of a block, in the banks that its columns touch, rounded up: of the stream, of the
 * difference (as of what is inherited of it), or of both together. */
void radius_read(const Radius *radius, RadiusOf of, RefBlock block, RefRadii radii);

/* most = how far a score of the last layer may be off. */
void radius_read_score(const Radius *radius, mpfr_ptr most);

#endif
