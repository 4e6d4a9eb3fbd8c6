/*
 * Heads with bilinear scores (private to reference/radius/).
 *
 * A row's keys j have scores s_j = q.k_j (and a multiple of Omega), weights p, values v_j, and the
 * output y = sum of p_j v_j changes by
 *     dy = sum of p_j (v_j - y) (dq.k_j + q.dk_j) + sum of p_j dv_j
 *        = dq (sum of p_j k_j (v_j - y)^T) + ...,
 * in head space, before the second factors.
 *
 * Umbrella header: for bilinear.c, the bundle; bilinear_norms.c, its weights; bilinear_rows.c, all
 * rows of a head; bilinear_block.c, blocks of them; bilinear_row.c, one; bilinear_change.c, e's
 * radii.
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

/* A row's sums over a bundle's heads: roots of squares where second factors follow; how far scores
 * may be off, and whether some change by too much for `cross`. */
typedef struct {
    double here[PASS_RADII], there[PASS_RADII], local, size, local_e, size_e, cross, score;
    bool far;
} HeadSums;

/* The second factors that the heads' sums are multiplied by: their 2-norm and Frobenius norm; the
 * scale; the values' bias. */
typedef struct {
    bool factored;
    double o_norm, o_size, value_scale, bias;
} Outer;

/* One head at a point, and what all heads add up to; outer.bias: that of this head. */
typedef struct {
    Radius *r;
    HeadSums *sums; /* [rows] */
    Outer outer;
    const Bundle *bundle;
    Heads heads;
    size_t head, read, width_k, width_v;
    Factor q, k, v;
    const Point *at;
    bool keys_are_there;         /* of the head before, whose keys are this one's */
    double *query, *key, *value; /* [rows, width] */
    double *mix;                 /* [width of a query] of a mixed head */
    Sides queries, keys, values;
    double turn;   /* by what turning a query or a key makes it longer, at least 1 */
    double *score; /* [rows, rows], of keys that a row sees with Omega once its block is set */
    int *gap;      /* [rows, rows] heads_gaps of each row */
} HeadAt;

/* A row of a head: bounds over its keys. */
typedef struct {
    double k_most, k_off, k_rounding, theta, lambda; /* keys' largest; scores' path and rounding */
    double top;                                      /* the largest score */
    double moment;                                   /* |sum of p k (v - y)^T| */
    double w;                                        /* sum of p |v - y| */
    double bias_key;                                 /* the bias row's weight */
} RowSum;

/* *sum += more, or the root of the sum of squares. */
static inline void head_add(bool factored, double *sum, double more)
{
    *sum = factored ? hypot(*sum, more) : *sum + more;
}

/* ---- Blocks of rows -------------------------------------------------------------------------- */

/* Their outputs y, and the products of those with the keys' values, are products of matrices. */

/* Rows of a block, at most. */
enum { HEAD_ROWS = 64 };

/* Of a row: the first key that it sees, and how many there are up to the last; how many it sees of
 * these, and which is heaviest, from the first on. */
typedef struct {
    size_t first, count, seen, heaviest;
    double total; /* of e^(score - top) */
} Keys;

/* A block of rows.  What is of one row (high, off, w) is that of the last that was asked for. */
typedef struct {
    const HeadAt *head;
    RowRange rows;
    size_t first, end;              /* keys that some row sees, and those between */
    bool products;                  /* of matrices are in y and value */
    double *p, *value;              /* [HEAD_ROWS, rows] weights; v.y, then |v - y| */
    double *y;                      /* [HEAD_ROWS, width] */
    Keys *keys;                     /* [HEAD_ROWS] */
    RowSum *sum;                    /* [HEAD_ROWS] */
    double *high, *off, *w;         /* [rows] */
    double *product[3];             /* scratch of M, */
    double *visible, *grown, *part; /* [rows] and of what e changes */
} HeadBlock;

void head_block_open(HeadBlock *block, const HeadAt *head);
void head_block_clear(HeadBlock *block);

/* Some rows, at most HEAD_ROWS: what the scores' part of their sums is, weights, and products. */
void head_block_set(HeadBlock *block, RowRange rows);

/* A row sees all keys that are visible, in the limit those of A. */
static inline bool head_sees(const HeadAt *head, int gap)
{
    return gap == 0 || (gap > 0 && !head->at->limit);
}

/* ---- One row --------------------------------------------------------------------------------- */

/* A row and its keys, from the first that it sees on: scores and weights at the point; |v - y| at
 * most, of keys that it sees; weights on the path at most, what they may be off, and high times
 * value, 0 of keys that it does not see; the keys' own sides. */
typedef struct {
    const HeadAt *head;
    const Keys *keys;
    RowSum *sum;
    const int *gap;
    const double *score, *p;
    double *value, *y, *high, *off, *w;
    Sides k, v;
} RowKeys;

/* Row i of a block that is set; once. */
RowKeys head_block_row(const HeadBlock *block, size_t i);

/* Of a product with k terms a sum in doubles, relative to norms. */
double gemm_off(size_t k);

/* What rough products of queries and keys, whose norms' product is given, are off by more than
 * others, in 2^-bits: of mixed heads' scores outside A, for others 0. */
double head_rough(const HeadAt *head, double norms);

/* ---- What a head makes of e's radii ---------------------------------------------------------- */

/* Of each row, what is in the columns that queries, keys and values read: of e, or of a radius. */
typedef struct {
    double *query, *key, *value;
} HeadReads;

HeadReads head_reads(const HeadAt *head, const Banks *banks);
void head_reads_clear(HeadReads *rows);

/* Of each row: e there; at most |v'|, and the most of that. */
typedef struct {
    HeadReads e;
    double *moved;
    double most;
} HeadChange;

void head_change_open(HeadChange *change, const HeadAt *head);
void head_change_clear(HeadChange *change);

/* Rounding of e's part of row i of a block, and what rho adds to it, at x^. */
void head_change_row(const HeadChange *of, const HeadBlock *block, const RowKeys *row, size_t i);

/* ---- Norms of weights ------------------------------------------------------------------------ */

enum { FACTOR_Q, FACTOR_K, FACTOR_V, FACTORS };

/* Of each head of a bundle, queries' with the scores' scale, and both turned; and of what follows
 * them all. */
typedef struct {
    Factor (*head)[FACTORS];
    double turn; /* (C43) */
    Outer outer;
} BundleNorms;

/* On the evaluator's threads. */
void bundle_norms_open(BundleNorms *norms, const Radius *r, const Bundle *bundle);
void bundle_norms_clear(BundleNorms *norms);

/* ---- All rows of a head ---------------------------------------------------------------------- */

/* All rows of a head at x^ (here), or at x^ + e^, on the evaluator's threads. */
void bilinear_rows(const HeadAt *head, bool here);

/* A bundle of them. */
void radius_bilinear(Radius *r, const Bundle *bundle);

#endif
