/*
 * The metadata of a converted model's file, whatever its layout (private to the writing of
 * such files).
 *
 * Umbrella header: for converted_ends.c, too: embeddings, the norm before the unembedding and the
 * unembedding.
 */
#ifndef HEADPROOF_HARNESS_MODELS_CONVERTED_SAID_H
#define HEADPROOF_HARNESS_MODELS_CONVERTED_SAID_H

#include "model_file.h"
#include "safetensors_write.h"

#include "../../cases/plain.h"

/* The caller's part of the metadata.  form: "fused", "three", ...  tolerance: the error that its
 * Omega is proven to keep within, whatever the input of up to the model's number of tokens, or of
 * rows no longer than input_norm where it has no embedding; 0: nothing is proven of its Omega. */
typedef struct {
    const char *form;
    size_t readout; /* pairs that read a product out, by tau; 0: none */
    double tau;
    double tolerance, input_norm;
    bool logits; /* it is of every logit; else of every entry of the stream */
} ConvertedSaid;

/* The proven claim as a sentence: "for every input of up to 3 tokens ...". */
enum { CONVERTED_SENTENCE = 320 };
void converted_said_sentence(char text[CONVERTED_SENTENCE], const ConvertedSaid *said,
                             size_t tokens);

/* The metadata say once what all sublayers have in common: NULL when they do have it, else what is
 * expected. */
const char *converted_said_unlike(const PlainModel *plain);

/* The converted model; the file that it is from, or NULL: without embeddings; the norm before the
 * unembedding, or none; the caller's words. */
typedef struct {
    PlainModel *plain;
    const ModelFile *file;
    const LayerNorm *final;
    const ConvertedSaid *said;
} Converted;

/* Is it a frame?  It is written in the shared layout, which has no position columns. */
bool converted_is_shared(const PlainModel *plain);

/* A writer that has its metadata, and asks it for sublayers' numbers. */
SafetensorsWriter *converted_writer(Converted *of);

/* The tensors before and behind the heads of a converted model:
 *
 *   embed.W_E [vocabulary, D]   pos_embed.W_pos [N, D]   ln_final.w, ln_final.b [D]
 *   unembed.W_U [D, classes]    unembed.b_U [classes]
 *
 * Wide, they are over all columns of the stream, so that W_E[tokens] + W_pos is the stream: W_E has
 * a token more, which is the bias row's content, W_pos [N', D'] every row's one, and W_U [D',
 * classes] zeros behind its rows.  ln_final and b_U are as they were.  A W_pos of more rows is cut
 * to those of the stream. */
typedef struct {
    const double *w_e, *w_pos, *w_u, *b_u; /* NULL: the model has none */
    bool by_class;                         /* w_u is [classes, width] */
    size_t vocabulary, rows, width, classes;
    const LayerNorm *final; /* or one of kind NORMALIZATION_NONE */
    double *own;            /* the wide ones */
} ConvertedEnds;

/* Bytes that wide ones take. */
double converted_ends_bytes(const Layout *layout, const ModelFile *file);

/* Of a file whose W_pos has a row for every token. */
void converted_ends_make(ConvertedEnds *ends, const Converted *of, bool wide);

/* Announces the tensors, and for wide ones headproof.bias_token. */
void converted_ends_put(SafetensorsWriter *writer, const ConvertedEnds *ends);

void converted_ends_clear(ConvertedEnds *ends);

#endif
