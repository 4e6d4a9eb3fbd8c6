/*
 * The attention-only model as a file in which what heads share is there once.
 *
 * The heads of a bundle share their position scores, and each has its own vectors: where the plain
 * layout has every head's W_Q and W_K over all columns of the stream, position columns included,
 * this one has what is on the columns that are read, by its true rank, and five integers.  So rows
 * have no position columns: a row is a token's or the bias row.  With t_i = 1 for a token's row and
 * 0 for the bias row, head h of a bundle is
 *
 *   q_i = y_i[read] W_Q[h] + t_i b_Q[h],   k_j = y_j[read] W_K[h] + t_j b_K[h]
 *   s_ij = scale q_i . k_j + t_i t_j shift[h] + omega (position(i, j) + extra(i, j))
 *   x_i[write] += sum over j of softmax_rows(s)_ij (y_j[read] W_V[h] + t_j b_V[h]) W_O[h] scale
 *
 * The metadata headproof.heads is JSON: a list of blocks, each a list of bundles,
 *   {"heads": H, "score": {...}, "value": {...}}
 * in which a text is the name of a tensor, one that several bundles may have, and what is not there
 * is zero:
 *   score  "position" [5] a token toward itself, another token, the bias row; the bias row toward
 *                     itself, a token
 *          "extra"    [1 or H, N', N'] added to them
 *          "read"     [FIRST, END] columns
 *          "W_Q", "W_K" [H, read, rank]   "b_Q", "b_K" [H, rank]; b_K a number: of every head
 *          "unit"     in place of W_Q: that number times the unit vector of column h
 *          "QK"       [H, read, read] in place of W_Q W_K^T
 *          "scale"    [num, den, s]: num / (den sqrt(s));   "shift" [H]
 *   value  "read", "write" [FIRST, END]
 *          "W_V" [H, read, rank]   "b_V" [H, rank]   "W_O" [H, rank, write]   "scale" a number
 *          "unit"     in place of W_V and W_O: column h that is read times this to column h written
 *          "OV"       [H, read, write] in place of W_V W_O
 *          "bias"     [write] of head 0: what it adds for each token that is attended
 *          "diagonal" head 0 adds this times what is attended to the columns read themselves
 * Other tensors:
 *   X [N', D + hidden]                       the stream without its position columns
 *   blocks.{s}.ln.w, ln.b [D]                b on the tokens' rows alone
 *   embed.W_E [vocabulary, D]   pos_embed.W_pos [N, D]   ln_final.w, ln_final.b [D]
 *   unembed.W_U [D, classes]    unembed.b_U [classes]
 * Other metadata are those of the plain layout (plain_file.h), but headproof.layout is "shared" and
 * there is no scale and no bias_token.  Nothing is rounded, whatever the model.
 */
#ifndef HEADPROOF_HARNESS_MODELS_SHARED_FILE_H
#define HEADPROOF_HARNESS_MODELS_SHARED_FILE_H

#include "../../cases/plain.h"
#include "converted_said.h"
#include "model_file.h"

/* Writes path, complete or not at all, from a frame (PLAIN_FRAME), whose model still lives; the
 * rest, and what is returned, as plain_file_write. */
int shared_file_write(const char *path, Converted *of) __attribute__((warn_unused_result));

/* Bytes of all its tensors: *bytes.  0; 2 or 99 after a message. */
int shared_file_bytes(double *bytes, Converted *of) __attribute__((warn_unused_result));

/* Bytes that writing it takes besides the frame's. */
double shared_file_memory(const Model *model);

#endif
