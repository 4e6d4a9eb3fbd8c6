/*
 * The layers of a model whose files stay open, read when they are needed.
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_STREAM_H
#define HEADPROOF_HARNESS_MODELS_MODEL_STREAM_H

#include "model_check.h"

typedef struct ModelStream ModelStream;

/* Sets model->stream where its layers take more than all may (memory_held). */
void model_stream_open(const Reading *reading);

/* Room for an array of a layer. */
double *model_stream_take(ModelStream *stream, size_t layer, size_t count)
    __attribute__((warn_unused_result));

/* Is the array one of those? */
bool model_stream_has(const ModelFile *model, size_t layer, const double *array);

/* Takes the open files, which the caller's set no longer has. */
void model_stream_own(ModelFile *model, TensorSet *set);

/* Makes sure that a layer's arrays are there until it is left, for several threads at once.  false:
 * they cannot be read; after a message. */
bool model_stream_enter(ModelFile *model, size_t layer) __attribute__((warn_unused_result));
void model_stream_leave(ModelFile *model, size_t layer);

/* The exit code where a layer could not be read, else 0. */
int model_stream_fault(const ModelFile *model);

/* The same of all layers at once; false, too, where they take more memory than may be used. */
bool model_stream_enter_all(ModelFile *model) __attribute__((warn_unused_result));
void model_stream_leave_all(ModelFile *model);

/* NULL is fine. */
void model_stream_clear(ModelStream *stream);

#endif
