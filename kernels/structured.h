/*
 * The structured form: content scores without position columns; a row is attended to as what
 * it is, a token or the bias row.
 */
#ifndef HEADPROOF_KERNELS_STRUCTURED_H
#define HEADPROOF_KERNELS_STRUCTURED_H

#include "internal.h"

/* A matrix with a row for each token, [n, ld], and one for the bias row, [ld], or NULL. */
typedef struct {
    double *tokens, *bias;
    size_t ld;
} Rows;

typedef struct {
    const double *tokens, *bias;
    size_t ld;
} ConstRows;

Rows rows_take(Scratch *scratch, const Layout *layout, double columns);

/* The same from column first on. */
Rows rows_from(Rows rows, size_t first);
ConstRows rows_const(Rows rows);
ConstRows rows_const_from(ConstRows rows, size_t first);

typedef struct {
    size_t n, depth, heads, width;
} Extents;

/* out [., heads * width] = alpha x [., depth] times the heads' matrices [depth, width] side by side
 * + beta out, by tiles; tokens and bias row in calls of their own (a token's product does not
 * depend on whether there is a bias row). */
void rows_multiply(Rows out, ConstRows x, HeadWeight weight, Extents size, double alpha,
                   double beta, size_t threads);

/* Rows 0, ..., n - 1 are the tokens, row n is the bias row, if any. */
size_t rows_count(Rows rows, size_t n);
double *rows_row(Rows rows, size_t n, size_t i);

/* rows += bias [columns] (or NULL) on the token rows. */
void rows_add_to_tokens(Rows rows, const double *bias, size_t n, size_t columns);

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

/* Heads with bilinear scores. */
typedef struct {
    Rows left, right; /* d_head > 0: X W_Q + b_Q, X W_K + b_K, all heads; else left: X Q, one */
    double *mass;     /* [n + 1] head 0: a row's weight on all tokens; the bias row's last */
    Scratch blocks;   /* a block for each thread, each block_doubles long */
    double block_doubles;
} Bilinear;

/* Some rows of one head's pattern: tokens first, ..., first + count - 1, or the bias row. */
typedef struct {
    size_t first, count, visible; /* visible: keys that any of the rows sees are below it */
    bool bias_row;
    double *tokens; /* [count, n] toward tokens; columns from visible on are not there */
    double *bias;   /* [count] toward the bias row, if any */
} PatternBlock;

Bilinear bilinear_take(Scratch *scratch, const Layout *layout, const Bundle *bundle,
                       size_t threads);

/* Once for the bundle; and for d_head == 0 then for each head. */
void bilinear_project(const Bilinear *bilinear, ConstRows x, const Pass *pass, const Score *score,
                      size_t heads);
void bilinear_project_head(const Bilinear *bilinear, ConstRows x, const Pass *pass,
                           const Score *score, size_t head);

/* Blocks of rows, the bias row's last. */
size_t bilinear_blocks(const Layout *layout);
PatternBlock bilinear_pattern(const Bilinear *bilinear, ConstRows x, const Pass *pass,
                              const Score *score, size_t head, size_t block, size_t thread);

/* The block's rows of out = factor * (pattern in) on width columns, added to what is there if add;
 * tokens toward tokens in a dgemm of the original's shape, the bias row's part after it. */
void bilinear_attend(const PatternBlock *block, Rows out, ConstRows in, size_t n, size_t width,
                     double factor, bool add);

#endif
