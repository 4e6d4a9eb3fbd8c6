/*
 * Weights that come from a file: a trained model, as a case takes them, and what it decides.
 */
#ifndef HEADPROOF_HARNESS_MODEL_SOURCE_H
#define HEADPROOF_HARNESS_MODEL_SOURCE_H

#include "axes.h"
#include "model_file.h"

/* path: as written.  layers [file->depth] and given point into *file. */
typedef struct ModelSource {
    char *path;
    bool ignore_extra; /* it was read so */
    ModelFile *file;
    GivenLayer *layers;
    GivenWeights given;
} ModelSource;

/* 0; 2 or 99 after one message.  On failure *source is NULL. */
int model_source_read(ModelSource **source, const char *path, bool ignore_extra)
    __attribute__((warn_unused_result));

/* NULL is fine. */
void model_source_clear(ModelSource *source);

/* The construction that a file stands for when nobody says: of its kind, in the three-sublayer or
 * the fused form. */
Construction model_source_construction(const ModelSource *source, bool three);

/* NULL when the construction fits what the file has, else what was expected, for a message. */
const char *model_source_misfit(const ModelSource *source, Construction construction);

/* True when the file leaves no choice on an axis: *value is what it has. */
bool model_source_decides(AxisValue *value, const ModelSource *source, Axis axis);

/* Makes the file's weights the point's.  They must outlive it. */
void point_set_source(Point *point, const ModelSource *source);

/* Files by path, each read once. */
typedef struct {
    ModelSource **items;
    size_t count;
} SourceList;

/* *source: the list's of that path, read if it is new.  0; 2 or 99 after one message. */
int sources_find(const ModelSource **source, SourceList *list, const char *path, bool ignore_extra)
    __attribute__((warn_unused_result));

void sources_clear(SourceList *list);

#endif
