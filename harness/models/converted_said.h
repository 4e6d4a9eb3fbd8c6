/*
 * What a file of a converted model says of itself, whatever its layout (private to the writing of
 * such files; plain_file.h lists the metadata).
 */
#ifndef HEADPROOF_HARNESS_MODELS_CONVERTED_SAID_H
#define HEADPROOF_HARNESS_MODELS_CONVERTED_SAID_H

#include "../../cases/plain.h"
#include "safetensors_write.h"

/* What the caller says of it.  form: "fused", "three", ...  tolerance: the error that its Omega is
 * proven to keep within, whatever the input of up to the model's number of tokens, or of rows no
 * longer than input_norm where it has no embedding; 0: nothing is proven of its Omega. */
typedef struct {
    const char *form;
    double tolerance, input_norm;
    bool logits; /* it is of every logit; else of every entry of the stream */
} ConvertedSaid;

/* The metadata of *plain; of a frame (PLAIN_FRAME) those of the shared layout. */
void converted_said_put(SafetensorsWriter *writer, const PlainModel *plain,
                        const ConvertedSaid *said);

/* What is proven, as a sentence: "for every input of up to 3 tokens ...". */
enum { CONVERTED_SENTENCE = 320 };
void converted_said_sentence(char text[CONVERTED_SENTENCE], const ConvertedSaid *said,
                             size_t tokens);

/* The metadata say once what all sublayers have in common: NULL when they do have it, else what is
 * expected. */
const char *converted_said_unlike(const PlainModel *plain);

#endif
