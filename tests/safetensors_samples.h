/*
 * Safetensors files made by hand, whole and damaged, for the tests and the fuzzer; nothing here
 * uses the writer under test.
 */
#ifndef HEADPROOF_TESTS_SAFETENSORS_SAMPLES_H
#define HEADPROOF_TESTS_SAFETENSORS_SAMPLES_H

#include "../harness/models/model_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* path: of the bytes as a file, which what is written to them changes. */
typedef struct {
    unsigned char *bytes;
    size_t size;
    int fd;
    char path[32];
} Sample;

void sample_clear(Sample *sample);

/* Small whole models of every kind, to damage; `index` from 0; false past the last. */
bool sample_model(Sample *sample, size_t index);

/* lines: how many messages must have been printed.  file, model: it could be read as one. */
typedef struct {
    size_t lines;
    bool file, model;
} SampleOutcome;

/* Reads and converts all that is in it, and reads it as a model twice, without and with
 * ignore_extra.  False when a status was not 0 or 2, or what was read breaks a promise of the
 * headers. */
bool sample_exercise(SampleOutcome *outcome, const void *bytes, size_t size);

/* A model from a path, with no other flag. */
int model_file_read(ModelFile **model, const char *path, bool ignore_extra)
    __attribute__((warn_unused_result));

/* The tensor of that name in an open file, or NULL. */
const SafetensorsTensor *tensor_named(const SafetensorsFile *file, const char *name);

#endif
