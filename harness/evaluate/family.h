/*
 * What the inputs of one model share: its pair of models, its weights as products take them, and a
 * plan.
 *
 * The plan is the worst of a few inputs'.  It is a claim about the others: each of them shows
 * whether it keeps to that, by the error of T in double (shared.c) and by what its evaluation
 * cancels (ref_plan_covers), and has a plan of its own where it does not.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_FAMILY_H
#define HEADPROOF_HARNESS_EVALUATE_FAMILY_H

#include "../grid/point.h"

typedef struct Family Family;

/* For members that differ in given->x alone, which stay where they are as long as this.  bytes:
 * what the weights may take besides the pair's own.  NULL when memory is short. */
Family *family_make(const Point *const *members, size_t count, double bytes)
    __attribute__((warn_unused_result));
void family_clear(Family *family);

/* At the first member. */
const Pair *family_pair(const Family *family);
RefWeights *family_weights(const Family *family);

/* *plan = that for differences at omega, 0: for those that are linear in e^(-Omega gap); the
 * family's own, or NULL where members have to have their own.  May be called by several threads.
 * false: memory is short. */
bool family_plan(const RefPlan **plan, Family *family, double omega)
    __attribute__((warn_unused_result));

/* Bytes, as a double. */
double family_bytes(const Family *family);

#endif
