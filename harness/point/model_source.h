/*
 * Weights that come from a file: a trained model, as a case takes them, and what it decides.
 */
#ifndef HEADPROOF_HARNESS_POINT_MODEL_SOURCE_H
#define HEADPROOF_HARNESS_POINT_MODEL_SOURCE_H

#include "axes.h"
#include "../models/model_file.h"

/* The weights with one tuple of tokens, as a stream [length, d]. */
typedef struct {
    GivenWeights given;
    double x[];
} GivenInput;

typedef struct ModelSource {
    char *path;           /* as written */
    ModelFileFlags flags; /* it was read so */
    ModelFile *file;
    GivenWeights given;  /* the same, as a case takes them */
    GivenInput **inputs; /* [file->tuples] what model_source_input made; NULL: nothing yet */
} ModelSource;

/* The construction that a file stands for when nobody says: of its kind, in the three-sublayer or
 * the fused form. */
Construction model_source_construction(const ModelSource *source, bool three);

/* NULL when the construction fits what the file has, else what was expected, for a message. */
const char *model_source_misfit(const ModelSource *source, Construction construction);

/* The inputs that a point may be given: an X, or tuples of tokens; 0 when the file has neither. */
size_t model_source_inputs(const ModelSource *source);

/* *given: the weights with input number `input`, from 1 to model_source_inputs; they live as long
 * as the source.  0; 99 after a message. */
void model_source_input(const GivenWeights **given, ModelSource *source, size_t input);

/* May its model have layer norms?  It has their tensors, or it is an X alone, for which they are
 * drawn. */
bool model_source_has_norms(const ModelSource *source);

/* NULL when the file's tensors allow such norms, else what was expected, for a message. */
const char *model_source_norm_misfit(const ModelSource *source, Normalization norm);

/* True when a construction hangs on the axis, the file should say it and its metadata do not: the
 * activation of feed-forward networks, scale and mask of attention and its number of heads, the
 * normalization of either and of linear maps; place and eps of norms. */
bool model_source_lacks(const ModelSource *source, Axis axis);

/* True when the file leaves no choice on an axis: *value is what it has. */
bool model_source_decides(AxisValue *value, const ModelSource *source, Axis axis);

/* The file says from now on that an axis has the value.  Its number of heads is not changed. */
void model_source_say(ModelSource *source, Axis axis, AxisValue value);

/* The exit code of an evaluation that could not go on because its file could not be read, after a
 * message; else 0.  NULL is fine. */
int model_source_fault(const ModelSource *source);

/* Files by path, each read once. */
typedef struct {
    ModelSource **items;
    size_t count;
} SourceList;

/* *source: the list's of that path and so many heads, read if it is new.  0; 2 or 99 after one
 * message. */
int sources_find(ModelSource **source, SourceList *list, const char *path,
                 const ModelFileFlags *flags) __attribute__((warn_unused_result));

/* "PATH: " and what a verdict about it is under (model_file.h), to be freed. */
char *model_source_conditions(const ModelSource *source) __attribute__((warn_unused_result));

/* The first fault of one of them, or 0. */
int sources_fault(const SourceList *list);

void sources_clear(SourceList *list);

#endif
