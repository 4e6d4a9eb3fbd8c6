/*
 * The bundles of heads of a file in the shared layout (private to converted_file.c;
 * docs/convert.md says what they are).
 */
#ifndef HEADPROOF_HARNESS_MODELS_SHARED_HEADS_H
#define HEADPROOF_HARNESS_MODELS_SHARED_HEADS_H

#include "../../cases/plain.h"
#include "safetensors_write.h"

/* The coefficients of Omega that single entries have besides, as doubles, until the file is
 * written. */
typedef struct {
    const signed char *of;
    double *entries;
    char name[64];
} SharedExtra;

typedef struct {
    SharedExtra *items;
    size_t count;
} SharedExtras;

/* Announces the tensors of all bundles and headproof.heads.  *extras, empty at first, has to live
 * until the file is written, and is then cleared.  A failure the writer keeps. */
void shared_heads_put(SafetensorsWriter *writer, SharedExtras *extras, const PlainModel *frame);

void shared_extras_clear(SharedExtras *extras);

#endif
