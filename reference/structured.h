/*
 * The parts of the structured form (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_STRUCTURED_H
#define HEADPROOF_REFERENCE_STRUCTURED_H

#include "run.h"

/* out[., c] = x[., columns] w[:, c] for c < count, w's entry (r, c) at w[r * ld + c]. */
void structured_product(RefRun *run, ApMat *out, const ApMat *x, Columns columns, const double *w,
                        size_t ld, size_t count);

/* out[., c] = x[., columns.first + c] */
void structured_columns(ApMat *out, const ApMat *x, Columns columns);

/* u[., c] += bias[c] on the token rows. */
void structured_token_bias(RefRun *run, ApMat *u, const double *bias, size_t count);

/* The groups of keys with one score each that a row sees without bilinear scores. */
enum { SELF, OTHER, BIAS, GROUPS };

/* How many keys each has, which coefficient of Omega, whether their content score is the row's
 * gate (else it is 0); best: the largest coefficient of those that have keys. */
typedef struct {
    unsigned long count[GROUPS];
    int coefficient[GROUPS];
    bool gated[GROUPS];
    int best;
} RowGroups;

RowGroups groups_of_row(const RefRun *run, const Score *score, size_t h, size_t row);

/* out[., 0] = x g of head h; gate = a times that, what is added to it left out. */
void groups_gate_product(RefRun *run, const Score *score, size_t h, const ApMat *x, ApMat *product,
                         ApMat *gate);

/* The pattern of head h, into scratch.group; scratch.product is left holding x g, scratch.gate
 * exp of the gate. */
void groups_softmax(RefRun *run, const Score *score, size_t h);

/* scratch.mixed = that pattern applied to scratch.value [rows, width]. */
void groups_mix(RefRun *run, const Score *score, size_t width);

/* x Q and x, or x W_Q and x W_K, of head h, the scale in the query; biased: with their biases.
 * Returns their width. */
size_t bilinear_products(RefRun *run, const Score *score, size_t h, const ApMat *x, bool biased,
                         ApMat *query, ApMat *key);

/* The largest coefficient of Omega in a row, and the largest below it. */
void bilinear_coefficients(const RefRun *run, const Score *score, size_t h, size_t row, int *best,
                           int *second);

/* The pattern of head h, into scratch.pattern; scratch.gate is left holding each row's sum of
 * exponentials, relative to its largest power of e^Omega. */
void bilinear_softmax(RefRun *run, const Score *score, size_t h);

/* scratch.mixed = that pattern applied to scratch.value [rows, width]. */
void bilinear_mix(RefRun *run, const Score *score, size_t width);

#endif
