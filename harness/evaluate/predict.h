/*
 * Memory and time that points will take, before any work.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_PREDICT_H
#define HEADPROOF_HARNESS_EVALUATE_PREDICT_H

#include "../grid/grid.h"

/* Bytes that a point takes, at most, by who holds them. */
typedef struct {
    double base;   /* its group: what shared_make makes */
    double tape;   /* its group, if there is room: the record of r(T_infinity) */
    double kernel; /* itself: m(T') */
    double run;    /* itself: r(T') and the difference */
    double layer;  /* of weights that come and go: another one than its group has */
} PointBytes;

/* Bytes of both models' weights that are there at a time, and of its file's ends. */
double point_model_bytes(const Point *point);

/* Nothing is evaluated; a rejected case gives its reason, and the bytes of its model alone. */
CaseStatus point_predict(PointBytes *bytes, const char **reason, const Point *point);

/* Bytes of both models' weights and of one pass of m(T') on one thread; infinite where there is no
 * model. */
double point_pass_bytes(const Point *point);

/* Rejects a point that no model can be made of, and one that does not fit in memory bytes; lowers
 * *threads (unless NULL) until as many of it fit.  0, or 2 after a message with the figure and the
 * point's command line. */
int point_fits(const Point *point, double memory, int *threads) __attribute__((warn_unused_result));

/* The same of every point, where nothing else is there (memory 0: memory_room(0)). */
int grid_predict(const Grid *grid, double memory, int *threads) __attribute__((warn_unused_result));

/* Seconds that a point takes on some machine.  A model of the work, good for comparing points and
 * for shares of progress, not for promising times. */
typedef struct {
    double base;      /* what its group shares: r(T), r(T_infinity) and m(T) */
    double weights;   /* of that, what inputs share that go through a layer together */
    double reference; /* r(T') */
    double machine;   /* m(T') */
} PointCost;

/* Each evaluation's multiply-adds, exponentials, entries and bundles are counted from the shapes of
 * its models, in the form it is evaluated in (structured, or full matrices).  They are priced at
 * the likely bits p: in the reference a multiply-add at 0.55 (p/256)^1.3 ns (0.15 in place of 0.55
 * with AVX-512, 1.6 in plain C, 19 for full matrices), an exponential at 140 (p/256)^1.5 ns, an
 * entry at 120 (p/256)^0.7 ns, a bundle at 40 microseconds, and a weight once at 220 ns, 65 where
 * norms are coarse, and 20 more for the machine's copy; on the machine as its arithmetic says
 * (arithmetic.h).  All 0 for a case that no model can be made of. */
PointCost point_cost_parts(const Point *point);

/* Their sum, > 0. */
double point_cost(const Point *point);

#endif
