/*
 * Heads whose scores are X Q X^T, a block of rows at a time.
 */
#ifndef HEADPROOF_KERNELS_BILINEAR_H
#define HEADPROOF_KERNELS_BILINEAR_H

#include "rows.h"

/* Heads with bilinear scores, and what these are of: in a pass the columns x that they read. */
typedef struct {
    const Pass *pass;
    const Score *score;
    ConstRows x;
    /* d_head > 0: X W_Q + b_Q, X W_K + b_K, all heads', or one for all that mix; else left: X Q of
     * one head.  query: left, or the columns that stand for it. */
    Rows left, right;
    ConstRows query;
    Scalar *mass;   /* [n + 1] head 0: a row's weight on all tokens; the bias row's last */
    Scratch blocks; /* a block for each thread, each block_scalars long */
    double block_scalars;
} Bilinear;

/* Some rows of one head's pattern: tokens first, ..., first + count - 1, or the bias row. */
typedef struct {
    size_t first, count, visible; /* visible: keys that any of the rows sees are below it */
    size_t n;
    bool bias_row;
    Scalar *tokens; /* [count, n] toward tokens; columns from visible on are not there */
    Scalar *bias;   /* [count] toward the bias row, if any */
    Scalar *query;  /* [count, d_head] of heads that mix theirs */
} PatternBlock;

/* Scratch; pass, score, x and query are the caller's to set. */
Bilinear bilinear_take(Scratch *scratch, const Layout *layout, const Bundle *bundle,
                       size_t threads);

/* Once for the bundle; and for d_head == 0 then for each head. */
void bilinear_project(const Bilinear *bilinear, size_t heads);
void bilinear_project_head(const Bilinear *bilinear, size_t head);

/* Blocks of rows, the bias row's last. */
size_t bilinear_blocks(const Layout *layout);
PatternBlock bilinear_pattern(const Bilinear *bilinear, size_t head, size_t block, size_t thread);

/* The block's rows of pattern times in, width columns, into out: alpha times that, added to what is
 * there where beta is 1, else rounded to the format; there is no bias.  Tokens toward tokens in a
 * gemm of the original's shape, the bias row's part after it. */
void bilinear_attend(const PatternBlock *block, Rows out, ConstRows in, size_t width,
                     Ending ending);

#endif
