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

/* out [., heads * width] = x [., depth] times the heads' matrices [depth, width] side by side,
 * tokens and bias row in calls of their own (a token's product does not depend on whether
 * there is a bias row); in one dgemm when they lie side by side in memory. */
void rows_project(Rows out, ConstRows x, HeadWeight weight, size_t n, size_t depth, size_t heads,
                  size_t width);

/* Rows 0, ..., n - 1 are the tokens, row n is the bias row, if any. */
size_t rows_count(Rows rows, size_t n);
double *rows_row(Rows rows, size_t n, size_t i);

/* to = factor * from; to += factor * from; and bias [columns] (or NULL) onto the token rows. */
void rows_scale(Rows to, ConstRows from, double factor, size_t n, size_t columns);
void rows_add(Rows to, ConstRows from, double factor, size_t n, size_t columns);
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

/* Of head h; content: the row's content score toward tokens, gate bias and gate scale included. */
Groups groups_of_token(const GroupScores *scores, double content, size_t h, size_t i);
Groups groups_of_bias_row(const GroupScores *scores, double content, size_t h);

/* Tokens, other than itself, that token i sees; tokens that the bias row sees. */
size_t groups_others(const GroupScores *scores, size_t i);
size_t groups_tokens_of_bias_row(const GroupScores *scores);

/* out = pattern in, for heads head, ..., head + heads - 1 on columns [heads * width]; gates [., heads] are the content
 * scores (tokens NULL: zero), others [heads * width] scratch.
 * Per entry: e_self u_i + e_other (U - u_i) + e_bias u_b over their total, where a group of
 * weight 0 does not enter (its sum may be infinite). */
void groups_attend(const GroupScores *scores, Rows out, ConstRows in, ConstRows gates,
                   double *others, size_t head, size_t heads, size_t width);

/* One head's weights with bilinear scores, and what they are made from. */
typedef struct {
    Rows left, right;  /* d_head > 0: X W_Q + b_Q, X W_K + b_K, all heads; else left: X Q, one */
    double *tokens;    /* [n, n] */
    double *to_bias;   /* [n] tokens toward the bias row; NULL without one */
    double *from_bias; /* [n + 1] the bias row toward the tokens, then toward itself */
    double *mass;      /* [n + 1] a row's weight on all tokens; the bias row's last */
} Bilinear;

Bilinear bilinear_take(Scratch *scratch, const Layout *layout, const Bundle *bundle);

/* Once for the bundle, then for each head. */
void bilinear_project(const Bilinear *bilinear, ConstRows x, size_t n, const Bundle *bundle);
void bilinear_pattern(const Bilinear *bilinear, ConstRows x, const Pass *pass, const Score *score,
                      size_t head);

/* out = pattern in on width columns; tokens toward tokens in a dgemm of the original's shape,
 * the bias row's part after it. */
void bilinear_attend(const Bilinear *bilinear, Rows out, ConstRows in, size_t n, size_t width);

#endif
