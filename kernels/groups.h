/*
 * Heads whose scores tell keys apart only as "itself", "another token" and "the bias row".
 */
#ifndef HEADPROOF_KERNELS_GROUPS_H
#define HEADPROOF_KERNELS_GROUPS_H

#include "rows.h"

/* Weights of a row of a head without bilinear scores: of the row itself, of every other token,
 * and of the bias row (which is a token's `bias` and the bias row's `bias`). */
typedef struct {
    Scalar self, other, bias;
} Groups;

/* The position scores of a head without extra coefficients; those are asked for entry by entry. */
typedef struct {
    const Pass *pass;
    const Layout *layout;
    const Score *score;
    size_t n;
    bool bias_row; /* there is one */
    /* coefficient * Omega, as products read it */
    Scalar token_self, token_token, token_bias, bias_self, bias_token;
} GroupScores;

GroupScores group_scores(const Pass *pass, const Score *score);

/* A matrix that is not stored: entry (i, c) is factor * from[i][c] + bias[c], rounded to what
 * products read where there is a bias.  (Else it is such a number as it is.) */
typedef struct {
    ConstRows from; /* tokens NULL: zeros */
    Scalar factor;
    const Scalar *bias; /* added on token rows alone; NULL: none */
} Affine;

/* Heads first, ..., first + heads - 1 of a bundle with such scores. */
typedef struct {
    GroupScores scores;
    size_t first;
    Affine gates; /* [., heads]; times scale, plus shift, they are the content scores */
    Scalar scale;
    const Scalar *shift; /* [heads], added on token rows alone; NULL: none */
    Affine in;           /* [., heads * width], the values */
    size_t heads, width; /* width: columns of one head's values */
} GroupHeads;

/* Row i of head first + head: token i or, i == n, the bias row. */
Groups groups_weights(const GroupHeads *heads, size_t i, size_t head);

/* Tokens, other than itself, that row i sees. */
size_t groups_others(const GroupScores *scores, size_t i);

/* out = factor * (pattern in), added to what is there if add, else rounded to what products read;
 * out may be where gates and in are.
 * Per entry: e_self u_i + e_other (U - u_i) + e_bias u_b over their total, where a group of
 * weight 0 does not enter (its sum may be infinite). */
void groups_attend(const GroupHeads *heads, Rows out, Scalar factor, bool add);

#endif
