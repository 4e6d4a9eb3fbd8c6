/*
 * What a file of a converted model says of itself, whatever its layout (private to the writing of
 * such files; plain_file.h lists the metadata).
 */
#ifndef HEADPROOF_HARNESS_MODELS_CONVERTED_SAID_H
#define HEADPROOF_HARNESS_MODELS_CONVERTED_SAID_H

#include "../../cases/plain.h"
#include "safetensors_write.h"

/* The metadata of *plain; of a frame (PLAIN_FRAME) those of the shared layout.  form: as in
 * plain_file_write.  0; 99 after a message when memory is short. */
int converted_said_put(SafetensorsWriter *writer, const PlainModel *plain, const char *form)
    __attribute__((warn_unused_result));

/* The metadata say once what all sublayers have in common: NULL when they do have it, else what is
 * expected. */
const char *converted_said_unlike(const PlainModel *plain);

#endif
