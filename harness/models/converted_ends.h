/*
 * What stands before and behind the heads of a converted model: embeddings, the norm before the
 * unembedding and the unembedding (private to the writing of such files).
 *
 *   embed.W_E [vocabulary, D]   pos_embed.W_pos [N, D]   ln_final.w, ln_final.b [D]
 *   unembed.W_U [D, classes]    unembed.b_U [classes]
 *
 * Wide, they are over all columns of the stream, so that W_E[tokens] + W_pos is the stream: W_E has
 * a token more, which is the bias row's content, W_pos [N', D'] every row's one, and W_U [D',
 * classes] zeros behind its rows.  ln_final and b_U are as they were.  A W_pos of more rows is cut
 * to those of the stream.
 */
#ifndef HEADPROOF_HARNESS_MODELS_CONVERTED_ENDS_H
#define HEADPROOF_HARNESS_MODELS_CONVERTED_ENDS_H

#include "../../cases/plain.h"
#include "model_file.h"
#include "safetensors_write.h"

typedef struct {
    const double *w_e, *w_pos, *w_u, *b_u; /* NULL: the model has none */
    size_t vocabulary, rows, width, classes;
    const LayerNorm *final; /* or one of kind NORMALIZATION_NONE */
    double *own;            /* the wide ones */
} ConvertedEnds;

/* Bytes of the tensors of W_E, W_pos and W_U; of the wide ones as many are allocated. */
double converted_ends_bytes(const Layout *layout, const ModelFile *file, bool wide);

/* file: what was converted, whose W_pos has a row for every token of *plain; NULL: it has no
 * embeddings.  0; 99 after a message. */
int converted_ends_make(ConvertedEnds *ends, const PlainModel *plain, const ModelFile *file,
                        const LayerNorm *final, bool wide) __attribute__((warn_unused_result));

/* Announces the tensors, and for wide ones headproof.bias_token. */
void converted_ends_put(SafetensorsWriter *writer, const ConvertedEnds *ends);

void converted_ends_clear(ConvertedEnds *ends);

#endif
