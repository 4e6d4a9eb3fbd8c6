/*
 * The attention-only model as a file.
 *
 *   blocks.{s}.attn.W_Q|W_K|W_V [heads, D', rank]   W_O [heads, rank, D']   of sublayer s
 *   X [N', D']                                      the augmented stream it starts from
 * of a model with embeddings and an unembedding these, over all columns (converted_said.h),
 *   embed.W_E [vocabulary + 1, D']   pos_embed.W_pos [N', D']     whose sum is the stream
 *   unembed.W_U [D', classes]        unembed.b_U [classes]
 * and of a model with layer norms, which stay what they are, number by number,
 *   blocks.{s}.ln.w [D]    gamma of sublayer s's norm, where it has one
 *   blocks.{s}.ln.b [N', D]   row i is added to row i: beta, and zeros to the bias row
 *   ln_final.w, ln_final.b [D]    of the one before an unembedding, over the columns of the answer
 *
 * A program that knows nothing of Headproof evaluates it: for s = 0, 1, ... the stream X becomes
 * X + sum over heads of softmax_rows((Y W_Q) (Y W_K)^T) Y W_V W_O, under the mask; Y is X, whose
 * norm's rows and columns are replaced by their norm where the norm's place is "pre".  Where that
 * is "post" those of the new X are.  Metadata:
 *
 *   headproof.layout      "plain"
 *   scale                 "1": nothing else multiplies the scores
 *   mask                  "none" or "causal"
 *   activation            "none": there is attention alone
 *   normalization         "none", "layernorm" or "rmsnorm", and then normalization-place and eps;
 *                         headproof.norm_columns of every sublayer, "0:8,-": FIRST:END, or none;
 *                         headproof.norm_rows FIRST:END
 *   headproof.form        what the caller says, headproof.omega: the shortest decimal of Omega
 *   headproof.guarantee   what is proven of that Omega, a sentence, where it was not given; then
 *                         headproof.guarantee_tolerance, headproof.guarantee_tokens and, without
 *                         an embedding, headproof.guarantee_input_norm: its numbers
 *   headproof.rows        N', headproof.bias_row: the one that is no token
 *   headproof.content     the columns FIRST:END where the answer is read
 *   headproof.layer_end   how many sublayers there are up to the end of each layer, "2,4,6"
 *   headproof.bias_token  the row of W_E that is the bias row's
 *   headproof.exact       "true", or "false" and then headproof.inexact: what was rounded
 *   headproof.evaluate, headproof.augment     sentences: the formula, and how other inputs are
 *                                             made into a stream
 */
#ifndef HEADPROOF_HARNESS_MODELS_PLAIN_FILE_H
#define HEADPROOF_HARNESS_MODELS_PLAIN_FILE_H

#include "../../cases/plain.h"
#include "converted_said.h"
#include "model_file.h"

/* Writes path, complete or not at all.  0; 2 after a message when path cannot be written, or the
 * sublayers have different masks or norms of different kinds; 99 after one when the disk is
 * full; of sublayers shown one by one also what is wrong with the file that they are from. */
int plain_file_write(const char *path, Converted *of) __attribute__((warn_unused_result));

/* Bytes of its large tensors. */
double plain_file_bytes(const PlainModel *plain, const ModelFile *file);

#endif
