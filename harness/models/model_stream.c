/*
 * The layers of a model whose files stay open, read when they are needed.
 *
 * A file is looked at again behind every layer that was read, and its header behind the last, so
 * that nothing is made of a file that somebody writes to meanwhile.
 */
#include "model_stream.h"

#include "../../memory/need.h"
#include "../base/memory.h"
#include "../base/message.h"
#include "../base/paged.h"
#include "model_check.h"

#include <stdlib.h>

struct ModelStream {
    ModelFile *model;
    TensorSet set;
    Paged *paged;
    double room; /* bytes that may be used */
    int fault;   /* the first exit code that a message was about; 0: none */
};

/* Does the tensor hold floats of a layer? */
static bool is_of_layer(const SetTensor *tensor)
{
    return tensor->kind == NAME_SLOT && tensor->entry->slot < SLOTS_OF_LAYER;
}

static bool fill(void *context, size_t layer)
{
    ModelStream *stream = context;
    const TensorSet *set = &stream->set;
    int status = model_stream_fault(stream->model);
    for (size_t i = 0; i < set->count && status == 0; i++) {
        const SetTensor *tensor = &set->tensors[i];
        if (is_of_layer(tensor) && tensor->layer == layer) {
            status = model_array_fill(stream->model, tensor);
        }
    }
    if (status == 0) {
        bool last = layer + 1 == stream->model->depth;
        status = tensor_set_recheck(set, last);
    }
    if (status != 0) {
#pragma omp atomic write
        stream->fault = status;
    }
    return status == 0;
}

void model_stream_open(const Reading *reading)
{
    ModelFile *model = reading->model;
    double bytes = 0; /* of all layers' floats, as doubles */
    for (size_t i = 0; i < reading->set->count; i++) {
        const SetTensor *tensor = &reading->set->tensors[i];
        size_t parts = is_of_layer(tensor) ? tensor->entry->parts : 0;
        for (size_t part = 0; part < parts; part++) {
            Slot slot = tensor->entry->slot + (Slot)part;
            bytes += (double)model_count(model, slot, tensor->layer) * sizeof(double);
        }
    }
    double held = memory_held(bytes, reading->flags->room);
    if (held == 0) {
        return;
    }
    ModelStream *stream = model->stream = need_zeros(1, sizeof *stream);
    stream->model = model;
    stream->room = reading->flags->room;
    stream->paged = paged_make(model->depth, held, fill, stream);
}

double *model_stream_take(ModelStream *stream, size_t layer, size_t count)
{
    return paged_take(stream->paged, layer, count);
}

bool model_stream_has(const ModelFile *model, size_t layer, const double *array)
{
    const ModelStream *stream = model->stream;
    return stream != NULL && paged_has(stream->paged, layer, array);
}

void model_stream_own(ModelFile *model, TensorSet *set)
{
    model->stream->set = *set;
    *set = (TensorSet){0};
}

void model_stream_clear(ModelStream *stream)
{
    if (stream != NULL) {
        tensor_set_clear(&stream->set);
        paged_clear(stream->paged);
        free(stream);
    }
}

bool model_stream_enter(ModelFile *model, size_t layer)
{
    return model->stream == NULL || paged_enter(model->stream->paged, layer);
}

void model_stream_leave(ModelFile *model, size_t layer)
{
    if (model->stream != NULL) {
        paged_leave(model->stream->paged, layer);
    }
}

bool model_stream_enter_all(ModelFile *model)
{
    size_t entered = 0;
    bool ok = model->stream == NULL || paged_bytes(model->stream->paged) <= model->stream->room;
    while (ok && entered < model->depth && (ok = model_stream_enter(model, entered))) {
        entered++;
    }
    while (!ok && entered > 0) {
        model_stream_leave(model, --entered);
    }
    return ok;
}

void model_stream_leave_all(ModelFile *model)
{
    for (size_t layer = 0; layer < model->depth; layer++) {
        model_stream_leave(model, layer);
    }
}

int model_stream_fault(const ModelFile *model)
{
    int fault = 0;
    if (model->stream != NULL) {
#pragma omp atomic read
        fault = model->stream->fault;
    }
    return fault;
}
