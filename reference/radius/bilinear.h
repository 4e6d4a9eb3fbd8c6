/*
 * Heads with bilinear scores (private to reference/radius/).
 *
 * A row's keys j have scores s_j = q.k_j (and a multiple of Omega), weights p, values v_j, and the
 * output y = sum of p_j v_j changes by
 *     dy = sum of p_j (v_j - y) (dq.k_j + q.dk_j) + sum of p_j dv_j
 *        = dq (sum of p_j (k_j - c) (v_j - y)^T) + ...        for any c,
 * in head space, before the second factors.
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_BILINEAR_H
#define HEADPROOF_REFERENCE_RADIUS_BILINEAR_H

#include "internal.h"

/* 2-norms, Frobenius norms and the bias's norm of one factor of a head. */
typedef struct {
    double norm, size, bias;
} Factor;

/* All rows' queries, keys or values at a point, [rows] each: their norms at most, how far they may
 * be off on the path, their rounding in 2^-bits, their squared norms as computed in doubles. */
typedef struct {
    double *norm, *off, *rounding, *square;
} Sides;

/* One head at a point. */
typedef struct {
    const Bundle *bundle;
    Heads heads;
    size_t head, read, width_k, width_v;
    Factor q, k, v;
    const Point *at;
    double *query, *key, *value; /* [rows, width] */
    Sides queries, keys, values;
    double *score; /* [rows, rows], of keys that a row sees with Omega once its block is set */
    int *gap;      /* [rows, rows] heads_gaps of each row */
} HeadAt;

/* A row of a head: bounds over its keys. */
typedef struct {
    double k_most, k_off, k_rounding, theta, lambda; /* keys' largest; scores' path and rounding */
    double top;                                      /* the largest score */
    double moment;                                   /* |sum of p (k - c) (v - y)^T| */
    double w;                                        /* sum of p |v - y| */
    double bias_key;                                 /* the bias row's weight */
} RowSum;

/* Sums over a bundle's heads, [rows] each: roots of squares where second factors follow. */
typedef struct {
    double *here[PASS_RADII], *there[PASS_RADII], *local, *size, *local_e, *size_e, *cross;
} HeadSums;

/* The second factors that the heads' sums are multiplied by: their 2-norm and Frobenius norm; the
 * scale; the values' bias. */
typedef struct {
    bool factored;
    double o_norm, o_size, value_scale, bias;
} Outer;

/* sum + more, or the root of the sum of squares. */
static inline double head_add(bool factored, double sum, double more)
{
    return factored ? hypot(sum, more) : sum + more;
}

/* A bundle of them. */
void radius_bilinear(Radius *r, const Bundle *bundle);

#endif
