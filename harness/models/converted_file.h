/*
 * The attention-only model as a file: docs/convert.md says what is in it, in the plain layout and
 * in the shared one, in which what heads have in common is there once.
 */
#ifndef HEADPROOF_HARNESS_MODELS_CONVERTED_FILE_H
#define HEADPROOF_HARNESS_MODELS_CONVERTED_FILE_H

#include "converted_said.h"

/* Writes path, complete or not at all: in the shared layout from a frame (PLAIN_FRAME), else in the
 * plain one.  0; 2 after a message when path cannot be written, or the sublayers have different
 * masks or norms of different kinds; 99 after one when the disk is full; of sublayers shown one by
 * one also what is wrong with the file that they are from. */
int converted_file_write(const char *path, Converted *of) __attribute__((warn_unused_result));

/* Bytes of all its tensors: *bytes.  0; 2 after a message. */
int converted_file_bytes(double *bytes, Converted *of) __attribute__((warn_unused_result));

/* Bytes that writing it takes besides those of of->plain. */
double converted_file_memory(const Model *model, const ModelFile *file, bool shared);

#endif
