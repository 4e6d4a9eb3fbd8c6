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

/* A row's query, key or value at a point: its norm at most, how far it may be off on the path, and
 * its rounding in 2^-bits. */
typedef struct {
    double norm, off, rounding;
} Side;

/* A key that a row sees: its row, gap of Omega (0: in A), score; weight at the point and at most
 * on the path, and what it may be off; |v - y| and |k - c| at most. */
typedef struct {
    size_t row;
    int gap;
    double score, p, high, off, value, key, w;
} Key;

/* One head at a point. */
typedef struct {
    const Bundle *bundle;
    Heads heads;
    size_t head, read, width_k, width_v;
    double scale;
    Factor q, k, v;
    const Point *at;
    double *query, *key, *value;   /* [rows, width] */
    Side *queries, *keys, *values; /* [rows] */
    double *score;                 /* [rows, rows] */
    int *gap;                      /* [rows] heads_gaps of a row, a thread's own from here on */
    Key *seen;                     /* of that row */
    size_t count;
    double *y, *c;      /* [width] */
    double *product[3]; /* scratch of M */
} HeadAt;

/* What a row of a head comes to: bounds over its keys. */
typedef struct {
    double k_most, k_off, k_rounding, theta, lambda; /* keys' largest; scores' path and rounding */
    double moment;                                   /* |sum of p (k - c) (v - y)^T| */
    double w;                                        /* sum of p |v - y| */
    double bias_key;                                 /* the bias row's weight */
} RowSum;

/* Sums over a bundle's heads, [rows] each: roots of squares where second factors follow. */
typedef struct {
    double *here[PASS_RADII], *there[PASS_RADII], *local, *size, *local_e, *size_e, *cross;
} HeadSums;

/* What becomes of the heads' sums: second factors, their 2-norm and Frobenius norm; the scale; the
 * values' bias. */
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
