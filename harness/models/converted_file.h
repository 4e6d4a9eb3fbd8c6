/*
 * The attention-only model as a file: docs/convert.md says what is in it, in the plain layout and
 * in the shared one, in which what heads have in common is there once.
 *
 * Umbrella header: for converted_said.c, its metadata, and shared_heads.c, bundles of heads in the
 * shared layout.
 */
#ifndef HEADPROOF_HARNESS_MODELS_CONVERTED_FILE_H
#define HEADPROOF_HARNESS_MODELS_CONVERTED_FILE_H

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

/* The converted model; the file that it is from; the norm before the unembedding, or none; the
 * caller's words. */
typedef struct {
    PlainModel *plain;
    const ModelFile *file;
    const LayerNorm *final;
    const ConvertedSaid *said;
} Converted;

/* Writes path, complete or not at all: in the shared layout from a frame (PLAIN_FRAME), else in the
 * plain one.  Its metadata say once what all sublayers of a case have in common: the mask, and the
 * kind, place, rows and eps of norms.  0; 2 after a message when path cannot be written; 99 after
 * one when the disk is full; of sublayers shown one by one also what is wrong with the file that
 * they are from. */
int converted_file_write(const char *path, Converted *of) __attribute__((warn_unused_result));

/* Bytes of all its tensors: *bytes.  0; 2 after a message. */
int converted_file_bytes(double *bytes, Converted *of) __attribute__((warn_unused_result));

/* Bytes that writing it takes besides those of of->plain. */
double converted_file_memory(const Layout *layout, const ModelFile *file, bool shared);

/* ---- Its parts ------------------------------------------------------------------------------- */

/* Is it a frame?  It is written in the shared layout, which has no position columns. */
bool converted_is_shared(const PlainModel *plain);

/* A writer that has its metadata, and asks it for sublayers' numbers. */
SafetensorsWriter *converted_writer(Converted *of);

/* Announces the tensors of all bundles and headproof.heads.  A failure the writer keeps. */
void shared_heads_put(SafetensorsWriter *writer, const PlainModel *frame);

#endif
