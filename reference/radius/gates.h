/*
 * Gated heads (private to reference/radius/).
 *
 * A row's gated keys share the score z and weigh P together, the others Q = 1 - P; u is a key's
 * value.  With a, b the sums of e^(-Omega gap) over the gated keys and the others,
 *     P = 1/(1 + (b/a) e^-z),   dP/dz = PQ <= 1/4,   PQ <= e^-|z + ln(a/b)|,
 *     |d(PQ)/dz| = PQ |1 - 2P| <= 1/(6 sqrt 3) < 0.0963,
 * and the head's output y has dy/dz = B = PQ (mean of the gated u - mean of the others).
 *
 * Umbrella header: for gates_open.c, the heads' weights side by side; gates.c, gates at a point;
 * gates_rows.c, row by row; gates_change.c, what they make of e's radii.
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_GATES_H
#define HEADPROOF_REFERENCE_RADIUS_GATES_H

#include "internal.h"

/* One row of one head, at z; and how far each may be from that within the point's path. */
typedef struct {
    double own;          /* weight of the row's own key */
    double most[GROUPS]; /* weight of a key of a group on the path, at most */
    double off;          /* how far weights may be off */
    double b, b_off;     /* B */
    double spread;       /* |mean of the gated u - mean of the others| at most */
    double size[GROUPS]; /* |u| of a group's mean at most, with what rounding adds to it */
    double rounding;     /* of z, in 2^-bits */
    double z_off;        /* how far z may be off */
} Gate;

/* Bounds for e on a row of the stream it is carried beside: the heads' largest z and -z, rounding,
 * spread and |u|, summed over the groups; and the 2-norm over the heads of |u|. */
typedef struct {
    double z_high, z_low, rounding, spread, most, size;
} GatesKept;

/* In the columns that values read: the sum over tokens, and what the bias row has. */
typedef struct {
    double tokens, bias;
} RowsSum;

/* A bundle's heads; matrices of the columns read. */
typedef struct {
    Radius *r;
    const Bundle *bundle;
    size_t heads, read;
    const double *g, *v;           /* [read, heads]; g may be v; of unit vectors NULL */
    double *own_g, *own_v;         /* those that are no weights as they lie, or NULL */
    double *g_column, *v_column;   /* [heads] their columns' norms */
    double g_norm, v_norm, o_norm; /* 2-norms */
    double v_size, o_size;         /* Frobenius norms */
    double g_most, v_most;         /* the largest columns' */
    double scale, value_scale;     /* of z, signed; |that| of the values */
    double bias_most, shift_most;  /* the largest biases of z and of values; shifts of z */
    double u_off;                  /* how far a value may be off on the point's path */
    bool unit;                     /* v is unit vectors, and values are columns of the stream */
    bool same;                     /* g and its norms are v's */
    double *z, *u, *size; /* [rows, heads] at a point: size: |u| and its rounding, at most */
    double *most;         /* [heads] the largest of size */
    size_t patterns;      /* 1, or heads where they see keys with other coefficients of Omega */
    GatesKept *kept;      /* [rows] */
} Gates;

RowsSum gates_rows_sum(const Gates *gates, const Banks *banks);

/* z, u and size of all rows at a point. */
void gates_set(Gates *gates, const Point *at);

/* A row at a point as its heads of the same groups share it: weights of Omega, a and b, ln(a/b).
 * Weights, a and b are beside the largest of the gated keys, or of the others: 0 for what the limit
 * leaves out alone, since at Omega a large z may outweigh every gap. */
typedef struct {
    const Point *at;
    size_t row;
    RowGroups groups;
    double decay[GROUPS], total[2], odds;
} GateRow;

/* Of head k, or of the heads of one pattern. */
GateRow gate_row(const Gates *gates, const Point *at, size_t i, size_t k);
Gate gate_of(const Gates *gates, const GateRow *row, size_t k);

/* What a pass makes of all rows; local: and rounding at x^, and what e needs of them. */
void gates_pass(Gates *gates, Pass *pass, bool local);

/* A bundle of them. */
void radius_gates(Radius *r, const Bundle *bundle);

/* Are they heads that the constructions make: a value of one coordinate, gate and value of the same
 * columns? */
bool gates_supported(const Bundle *bundle);

/* Such heads, with their norms and room for the rows of r. */
void gates_open(Gates *gates, Radius *r, const Bundle *bundle);
void gates_clear(Gates *gates);

/* Takes e's radii through the heads: all rows, after those of the stream. */
void gates_change(Gates *gates);

#endif
