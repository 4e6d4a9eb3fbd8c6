/*
 * Heads whose scores tell keys apart only as "itself", "another token" and "the bias row".
 */
#ifndef HEADPROOF_KERNELS_GROUPS_H
#define HEADPROOF_KERNELS_GROUPS_H

#include "rows.h"

/* Weights of a row of a head without bilinear scores: of the row itself, of every other token,
 * and of the bias row (which is a token's `bias` and the bias row's `bias`). */
typedef struct {
    double self, other, bias;
} Groups;

/* coefficient * Omega, as doubles; without extra ones, which rows ask score for. */
typedef struct {
    const Layout *layout;
    const Score *score;
    double omega;
    size_t n;
    bool bias_row;
    double token_self, token_token, token_bias, bias_self, bias_token;
} GroupScores;

GroupScores group_scores(const Layout *layout, const Score *score, double omega);

/* Numbers of token row i and column c as factor * from[i][c] + bias[c]; of the bias row without
 * bias (or NULL).  from.tokens NULL: zeros. */
typedef struct {
    ConstRows from;
    double factor;
    const double *bias;
} Affine;

/* Heads first, ..., first + heads - 1 of a bundle with such scores, on columns [heads * width]:
 * content scores scale * gates [., heads], and values in [., heads * width]. */
typedef struct {
    GroupScores scores;
    size_t first;
    Affine gates;
    double scale;
    Affine in;
    size_t heads, width;
} GroupHeads;

/* Row i of head first + head: token i or, i == n, the bias row. */
Groups groups_weights(const GroupHeads *heads, size_t i, size_t head);

/* Tokens, other than itself, that row i sees. */
size_t groups_others(const GroupScores *scores, size_t i);

/* out = factor * (pattern in), added to what is there if add; out may be where gates and in are.
 * Per entry: e_self u_i + e_other (U - u_i) + e_bias u_b over their total, where a group of
 * weight 0 does not enter (its sum may be infinite). */
void groups_attend(const GroupHeads *heads, Rows out, double factor, bool add, size_t threads);

#endif
