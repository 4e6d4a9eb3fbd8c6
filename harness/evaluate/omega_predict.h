/*
 * The Omegas that should meet a tolerance, by the formulas of docs/mathematics.md, sections 2 and
 * 3, from weights and input alone: nothing is evaluated.
 *
 * The formulas bound the errors of one layer of `silu`, `linear`, `attention` or `fused`, with x
 * for what the layer reads, so with norm(x) too; there are none for a norm behind it:
 *     construction  <= construction * e^(-2 Omega)
 *     rounding      <= absorbed * ulp(2 Omega + score)/2, and about 2u |x|, the floor, besides.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_OMEGA_PREDICT_H
#define HEADPROOF_HARNESS_EVALUATE_OMEGA_PREDICT_H

#include "../point/point.h"

/* The constants of the bounds, the largest over the members of an ensemble. */
typedef struct {
    double construction, absorbed, floor;
    double score; /* the largest score that 2 Omega is added to */
} OmegaBounds;

typedef struct {
    bool known;      /* there are formulas for the case */
    double min, max; /* max < min: no Omega should do */
} OmegaInterval;

/* Are there formulas for this point, whose pair this is, and for the error that it judges? */
bool omega_predictable(const Pair *pair, const Point *point);

/* Those of a predictable point, whose pair this is; u: the arithmetic's unit roundoff. */
OmegaBounds omega_bounds(const Pair *pair, double u);

/* Raises *bounds to the other's. */
void omega_bounds_join(OmegaBounds *bounds, const OmegaBounds *other);

/* The interval for the point's tolerance, in 8 digits, within the range of Omega; machine: not used
 * where the error judged is the construction's. */
OmegaInterval omega_predict(const OmegaBounds *bounds, const Point *point,
                            const ArithmeticInfo *machine);

#endif
