/*
 * The parts of the structured form (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_STRUCTURED_H
#define HEADPROOF_REFERENCE_STRUCTURED_H

#include "run.h"

/* out[., c] = x[., columns] w[:, c] for c < count, w's entry (r, c) at w[r * ld + c]. */
void structured_product(RefRun *run, ApMat *out, Columns columns, const double *w, size_t ld,
                        size_t count);

/* out[., 0] = x[., column] */
void structured_column(RefRun *run, ApMat *out, size_t column);

/* u[., c] += bias[c] on the token rows. */
void structured_token_bias(RefRun *run, ApMat *u, const double *bias, size_t count);

/* The pattern of head h, into scratch.group; scratch.product is left holding x g. */
void groups_softmax(RefRun *run, const Score *score, size_t h);

/* scratch.mixed = that pattern applied to scratch.value [rows, width]. */
void groups_mix(RefRun *run, const Score *score, size_t width);

/* The pattern of head h, into scratch.pattern. */
void bilinear_softmax(RefRun *run, const Score *score, size_t h);

/* scratch.mixed = that pattern applied to scratch.value [rows, width]. */
void bilinear_mix(RefRun *run, const Score *score, size_t width);

#endif
